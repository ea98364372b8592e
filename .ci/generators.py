"""Reads docs/openapi.json as people do: Redocly and Spectral find nothing in it by their recommended rules, and code
generators make clients of it that compile strictly and go through a journey (sign-in, list, checkout, mark paid) on a
local system. With `--full`, the generators as well that need Java, Go or much time.

What is generated stays in target/generators.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import system

HERE = system.ROOT / ".ci/generators"
DOCUMENT = system.ROOT / "docs/openapi.json"
OUT = system.TARGET / "generators"
NODE, PYTHON = OUT / "node", OUT / "python"
# Paths with a name and with an id side by side, as in `/products/bulk` and `/products/{id}`: the name wins, as in
# OpenAPI 3.1 ("concrete definitions are matched before their templated counterparts").
KNOWN_WARNINGS = {"no-ambiguous-paths"}
# What openapi-python-client writes with an error of its own: an optional body with two media types, bodies of bytes, and
# a member whose value is a list by name.
FAULTY = ["api/app_store/.*_token", "api/products/(create_media|upload_import_part)", "api/themes/upload_theme_package", "models/queues"]


def run(*command, folder=OUT, **variables):
    subprocess.run([str(part) for part in command], cwd=folder, env=os.environ | variables, check=True)


def quietly(*command, folder=OUT):
    """A command whose output is shown only if it fails."""
    ended = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"{command[0]}: {ended.stdout[-5000:]}\n{ended.stderr[-5000:]}")
    return ended.stdout


def tool(name):
    return NODE / "node_modules/.bin" / name


def prepare():
    OUT.mkdir(parents=True, exist_ok=True)
    NODE.mkdir(exist_ok=True)
    (OUT / "package.json").write_text('{"type": "module"}')
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(HERE / name, NODE)
    run("npm", "ci", "--no-audit", "--no-fund", "--silent", folder=NODE)
    if not PYTHON.exists():
        venv.create(PYTHON, with_pip=True)
    run(PYTHON / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt")


def lint():
    found = subprocess.run(
        [tool("redocly"), "lint", DOCUMENT, "--extends", "recommended", "--format", "json"],
        cwd=OUT, capture_output=True, text=True, check=False,
    )
    rules = {problem["ruleId"] for problem in json.loads(found.stdout)["problems"]}
    if rules - KNOWN_WARNINGS:
        sys.exit(f"redocly: {', '.join(sorted(rules - KNOWN_WARNINGS))}\n{found.stdout[:5000]}")
    (OUT / "spectral.yaml").write_text('extends: ["spectral:oas"]\n')
    quietly(tool("spectral"), "lint", DOCUMENT, "--ruleset", OUT / "spectral.yaml", "--fail-severity", "hint")


def compile_typescript(folder):
    """Compiles what is in a folder, with everything that `strict` means."""
    options = {
        "strict": True, "noEmit": True, "module": "esnext", "moduleResolution": "bundler", "target": "es2022",
        "lib": ["es2023", "dom", "dom.iterable"], "types": ["node"], "typeRoots": [str(NODE / "node_modules/@types")],
    }
    settings = folder / "tsconfig.json"
    settings.write_text(json.dumps({"compilerOptions": options, "include": ["**/*.ts"]}))
    quietly(tool("tsc"), "-p", settings)


def typescript(url):
    types = fresh("openapi-typescript")
    quietly(tool("openapi-typescript"), DOCUMENT, "-o", types / "types.d.ts")
    compile_typescript(types)
    client = fresh("hey-api")
    quietly(tool("openapi-ts"), "-i", DOCUMENT, "-o", client)
    shutil.copy(HERE / "journey.ts", client)
    compile_typescript(client)
    run(tool("tsx"), client / "journey.ts", GATEWAY_URL=url)


def python(url):
    client = fresh("openapi-python-client")
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{PYTHON / 'bin'}{os.pathsep}{path}"
    quietly(PYTHON / "bin/openapi-python-client", "generate", "--path", DOCUMENT, "--output-path", client, "--overwrite")
    os.environ["PATH"] = path
    faulty = f"({'|'.join(FAULTY)})\\.py$"
    # An excluded file is still read where another names it.
    quietly(PYTHON / "bin/mypy", "--strict", "--exclude", faulty, "--follow-imports", "silent", "commerce_gateway_client", folder=client)
    run(PYTHON / "bin/python", HERE / "journey.py", GATEWAY_URL=url, PYTHONPATH=str(client))


def openapi_generator(language, *options):
    """By OpenAPI Generator, of a document without webhooks: it writes clients for them, which nobody calls."""
    document = json.loads(DOCUMENT.read_text())
    document.pop("webhooks")
    copy = OUT / "without-webhooks.json"
    copy.write_text(json.dumps(document))
    client = fresh(f"openapi-generator-{language}")
    quietly(PYTHON / "bin/openapi-generator-cli", "generate", "-i", copy, "-g", language, "-o", client, *options)
    return client


def full():
    # By default it leaves out the models of forms, and imports them.
    compile_typescript(openapi_generator("typescript-fetch", "--global-property", "skipFormModel=false"))
    client = openapi_generator("python")
    requirements = ["-r", client / "requirements.txt"]
    run(PYTHON / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *requirements)
    run(PYTHON / "bin/python", "-c", "import openapi_client", folder=client)
    go()
    rust()


def go():
    """Go's modules come from Debian, as Go itself does."""
    if os.geteuid() == 0:
        packages = ["golang-go", "golang-gopkg-validator.v2-dev"]
        quietly("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)
    client = openapi_generator("go", "--additional-properties", "enumClassPrefix=true")
    workspace = OUT / "go"
    (workspace / "src").mkdir(parents=True, exist_ok=True)
    link = workspace / "src/client"
    link.unlink(missing_ok=True)
    link.symlink_to(client, target_is_directory=True)
    paths = f"{workspace}:/usr/share/gocode"
    run("go", "vet", "client", folder=workspace, GO111MODULE="off", GOPATH=paths)


def rust():
    older, client = OUT / "openapi-3.0.json", fresh("progenitor")
    with open(DOCUMENT) as document, open(older, "w") as output:
        subprocess.run([sys.executable, HERE / "downgrade.py"], stdin=document, stdout=output, check=True)
    tools = OUT / "cargo"
    run("cargo", "install", "--quiet", "cargo-progenitor@0.15.1", "--root", tools, CARGO_TARGET_DIR=str(OUT / "cargo-target"))
    quietly(tools / "bin/cargo-progenitor", "progenitor", "-i", older, "-o", client, "-n", "commerce-gateway-client", "-v", "0.1.0")
    (client / "Cargo.toml").open("a").write("\n[workspace]\n")
    run("cargo", "check", "--quiet", folder=client, CARGO_TARGET_DIR=str(OUT / "cargo-target"))


def fresh(name):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def main():
    is_full = "--full" in sys.argv and not sys.argv.remove("--full")
    prepare()
    lint()
    with system.running() as (url, _):
        typescript(url)
        python(url)
    if is_full:
        full()
    print("generators: linted, generated, compiled and taken through a journey")


main()
