"""Opens the demo store's page in headless Chromium: as it is, as a draft, after that draft was published,
and after it was rolled back. What is compared is what a visitor sees: a text of a setting, and the color
of the picture's pixels.
"""

import sys
import time
import zlib

import system
from browser import look

THEME = "/v1/themes/harbor"
# A text and a color that the theme does not come with.
TEXT, COLOR = "Harbour feast on Sunday", (196, 30, 58)
PICTURE = system.TARGET / "shop.png"
# How long the storefront may show a store as it was, and a little.
PATIENCE = 20
# Pixels that a banner has at least.
BANNER = 5_000


def main():
    port = system.free_port()
    with system.running("--shop-port", str(port)) as (url, _):
        asked = {"email": "demo@example.com", "password": "demo-merchant-1"}
        token = system.call(url, "POST", "/v1/auth/signin", asked)["session"]["access_token"]

        def ask(method, rest, body=None):
            return system.call(url, method, f"{THEME}/{rest}", body, authorization=f"Bearer {token}")

        page = f"http://demo-store.localhost:{port}/"
        before = seen(page)
        check("the demo store has products", "card-title" in before and "<h2>New in</h2>" in before)
        check("it is in its own color", not is_painted(page))

        draft = ask("GET", "editor")["draft"]
        content = {name: draft[name] for name in ["settings", "sections", "order", "version"]}
        content["settings"] |= {"announcement": TEXT, "color_accent": "#%02x%02x%02x" % COLOR}
        version = ask("PUT", "editor/draft", content)["draft"]["version"]
        preview = ask("POST", "preview-session", {"draft_version": version})["preview_token"]
        drafted = f"{page}?preview_token={preview}"
        check("the preview shows the draft", TEXT in seen(drafted) and is_painted(drafted))
        check("nobody else sees it", TEXT not in seen(page))

        released = ask("POST", "publish", {"draft_version": version})["release"]
        check("it is published", until(lambda: TEXT in seen(page)))
        check("in its color", is_painted(page))

        back = ask("POST", "rollback", {"release": released["number"] - 1})["release"]
        first = ask("GET", f"releases/{back['number'] - 2}")
        first = first.get("release", first)
        check("a rollback says the digest", back["content_sha256"] == first["content_sha256"])
        check("it is rolled back", until(lambda: TEXT not in seen(page)))
        check("to the same page", seen(page) == before and not is_painted(page))
    print(f"the demo store's page follows its theme; {PICTURE}")


def check(what, holds):
    if not holds:
        sys.exit(f"not so: {what}")


def until(holds):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.5)
    return False


def seen(page):
    """The page as Chromium has it after its style was read."""
    return look(page, "--dump-dom")


def is_painted(page):
    """Whether the banner is in the new color."""
    look(page, "--window-size=800,300", "--force-color-profile=srgb", f"--screenshot={PICTURE}")
    return sum(pixel == COLOR for pixel in pixels(PICTURE.read_bytes())) > BANNER


def pixels(png):
    """The pixels of a PNG of 8 bits a sample that is not interlaced (RFC 2083), without their opacity."""
    at, data = 8, b""
    while at < len(png):
        length, kind = int.from_bytes(png[at:at + 4]), png[at + 4:at + 8]
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, bits, color = int.from_bytes(body[:4]), body[8], body[9]
            check("Chromium's picture has samples of 8 bits", bits == 8 and color in (2, 6))
            size = 3 if color == 2 else 4
        data += body if kind == b"IDAT" else b""
        at += length + 12
    data, above = zlib.decompress(data), bytes(width * size)
    for start in range(0, len(data), width * size + 1):
        above = unfiltered(data[start], data[start + 1:start + 1 + width * size], above, size)
        yield from (tuple(above[x:x + 3]) for x in range(0, len(above), size))


def unfiltered(kind, line, above, size):
    """A line of a PNG as it was before it was filtered (RFC 2083 §6)."""
    if kind == 0:
        return bytes(line)
    if kind == 2:
        return bytes((x + up) & 255 for x, up in zip(line, above))
    whole = bytearray(line)
    for place, value in enumerate(line):
        left = whole[place - size] if place >= size else 0
        corner = above[place - size] if place >= size else 0
        up = above[place]
        guess = left if kind == 1 else (left + up) // 2 if kind == 3 else paeth(left, up, corner)
        whole[place] = (value + guess) & 255
    return bytes(whole)


def paeth(left, up, corner):
    guess = left + up - corner
    return min((left, up, corner), key=lambda near: abs(guess - near))


main()
