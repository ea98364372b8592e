"""A journey through a local system (`cargo run -p local`), whose address is in GATEWAY_URL."""

import asyncio
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue

import pytest

from commerce_gateway import AsyncGateway, Gateway, errors, models, verify_webhook

URL = os.environ.get("GATEWAY_URL", "http://127.0.0.1:3000")
SUBDOMAIN = "demo-store"
DELIVERIES: Queue[tuple[bytes, dict[str, str]]] = Queue()


class Receiver(BaseHTTPRequestHandler):
    """Receives deliveries."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        DELIVERIES.put((body, dict(self.headers.items())))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def signed_in() -> tuple[str, str]:
    """The token of the demo's merchant, and the demo store's id."""
    with Gateway(URL) as guest:
        signed_in = guest.sign_in(body={"email": "demo@example.com", "password": "demo-merchant-1"})
    token = signed_in.session.access_token
    with Gateway(URL, token=token) as merchant:
        store = next(store for store in merchant.list_stores() if store.subdomain == SUBDOMAIN)
    return token, store.id


ADDRESS = {
    "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road", "city": "Bengaluru", "region": "KA",
    "postal_code": "560001", "country": "IN",
}


def test_sign_in_list_check_out_mark_paid_and_verify_the_webhook(receiver: str) -> None:
    token, store = signed_in()
    with Gateway(URL) as shopper, Gateway(URL, token=token, store_id=store) as merchant:
        hook = merchant.create_webhook_subscription(body={"url": receiver, "event_types": ["order.paid"]})
        product = next(product for product in shopper.list_storefront_products(SUBDOMAIN, limit=5) if product.in_stock)
        assert product.variants
        items = [{"variant_id": product.variants[0].id, "quantity": 1}]
        placed = shopper.place_order(
            SUBDOMAIN, body={"email": "shopper@example.com", "items": items, "shipping_address": ADDRESS}
        )
        assert isinstance(placed, models.PlacedOrder)
        paid = merchant.mark_order_paid(placed.order.id, body={})
    assert paid.financial_status == "paid"
    body, headers = DELIVERIES.get(timeout=30)
    event = verify_webhook(body, headers, hook.secret)
    assert event.type == "order.paid"


def test_problems_are_errors_of_the_class_of_their_code() -> None:
    token, store = signed_in()

    async def asked() -> None:
        async with AsyncGateway(URL, token=token, store_id=store) as merchant:
            with pytest.raises(errors.NotFoundError):
                await merchant.get_order("ord_" + "0" * 32)
            with pytest.raises(errors.ValidationFailedError) as caught:
                await merchant.create_product(body={"title": ""})
            assert "/title" in [error.pointer for error in caught.value.errors]
            assert [order async for order in merchant.list_orders(limit=1)]

    asyncio.run(asked())
