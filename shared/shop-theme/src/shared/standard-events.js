// Events of a page that themes dispatch and listen to: what was selected, changed or searched for.

export const StandardEvents = Object.freeze({
  pageView: 'shopify:page:view',
  productView: 'shopify:product:view',
  productSelect: 'shopify:product:select',
  cartView: 'shopify:cart:view',
  cartError: 'shopify:cart:error',
  cartLinesUpdate: 'shopify:cart:lines-update',
  cartNoteUpdate: 'shopify:cart:note-update',
  cartDiscountUpdate: 'shopify:cart:discount-update',
  searchUpdate: 'shopify:search:update',
  collectionView: 'shopify:collection:view',
  collectionUpdate: 'shopify:collection:update',
});

const decimal = (cents) => (Number(cents ?? 0) / 100).toFixed(2);

/** The cart of `/cart.js` with the members that events have. */
function cartFromAjax(cart) {
  if (!cart) return null;
  const money = (cents) => ({ amount: decimal(cents), currencyCode: cart.currency });
  return {
    id: cart.token,
    totalQuantity: cart.item_count,
    cost: { totalAmount: money(cart.total_price) },
    lines: (cart.items ?? []).map((item) => ({
      id: item.key,
      quantity: item.quantity,
      cost: { totalAmount: money(item.final_line_price) },
    })),
    discountCodes: cart.discount_codes ?? [],
  };
}

/** A promise with the functions that settle it. */
function deferred() {
  const settle = {};
  settle.promise = new Promise((resolve, reject) => Object.assign(settle, { resolve, reject }));
  // Nobody has to listen.
  settle.promise.catch(() => {});
  return settle;
}

const filtersOf = (parameters) =>
  [...new URLSearchParams(parameters).entries()].filter(([name]) => name.startsWith('filter.'));
const sortOf = (parameters) => new URLSearchParams(parameters).get('sort_by') ?? undefined;

export class ShopifyStandardEvent extends Event {
  static createGid = (kind, id) => (String(id).startsWith('gid:') ? String(id) : `gid://shopify/${kind}/${id}`);

  constructor(type, payload = {}, options = {}) {
    super(type, { bubbles: true, composed: true, ...options });
    for (const [name, value] of Object.entries(payload ?? {})) {
      Object.defineProperty(this, name, { value, enumerable: true, configurable: true });
    }
  }
}

/** The class of events of one type. */
function eventOf(eventName, statics = {}) {
  const of = class extends ShopifyStandardEvent {
    static eventName = eventName;

    constructor(payload) {
      super(eventName, payload);
    }
  };
  return Object.assign(of, statics);
}

const ofCart = { createPromise: deferred, createCartFromAjaxResponse: cartFromAjax };
const ofList = { createPromise: deferred, parseProductFilters: filtersOf, getSortKey: sortOf };

export const PageViewEvent = eventOf(StandardEvents.pageView);
export const ProductViewEvent = eventOf(StandardEvents.productView);
export const ProductSelectEvent = eventOf(StandardEvents.productSelect, { createPromise: deferred });
export const CartViewEvent = eventOf(StandardEvents.cartView, { createCartFromAjaxResponse: cartFromAjax });
export const CartErrorEvent = eventOf(StandardEvents.cartError);
export const CartLinesUpdateEvent = eventOf(StandardEvents.cartLinesUpdate, ofCart);
export const CartNoteUpdateEvent = eventOf(StandardEvents.cartNoteUpdate, ofCart);
export const CartDiscountUpdateEvent = eventOf(StandardEvents.cartDiscountUpdate, ofCart);
export const SearchUpdateEvent = eventOf(StandardEvents.searchUpdate, ofList);
export const CollectionViewEvent = eventOf(StandardEvents.collectionView);
export const CollectionUpdateEvent = eventOf(StandardEvents.collectionUpdate, ofList);

/** A class of elements that dispatch a view event, which nothing here listens to. */
export function createViewEventElement(Base = HTMLElement, _options = {}) {
  return class extends Base {
    dispatchViewEvent() {}
  };
}
