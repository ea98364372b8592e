"""Prices forty carts as docs/commerce.md says it, and writes them with their figures to carts.json beside it:

    python3 shared/sales/src/order/tests/carts.py

It shares nothing with the server's own sums: where the two differ, one of them has misread the document."""

import json
from decimal import ROUND_HALF_UP, Decimal, getcontext
from functools import partial
from pathlib import Path

getcontext().prec = 60


def part_of(amount, basis_points, whole=10000):
    return int((Decimal(amount) * basis_points / whole).quantize(Decimal(1), ROUND_HALF_UP))


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
    sending = 0 if any(map(frees_sending, used)) else cost_of_sending(cart["rate"], sum(left))
    saved = lambda discount: sending if frees_sending(discount) else sum(taken_off(discount, lines, left))
    if automatic := [discount for discount in cart["automatic"] if can_be_used(discount, lines)]:
        used.append(max(automatic, key=saved))
        left = left_by(used[-1], lines, left)
    return left, any(map(frees_sending, used))


def local_rates(cart):
    country, region = cart["place"]["country"], cart["place"]["region"]
    rates = [] if cart["is_exempt"] else cart["tax_rates"]
    return [rate for rate in rates if rate["country"] == country and rate["region"] in (None, region)]


def rates_of_class(cart, tax_class):
    of = lambda name: [rate for rate in local_rates(cart) if rate["tax_class"] == name]
    return of(tax_class) or of(None)


def levied(cart, left, rates):
    """The tax on what is left, by the name of its rate."""
    points = sum(rate["basis_points"] for rate in rates)
    tax = part_of(left, points, 10000 + (points if cart["prices_include_tax"] else 0))
    return dict(zip([rate["name"] for rate in rates], divide(tax, [rate["basis_points"] for rate in rates])))


def charge(cart, price, discount, taxes):
    """A line, or the shipping: its discount, its tax and its total."""
    tax = sum(taxes.values())
    return {"discount": discount, "tax": tax, "total": price - discount + (0 if cart["prices_include_tax"] else tax)}


def priced(cart):
    left, is_sent_free = discounted(cart)
    taxes = [levied(cart, rest, rates_of_class(cart, line["tax_class"])) for line, rest in zip(cart["lines"], left)]
    prices = [subtotal(line) for line in cart["lines"]]
    lines = [charge(cart, price, price - rest, tax) for price, rest, tax in zip(prices, left, taxes)]
    shipping = None
    if cart["rate"]:
        price = cost_of_sending(cart["rate"], sum(left))
        discount = price if is_sent_free else 0
        taxes.append(levied(cart, price - discount, [rate for rate in local_rates(cart) if rate["on_shipping"]]))
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
    charges = [(subtotal(line), charge) for line, charge in zip(cart["lines"], sums["lines"])]
    charges += [(sums["shipping_price"], sums["shipping"])] if cart["rate"] else []
    for price, charge in charges:
        assert 0 <= charge["discount"] <= price and charge["tax"] >= 0
        assert charge["total"] == price - charge["discount"] + added * charge["tax"]
    assert sums["total"] == sums["subtotal"] - sums["discount"] + sums["shipping_price"] + added * sums["tax"]
    assert sum(sums["tax_by_rate"].values()) == sums["tax"]


def check_validity(cart):
    lines, rate, sums = cart["lines"], cart["rate"], cart["expected"]
    if rate:
        goods = sum(subtotal(line) - charge["discount"] for line, charge in zip(lines, sums["lines"]))
        weight = sum(line["grams"] * line["quantity"] for line in lines if line["is_sent"])
        measure = {"by_weight": weight, "by_subtotal": goods}.get(rate["kind"], 0)
        assert any(line["is_sent"] for line in lines)
        assert (rate["min"] or 0) <= measure and (rate["max"] is None or measure <= rate["max"])
    assert len({line["product"] for line in lines}) == len(lines)
    assert len({tax["name"] for tax in cart["tax_rates"]}) == len(cart["tax_rates"])
    if cart["code"]:
        assert priced({**cart, "automatic": []})["discount"] or sums["shipping"]["discount"]


def place(text):
    country, _, region = text.partition("-")
    return {"country": country, "region": region or None}


def item(product, price, quantity=1, grams=0, is_sent=True, of=None):
    return dict(product=product, price=price, quantity=quantity, grams=grams, is_sent=is_sent, tax_class=of)


def tax(name, where, basis_points, on_shipping=False, of=None):
    return {"name": name, **place(where), "tax_class": of, "basis_points": basis_points, "on_shipping": on_shipping}


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


def cart(name, currency, where, lines, taxes=(), rate=None, code=None, auto=(), included=False, exempt=False):
    return {
        "name": name, "currency": currency, "prices_include_tax": included, "is_exempt": exempt, "place": place(where),
        "lines": lines, "tax_rates": list(taxes), "rate": rate, "code": code, "automatic": list(auto),
    }


