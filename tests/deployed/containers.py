"""`sam local`, in containers over the emulators of `local`."""

import contextlib
import ipaddress
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from builds import SAM, functions, have_build, have_local
from machine import ROOT, VENV, WORK, Failed, afresh, engine, need_free, process, run, until

IMAGE = "commerce-gateway-runtime"
API = "http://127.0.0.1:3000"
PROVIDERS = 3100
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
# A container's loopback is its own, and the guard of outgoing requests lets no function reach a private
# address (docs/conventions.md §11), as that of Docker's bridge is. So an extension, which the runtime starts
# beside the function, hands on what comes to the providers' port of loopback.
RELAY = """#!/bin/sh
api=http://$AWS_LAMBDA_RUNTIME_API/2020-01-01/extension
nc -ll -p {port} -e /opt/onward &
id=$(wget -S -q -O /dev/null --header 'Lambda-Extension-Name: relay' --post-data '{{"events":[]}}' "$api/register" 2>&1 \\
    | sed -n 's/.*[Ii]dentifier: *//p' | tr -d '\\r')
exec wget -q -O /dev/null --header "Lambda-Extension-Identifier: $id" "$api/event/next"
"""
ONWARD = """#!/bin/sh
exec nc {host} {port}
"""
# No image can be pulled where there is no network: the machine's own C library under a shell is enough to
# start what `sam build` made. SAM adds the runtime interface emulator that it ships.
DOCKERFILE = """FROM scratch
COPY . /
RUN ["/bin/busybox", "--install", "-s", "/bin"]
RUN ["/bin/mkdir", "-m", "1777", "/tmp"]
"""


def have_engine():
    """Whether containers can be had on this machine at all."""
    log = afresh("engine")
    with engine(log):
        return f"Docker {run(log, 'docker', 'version', '--format', '{{.Server.Version}}').strip()}"


def local_api():
    """README and quickstart, against `sam local start-api`."""
    log = afresh("local-api")
    with system(log) as (template, variables):
        command = [*sam_local("start-api", template, variables), "--port", "3000"]
        with process(log, *command) as begun:
            until(begun, "sam local start-api", lambda: answer("/health") == 200)
            run(log, VENV / "bin/python", ROOT / ".ci/run_documents.py", "--against", API,
                f"http://127.0.0.1:{PROVIDERS}")
    return "the README and the quickstart pass against sam local start-api"


def local_invoke():
    """Every file of events/, each by `sam local invoke` of the function it belongs to."""
    log = afresh("local-invoke")
    first = {}
    for name, binary in functions().items():
        first.setdefault(binary, name)
    files = sorted((ROOT / "events").glob("*/*.json"))
    report, faults = [], []
    with system(log) as (template, variables):
        for file in files:
            name = first[file.parent.name]
            said = run(log, *sam_local("invoke", template, variables), name, "--event", file)
            what = fault(said)
            report.append(f"{'failed' if what else 'ok':8}{name:14}{file.name:28}{said.strip()[:60]}")
            if what:
                faults.append(f"{name} {file.name}: {what}")
    (WORK / f"{log}.txt").write_text("\n".join(report) + "\n")
    if faults:
        raise Failed("; ".join(faults))
    return f"{len(files)} events, no error of a function and no 5xx (target/deployed/{log}.txt)"


