"""The machine: what is installed, where things are, and how a command is run."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
# Everything that this makes.
WORK = TARGET / "deployed"
VENV = WORK / "venv"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
# What containers take: the engine, what it sets up its network with, a shell that runs without a library; and
# what the documents are run with.
PACKAGES = ["docker.io", "iptables", "busybox-static", "ca-certificates", "curl", "openssl"]
# Nothing here is AWS; nobody checks a signature.
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nobody",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "SAM_CLI_TELEMETRY": "0",
}


class Failed(Exception):
    """A step did not do what it should."""


def environment(**more):
    tools = f"{VENV / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, **ENVIRONMENT, "PATH": tools, **more}


def run(log, *command, **more):
    """What a command said on its standard output; all of it is in the step's log."""
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / f"{log}.log", "ab") as file:
        file.write(f"$ {' '.join(map(str, command))}\n".encode())
        file.flush()
        done = subprocess.run(
            command, cwd=ROOT, env=environment(**more), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=file, check=False,
        )
        file.write(done.stdout)
    if done.returncode != 0:
        raise Failed(f"{Path(command[0]).name} {command[1]}: {last_words(log)}")
    return done.stdout.decode()


def last_words(log):
    lines = (WORK / f"{log}.log").read_text(errors="replace").strip().splitlines()
    return f"{lines[-1] if lines else 'nothing was said'} (target/deployed/{log}.log)"


def afresh(log):
    """Empties a step's log."""
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / f"{log}.log").write_text("")
    return log


def install(for_containers):
    """PyPI's packages, and for containers Debian's, unless they are there."""
    log = afresh("tools")
    for tool in ["cargo", "rustup"]:
        if not shutil.which(tool):
            raise Failed(f"needs the Rust toolchain: there is no {tool}")
    missing = [name for name in PACKAGES if for_containers and not is_installed(name)]
    if missing:
        if os.geteuid() != 0:
            raise Failed(f"needs root, to install {' '.join(missing)}")
        run(log, "apt-get", "update", "-qq")
        apt(log, *missing)
    if for_containers and not shutil.which("docker"):
        apt(log, "docker-cli")
    stamp = VENV / REQUIREMENTS.name
    if not stamp.exists() or stamp.read_bytes() != REQUIREMENTS.read_bytes():
        run(log, sys.executable, "-m", "venv", "--clear", str(VENV))
        run(log, VENV / "bin/pip", "install", "--quiet", "-r", REQUIREMENTS)
        shutil.copy(REQUIREMENTS, stamp)
    return f"installed {', '.join(missing)}" if missing else "all was there"


def is_installed(package):
    asked = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout == "installed"


def apt(log, *packages):
    run(log, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages,
        DEBIAN_FRONTEND="noninteractive")


@contextlib.contextmanager
def process(log, *command, **more):
    """A program that runs as long as the block lasts, in the step's log."""
    with open(WORK / f"{log}.log", "ab") as file:
        file.write(f"$ {' '.join(map(str, command))} &\n".encode())
        file.flush()
        begun = subprocess.Popen(
            command, cwd=ROOT, env=environment(**more), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
        )
    try:
        yield begun
    finally:
        begun.terminate()
        try:
            begun.wait(timeout=30)
        except subprocess.TimeoutExpired:
            begun.kill()
            begun.wait()


def until(begun, what, is_true, seconds=90):
    """Waits for something of a process that was begun."""
    end = time.monotonic() + seconds
    while not is_true():
        if begun.poll() is not None:
            raise Failed(f"{what}: the process ended")
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.2)


def need_free(*ports):
    for port in ports:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                raise Failed(f"somebody listens on port {port}, which this needs")


@contextlib.contextmanager
def engine(log):
    """A Docker engine: the one that runs, or one of its own."""
    def answers():
        return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0

    if answers():
        yield
        return
    with process("dockerd", "dockerd") as begun:
        until(begun, "dockerd", answers)
        yield
