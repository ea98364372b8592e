# What .ci/run, .ci/full, .ci/check and .ci/loop share. Sourced from the tree's root.
# Everything is built once: what would help to build it again only fills the disk.
export CARGO_INCREMENTAL=0

# Steps that were started alongside others, by name: their process and their log.
declare -A alongside_pid=()
notes=$(mktemp -d)
trap 'stop_alongside; rm -rf "$notes"' EXIT

step() {
    local begun=$SECONDS
    printf '\n== %s\n' "$*"
    "$@"
    printf -- '-- %s: %s s\n' "$1 ${2:-}" "$((SECONDS - begun))"
}

# Starts a step that runs alongside those that follow: `alongside <name> <command …>`.
alongside() {
    local name=$1
    shift
    # A process group of its own, so that it ends with what it has started.
    set -m
    (step "$@") >"$notes/$name" 2>&1 &
    alongside_pid[$name]=$!
    set +m
}

# Waits for such a step, and prints what it said.
join() {
    local outcome=0
    wait "${alongside_pid[$1]}" || outcome=$?
    unset "alongside_pid[$1]"
    cat "$notes/$1"
    return "$outcome"
}

stop_alongside() {
    local pid
    for pid in "${alongside_pid[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
}

# Compiled dependencies are found again in the user's cache, by lock file, profiles and toolchain. What the
# workspace itself builds is removed first: nothing else is found again. Whoever sets CARGO_TARGET_DIR
# decides for themselves; and while another run uses the cache, this one builds in `target`.
find_compiled_dependencies() {
    if [ -n "${CARGO_TARGET_DIR:-}" ]; then return; fi
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/commerce-gateway key
    key=$({ rustc -vV; cat Cargo.lock; sed -n '/^\[profile/,/^$/p' Cargo.toml; } | sha256sum | cut -c1-16)
    mkdir -p "$cache/$key"
    touch "$cache/$key" "$cache/$key.lock"
    exec 9>>"$cache/$key.lock"
    if ! flock --nonblock 9; then
        echo "another run uses $cache/$key: this one builds in target"
        return
    fi
    # What nobody used for two weeks is of an old lock file.
    find "$cache" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
    export CARGO_TARGET_DIR=$cache/$key
    remove_workspace_builds
}

remove_workspace_builds() {
    if [ ! -d "$CARGO_TARGET_DIR/debug" ]; then return; fi
    local packages
    packages=$(cargo metadata --format-version 1 --no-deps --offline |
        python3 -c 'import json, sys; [print("--package", it["name"]) for it in json.load(sys.stdin)["packages"]]')
    # shellcheck disable=SC2086
    cargo clean --quiet $packages
    rm -rf "$CARGO_TARGET_DIR"/debug/{used,undocumented,answers,executed,faults,incremental} "$CARGO_TARGET_DIR"/tmp
}

# Where cargo builds.
target() {
    echo "${CARGO_TARGET_DIR:-target}"
}

# What the Python steps use.
python_packages() {
    local stamp=.venv/requirements.txt
    if ! cmp --silent .ci/requirements.txt "$stamp"; then
        python3 -m venv --clear .venv
        .venv/bin/pip install --quiet --disable-pip-version-check -r .ci/requirements.txt
        cp .ci/requirements.txt "$stamp"
    fi
}

# What the network is needed for, while the processor is busy with something else.
installs() {
    cargo fetch --locked --quiet
    python_packages
    (cd .ci && python3 -B -c 'import browser; browser.chromium()')
    # Licences, sources and unwanted crates. Advisories need their database, which this does not fetch:
    # `cargo deny check advisories`, where there is a network.
    if ! cargo deny --version >/dev/null 2>&1; then
        CARGO_TARGET_DIR=$(target)/tools nice cargo install cargo-deny --version 0.20.2 --locked --quiet
    fi
}

python() {
    .venv/bin/python "$@"
}

build_tests() {
    cargo test --quiet --no-run
    cargo test --quiet --no-run -p commerce-cli
}

# All tests.
run_tests() {
    rm -rf "$(target)"/debug/{used,undocumented,answers,executed}
    cargo test 2> >(tee "$notes/running" >&2)
    cargo test -p commerce-cli
}

clippy() {
    cargo clippy --quiet --workspace --all-targets -- -D warnings
}

# Cargo builds one thing at a time, and lets go of that when the first test runs.
clippy_while_tests_run() {
    until grep -qs ' Running ' "$notes/running"; do sleep 1; done
    nice -n 19 cargo clippy --quiet --workspace --all-targets -- -D warnings
}

# After all tests: nothing is given to a function that none of them saw used, nothing was denied to one, and
# every answer was documented.
close_tests() {
    cargo test --quiet --test it -- --exact --ignored cross::deployment::the_template_grants_no_unused_permission \
        cross::deployment::the_template_lacks_no_requested_permission \
        cross::reference::every_observed_response_is_documented cross::reference::every_documented_example_is_executed
}

dependencies() {
    cargo deny --log-level error check bans licenses sources
}

# What is deployed, as far as one processor and an hour go: the functions as `sam build` builds them, fed every
# sample event and odd ones, each as a process and, where containers can be had, in one; and the stack.
deployed() {
    local in_containers=()
    if [ "$(id -u)" = 0 ] && python3 tests/deployed/run engine; then in_containers=(local-invoke); fi
    python3 tests/deployed/run validate build-x86-64 "${in_containers[@]}" deploy
    FUNCTION_BINARIES=$(target)/lambda cargo test --test it -- --ignored cross::binaries
}

# The commit that a change is measured from: SINCE, or where it left `origin/main`, or the one before.
# Nothing where that cannot be told, as in a shallow clone.
since() {
    local base=${SINCE:-}
    if [ -z "$base" ]; then
        base=$(git merge-base HEAD origin/main 2>/dev/null) || base=
        if [ "$base" = "$(git rev-parse HEAD)" ]; then base=HEAD^; fi
    fi
    git rev-parse --quiet --verify "$base^{commit}" 2>/dev/null || true
}

# What decides what is deployed.
DEPLOYED=(
    template.yaml samconfig.toml .cargo 'functions/*/Cargo.toml'
    shared/lambda tests/deployed
)

# Whether a change touches one of these, or may do.
touches() {
    local base path
    for path in "$@"; do
        # What was renamed must not be forgotten here.
        if [ -z "$(git ls-files -- "$path")" ]; then
            echo ".ci/steps.sh: $path is not in the tree" >&2
            exit 1
        fi
    done
    base=$(since)
    if [ -z "$base" ]; then return 0; fi
    # With what is not committed yet, and without what is ignored.
    [ -n "$(git diff --name-only "$base" -- "$@"; git ls-files --others --exclude-standard -- "$@")" ]
}
