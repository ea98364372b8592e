"""Takes out of a built template what the emulated CloudFormation does not know, and says what that is:
`emulated.py <template> <where to write> <endpoint>`. Runs in the tools' environment."""

import re
import sys
from pathlib import Path

import yaml


def main():
    source, destination, endpoint = sys.argv[1:]
    template = yaml.safe_load(Path(source).read_text())
    resources, function = template["Resources"], template["Globals"]["Function"]
    # Its functions are processes of this machine: they reach it where we do.
    for service in ["DYNAMODB", "SQS", "SECRETS_MANAGER"]:
        function["Environment"]["Variables"][f"AWS_ENDPOINT_URL_{service}"] = endpoint
    del function["DeploymentPreference"]
    unknown = [name for name, resource in resources.items() if is_unknown(resource)]
    for name in unknown:
        del resources[name]
    dashboard = resources["Dashboard"]["Properties"]["DashboardBody"]
    for name in unknown:
        dashboard["Fn::Sub"] = re.sub(rf'"\$\{{{name}\.Arn\}}",?\s*', "", dashboard["Fn::Sub"])
    Path(destination).write_text(yaml.safe_dump(template, sort_keys=False))
    print(f"CodeDeploy, no routes of an OpenAPI document, no metric filters and no alarms over several metrics ({', '.join(unknown)})")


def is_unknown(resource):
    kind, properties = resource["Type"], resource.get("Properties", {})
    return kind == "AWS::Logs::MetricFilter" or (kind == "AWS::CloudWatch::Alarm" and "Metrics" in properties)


main()
