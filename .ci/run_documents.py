"""Runs the documents' own text: every `sh` block of README.md, docs/quickstart.md and docs/webhooks.md, in
order, each document in a shell of its own, against one local system on free ports. The first step that fails
ends it.

What differs from the text: the ports, and where the Python packages come from (.venv). What is only
shown and not run is a `console` block. With an argument, that binary of `local` is run; without one it
is built. With `--against <api> <payment providers>` nothing is started: these are there already, and what
asks SQS is left out, for only a local system has it beside its API. Documents that are named are run alone.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import system

ROOT = system.ROOT
API = "http://127.0.0.1:3000"
PROVIDERS = "http://127.0.0.1:3100"
RECEIVERS = ["4900", "4901"]
SQS = "http://127.0.0.1:9324"
INSTALL = "python3 -m venv $WORK/venv && $WORK/venv/bin/pip install -q standardwebhooks joserfc"
INSTALL_POLLING = "python3 -m venv $WORK/venv && $WORK/venv/bin/pip install -q standardwebhooks boto3"
# Before the text of each document.
STRICT = """set -euo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
"""
# The drills alone take some six minutes.
LIMIT = 900


class Document:
    """A document, what is replaced in it, and what must have been said at its end."""

    def __init__(self, name, blocks, replaced, said):
        self.name, self.blocks, self.replaced, self.said = name, blocks, replaced, said

    def script(self):
        text = (ROOT / self.name).read_text()
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        if len(blocks) != self.blocks:
            self.fail(f"{len(blocks)} blocks to run, not {self.blocks}; mend one of both")
        return STRICT + "\n".join(blocks)

    def fail(self, why):
        sys.exit(f"{self.name}: {why}")


DOCUMENTS = [
    Document("README.md", 1, [API], [r'"handle":', r'"has_more":', r'"email":"demo@example\.com"']),
    Document(
        "docs/quickstart.md", 27, [API, PROVIDERS, *RECEIVERS, INSTALL],
        [r"^verified by standardwebhooks: store\.updated$", r"^verified by openssl: order\.paid$", r"^paid$",
         r"^refunded$", r"^2 Atlas 129900 12990 0 116910\n1 Lamp 20005 2001 3241 21245\nshipping 9900 0 238 10138\n"
         r"total 149905 14991 9900 3479 148293$", r"^21245$", r"^the draft is in the preview$", r"^the draft is live$",
         r"^it is rolled back$", r"^queue_unavailable: passed, lost 0, ", r"^load test: 45 reads, 5 checkouts$",
         r"^recovered ([123]) of \1$", r"^3 events have arrived$", r"^verified by joserfc: ", r"^the evidence is the report's$"],
    ),
    Document(
        "docs/webhooks.md", 2, [API, SQS, INSTALL_POLLING],
        [r"^confirmed: enabled$", r"^verified by standardwebhooks: store\.updated$"],
    ),
]


def main():
    named = [document for document in DOCUMENTS if document.name in sys.argv]
    sys.argv = [argument for argument in sys.argv if argument not in {document.name for document in named}]
    scripts = [(document, document.script()) for document in named or DOCUMENTS]
    sqs_port = str(system.free_port())
    with tempfile.TemporaryDirectory() as work, addresses(sqs_port) as (api, providers):
        places = {API: api, PROVIDERS: providers, SQS: f"http://127.0.0.1:{sqs_port}"}
        for document, text in scripts:
            if SQS in document.replaced and sys.argv[1:2] == ["--against"]:
                continue
            said = run(document, replaced(document, text, places), work)
            missing = [wanted for wanted in document.said if not re.search(wanted, said, re.M)]
            if missing:
                document.fail(f"nothing said {missing}:\n{said}")
            print(f"{document.name}: every step works", flush=True)


def addresses(sqs_port):
    """Where the API and the payment providers are: those that are named, or those of a system of its own."""
    if sys.argv[1:2] == ["--against"]:
        return contextlib.nullcontext(sys.argv[2:4])
    return system.running("--sqs-port", sqs_port)


def replaced(document, text, addresses):
    places = {
        **addresses,
        **{port: str(system.free_port()) for port in RECEIVERS},
        **{install: f"ln -s {sys.prefix} $WORK/venv" for install in [INSTALL, INSTALL_POLLING]},
    }
    for old in document.replaced:
        if old not in text:
            document.fail(f"{old} is not in the text any more; mend {__file__}")
        text = text.replace(old, places[old])
    return text


def run(document, text, work):
    file = Path(work) / "document.sh"
    file.write_text(text)
    environment = {**os.environ, "TMPDIR": work}
    try:
        done = subprocess.run(
            ["bash", file], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL, timeout=LIMIT, check=False,
        )
    except subprocess.TimeoutExpired as late:
        document.fail(f"not done after {LIMIT} s:\n{(late.stdout or b'').decode()}")
    if done.returncode != 0:
        document.fail(f"a step failed, after this was said:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main()
