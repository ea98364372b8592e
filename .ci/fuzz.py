"""Sends a local system what its OpenAPI document allows, and what it does not, by Schemathesis, in the
roles of a stranger, a merchant, a customer, a developer, an app and an operator: no answer may be a server error, have
a status, a content type or a header that is not documented, or break its schema; what the document
forbids must be rejected; and who shows nothing, or nonsense, must be rejected too.

Each operation is covered in full by one of the roles that may call it, and gets a few random requests
from every other. The seed is fixed. Roles that have not ended in time are told to stop and report what
they have seen, so that all of it stays under five minutes, or what `--seconds` says.

With an argument, that binary of `local` is run; without one it is built. What was found stays in
target/fuzz.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

import fuzz_accounts
import system

HERE = Path(__file__).resolve().parent
FOUND = system.TARGET / "fuzz"
# The document, with what `default` stands for spelled out: to Schemathesis, `default` is every status.
DOCUMENT = FOUND / "openapi.json"
SEED = 20260101
# Seconds from its own start, after which a role is told to stop: one that ends late takes nothing from the next.
# Two run at a time.
QUEUES = [[("operator", 60), ("merchant", 140), ("stranger", 90)], [("app", 110), ("customer", 80), ("developer", 100)]]
LONGEST = max(sum(limit for _, limit in queue) for queue in QUEUES)
ROLES = [role for queue in QUEUES for role, _ in queue]
# Seconds in which a role that is told to stop writes its report; on a machine under load that takes a while.
PATIENCE = 120
# Random requests of an operation, from the role that covers it, and from each other role.
MANY, FEW = 4, 1


def main():
    share = seconds() / LONGEST
    spell_out()
    with tempfile.TemporaryDirectory() as data:
        with system.running("--trust-proxy", data=data) as (url, _):
            fuzz(url, Path(data), share)
    failed = [role for role in ROLES if not is_clean(report(role))]
    for role in failed:
        print(f"\n== {role}\n{(FOUND / f'{role}.txt').read_text()}")
    print(f"{'role':10} {'operations':>10} {'answered 2xx':>12} {'cases':>7} {'failures':>8}")
    for role in ROLES:
        print(row(role))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def spell_out():
    """Writes DOCUMENT."""
    document = json.loads((system.ROOT / "docs/openapi.json").read_text())
    components = document["components"]["responses"]
    for operations in document["paths"].values():
        for operation in operations.values():
            default = operation["responses"].pop("default", None)
            if default:
                statuses = components[default["$ref"].split("/")[-1]]["x-statuses"]
                operation["responses"] = {str(status): default for status in statuses} | operation["responses"]
    FOUND.mkdir(parents=True, exist_ok=True)
    DOCUMENT.write_text(json.dumps(document))


def seconds():
    """How long all of it may take; what is left on the command line is the binary."""
    if "--seconds" not in sys.argv:
        return LONGEST
    place = sys.argv.index("--seconds")
    _, given = sys.argv.pop(place), sys.argv.pop(place)
    return float(given)


def fuzz(url, data, share):
    """Lets each role do what it does, two at a time, in this share of its time."""
    covered = shares(json.loads(DOCUMENT.read_text()))
    queues = [list(queue) for queue in QUEUES]
    running = [None] * len(queues)
    while any(queues) or any(running):
        for place, queue in enumerate(queues):
            if running[place] is None and queue:
                role, limit = queue.pop(0)
                running[place] = (begin(role, url, data, covered[role]), time.monotonic() + limit * share)
            if running[place] is not None:
                process, limit = running[place]
                if has_ended(process, limit):
                    running[place] = None
        time.sleep(0.2)


def shares(document):
    """The operations of which each role covers every case: its own, in turn with who may call them too."""
    covered, turns = {role: [] for role in ROLES}, {}
    for method, path, operation in fuzz_accounts.operations(document):
        may = entitled(path, operation)
        turn = turns.setdefault(may, cycle(may))
        covered[next(turn)].append(f"{method.upper()} {path}")
    return covered


def entitled(path, operation):
    schemes = {scheme for alternative in operation["security"] for scheme in alternative}
    if schemes and "operator_required" in operation.get("x-problem-codes", []):
        return ("operator",)
    if not schemes:
        return ("stranger", "customer") if path.startswith("/v1/storefront/{") else ("stranger",)
    if "appClient" in schemes or "/developers/" in path or "/partners/" in path:
        return ("developer",)
    if "customerToken" in schemes:
        return ("customer",)
    return ("merchant", "app") if "appToken" in schemes else ("merchant",)


def begin(role, url, data, covered):
    """Schemathesis in this role, in a process of its own."""
    settings = FOUND / f"{role}.toml"
    settings.write_text(configuration(covered))
    for old in [report_file(role), reached_file(role)]:
        old.unlink(missing_ok=True)
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", settings, "run", DOCUMENT, "--url", url,
        "--seed", str(SEED), "--phases", "examples,coverage,fuzzing", "--checks", "all", "--no-color",
        "--report-json-path", report_file(role),
    ]
    environment = {
        **os.environ, "FUZZ_ROLE": role, "FUZZ_URL": url, "FUZZ_MAILS": str(data / "mail"),
        "FUZZ_DOCUMENT": str(DOCUMENT), "FUZZ_REACHED": str(reached_file(role)),
    }
    with open(FOUND / f"{role}.txt", "w") as output:
        return subprocess.Popen(command, cwd=FOUND, env=environment, stdout=output, stderr=subprocess.STDOUT)


def configuration(covered):
    names = ", ".join(json.dumps(name) for name in covered)
    settings = (HERE / "fuzz.toml").read_text().replace("fuzz_hooks.py", str(HERE / "fuzz_hooks.py"))
    return f"""{settings}
[[operations]]
include-name = [{names}]
generation.max-examples = {MANY}

[[operations]]
exclude-name = [{names}]
generation.max-examples = {FEW}
phases.coverage.enabled = false
"""


def has_ended(process, limit):
    """Whether a process has; one that is late is told to stop, and then made to."""
    late = time.monotonic() - limit
    if process.poll() is None and late > PATIENCE:
        process.kill()
    elif process.poll() is None and late > 0 and not getattr(process, "told", False):
        process.told = True
        process.send_signal(signal.SIGINT)
    return process.poll() is not None


def report_file(role):
    return FOUND / f"{role}.json"


def reached_file(role):
    return FOUND / f"{role}.reached"


def report(role):
    try:
        return json.loads(report_file(role).read_text())
    except (OSError, ValueError):
        return None


def is_clean(report):
    """Whether it found nothing, and did look."""
    if report is None or report["operations"]["tested"] == 0:
        return False
    return not (report["failures"] or report["errors"])


def row(role):
    found = report(role)
    if found is None:
        return f"{role:10} it made no report"
    cases, answered = found["test_cases"], reached_file(role).read_text()
    stopped = "" if found["complete"] else "  told to stop"
    return (
        f"{role:10} {found['operations']['tested']:>10} {answered:>12} {cases['generated']:>7} "
        f"{cases['unique_failures']:>8}{stopped}"
    )


if __name__ == "__main__":
    main()
