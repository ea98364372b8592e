"""The template, and what is built of it."""

import re
import shutil
import subprocess
import zlib

from machine import ROOT, VENV, WORK, Failed, afresh, run

SAM = VENV / "bin/sam"
CARGO_LAMBDA = VENV / "bin/cargo-lambda"
# By the name that the template has for it: rustc's target, cargo-lambda's option, and the machine in an
# ELF header.
ARCHITECTURES = {
    "arm64": ("aarch64-unknown-linux-gnu", "--arm64", 183),
    "x86_64": ("x86_64-unknown-linux-gnu", "--x86-64", 62),
}
FUNCTION = re.compile(r"^  (\w+):\n    Type: AWS::Serverless::Function\n    Metadata: .*Binary: ([\w-]+)", re.M)
# What a function is not to carry: the embedded table's own name is in its messages.
EMULATOR = b"dynoxide"
# A function's zip, in MiB, at most (docs/benchmarks.md, Functions). The shops have the storefront's routes and the
# template language.
LARGEST_ZIP, LARGEST_OF_SHOPS = 4.1, 6.0


def functions():
    """The functions of the template, each with the name of its binary."""
    return dict(FUNCTION.findall((ROOT / "template.yaml").read_text()))


def validate():
    log = afresh("validate")
    run(log, SAM, "validate", "--lint", "--region", "us-east-1")
    return "template.yaml is valid, and the linter finds nothing"


def arm64():
    return build("arm64")


def x86_64():
    return build("x86_64")


def place(architecture):
    """Where a build is."""
    return WORK / architecture


def build(architecture):
    """All binaries at once, on all cores; then `sam build`, which finds each of them built."""
    target, option, machine = ARCHITECTURES[architecture]
    log = afresh(f"build-{architecture}")
    have_target(log, target)
    run(log, CARGO_LAMBDA, "lambda", "build", "--release", option)
    run(log, SAM, "build", "--build-dir", place(architecture), "--parameter-overrides",
        f"Architecture={architecture}")
    return what_was_built(architecture, machine)


def have_target(log, target):
    installed = subprocess.run(["rustup", "target", "list", "--installed"], capture_output=True, text=True, check=True)
    if target not in installed.stdout.split():
        run(log, "rustup", "target", "add", target)


def what_was_built(architecture, machine):
    sizes = {}
    for name in functions():
        file = place(architecture) / name / "bootstrap"
        if not file.exists():
            raise Failed(f"{name} was not built")
        program = file.read_bytes()
        if int.from_bytes(program[18:20], "little") != machine:
            raise Failed(f"{name} is not built for {architecture}")
        if EMULATOR in program:
            raise Failed(f"{name} carries the emulators")
        # The level that the SAM CLI packs with.
        sizes[name] = (len(zlib.compress(program, 6)) / 2**20, len(program) / 2**20)
    lines = [f"{name}: zip {packed:.2f} MiB, binary {whole:.1f} MiB" for name, (packed, whole) in sizes.items()]
    (WORK / f"sizes-{architecture}.txt").write_text("\n".join(lines) + "\n")
    for name, (packed, _) in sizes.items():
        allowed = LARGEST_OF_SHOPS if name == "Shop" else LARGEST_ZIP
        if packed > allowed:
            raise Failed(f"a zip is larger than {allowed} MiB: {name}, {packed:.2f}")
    largest = max(sizes, key=sizes.get)
    return f"{len(sizes)} functions; the largest is {lines[list(sizes).index(largest)]}"


def have_build(architecture):
    """The build of an earlier step, or one that is made now; its template."""
    template = place(architecture) / "template.yaml"
    if not template.exists():
        build(architecture)
    return template


def have_local(log):
    """The binary of `local`, with the features that `cargo test` builds with, so that nothing is built twice."""
    run(log, shutil.which("cargo"), "build", "--quiet", "--bin", "local")
    return WORK.parent / "debug/local"
