"""Prices carts as docs/commerce.md says it, with exact fractions, and writes them with their figures:

    python3 shared/sales/src/order/tests/carts.py               # forty carts, to carts.json beside it
    python3 shared/sales/src/order/tests/carts.py 10000 7 FILE  # that many random carts, from the seed 7

It shares nothing with the server's own sums: where the two differ, one of them has misread the document."""

import json
import random
import sys
from fractions import Fraction
from functools import partial
from math import floor
from pathlib import Path


def half_up(exact):
    return floor(exact + Fraction(1, 2))


def part_of(amount, basis_points, whole=10000):
    return half_up(Fraction(amount * basis_points, whole))


def divide(amount, weights):
    """By the largest remainder; of equal ones the earlier comes first."""
    whole = sum(weights)
    if whole == 0:
        return [0] * len(weights)
    parts = [amount * weight // whole for weight in weights]
    order = sorted(range(len(weights)), key=lambda n: -(amount * weights[n] % whole))
    for n in order[: amount - sum(parts)]:
        parts[n] += 1
    return parts


def subtotal(line):
    return line["price"] * line["quantity"]


def is_named(line, products):
    return not products or line["product"] in products


def can_be_used(discount, lines):
    its_lines = [line for line in lines if is_named(line, discount["applies_to"])]
    return (
        bool(its_lines)
        and sum(map(subtotal, its_lines)) >= (discount["minimum_subtotal"] or 0)
        and sum(line["quantity"] for line in its_lines) >= (discount["minimum_quantity"] or 0)
    )


def units_given(discount, lines):
    """How many units of each line are got, the cheapest first, without those that have to be bought."""
    is_bought = [is_named(line, discount["applies_to"]) for line in lines]
    is_got = [is_named(line, discount["get"] or discount["applies_to"]) for line in lines]
    count = lambda chosen: sum(line["quantity"] for line, is_chosen in zip(lines, chosen) if is_chosen)
    bought, got, both = count(is_bought), count(is_got), count(map(all, zip(is_bought, is_got)))
    buy, get = discount["buy_quantity"], discount["get_quantity"]
    times = min(bought // buy, got // get, (bought + got - both) // (buy + get))
    if discount["uses_per_order"] is not None:
        times = min(times, discount["uses_per_order"])
    to_give, of_both = times * get, both - max(0, times * buy - (bought - both))
    given = [0] * len(lines)
    for n in sorted(range(len(lines)), key=lambda n: lines[n]["price"]):
        if is_got[n]:
            given[n] = min(lines[n]["quantity"], to_give, of_both if is_bought[n] else to_give)
            to_give -= given[n]
            of_both -= given[n] if is_bought[n] else 0
    return given


def taken_off(discount, lines, left):
    """What it takes off each line, of what is left of it."""
    if discount["kind"] == "free_shipping":
        return [0] * len(lines)
    if discount["kind"] == "buy_x_get_y":
        worth = [line["price"] * units for line, units in zip(lines, units_given(discount, lines))]
        return [min(part_of(price, discount["basis_points"]), rest) for price, rest in zip(worth, left)]
    weights = [rest if is_named(line, discount["applies_to"]) else 0 for line, rest in zip(lines, left)]
    if discount["kind"] == "percentage":
        return divide(part_of(sum(weights), discount["basis_points"]), weights)
    return divide(min(discount["amount"], sum(weights)), weights)


def goods_of(lines, amounts):
    """Of these amounts, one for each line, the sum of those that are sent."""
    return sum(amount for line, amount in zip(lines, amounts) if line["is_sent"])


def cost_of_sending(rate, goods):
    is_free = rate is None or (rate["free_over"] is not None and goods >= rate["free_over"])
    return 0 if is_free else rate["price"]


def left_by(discount, lines, left):
    return [rest - part for rest, part in zip(left, taken_off(discount, lines, left))]


def discounted(cart):
    """What is left of each line, and whether sending is free by a discount. `max` finds the oldest of equal ones."""
    lines, code, used = cart["lines"], cart["code"], []
    left = [subtotal(line) for line in lines]
    frees_sending = lambda discount: discount["kind"] == "free_shipping"
    if code:
        assert can_be_used(code, lines)
        left, used = left_by(code, lines, left), [code]
    sending = 0 if any(map(frees_sending, used)) else cost_of_sending(cart["rate"], goods_of(lines, left))
    saved = lambda discount: sending if frees_sending(discount) else sum(taken_off(discount, lines, left))
    if automatic := [discount for discount in cart["automatic"] if can_be_used(discount, lines)]:
        used.append(max(automatic, key=saved))
        left = left_by(used[-1], lines, left)
    return left, any(map(frees_sending, used))


def compact(code):
    return "".join(c for c in code.upper() if c.isascii() and c.isalnum())


def covers(rate, place):
    code = compact(place["postal_code"] or "")
    if rate["prefix"] and not code.startswith(rate["prefix"]):
        return False
    if rate["range"] and not rate["range"][0] <= code[: len(rate["range"][0])] <= rate["range"][1]:
        return False
    return rate["country"] == place["country"] and rate["region"] in (None, place["region"])


def narrowness(rate):
    """A country, then a region of it, then postal codes: the more they have in common, the narrower."""
    common = -1
    if rate["prefix"]:
        common = len(rate["prefix"])
    if rate["range"]:
        common = next((n for n, (a, b) in enumerate(zip(*rate["range"])) if a != b), len(rate["range"][0]))
    return (common, rate["region"] is not None)


def rates_at(cart, place, tax_class):
    here = [rate for rate in cart["tax_rates"] if covers(rate, place)]
    found = []
    for level in sorted({narrowness(rate) for rate in here}, reverse=True):
        of = lambda name: [rate for rate in here if narrowness(rate) == level and rate["tax_class"] == name]
        own = of(tax_class) or of(None)
        found = own + found
        if own and not all(rate["combines"] for rate in own):
            break
    return found


def rates_of_class(cart, tax_class):
    return [] if cart["is_exempt"] else rates_at(cart, cart["place"], tax_class)


def levied(left, rates, is_included):
    """The tax on what is left, by the name of its rate."""
    percent = lambda rate: Fraction(rate["percent"])
    whole = 100 + (sum(map(percent, rates)) if is_included else 0)
    taxes, rest = {}, left
    for rate in rates:
        tax = half_up(left * percent(rate) / whole)
        taxes[rate["name"]] = min(tax, rest) if is_included else tax
        rest -= taxes[rate["name"]]
    return taxes


def deducted(cart, tax_class):
    """The rates of the store's place that a price loses, where its buyer pays no tax."""
    is_taxed = any(Fraction(rate["percent"]) for rate in rates_of_class(cart, tax_class))
    deducts = cart["prices_include_tax"] and cart["deducts"] and not is_taxed
    return rates_at(cart, cart["home"], tax_class) if deducts else []


def with_net_prices(cart):
    def net(line):
        taxes = levied(line["price"], deducted(cart, line["tax_class"]), True)
        return {**line, "price": line["price"] - sum(taxes.values())}

    return {**cart, "lines": [net(line) for line in cart["lines"]]}


def groups_of(cart, left, rates_of):
    """What is left of the goods that are sent, by the rates that tax their shipping."""
    groups = []
    for line, rest in zip(cart["lines"], left):
        if line["is_sent"]:
            rates = [rate for rate in rates_of(line["tax_class"]) if rate["on_shipping"]]
            known = next((group for group in groups if group[0] == rates), None)
            if known:
                known[1] += rest
            else:
                groups.append([rates, rest])
    return [max(groups, key=lambda group: group[1])] if cart["shipping_tax"] == "dominant" else groups


def divided(amount, groups):
    weights = [weight for _, weight in groups]
    return divide(amount, weights if any(weights) else [1] * len(weights))


def shipping_taxes(cart, amount, groups, is_included):
    taxes = {}
    for part, (rates, _) in zip(divided(amount, groups), groups):
        for name, tax in levied(part, rates, is_included).items():
            taxes[name] = taxes.get(name, 0) + tax
    return taxes


def net_shipping(cart, price, left):
    if not any(deducted(cart, line["tax_class"]) for line in cart["lines"]):
        return price
    groups = groups_of(cart, left, lambda tax_class: rates_at(cart, cart["home"], tax_class))
    return price - sum(shipping_taxes(cart, price, groups, True).values())


def charge(cart, price, discount, taxes):
    """A line, or the shipping: its discount, its tax and its total."""
    tax = sum(taxes.values())
    return {"discount": discount, "tax": tax, "total": price - discount + (0 if cart["prices_include_tax"] else tax)}


def priced(cart):
    cart = with_net_prices(cart)
    left, is_sent_free = discounted(cart)
    included = cart["prices_include_tax"]
    of_line = lambda line, rest: levied(rest, rates_of_class(cart, line["tax_class"]), included)
    taxes = [of_line(line, rest) for line, rest in zip(cart["lines"], left)]
    prices = [subtotal(line) for line in cart["lines"]]
    lines = [charge(cart, price, price - rest, tax) for price, rest, tax in zip(prices, left, taxes)]
    shipping = None
    if cart["rate"]:
        price = net_shipping(cart, cost_of_sending(cart["rate"], goods_of(cart["lines"], left)), left)
        discount = price if is_sent_free else 0
        groups = groups_of(cart, left, partial(rates_of_class, cart))
        taxes.append(shipping_taxes(cart, price - discount, groups, included))
        shipping = {"price": price, **charge(cart, price, discount, taxes[-1])}
    charges = lines + ([shipping] if shipping else [])
    names = [rate["name"] for rate in cart["tax_rates"] if any(rate["name"] in tax for tax in taxes)]
    return {
        "lines": lines,
        "shipping": shipping,
        "tax_by_rate": {name: sum(tax.get(name, 0) for tax in taxes) for name in names},
        "subtotal": sum(prices),
        "discount": sum(charge["discount"] for charge in charges),
        "shipping_price": shipping["price"] if shipping else 0,
        "tax": sum(charge["tax"] for charge in charges),
        "total": sum(charge["total"] for charge in charges),
    }


def check_sums(cart):
    """What section 4 says of the figures."""
    sums, added = cart["expected"], 0 if cart["prices_include_tax"] else 1
    lines = with_net_prices(cart)["lines"]
    charges = [(subtotal(line), charge) for line, charge in zip(lines, sums["lines"])]
    charges += [(sums["shipping_price"], sums["shipping"])] if cart["rate"] else []
    for price, charge in charges:
        assert 0 <= charge["discount"] <= price and charge["tax"] >= 0
        assert charge["total"] == price - charge["discount"] + added * charge["tax"]
    assert sums["total"] == sums["subtotal"] - sums["discount"] + sums["shipping_price"] + added * sums["tax"]
    assert sum(sums["tax_by_rate"].values()) == sums["tax"]


def check_validity(cart):
    lines, rate, sums = with_net_prices(cart)["lines"], cart["rate"], cart["expected"]
    if rate:
        goods = goods_of(lines, [subtotal(line) - charge["discount"] for line, charge in zip(lines, sums["lines"])])
        weight = sum(line["grams"] * line["quantity"] for line in lines if line["is_sent"])
        measure = {"by_weight": weight, "by_subtotal": goods}.get(rate["kind"], 0)
        assert any(line["is_sent"] for line in lines)
        assert (rate["min"] or 0) <= measure and (rate["max"] is None or measure <= rate["max"])
    assert len({line["product"] for line in lines}) == len(lines)
    assert len({tax["name"] for tax in cart["tax_rates"]}) == len(cart["tax_rates"])
    if cart["code"]:
        is_free = cart["code"]["kind"] == "free_shipping" and rate and sums["shipping"]["price"]
        assert is_free or sum(taken_off(cart["code"], lines, [subtotal(line) for line in lines]))


def place(text):
    """A country, a region after a hyphen, a postal code after a blank: `US-CA 90210`."""
    where, _, postal_code = text.partition(" ")
    country, _, region = where.partition("-")
    return {"country": country, "region": region or None, "postal_code": postal_code or None}


def item(product, price, quantity=1, grams=0, is_sent=True, of=None):
    return dict(product=product, price=price, quantity=quantity, grams=grams, is_sent=is_sent, tax_class=of)


def tax(name, where, percent, on_shipping=False, of=None, combines=False, prefix=None, range=None):
    at = place(where)
    return {
        "name": name, "country": at["country"], "region": at["region"], "prefix": prefix, "range": range,
        "tax_class": of, "percent": percent, "combines": combines, "on_shipping": on_shipping,
    }


def sent(price, kind="flat", min=None, max=None, free_over=None):
    return {"kind": kind, "price": price, "min": min, "max": max, "free_over": free_over}


def discount(kind, value=None, on="", buy=None, get=None, got="", uses=None, least=None, units=None):
    points, amount = (None, value) if kind == "fixed" else (value, None)
    return {
        "kind": kind, "basis_points": points, "amount": amount, "buy_quantity": buy, "get_quantity": get,
        "get": got.split(), "uses_per_order": uses, "applies_to": on.split(), "minimum_subtotal": least,
        "minimum_quantity": units,
    }


digital = partial(item, is_sent=False)
percent, fixed = partial(discount, "percentage"), partial(discount, "fixed")
gift, free_shipping = partial(discount, "buy_x_get_y"), partial(discount, "free_shipping")


def cart(name, currency, where, lines, taxes=(), rate=None, code=None, auto=(), included=False, exempt=False,
         home=None, deducts=True, shipping_tax="pro_rata"):
    return {
        "name": name, "currency": currency, "prices_include_tax": included, "is_exempt": exempt, "place": place(where),
        "home": place(home or where), "deducts": deducts, "shipping_tax": shipping_tax,
        "lines": lines, "tax_rates": list(taxes), "rate": rate, "code": code, "automatic": list(auto),
    }


CANADA = [tax("GST", "CA", "5", True), tax("PST", "CA-BC", "7", True, combines=True), tax("RST", "CA-MB", "7", combines=True),
          tax("QST", "CA-QC", "9.975", True, combines=True)]
NEW_YORK = [tax("State", "US-NY", "4"), tax("City", "US-NY", "4.5"), tax("Transit", "US-NY", "0.375")]
CALIFORNIA = [tax("State", "US-CA", "7.25", True), tax("County", "US-CA", "0.25", True, combines=True, prefix="902"),
              tax("City", "US-CA", "2", combines=True, prefix="90210"),
              tax("Bay", "US-CA", "1.375", combines=True, range=["94100", "94199"]),
              tax("Groceries", "US-CA", "0", of="food")]
GERMANY = [tax("MwSt", "DE", "19", True), tax("Books", "DE", "7", True, of="books"), tax("Food", "DE", "7", True, of="food")]
SPAIN = [tax("IVA", "ES", "21", True), tax("IVA reducido", "ES", "10", True, of="food"), tax("IGIC", "ES-GC", "7", True)]
INDIA = [tax("IGST", "IN", "18", True), tax("CGST", "IN-KA", "9", True), tax("SGST", "IN-KA", "9", True)]
JAPAN = [tax("Standard", "JP", "10", True), tax("Reduced", "JP", "8", True, of="food")]
KOREA, KUWAIT, BAHRAIN = [tax("VAT", "KR", "10")], [tax("Zero", "KW", "0", True)], [tax("VAT", "BH", "10", True)]

CARTS = [
    cart("a digital line without any tax", "JPY", "JP", [digital("song", 250, 3)]),
    cart("country and region add up, on lines and shipping", "CAD", "CA-BC",
         [item("shirt", 1999, 3, 250), item("mug", 1250)], CANADA, sent(500)),
    cart("another region has its own rate, which leaves out shipping", "CAD", "CA-MB",
         [item("shirt", 1999, 3), item("mug", 1250)], CANADA, sent(995)),
    cart("a place without a region has no region's rate", "CAD", "CA", [item("mug", 1250)], CANADA, sent(500)),
    cart("another country: no rate at all", "EUR", "CH", [item("book", 1290, of="books")], GERMANY, sent(900)),
    cart("three rates of one line, each rounded", "USD", "US-NY",
         [item("lamp", 3333, 3), item("bulb", 199, 7)], NEW_YORK, sent(799)),
    cart("equal rates of an odd tax are equal", "INR", "IN-KA",
         [item("sari", 129905), item("bangle", 4995, 3)], INDIA, sent(4975)),
    cart("tax included, a class with its own rate, shipping at the general one", "EUR", "DE",
         [item("book", 990, 2, of="books"), item("pen", 345, 5), digital("pdf", 99)], GERMANY, sent(490),
         included=True),
    cart("a zero rate of its class for the country, and a rate of the region that combines with it", "CAD", "CA-BC", [item("bread", 449, 3, of="food")],
         [*CANADA, tax("Zero", "CA", "0", of="food")], sent(1200)),
    cart("shipping goes by the rates of its goods; an unknown class goes by the general rate", "EUR", "IE",
         [item("cake", 605, 3, of="food"), item("bowl", 1111, of="glass")],
         [tax("VAT", "IE", "23", True), tax("Food", "IE", "13.5", True, of="food")], sent(777), included=True),
    cart("zero decimals, tax included at two rates", "JPY", "JP", [item("tea", 648, 2, of="food"), item("pot", 5505)],
         JAPAN, sent(715), included=True),
    cart("zero decimals, by subtotal at its maximum only after the code", "KRW", "KR-11",
         [item("mask", 3335, 11), item("cream", 21315)], KOREA, sent(3000, "by_subtotal", 40000, 50000), fixed(8000)),
    cart("three decimals and only a zero rate, an awkward percentage", "KWD", "KW",
         [item("oud", 12345), item("rose", 3335, 3), item("musk", 7777), item("amber", 1)], KUWAIT, code=percent(1333)),
    cart("by weight at its maximum, which a digital line does not count for", "BHD", "BH",
         [item("dates", 2505, 4, 500), item("honey", 7125, 1, 1000), digital("recipes", 995)], BAHRAIN,
         sent(1005, "by_weight", 0, 3000)),
    cart("by weight at its minimum, nothing above it", "USD", "US-NY", [item("anvil", 15000, 2, 10000)], NEW_YORK,
         sent(8950, "by_weight", 20000), auto=[percent(500)]),
    cart("exempt: prices lose the tax of the store's place", "EUR", "DE", [item("book", 1290, 2, of="books")], GERMANY,
         sent(490), percent(1000), included=True, exempt=True),
    cart("exempt where tax is added", "CAD", "CA-BC", [item("shirt", 1999)], CANADA, sent(500), exempt=True),
    cart("free over a sum that is just reached after the code", "EUR", "DE", [item("pan", 3500), item("lid", 2055)],
         GERMANY, sent(590, free_over=5000), fixed(555), included=True),
    cart("free over a sum that is missed by one after the code", "EUR", "DE", [item("pan", 3500), item("lid", 2054)],
         GERMANY, sent(590, free_over=5000), fixed(555), included=True),
    cart("not free over a sum that is reached with digital lines alone", "CAD", "CA-BC",
         [item("vase", 6000), digital("pattern", 4000)], CANADA, sent(1250, free_over=9500)),
    cart("free over a sum that the automatic discount misses, without digital lines", "CAD", "CA-BC",
         [item("vase", 10000), digital("pattern", 4000)], CANADA, sent(1250, free_over=9500), auto=[percent(501)]),
    cart("free shipping by code, of a price that is there again after the automatic discount", "USD", "US-NY",
         [item("lamp", 5000, 2)], NEW_YORK, sent(650, free_over=10000), free_shipping(), [fixed(1)]),
    cart("picked up for a price, which is taxed", "CAD", "CA-BC", [item("desk", 24999)], CANADA, sent(255, "pickup"),
         auto=[free_shipping(least=25000)]),
    cart("a third off equal lines: what is over goes to the earlier", "USD", "US-OR",
         [item("red", 1000), item("green", 1000), item("blue", 1000)], code=percent(3333), auto=[fixed(500, "red")]),
    cart("a percentage of three of four lines, from the middle upwards", "EUR", "DE",
         [item("cup", 333), item("plate", 777), item("fork", 111), item("knife", 222)], GERMANY, sent(490),
         percent(5000, "cup plate fork", units=3)),
    cart("minimums count before any discount, and are just met", "CAD", "CA-BC",
         [item("shirt", 2500, 2), item("sock", 333, 3)], CANADA, sent(500), percent(2500, "shirt", least=5000),
         [percent(1000, "sock", units=3), fixed(900, "shirt", least=5000)]),
    cart("automatic ones whose minimum or product is missed are passed over", "INR", "IN-KA",
         [item("rice", 10999, 2), item("dal", 8750)], INDIA, sent(4900, free_over=99900),
         auto=[percent(5000, least=30749), fixed(9000, units=4), percent(9000, "ghee"), percent(750, least=30748)]),
    cart("a sum larger than the cart, of which shipping remains", "EUR", "DE",
         [item("book", 1290, of="books"), item("pen", 349)], GERMANY, sent(490), fixed(5000), [percent(1000)], True),
    cart("an automatic sum over four lines, the last of which has the largest remainder", "KWD", "KW",
         [item("one", 1), item("seven", 7, 3), item("eleven", 11), item("thirteen", 13, 2)], KUWAIT, auto=[fixed(17)]),
    cart("a code and an automatic percentage of what it leaves", "JPY", "JP",
         [item("cup", 1980, 3), item("rice", 2160, of="food"), digital("guide", 505)], JAPAN, sent(660), percent(1500),
         [percent(1000)], True),
    cart("the code takes all of a line, so the automatic sum is the better one", "USD", "US-NY",
         [item("coat", 9000), item("scarf", 2500), item("hat", 1805)], NEW_YORK, None, fixed(9500, "coat"),
         [percent(2000), fixed(862), percent(9999, "coat")]),
    cart("of equal automatic ones the oldest", "EUR", "DE", [item("bag", 4000, of="books"), item("belt", 1000)],
         GERMANY, sent(490), auto=[fixed(400), fixed(500, "belt"), percent(1000), free_shipping()], included=True),
    cart("automatic free shipping saves one more than the percentage, and is older than an equal sum", "CAD", "CA-BC",
         [item("rug", 4990)], CANADA, sent(500), auto=[percent(1000), free_shipping(), fixed(500)]),
    cart("free by code, so automatic free shipping saves nothing", "BHD", "BH", [item("silk", 3335), item("net", 3345)],
         BAHRAIN, sent(2500), free_shipping(), [free_shipping(), percent(5)]),
    cart("automatic free shipping without a rate saves nothing", "CAD", "CA-BC", [item("rug", 4990)], CANADA,
         auto=[free_shipping(), fixed(1)]),
    cart("two bought, one got of the same lines; of equal prices the earlier line", "USD", "US-NY",
         [item("novel", 1599, 4), item("ode", 899), item("essay", 899, 2)], NEW_YORK, code=gift(10000, "", 2, 1)),
    cart("half of one product for two of another, by code, then free shipping", "INR", "IN-KA",
         [item("shoe", 249999, 5), item("polish", 9995, 3), item("lace", 1999)], INDIA, sent(9900),
         gift(5000, "shoe", 2, 1, "polish"), [free_shipping(least=1000000)]),
    cart("bought and got overlap: what could be both is bought where the others do not suffice", "CAD", "CA-BC",
         [item("large", 3001, 2), item("medium", 2001, 3), item("small", 2501, 2)], CANADA, sent(1500),
         auto=[percent(500), gift(5000, "large medium", 2, 1, "medium small"), gift(10000, "large", 2, 1, uses=1)]),
    cart("done once an order, a free line given first, and never more than is left", "KRW", "KR-26",
         [item("sample", 0), item("serum", 18900, 3), item("toner", 9900, 2)], KOREA, sent(3000, free_over=50000),
         percent(9000, "toner"), [gift(10000, "", 1, 2, uses=1), percent(100, "serum")]),
    cart("an island has its own rate instead of the country's", "EUR", "ES-GC", [item("vase", 10000)], SPAIN),
    cart("state, county and city", "USD", "US-CA 90210-1234", [item("lamp", 12345), item("bread", 599, of="food")],
         CALIFORNIA, sent(799)),
    cart("a range of postal codes", "USD", "US-CA 94103", [item("lamp", 12345, 3)], CALIFORNIA, sent(1299)),
    cart("Quebec has three decimals", "CAD", "CA-QC", [item("tuque", 3333, 3)], CANADA, sent(995)),
    cart("food alone: shipping is taxed as food", "EUR", "DE", [item("jam", 2000, of="food")], GERMANY, sent(1000)),
    cart("shipping in proportion to the goods of two rates", "EUR", "DE",
         [item("jam", 333, 7, of="food"), item("pan", 4999)], GERMANY, sent(499), included=True),
    cart("shipping by the larger part of the goods", "EUR", "DE", [item("jam", 333, 7, of="food"), item("pan", 1999)],
         GERMANY, sent(499), included=True, shipping_tax="dominant"),
    cart("equal parts of an included tax", "INR", "IN-KA", [item("shirt", 59900)], INDIA, included=True),
    cart("an export loses the store's tax", "EUR", "CH 8001", [item("clock", 11900), item("book", 1070, of="books")],
         GERMANY, sent(1190), included=True, home="DE-BE"),
    cart("an export at the listed prices, by setting", "EUR", "CH", [item("clock", 11900)], GERMANY, sent(1190),
         included=True, home="DE", deducts=False),
    cart("999 units of each line", "INR", "IN-KA",
         [item("gold", 50000000, 999, 10), item("thread", 7, 999), item("needle", 0, 999)], INDIA,
         sent(99999, "by_weight", 9990), percent(333), [gift(3333, "gold", 7, 3, uses=50), fixed(16650000)]),
    cart("large prices, a sum divided over three lines", "USD", "US-NY",
         [item("palace", 49999999999), item("gate", 37777777777), item("key", 5)], NEW_YORK, sent(99999999),
         fixed(33333333333), [percent(3333, "gate key")], True),
]


def random_cart(dice, n):
    country = dice.choice(["CA-BC", "CA-QC", "CA-MB", "US-CA 90210", "US-CA 94103", "US-NY", "DE", "ES-GC", "ES-M", "IN-KA",
                           "IN-MH", "JP", "CH 8001"])
    own = lambda: dice.choice([None, None, "food", "books"])
    line = lambda name: item(name, dice.choice([0, 1, 99, dice.randrange(1, 100000)]), dice.randrange(1, 12),
                             dice.randrange(0, 3000), dice.random() < 0.8, own())
    lines = [line(f"p{n}") for n in range(dice.randrange(1, 6))]
    percents = ["0", "5", "7", "8.875", "9", "9.975", "19", "21", "33.3333", "0.0001", "100"]
    more = [tax(f"extra {n}", country.partition(" ")[0] if dice.random() < 0.7 else country[:2], dice.choice(percents),
                dice.random() < 0.7, own(), dice.random() < 0.5, dice.choice([None, None, "9", "90", "94"]))
            for n in range(dice.randrange(0, 4))]
    taxes = [*dice.choice([CANADA, CALIFORNIA, NEW_YORK, GERMANY, SPAIN, INDIA, JAPAN, []]), *more]
    rate = sent(dice.randrange(0, 20000), free_over=dice.choice([None, dice.randrange(1, 90000)]))
    names = [line["product"] for line in lines]
    some = lambda: " ".join(dice.sample(names, dice.randrange(0, len(names) + 1)))
    offer = lambda: dice.choice([
        lambda: percent(dice.randrange(1, 10001), some()), lambda: fixed(dice.randrange(1, 90000), some()),
        free_shipping, lambda: gift(dice.randrange(1, 10001), some(), dice.randrange(1, 4), dice.randrange(1, 4), some(),
                                    dice.choice([None, 1, 2])),
    ])()
    is_sent = any(line["is_sent"] for line in lines)
    return cart(f"random {n}", dice.choice(["EUR", "JPY", "KWD"]), country, lines, taxes, rate if is_sent else None,
                offer() if dice.random() < 0.4 else None, [offer() for _ in range(dice.randrange(0, 3))],
                dice.random() < 0.5, dice.random() < 0.15, dice.choice(["DE", "ES-M", "CA-QC", country]),
                dice.random() < 0.8, dice.choice(["pro_rata", "dominant"]))


def finished(cart):
    cart["expected"] = priced(cart)
    check_sums(cart)
    check_validity(cart)
    return cart


def random_carts(count, seed):
    dice = random.Random(seed)
    for n in range(count):
        cart = random_cart(dice, n)
        try:
            yield finished(cart)
        except (AssertionError, TypeError):
            # A code that saves nothing is rejected; the cart is priced without it.
            yield finished({**cart, "code": None})


def main(count=None, seed="0", file=None):
    if count:
        carts = list(random_carts(int(count), int(seed)))
    else:
        assert len({each["name"] for each in CARTS}) == len(CARTS) == 51
        carts = [finished(each) for each in CARTS]
    rows = ",\n".join(map(json.dumps, carts))
    Path(file or Path(__file__).with_suffix(".json")).write_text(f"[\n{rows}\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
