"""Headless Chromium for the scripts in this folder. It is Debian's package, installed where it is missing."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from urllib.parse import urlsplit

OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
]
# Of a single look: time goes on while the page waits.
ONCE = ["--virtual-time-budget=60000", "--window-size=1280,1600"]
# How long a page may take to answer.
PATIENCE = 30


def chromium():
    for name in ["chromium", "chromium-browser", "google-chrome"]:
        if found := shutil.which(name):
            return found
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
    return shutil.which("chromium")


def look(page, *what):
    """What Chromium says of a page, asked by its options."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), *OPTIONS, *ONCE, f"--user-data-dir={profile}", *what, page]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=180).stdout


@contextlib.contextmanager
def browsing():
    """A tab that stays open as long as the block lasts."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        options = [*OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        # Chromium reads commands from its descriptor 3, and writes to 4.
        program = ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", chromium(), *options]
        process = subprocess.Popen(program, pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Tab(ours_in, ours_out)
        finally:
            process.terminate()
            process.wait(timeout=30)
            os.close(ours_in)
            os.close(ours_out)


class Tab:
    """A tab of Chromium, by its DevTools protocol."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.number, self.unread, self.session = 0, b"", None
        self.events = []
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.command(f"{domain}.enable")

    def command(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.sink, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def read(self):
        while b"\0" not in self.unread:
            part = os.read(self.source, 1 << 16)
            if not part:
                raise RuntimeError("Chromium has ended")
            self.unread += part
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def show(self, width, height, scheme):
        """The size of the screen, and its light or dark scheme."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False,
        )
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        """Opens a page, and returns the seconds until it was loaded."""
        self.events.clear()
        begun = time.monotonic()
        self.command("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        return time.monotonic() - begun

    def until(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise RuntimeError(f"not so in {PATIENCE} s: {expression}")
            time.sleep(0.01)

    def evaluate(self, expression):
        answer = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def picture(self, file, whole=True):
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=whole, **self.clip(whole))
        file.write_bytes(base64.b64decode(shot["data"]))

    def clip(self, whole):
        if not whole:
            return {}
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}}

    def faults(self):
        """What the console said of errors since the page was opened, and which other hosts it asked."""
        own = urlsplit(self.evaluate("location.href")).netloc
        for event in self.events:
            params = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    yield f"exception: {params['exceptionDetails'].get('text')}"
                case "Runtime.consoleAPICalled" if params["type"] == "error":
                    yield f"console: {params['args']}"
                case "Log.entryAdded" if params["entry"]["level"] == "error":
                    yield f"log: {params['entry']['text']} {params['entry'].get('url', '')}"
                case "Network.requestWillBeSent":
                    asked = urlsplit(params["request"]["url"])
                    if asked.scheme in ("http", "https") and asked.netloc != own:
                        yield f"request to {asked.netloc}"
