"""Opens the operators' pages in headless Chromium: the overview, a drill, a load test and a report, after
each has happened, found from the local system's page about operations; on a screen, on a telephone, and as they are printed.
"""

import re
import sys
import time
import tempfile
from pathlib import Path

import system
from browser import look

RUNTIME = "/v1/operations/runtime"
PICTURES = system.TARGET
# How long a drill and a load test may take together.
PATIENCE = 120
# What each page shows: the numbers of what has happened.
SHOWN = {
    "overview": ["Runtime overview", "slow-webhooks", "storefront", "Last drill", "<svg"],
    "failover-drills": ["receiver down", "passed", "detection", "fault over", "recovery", "0 of at most 0", "<svg"],
    "load-tests": ["50 of 50", "Latency p99", "checkouts", "<svg"],
    "certification-reports": ["Controls met", "PI1.4", "as a JWS", "<svg"],
}


def main():
    with system.running() as (url, _):
        asked = {"email": "operator@example.com", "password": "demo-operator-1"}
        token = system.call(url, "POST", "/v1/auth/signin", asked)["session"]["access_token"]

        def ask(method, path, body=None, **headers):
            return system.call(url, method, path, body, authorization=f"Bearer {token}", **headers)

        def until_over(path):
            end = time.monotonic() + PATIENCE
            while ask("GET", path)["status"] not in ("completed", "failed", "stopped"):
                check(f"{path} is over in time", time.monotonic() < end)
                time.sleep(0.5)

        drill = {
            "kind": "receiver_down", "hypothesis": "Everything arrives in time.", "target": "canary",
            "duration_s": 5, "rto_s": 60, "rpo_events": 0, "confirm": True,
        }
        drills, tests = f"{RUNTIME}/failover-drills", f"{RUNTIME}/load-tests"
        until_over(f"{drills}/{ask('POST', drills, drill, Idempotency_Key='look')['id']}")
        until_over(f"{tests}/{ask('POST', tests, {'duration_s': 10, 'requests_per_second': 5})['id']}")
        now = int(time.time())
        period = {name: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
                  for name, at in [("from", now - 86_400), ("to", now)]}
        ask("POST", "/v1/operations/certification-reports", {"period": period, "framework": "soc2-like"})

        start = look(f"{url}/_local/operations", "--dump-dom")
        for name, shown in SHOWN.items():
            links = re.findall(rf'href="(/_local/operations/[^"]*{name}[^"]*)"', start)
            check(f"the page about operations links {name}", links)
            seen(url + links[0], name, shown)
    print(f"{len(SHOWN)} pages of operators are as they should be; {PICTURES}/*.png")


def seen(page, name, shown):
    text = look(page, "--dump-dom")
    for part in shown:
        check(f"{name} shows {part}", part in text)
    for size, width in [("", "1000,1100"), ("-telephone", "390,1600")]:
        picture = PICTURES / f"{name}{size}.png"
        look(page, f"--window-size={width}", f"--screenshot={picture}")
        check(f"{picture.name} shows something", picture.stat().st_size > 15_000)
    with tempfile.TemporaryDirectory() as place:
        printed = Path(place) / "page.pdf"
        look(page, f"--print-to-pdf={printed}", "--no-pdf-header-footer")
        pages = re.findall(rb"/Type\s*/Page\b", printed.read_bytes())
        check(f"{name} is printed on a few pages", 1 <= len(pages) <= 4)


def check(what, holds):
    if not holds:
        sys.exit(f"not so: {what}")


main()
