import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import islice
from queue import Queue

from commerce_gateway import Gateway, WebhookVerificationError, models, verify_webhook

URL = os.environ.get("GATEWAY_URL", "http://127.0.0.1:3000")
guest = Gateway(URL)

signed_in = guest.sign_in(body={"email": "demo@example.com", "password": "demo-merchant-1"})
merchant = Gateway(URL, token=signed_in.session.access_token)
for store in merchant.list_stores():
    print(store.name)

products = list(islice(guest.list_storefront_products("demo-store", limit=3), 3))
for product in products:
    print(product.title, product.price.amount)
assert products[0].variants
variant_id = products[0].variants[0].id

received: Queue[models.WebhookEvent] = Queue()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            received.put(verify_webhook(body, dict(self.headers.items()), subscription.secret))
            self.send_response(204)
        except WebhookVerificationError:
            self.send_response(401)
        self.end_headers()


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
subscription = merchant.create_webhook_subscription(
    body={"url": f"http://127.0.0.1:{server.server_port}/", "event_types": ["order.paid"]}
)

def place_order() -> None:
    address = {
        "first_name": "Gita", "last_name": "Rao", "line1": "1 MG Road", "city": "Bengaluru", "region": "KA",
        "postal_code": "560001", "country": "IN",
    }
    placed = guest.place_order("demo-store", body={
        "email": "guest@example.com",
        "items": [{"variant_id": variant_id, "quantity": 1}],
        "shipping_address": address,
        "payment": {"provider": "manual"},
    })
    assert isinstance(placed, models.PlacedOrder)
    print(merchant.mark_order_paid(placed.order.id, body={}).financial_status)

try:
    place_order()
    print("verified:", received.get(timeout=30).type)
finally:
    merchant.delete_webhook_subscription(subscription.id)