def fault(said):
    """What is wrong with what a function returned."""
    try:
        answer = json.loads(said.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return f"no JSON: {said[-200:]}"
    if answer is None:
        return None
    if "errorType" in answer or "errorMessage" in answer:
        return f"an error: {said[-300:]}"
    if answer.get("statusCode", 200) >= 500:
        return f"{answer['statusCode']}: {said[-300:]}"
    return None


# API Gateway hands on what is no text in base64, whatever an HTTP API is told; SAM's own server does it for the
# types alone that a definition names.
BINARY = """DefinitionBody:
        openapi: 3.0.1
        paths: {}
        x-amazon-apigateway-binary-media-types: [application/zip, image/png]
"""


# The shops' own API: SAM's server has one address for all, and the default route is the API's.
SHOPS = re.compile(r"  ShopApi:\n(?:    .*\n)+|  ShopEndpoint:\n(?:    .*\n)+")
SHOP_ROUTE = re.compile(r"      Events:\n        Rest:\n(?:          .*\n)*?(?:          .*ShopApi\n)(?:          .*\n)*")


def for_sam_local(template):
    """The built template, with the binary types of requests, and without the shops' API."""
    text, count = re.subn(
        r"(  Api:\n    Type: AWS::Serverless::HttpApi\n    Properties:\n      )", lambda found: found[1] + BINARY + "      ",
        SHOP_ROUTE.sub("", SHOPS.sub("", template.read_text())),
    )
    if count != 1 or "ShopApi" in text:
        raise Failed(f"{template} has not the one HTTP API that is expected")
    copy = template.with_name("sam-local.yaml")
    copy.write_text(text)
    return copy


@contextlib.contextmanager
def system(log):
    """An engine, an image, and the emulators: the built template, and the variables."""
    template = have_build("x86_64")
    binary = have_local(log)
    need_free(3000, PROVIDERS)
    with engine(log), tempfile.TemporaryDirectory() as data:
        host = bridge(log)
        make_image(log, host, template)
        command = [binary, "--emulators-only", "--emulators-host", host, "--data", data, "--log", "text"]
        with process(log, *command) as begun:
            # It says so when the demo store is there.
            file, ready = WORK / f"{log}.log", "Payment providers are played at"
            until(begun, "local --emulators-only", lambda: ready in file.read_text(errors="replace"))
            yield for_sam_local(template), variables_with_providers(data)


def bridge(log):
    """The machine's address on Docker's bridge, which containers reach it by."""
    said = run(log, "docker", "network", "inspect", "bridge", "--format", "{{json (index .IPAM.Config 0)}}")
    network = json.loads(said)
    # An engine that was never told one takes the first, and says nothing.
    return network.get("Gateway") or str(next(ipaddress.ip_network(network["Subnet"]).hosts()))


def variables_with_providers(directory):
    """events/sam-local.json, with the providers where the image's relay listens."""
    given = json.loads((ROOT / "events/sam-local.json").read_text())
    for name in ["razorpay", "stripe"]:
        given["Parameters"][f"{name.upper()}_BASE_URL"] = f"http://127.0.0.1:{PROVIDERS}/{name}"
    file = Path(directory) / "variables.json"
    file.write_text(json.dumps(given))
    return file


def sam_local(command, template, variables):
    return [
        SAM, "local", command, "--template", template, "--config-file", ROOT / "samconfig.toml",
        "--env-vars", variables, "--parameter-overrides", "Architecture=x86_64",
        "--invoke-image", f"{IMAGE}:latest", "--skip-pull-image",
    ]


def make_image(log, host, template):
    """An image that runs what was built, from this machine's files."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        program = template.parent / next(iter(functions())) / "bootstrap"
        for library in libraries(program):
            copy(tree, library, library)
        copy(tree, shutil.which("busybox"), "/bin/busybox")
        copy(tree, BUNDLE, BUNDLE)
        write(tree / "etc/nsswitch.conf", "hosts: files dns\n", 0o644)
        write(tree / "opt/extensions/relay", RELAY.format(port=PROVIDERS), 0o755)
        write(tree / "opt/onward", ONWARD.format(host=host, port=PROVIDERS), 0o755)
        write(tree / "Dockerfile", DOCKERFILE, 0o644)
        subprocess.run(["docker", "rmi", "--force", f"{IMAGE}:rapid-x86_64"], capture_output=True, check=False)
        run(log, "docker", "build", "--quiet", "--tag", f"{IMAGE}:latest", tree, DOCKER_BUILDKIT="0")


def libraries(program):
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [word for line in said.splitlines() for word in line.split() if word.startswith("/")]


def copy(tree, source, place):
    destination = tree / str(place).lstrip("/")
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, destination)


def write(file, text, mode):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


def answer(path):
    """The status of an answer, or nothing."""
    try:
        with urllib.request.urlopen(API + path, timeout=20) as found:
            return found.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return None
