"""Rewrites an OpenAPI 3.1 document as OpenAPI 3.0.3, for generators that read nothing newer: of standard input, to
standard output. Each operation keeps one media type of its body, and one type of its successes and of its errors, which is
what progenitor takes; an operation whose body is neither JSON, a form nor bytes is left out, and named on standard error.
"""

import json
import sys

# What 3.0 does not have, or has in another form.
UNKNOWN = {"examples", "x-enum-descriptions", "contentEncoding", "contentMediaType", "propertyNames", "patternProperties"}
VERBATIM = {"example", "default", "enum"}
BODIES = {"application/json", "application/x-www-form-urlencoded", "application/octet-stream"}


def main():
    document = json.load(sys.stdin)
    document["openapi"] = "3.0.3"
    document.pop("webhooks", None)
    document["info"].pop("summary", None)
    document["info"]["license"].pop("identifier", None)
    document = rewritten(document)
    responses = document["components"]["responses"]
    for path, operations in document["paths"].items():
        for method in list(operations):
            operation = operations[method]
            if keep_one_body(operation):
                spell_out_default(operation["responses"], responses)
                keep_one_type(operation["responses"], responses)
            else:
                del operations[method]
                print(f"left out: {method.upper()} {path}", file=sys.stderr)
    json.dump(document, sys.stdout)


def rewritten(part):
    if isinstance(part, list):
        return [rewritten(element) for element in part]
    if not isinstance(part, dict):
        return part
    known = {name: value for name, value in part.items() if name not in UNKNOWN}
    part = {name: value if name in VERBATIM else rewritten(value) for name, value in known.items()}
    make_nullable(part)
    if "const" in part:
        part["enum"] = [part.pop("const")]
    if "$ref" in part and len(part) > 1:
        part["allOf"] = [{"$ref": part.pop("$ref")}]
    return part


def make_nullable(schema):
    """Says in 3.0's way what may be null."""
    types = schema.get("type")
    if isinstance(types, list):
        others = [name for name in types if name != "null"]
        schema.pop("type")
        if len(others) == 1:
            schema["type"] = others[0]
        elif others:
            schema["anyOf"] = [{"type": name, "items": {}} if name == "array" else {"type": name} for name in others]
        if "null" in types:
            schema["nullable"] = True
    for name in ["anyOf", "oneOf"]:
        others = [one for one in schema.get(name, []) if one != {"type": "null"}]
        if len(others) == len(schema.get(name, [])):
            continue
        schema["nullable"] = True
        schema.pop(name)
        schema["allOf" if len(others) == 1 else name] = others


def keep_one_body(operation):
    contents = operation.get("requestBody", {}).get("content")
    if contents is None:
        return True
    kept = next((kind for kind in contents if kind in BODIES), None)
    if kept is None:
        return False
    if kept == "application/octet-stream":
        contents[kept]["schema"] = {"type": "string", "format": "binary"}
    operation["requestBody"]["content"] = {kept: contents[kept]}
    return True


def spell_out_default(responses, shared):
    """Names the statuses of the default response, which progenitor takes for a success as well."""
    default = responses.pop("default", None)
    if default:
        for status in shared[default["$ref"].split("/")[-1]]["x-statuses"]:
            responses.setdefault(str(status), default)


def keep_one_type(responses, shared):
    kept = {}
    for status in sorted(responses):
        response = responses[status]
        contents = response.get("content", {})
        if len(contents) > 1:
            kind = "application/json" if "application/json" in contents else next(iter(contents))
            response["content"] = {kind: contents[kind]}
        schema = schema_of(shared[response["$ref"].split("/")[-1]] if "$ref" in response else response)
        is_first = kept.setdefault(status[0] == "2", schema) == schema
        if status[0] == "3" or not is_first:
            del responses[status]


def schema_of(response):
    contents = list(response.get("content", {}).values())
    return json.dumps(contents[0]["schema"], sort_keys=True) if contents else ""


main()
