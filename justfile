# The daily commands. `just` lists them.

# Where cargo builds.
target := env("CARGO_TARGET_DIR", "target")

# List the commands.
default:
    @just --list

# Run the whole system on this machine; `just run --help` has its options.
run *options:
    cargo run -p local -- {{ options }}

# Run all tests.
test:
    cargo test

# Run the tests whose names contain this: `just one a_code_is_redeemed`, `just one refunds::`.
one name:
    cargo test -p tests --test it -- {{ name }}

# Test the command line.
cli *options:
    cargo test -p commerce-cli {{ options }}

# Format the code, and lint it as CI does.
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings

# Make the catalogue of events and the OpenAPI document anew.
openapi:
    cargo run --quiet -p local -- --event-types > {{ target }}/event-types.json
    mv {{ target }}/event-types.json docs/event-types.json
    cargo run --quiet -p local -- --openapi > {{ target }}/openapi.json
    mv {{ target }}/openapi.json docs/openapi.json

# Pick the document's examples of what the last run of all tests has seen.
examples: && openapi
    python3 .ci/examples.py

# Put load on a system as it is installed, and print what docs/benchmarks.md shows; four minutes after the build.
bench *options:
    cargo build --profile dist -p local -p benches
    {{ target }}/dist/benches --plots docs {{ options }}

# Hold that the system is as fast after two hundred thousand deliveries as before, and its file as large as what it
# keeps; some ten minutes.
sustained:
    cargo build --profile dist -p local -p benches
    {{ target }}/dist/benches --growth 200000

# The functions' packages.
functions := "-p health -p auth -p storefront -p stores -p products -p orders -p payments -p themes-family -p app-store -p operations -p dispatcher -p webhooks -p mail -p runner"

# As they are deployed, but for this machine; of this machine's own, build scripts and macros stay as they are.
host := `rustc --print host-tuple`
build_functions := "cargo build --release --config .cargo/function.toml --target " + host

# Build every function as it is deployed, and feed each binary every sample event and odd ones.
binaries *options:
    {{ build_functions }} {{ functions }} {{ options }}
    FUNCTION_BINARIES={{ target }}/{{ host }}/release cargo test --test it -- --ignored cross::binaries

# Measure how the functions start and what an invocation takes, and print the table of docs/benchmarks.md.
cold *options:
    {{ build_functions }} -p bases {{ options }}
    {{ build_functions }} {{ functions }} {{ options }}
    cargo build --release -p local -p benches
    {{ target }}/release/benches --cold {{ target }}/{{ host }}/release --binary {{ target }}/release/local

# Hold that lists cost the same over a hundred thousand records as over a hundred, and that ten thousand
# missed events are recovered by one replay; some minutes.
growth:
    cargo test -p tests --test it -- --ignored hundred_thousand ten_thousand

# Hold that an import of fifty thousand products makes each once, though its process is killed five times; a
# quarter of an hour.
import:
    cargo build --bin local
    cargo test -p tests --test it -- --ignored --nocapture fifty_thousand

# Compute the tables of docs/costs.md anew.
costs:
    cargo run --quiet -p benches --bin costs

# Run random sequences of commerce against what must be true of money, stock, codes and events:
# `just simulate --seeds 10000`, `just simulate --seed 42`.
simulate *options:
    cargo build --release -p simulation
    {{ target }}/release/simulate {{ options }}

# Run the tests while calls of the table go wrong as they do in a deployment: `just faults`, `just faults orders::`.
faults *options:
    .ci/faults.py {{ options }}

# Run the tests over Amazon's own engine of the table; needs Java 17 and npm: `just engine`, `just engine orders::`.
engine *options:
    .ci/engine SERVICE_TABLE cargo test --test it -- {{ options }}

# Make every call of the table to both engines while the tests run, and list how they differ.
shadow *options:
    .ci/engine SERVICE_SHADOW .ci/shadow.py {{ options }}

# Kill a running release build two hundred times while it is written to, and look for what is lost; an hour.
crash *options:
    cargo build --release -p local
    cargo build --bin crash
    {{ target }}/debug/crash --binary {{ target }}/release/local --stores 32 --minutes 60 {{ options }}

# Check the documents' links, citations and examples.
docs:
    python3 .ci/check_documents.py
    .ci/draw_crates.py --check

# Send a local system what its document allows and forbids, in every role; needs .venv, which `just ci` makes.
fuzz *binary:
    .venv/bin/python .ci/fuzz.py {{ binary }}

# Build what is deployed, run it in containers, and deploy it to an emulated AWS; as root, half an hour.
deployed *steps:
    tests/deployed/run {{ steps }}

# Format, lint and test what changed, in a minute.
check:
    .ci/check

# What every change must hold.
ci:
    .ci/run

# Draw docs/crates.svg, the picture of the crates, from their manifests.
crates:
    .ci/draw_crates.py

# And what takes hours: before a release.
full:
    .ci/full

# Measure how long one waits for a build and for a test, and print the table.
loop:
    .ci/loop.py
