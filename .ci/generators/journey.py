"""A journey through a local system by the client that openapi-python-client generates."""

import os
import uuid

from commerce_gateway_client import AuthenticatedClient, Client
from commerce_gateway_client.api.auth import sign_in
from commerce_gateway_client.api.orders import mark_order_paid
from commerce_gateway_client.api.storefront import list_storefront_products, place_order
from commerce_gateway_client.api.stores import list_stores
from commerce_gateway_client.models import (
    MarkOrderPaidRequest, PlaceOrderRequest, SignInRequest,
)

URL = os.environ.get("GATEWAY_URL", "http://127.0.0.1:3000")
ADDRESS = {
    "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road", "city": "Bengaluru", "region": "KA",
    "postal_code": "560001", "country": "IN",
}

guest = Client(base_url=URL)
credentials = SignInRequest.from_dict({"email": "demo@example.com", "password": "demo-merchant-1"})
signed_in = sign_in.sync(client=guest, body=credentials)
token = signed_in.to_dict()["session"]["access_token"]
merchant = AuthenticatedClient(base_url=URL, token=token)
store = next(store for store in list_stores.sync(client=merchant).data if store.subdomain == "demo-store")
products = list_storefront_products.sync(store.subdomain, client=guest, limit=5)
variant = next(product for product in products.data if product.in_stock).variants[0]
cart = PlaceOrderRequest.from_dict(
    {"email": "shopper@example.com", "items": [{"variant_id": variant.id, "quantity": 1}], "shipping_address": ADDRESS}
)
placed = place_order.sync(store.subdomain, client=guest, body=cart, idempotency_key=str(uuid.uuid4()))
order = placed.to_dict()["order"]["id"]
paid = mark_order_paid.sync(
    order, client=merchant, body=MarkOrderPaidRequest.from_dict({}), x_service_store_id=store.id
)
assert paid.to_dict()["financial_status"] == "paid", paid
