"""Lints template.yaml in three steps, offline.

First as it stands, which is what `sam validate --lint` does. But that passes an unknown runtime, a
misspelt event property and a batch size of 100,000. So the template is translated, as a deployment
would translate it, and the CloudFormation that comes out is linted too. Then what neither knows.
"""

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

from samtranslator.translator.transform import transform  # noqa: E402
from samtranslator.yaml_helper import yaml_parse  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "template.yaml"
RUNBOOK = ROOT / "docs/runbook.md"
# What a deployment is given; the longest plausible names, for the limits below.
PARAMETERS = {
    "BaseUrl": "https://api.example.com",
    "MailFrom": "Commerce <no-reply@example.com>",
    "AWS::Region": "us-east-1",
    "AWS::Partition": "aws",
}
STACK = "commerce-gateway-production"
# A function's resource policy takes 20,480 bytes, and every path adds a statement to it.
POLICY_BYTES = 20_480
# What only a local system carries.
EMULATOR = "dynoxide-rs"
# All inline policies of a role together take 10,240 characters, not counting white space.
ROLE_POLICY_CHARACTERS = 10_240
# The actions on a table whose requests always name a partition key. `Scan` and PartiQL's may not, and the
# condition on it would be true without one.
ON_A_PARTITION = {
    f"dynamodb:{action}"
    for action in [
        "GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "BatchWriteItem",
    ]
}
# A stack takes 500. What grows faster than families, queues and secrets do is nothing that people read.
RESOURCES = 159


class ManagedPolicies:
    """The AWS-managed policies by name, without asking IAM."""

    def load(self):
        names = [
            "AWSLambdaBasicExecutionRole",
            "AWSLambdaDynamoDBExecutionRole",
            "AWSLambdaSQSQueueExecutionRole",
            "AWSCodeDeployRoleForLambda",
        ]
        policies = {name: f"arn:aws:iam::aws:policy/service-role/{name}" for name in names}
        policies["AWSXrayWriteOnlyAccess"] = "arn:aws:iam::aws:policy/AWSXrayWriteOnlyAccess"
        return policies


