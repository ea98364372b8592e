import { type CommerceGateway, type Schemas, VersionConflictError } from "commerce-gateway";

/** The key in an order's metadata under which the app notes that it is packed. */
export const PACKED_AT = "packing_list_packed_at";
const MOST_ORDERS = 50;
/** What a merchant may send out: a refund of one line leaves the others to be packed. */
const PAID: ReadonlySet<Schemas["FinancialStatus"]> = new Set(["paid", "partially_refunded"]);

export interface OrderToPack {
  id: string;
  number: string;
  placedAt: string;
  city: string | null;
  lines: { quantity: number; title: string; variant: string | null; sku: string | null }[];
}

/** Paid orders that have units to be fulfilled and are not packed: the newest of them, the oldest first. */
export async function ordersToPack(gateway: CommerceGateway): Promise<OrderToPack[]> {
  const found: OrderToPack[] = [];
  for (const fulfillment_status of ["unfulfilled", "partially_fulfilled"] as const) {
    const query = { status: "open", fulfillment_status, limit: MOST_ORDERS } as const;
    for await (const order of gateway.list("/v1/orders", { params: { query } })) {
      if (found.length >= MOST_ORDERS) break;
      if (isToPack(order)) found.push(toPack(order));
    }
  }
  return found.sort((one, other) => one.placedAt.localeCompare(other.placedAt));
}

function isToPack(order: Schemas["Order"]): boolean {
  return PAID.has(order.financial_status) && !order.on_hold && !order.metadata[PACKED_AT] && toPack(order).lines.length > 0;
}

function toPack(order: Schemas["Order"]): OrderToPack {
  const lines = order.items
    .filter(({ remaining, requires_shipping }) => remaining > 0 && requires_shipping)
    .map(({ remaining, title, variant_title, sku }) => ({ quantity: remaining, title, variant: variant_title, sku }));
  const { id, number, created_at: placedAt, shipping_address } = order;
  return { id, number, placedAt, city: shipping_address?.city ?? null, lines };
}

/** Notes in the order's metadata that it is packed. It is written on the version that was read: nobody's change is lost. */
export async function markPacked(gateway: CommerceGateway, id: string, tries = 3): Promise<void> {
  const path = { id };
  const order = await gateway.get("/v1/orders/{id}", { params: { path } });
  if (order.metadata[PACKED_AT]) return;
  const metadata = { ...order.metadata, [PACKED_AT]: new Date().toISOString() };
  const header = { "If-Match": `"${order.version}"` };
  try {
    await gateway.patch("/v1/orders/{id}", { params: { path, header }, body: { metadata } });
  } catch (error) {
    if (!(error instanceof VersionConflictError) || tries <= 1) throw error;
    return markPacked(gateway, id, tries - 1);
  }
}
