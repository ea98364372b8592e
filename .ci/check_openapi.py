"""docs/openapi.json by a public validator of OpenAPI 3.1."""

import json
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator

document = json.load(open("docs/openapi.json"))
faults = list(OpenAPIV31SpecValidator(document).iter_errors())
for fault in faults[:20]:
    print("/".join(str(part) for part in fault.absolute_path), fault.message[:300])
if faults:
    sys.exit(f"{len(faults)} faults")
print(f"docs/openapi.json: {sum(len(item) for item in document['paths'].values())} operations are valid")
