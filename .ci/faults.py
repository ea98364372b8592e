#!/usr/bin/env python3
"""Runs the black-box tests while calls of the table go wrong as they do in a deployment, and says what came
of it: `just faults`, or `.ci/faults.py [--plan 5%:42] [names …]`. Ends with a failure when a test does, when
fewer than 99.9 % of all requests are answered, or when too little went wrong to say anything."""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

NOTES = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "debug/faults"
KINDS = ["throttle", "conflict", "lost", "slow", "stale", "short", "leftover"]
# What is left out, by a part of its name, and why.
LEFT_OUT = {
    "counts round trips, units or writes exactly; what is tried again is counted again": [
        "costs::",
        "cross::growth::",
        "limits::headers::free_requests_have",
        "limits::leases::",
        "limits::rejections::forged_sessions",
        "limits::rejections::unknown_storefronts",
        "limits::rejections::authenticated_callers_are_served",
        "oauth_requests_take_at_most_three_round_trips",
        "a_suspended_apps_tokens_are_rejected",
        "an_unknown_address_and_a_wrong_password_are_answered_alike",
        "records::a_page_without_matches_ends",
        "placing::an_order_is_found_by_its_number",
        "placing::an_orders_timeline_includes",
        "paying::order_numbers_and_payment_ids_resolve",
        "reading_a_product_takes_two_round_trips",
        "storefront::product_summaries::",
        "charges::shipping_tax_and_discount_consume",
        "a_two_line_checkout_takes",
        "accounts::account_requests_do_not_reveal",
        "email::an_email_change_does_not_reveal",
        "an_account_sends_at_most_ten_mails_of_a_kind", "mail_requests_are_limited_to_ten_an_hour",
        "storefront::response_cache::",
        "a_warm_storefront_takes",
        "storefront::filter_costs::",
        "page::a_product_page_contains_all_current",
        "page::a_product_page_costs",
        "page::stock_of_many_variants_at_many_locations",
        "search::a_search_reads_only",
        "search::variants_are_found",
        "store::the_store_page_includes",
        "branding::branding_is_updated_field_by_field",
        "roles::a_member_request_costs_the_same_reads",
        "canary::other_stores_neither_read_nor_meet",
    ],
    "measures how far apart things happen; what is tried again happens later": [
        "replays::a_replay_respects_its_rate",
    ],
    "has calls go wrong of its own": [
        "cross::faults::",
        "an_old_event_is_published_after_an_outage",
        "metrics::percentiles_errors_and_throttles",
        "interrupted::an_interrupted_replay_step",
    ],
    "asks whether every answer was documented, of which a troubled run keeps no notes": [
        "cross::reference::",
        "cross::deployment::",
    ],
}


def run(plan, names, threads):
    """The test run's output, of which is shown what is not as it should be."""
    skipped = [part for parts in LEFT_OUT.values() for name in parts for part in ("--skip", name)]
    command = ["cargo", "test", "--test", "it", "--", f"--test-threads={threads}", *skipped, *names]
    environment = {**os.environ, "SERVICE_FAULTS": plan}
    lines = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as tests:
        for line in tests.stdout:
            lines.append(line)
            if not line.rstrip().endswith("... ok"):
                print(line, end="", flush=True)
    return "".join(lines)


def added_up():
    """What all systems of the run have met and answered."""
    sums, happened = collections.Counter(), collections.Counter()
    for file in NOTES.iterdir() if NOTES.exists() else []:
        for line in file.read_text().splitlines():
            note = json.loads(line)
            happened.update(note.pop("happened"))
            sums.update(note)
    return sums, happened


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plan", default="5%:42")
parser.add_argument("--threads", type=int, default=6)
parser.add_argument("names", nargs="*")
options = parser.parse_args()
shutil.rmtree(NOTES, ignore_errors=True)
output = run(options.plan, options.names, options.threads)
results = re.findall(r"test result: .*?(\d+) passed; (\d+) failed; .*?(\d+) filtered out", output)
passed, failed, left_out = (sum(int(result[i]) for result in results) for i in range(3))
sums, happened = added_up()
wrong, requests = sum(happened.values()), sums["requests"]
share = 100 * (1 - sums["in_vain"] / requests) if requests else 0
print(f"\nUnder {options.plan}: {passed} tests passed, {failed} failed, {left_out} were left out.")
print(
    f"{requests} requests, {share:.3f} % of them answered: {sums['again']} were sent again as they were told, "
    f"{sums['in_vain']} in vain."
)
each = ", ".join(f"{kind} {happened[kind]}" for kind in KINDS)
print(f"Of {sums['calls']} calls of the table {wrong} went wrong: {each}.")
# A run of a few tests need not meet all kinds.
is_telling = wrong > 0 and (bool(options.names) or all(happened[kind] for kind in KINDS))
if not results or failed or share < 99.9 or not is_telling:
    sys.exit("Not as it should be.")
