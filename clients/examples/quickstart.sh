set -euo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR; trap 'unsubscribe || true; kill $(jobs -p) 2>/dev/null || true' EXIT
API=${GATEWAY_URL:-http://127.0.0.1:3000}
WORK=$(mktemp -d); RUN=$RANDOM$RANDOM
field() { python3 -c 'import json, sys
text = sys.stdin.read()
try:
    value = json.loads(text)
    for key in sys.argv[1].split("."): value = value[int(key)] if key.isdigit() else value[key]
except (ValueError, LookupError, TypeError): sys.exit(f"no {sys.argv[1]} in: {text}")
print(value)' "$1"; }
call() { curl -sS --fail-with-body "$@"; }
post() { local path=$1 body=$2; shift 2; call "$API$path" -H 'Content-Type: application/json' -d "$body" "$@"; }
unsubscribe() {
  test -s $WORK/first/subscription || return 0
  call -X DELETE $API/v1/operations/webhook-subscriptions/$(field id < $WORK/first/subscription) -H "Authorization: Bearer $TOKEN"
  rm $WORK/first/subscription
}
until_true() { local i; for i in $(seq 100); do "$@" && return; sleep 0.1; done; echo "not within 10 s: $*" >&2; return 1; }

TOKEN=$(post /v1/auth/signin '{"email":"demo@example.com","password":"demo-merchant-1"}' | field session.access_token)
call $API/v1/stores -H "Authorization: Bearer $TOKEN" | field data.0.name

call "$API/v1/storefront/demo-store/products?limit=3" > $WORK/products.json
python3 -c 'import json, sys
for product in json.load(sys.stdin)["data"]: print(product["title"], product["price"]["amount"])' < $WORK/products.json
VARIANT=$(field data.0.variants.0.id < $WORK/products.json)

cat > $WORK/listen.py <<'PY'
import http.server, os, sys
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"]:
            open(name, "w").write(self.headers[name])
        open("body.part", "wb").write(body); os.rename("body.part", "body")
        self.send_response(204); self.end_headers()
    def log_message(self, *args): pass
os.chdir(sys.argv[1])
server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
open("port.part", "w").write(str(server.server_port)); os.rename("port.part", "port")
server.serve_forever()
PY
mkdir $WORK/first; python3 $WORK/listen.py $WORK/first & LISTENER=$!
until_true test -e $WORK/first/port
post /v1/operations/webhook-subscriptions '{"url":"http://127.0.0.1:'$(cat $WORK/first/port)'/","event_types":["order.paid"]}' -H "Authorization: Bearer $TOKEN" > $WORK/first/subscription

post /v1/storefront/demo-store/orders '{"email":"guest@example.com","items":[{"variant_id":"'$VARIANT'","quantity":1}],"shipping_address":{"first_name":"Gita","last_name":"Rao","line1":"1 MG Road","city":"Bengaluru","region":"KA","postal_code":"560001","country":"IN"},"payment":{"provider":"manual"}}' -H "Idempotency-Key: $(openssl rand -hex 16)" > $WORK/order.json
post /v1/orders/$(field order.id < $WORK/order.json)/mark-paid '{}' -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(openssl rand -hex 16)" | field financial_status

until_true test -e $WORK/first/body; cd $WORK/first
KEY=$(field secret < subscription | sed s/^whsec_// | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
MAC=$( { printf %s. "$(cat webhook-id)" "$(cat webhook-timestamp)"; cat body; } | openssl dgst -sha256 -mac HMAC -macopt hexkey:$KEY -binary | openssl base64 -A)
grep -qF "v1,$MAC" webhook-signature; echo "verified by openssl: $(field type < body)"
unsubscribe; kill $LISTENER; cd "$OLDPWD"