CANADA = [tax("GST", "CA", 500, True), tax("PST", "CA-BC", 700, True), tax("RST", "CA-MB", 700)]
NEW_YORK = [tax("State", "US-NY", 400), tax("City", "US-NY", 450), tax("Transit", "US-NY", 38)]
GERMANY = [tax("MwSt", "DE", 1900, True), tax("Books", "DE", 700, of="books")]
INDIA = [tax("CGST", "IN-KA", 900, True), tax("SGST", "IN-KA", 900, True)]
JAPAN = [tax("Standard", "JP", 1000, True), tax("Reduced", "JP", 800, of="food")]
KOREA, KUWAIT, BAHRAIN = [tax("VAT", "KR", 1000)], [tax("Zero", "KW", 0, True)], [tax("VAT", "BH", 1000, True)]

CARTS = [
    cart("a digital line without any tax", "JPY", "JP", [digital("song", 250, 3)]),
    cart("country and region add up, on lines and shipping", "CAD", "CA-BC",
         [item("shirt", 1999, 3, 250), item("mug", 1250)], CANADA, sent(500)),
    cart("another region has its own rate, which leaves out shipping", "CAD", "CA-MB",
         [item("shirt", 1999, 3), item("mug", 1250)], CANADA, sent(995)),
    cart("a place without a region has no region's rate", "CAD", "CA", [item("mug", 1250)], CANADA, sent(500)),
    cart("another country: no rate at all", "EUR", "CH", [item("book", 1290, of="books")], GERMANY, sent(900)),
    cart("three rates of one line by the largest remainder", "USD", "US-NY",
         [item("lamp", 3333, 3), item("bulb", 199, 7)], NEW_YORK, sent(799)),
    cart("equal rates of an odd tax: the earlier gets more", "INR", "IN-KA",
         [item("sari", 129905), item("bangle", 4995, 3)], INDIA, sent(4975)),
    cart("tax included, a class with its own rate, shipping at the general one", "EUR", "DE",
         [item("book", 990, 2, of="books"), item("pen", 345, 5), digital("pdf", 99)], GERMANY, sent(490),
         included=True),
    cart("a zero rate of its own keeps out a region's general one", "CAD", "CA-BC", [item("bread", 449, 3, of="food")],
         [*CANADA, tax("Zero", "CA", 0, of="food")], sent(1200)),
    cart("a rate for a class is levied on shipping too; an unknown class goes by the general rate", "EUR", "IE",
         [item("cake", 605, 3, of="food"), item("bowl", 1111, of="glass")],
         [tax("VAT", "IE", 2300, True), tax("Food", "IE", 1350, True, of="food")], sent(777), included=True),
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
    cart("exempt: pays prices that hold tax as they are", "EUR", "DE", [item("book", 1290, 2, of="books")], GERMANY,
         sent(490), percent(1000), included=True, exempt=True),
    cart("exempt where tax is added", "CAD", "CA-BC", [item("shirt", 1999)], CANADA, sent(500), exempt=True),
    cart("free over a sum that is just reached after the code", "EUR", "DE", [item("pan", 3500), item("lid", 2055)],
         GERMANY, sent(590, free_over=5000), fixed(555), included=True),
    cart("free over a sum that is missed by one after the code", "EUR", "DE", [item("pan", 3500), item("lid", 2054)],
         GERMANY, sent(590, free_over=5000), fixed(555), included=True),
    cart("free over a sum that the automatic discount misses, digital lines counted", "CAD", "CA-BC",
         [item("vase", 6000), digital("pattern", 4000)], CANADA, sent(1250, free_over=9500), auto=[percent(501)]),
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
    cart("999 units of each line", "INR", "IN-KA",
         [item("gold", 50000000, 999, 10), item("thread", 7, 999), item("needle", 0, 999)], INDIA,
         sent(99999, "by_weight", 9990), percent(333), [gift(3333, "gold", 7, 3, uses=50), fixed(16650000)]),
    cart("large prices, a sum divided over three lines", "USD", "US-NY",
         [item("palace", 49999999999), item("gate", 37777777777), item("key", 5)], NEW_YORK, sent(99999999),
         fixed(33333333333), [percent(3333, "gate key")], True),
]


def main():
    assert len({each["name"] for each in CARTS}) == len(CARTS) == 40
    for each in CARTS:
        each["expected"] = priced(each)
        check_sums(each)
        check_validity(each)
    rows = ",\n".join(json.dumps(each) for each in CARTS)
    Path(__file__).with_suffix(".json").write_text(f"[\n{rows}\n]\n")


if __name__ == "__main__":
    main()