def main():
    logging.disable(logging.WARNING)
    template = yaml_parse(TEMPLATE.read_text())
    faults = []
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            if resource["Properties"].get("AutoPublishAliasAllProperties") is not True:
                faults.append(f"{name} publishes no version when a setting changes")
            resource["Properties"]["CodeUri"] = "s3://placeholder/code.zip"
    translated = transform(template, PARAMETERS, ManagedPolicies())
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(translated, file)
        file.flush()
        lint(TEMPLATE, file.name)
    faults += own_rules(translated["Resources"]) + build_faults()
    for fault in faults:
        print(f"template.yaml: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"template.yaml: {len(translated['Resources'])} resources, no faults")


def lint(*templates):
    """Both at once: most of the time goes into starting."""
    command = [str(Path(sys.executable).parent / "cfn-lint"), "--regions", "us-east-1"]
    files = [str(template) for template in templates]
    outcome = subprocess.run([*command, "--format", "parseable", *files], check=False)
    if outcome.returncode != 0:
        sys.exit(outcome.returncode)


def own_rules(resources):
    """The limits that only a deployment would run into."""
    if len(resources) > RESOURCES:
        return [f"{len(resources)} resources, more than {RESOURCES}"]
    faults = []
    policies = {}
    for name, resource in resources.items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Lambda::Permission":
            function = json.dumps(properties["FunctionName"])
            size = statement_size(name, properties)
            policies[function] = policies.get(function, 100) + size
        if resource["Type"] == "AWS::IAM::Role":
            faults += role_faults(name, properties)
    for function, size in policies.items():
        print(f"resource policy of {function}: about {size} bytes")
        if size > POLICY_BYTES:
            faults.append(f"the resource policy of {function} has about {size} bytes")
    faults += visibility_faults(resources) + runbook_faults(resources)
    return faults + dashboard_faults(resources)


def build_faults():
    """What functions are built among asks for no emulator (docs/decisions.md 14.7)."""
    metadata = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["metadata"]["lambda"]["build"]
    others = [word for name in metadata["exclude"] for word in ["--exclude", name]]
    command = ["cargo", "tree", "--workspace", *others, "--edges", "normal", "--invert", EMULATOR]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # A package that only tests depend on is known to cargo, and has no tree.
    return [f"functions are built with {EMULATOR}:\n{found.stdout}"] if found.stdout.strip() else []


def statement_size(name, properties):
    """The bytes one permission adds, with the names as long as they may get."""
    source = properties.get("SourceArn")
    if isinstance(source, dict):
        source = source.get("Fn::Sub", [""])
        source = source[0] if isinstance(source, list) else source
    source = (source or "").replace("${__ApiId__}", "a" * 10).replace("${__Stage__}", "*")
    source = source.replace("${AWS::Partition}", "aws").replace("${AWS::Region}", "ap-southeast-1")
    source = source.replace("${AWS::AccountId}", "0" * 12)
    function = f"arn:aws:lambda:ap-southeast-1:{'0' * 12}:function:{STACK}-app-store:live"
    statement = {
        "Sid": f"{STACK}-{name}-{'X' * 12}",
        "Effect": "Allow",
        "Principal": {"Service": properties["Principal"]},
        "Action": properties["Action"],
        "Resource": function,
        "Condition": {"ArnLike": {"AWS:SourceArn": source}},
    }
    return len(json.dumps(statement, separators=(",", ":"))) + 1


def role_faults(name, properties):
    """A function names what it uses: no wildcard, and on the table the partition keys too."""
    faults = []
    size = 0
    for policy in properties.get("Policies", []):
        size += policy_size(policy["PolicyDocument"])
        for statement in policy["PolicyDocument"]["Statement"]:
            actions = statement["Action"]
            actions = [actions] if isinstance(actions, str) else actions
            on_items = {action for action in actions if action.startswith("dynamodb:")}
            if statement["Effect"] == "Deny" or is_to_others(statement):
                continue
            if any("*" in action for action in actions) or "*" in json.dumps(statement["Resource"]):
                faults.append(f"{name} may {actions} on {statement['Resource']}: a wildcard")
            for action in sorted(on_items - ON_A_PARTITION):
                faults.append(f"{name} may {action}, which names no partition key")
            condition = statement.get("Condition", {}).get("ForAllValues:StringLike", {})
            keys = condition.get("dynamodb:LeadingKeys", [])
            if on_items and (not keys or "*" in keys):
                faults.append(f"{name} may {actions} on every item: no leading keys")
    if size > ROLE_POLICY_CHARACTERS:
        faults.append(f"the inline policies of {name} have about {size} characters")
    elif size:
        print(f"inline policies of {name}: about {size} characters")
    return faults


def is_to_others(statement):
    """Messages to queues of other accounts, whose own policies admit the role: docs/decisions.md 11.15."""
    return (
        statement["Action"] == ["sqs:SendMessage"]
        and statement["Resource"] == [{"Fn::Sub": "arn:${AWS::Partition}:sqs:*:*:*"}]
        and statement.get("Condition") == {"StringNotEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}
    )


def policy_size(document):
    """The characters that a policy has in IAM, without white space and with the names as long as they may get."""

    def spelt(value):
        if isinstance(value, dict) and len(value) == 1:
            [(function, named)] = value.items()
            # A table, an index of it, a queue or a secret, whose names end in 13 random characters at most.
            if function in {"Ref", "Fn::GetAtt", "Fn::Sub"}:
                return f"arn:aws:secretsmanager:ap-southeast-1:{'0' * 12}:secret:{STACK}/{'X' * 24}-{'X' * 13}"
        if isinstance(value, dict):
            return {name: spelt(member) for name, member in value.items()}
        return [spelt(member) for member in value] if isinstance(value, list) else value

    return len(re.sub(r"\s", "", json.dumps(spelt(document), separators=(",", ":"))))


def runbook_faults(resources):
    """An alarm says which section of the run-book is about it, and every section has an alarm."""
    headings = re.findall(r"^## (.+)$", RUNBOOK.read_text(), re.MULTILINE)
    sections = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    faults, named = [], set()
    for name, resource in resources.items():
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            said = resource["Properties"]["AlarmDescription"]
            named |= (about := set(re.findall(r"docs/runbook\.md#([\w-]+)", said)))
            if len(about) != 1 or not about <= sections:
                faults.append(f"{name} names no section of docs/runbook.md: {said}")
    return faults + [f"docs/runbook.md: no alarm names {section}" for section in sorted(sections - named)]


def dashboard_faults(resources):
    """Every function, queue and alarm is on the dashboard, whose body is JSON."""
    [body] = [r["Properties"]["DashboardBody"]["Fn::Sub"] for r in resources.values() if "Dashboard" in r["Type"]]
    json.loads(re.sub(r"\$\{[^}]*\}", "x", body))
    shown = {"AWS::Lambda::Function", "AWS::SQS::Queue", "AWS::CloudWatch::Alarm"}
    names = [name for name, resource in resources.items() if resource["Type"] in shown]
    return [f"{name} is not on the dashboard" for name in names if not re.search(rf"\$\{{{name}\b", body)]


def visibility_faults(resources):
    """A queue's visibility is at least six times its function's time limit."""
    faults = []
    functions = {n: r["Properties"] for n, r in resources.items() if r["Type"] == "AWS::Lambda::Function"}
    for name, resource in resources.items():
        if resource["Type"] != "AWS::Lambda::EventSourceMapping":
            continue
        source = resource["Properties"]["EventSourceArn"].get("Fn::GetAtt", [""])[0]
        queue = resources.get(source, {})
        if queue.get("Type") != "AWS::SQS::Queue":
            continue
        owner = next(n for n in functions if name.startswith(n))
        visibility = queue["Properties"].get("VisibilityTimeout", 30)
        if visibility < 6 * functions[owner]["Timeout"]:
            faults.append(f"{source} hides messages for less than six times {owner}'s time limit")
    return faults


if __name__ == "__main__":
    main()
