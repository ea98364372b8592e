"""Looks at a stack, completes it where the emulator leaves something out, and puts its secrets as docs/deploy.md
§4 says: `stack.py <endpoint> <stack> <template> <keys>`. Prints what there is, as JSON. Runs in the tools' environment."""

import json
import sys
from pathlib import Path

import boto3
import yaml


def main():
    endpoint, name, template, keys = sys.argv[1:]
    clouds = boto3.client("cloudformation", endpoint_url=endpoint)
    [stack] = clouds.describe_stacks(StackName=name)["Stacks"]
    pages = clouds.get_paginator("list_stack_resources").paginate(StackName=name)
    resources = [resource for page in pages for resource in page["StackResourceSummaries"]]
    statuses = {stack["StackStatus"], *(resource["ResourceStatus"] for resource in resources)}
    if statuses != {"CREATE_COMPLETE"}:
        sys.exit(f"the stack and its resources are {statuses}")
    physical = {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}
    apis = boto3.client("apigatewayv2", endpoint_url=endpoint)
    routes = make_routes(apis, yaml.safe_load(Path(template).read_text()), physical)
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    secrets = boto3.client("secretsmanager", endpoint_url=endpoint)
    for secret, document in json.loads(Path(keys).read_text()).items():
        secrets.put_secret_value(SecretId=outputs["Secrets"] + secret, SecretString=json.dumps(document))
    print(json.dumps({
        "api": outputs["ApiEndpoint"], "shops": outputs["ShopEndpoint"], "resources": len(resources), "routes": routes,
    }))


def make_routes(apis, template, physical):
    """The routes of both APIs: API Gateway makes them of its OpenAPI document, and the emulator does not."""
    routes = 0
    for name, resource in template["Resources"].items():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            if event["Type"] == "HttpApi":
                api = physical[event["Properties"]["ApiId"]["Ref"]]
                make_route(apis, api, event["Properties"], physical[f"{name}Aliaslive"])
                routes += 1
    return routes


def make_route(apis, api, event, function):
    made = apis.create_integration(
        ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=function, PayloadFormatVersion="2.0",
    )
    key = event["Path"] if event["Path"] == "$default" else f"{event['Method']} {event['Path']}"
    apis.create_route(ApiId=api, RouteKey=key, Target=f"integrations/{made['IntegrationId']}")


main()
