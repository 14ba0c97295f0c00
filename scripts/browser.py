"""A real browser at the other end of a pipe, for the scripts that look at pages.

    with browser.opened() as chromium:
        tab = chromium.tab()
        tab.view(380, "dark")
        tab.go("http://127.0.0.1:8421/")
        tab.click("form button")
        tab.ask("document.title")

It speaks the DevTools protocol and needs Chromium (Debian and Ubuntu: apt-get install chromium) and Python 3.9 or later, nothing else.
$CHROMIUM names another browser of that family. Whatever the browser says meanwhile is kept in `tab.events`; `tab.said()` makes sentences of
what no page should say: console messages, errors, requests to anywhere but the origins that are allowed.
"""
import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# what a step may take, in seconds
PATIENCE = 30


class Wrong(Exception):
    """What a page or a browser did and should not have done."""


def find():
    """The program; nothing where there is none."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((found for found in map(shutil.which, filter(None, names)) if found), None)


@contextlib.contextmanager
def opened(program=None):
    """A browser with a profile of its own, which goes with it."""
    profile = tempfile.mkdtemp()
    browser = Browser(program or find(), profile)
    try:
        yield browser
    finally:
        browser.close()
        shutil.rmtree(profile, ignore_errors=True)


class Browser:
    """Messages end with a zero byte; answers have the number of their question, and everything else is an event."""

    def __init__(self, program, profile):
        from_us, self.write = os.pipe()
        self.read, to_us = os.pipe()

        def join():  # the browser reads from descriptor 3 and writes to 4
            here, there = os.dup(from_us), os.dup(to_us)
            os.dup2(here, 3)
            os.dup2(there, 4)

        options = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-dev-shm-usage",
                   "--force-color-profile=srgb", f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen([program, *options], preexec_fn=join, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.rest, self.count, self.events = bytearray(), 0, []

    def has_more(self, patience):
        return b"\0" in self.rest or bool(select.select([self.read], [], [], patience)[0])

    def message(self):
        while b"\0" not in self.rest:
            if not self.has_more(PATIENCE):
                raise Wrong(f"the browser said nothing for {PATIENCE} s")
            more = os.read(self.read, 1 << 20)
            if not more:
                raise Wrong("the browser ended before its time")
            self.rest += more
        at = self.rest.index(b"\0")
        one = json.loads(self.rest[:at])
        del self.rest[:at + 1]
        return one

    def send(self, method, session=None, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        return self.count

    def call(self, method, session=None, **params):
        number = self.send(method, session, **params)
        while True:
            answer = self.message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise Wrong(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "id" not in answer:  # an answer that nobody waits for is none
                self.events.append(answer)

    def tab(self):
        return Tab(self)

    def close(self):
        try:
            os.write(self.write, b'{"id":0,"method":"Browser.close"}\0')
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write)
        os.close(self.read)


class Tab:
    """One page."""

    def __init__(self, browser):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.forget()

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    @property
    def events(self):
        return [event for event in self.browser.events if event.get("sessionId") == self.session]

    def forget(self):
        """What was said so far."""
        self.browser.events = [event for event in self.browser.events if event.get("sessionId") != self.session]

    def view(self, width, scheme, height=900, scale=1):
        self.width = width
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def scripts(self, may_run):
        self.call("Emulation.setScriptExecutionDisabled", value=not may_run)

    def wait(self, what, is_there):
        """Until something was said, or is so."""
        end = time.monotonic() + PATIENCE
        while not is_there():
            if time.monotonic() > end:
                raise Wrong(f"waited {PATIENCE} s for {what}")
            if self.browser.has_more(0.05):
                self.browser.events.append(self.browser.message())

    def loads(self):
        return sum(event.get("method") == "Page.loadEventFired" for event in self.events)

    def go(self, address):
        before = self.loads()
        self.call("Page.navigate", url=address)
        self.wait(f"{address} to load", lambda: self.loads() > before)

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Wrong(answer["exceptionDetails"].get("exception", {}).get("description", "an expression failed"))
        return answer["result"].get("value")

    def becomes(self, expression):
        """Whether something is so, also while the page gives way to another."""
        try:
            return self.ask(expression)
        except Wrong:
            return False

    def place(self, selector):
        """The middle of an element that can be clicked there."""
        found = self.ask(f"""(() => {{
          const one = document.querySelector({json.dumps(selector)});
          if (!one) return null;
          one.scrollIntoView({{block: 'center', behavior: 'instant'}});
          const box = one.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
          const top = document.elementFromPoint(x, y);
          return [x, y, !!top && (one.contains(top) || top.contains(one) || (top.closest('label') || {{}}).control === one)];
        }})()""")
        if found is None:
            raise Wrong(f"{self.address()}: nothing is {selector}")
        if not found[2]:
            raise Wrong(f"{self.address()}: something lies over {selector}")
        return found[:2]

    def press(self, selector):
        """A click that leads nowhere."""
        x, y = self.place(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click(self, selector):
        """A click that leads to another page."""
        before = self.loads()
        self.press(selector)
        self.wait(f"{selector} to lead somewhere", lambda: self.loads() > before)

    def write(self, selector, text):
        """Into a field, in place of what it has."""
        self.press(selector)
        self.ask(f"document.querySelector({json.dumps(selector)}).select?.()")
        self.call("Input.insertText", text=text)

    def tabs(self, n):
        """So many strokes of the key Tab, without a wait between them."""
        key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        for _ in range(n):
            self.browser.send("Input.dispatchKeyEvent", self.session, type="rawKeyDown", **key)
            last = self.browser.send("Input.dispatchKeyEvent", self.session, type="keyUp", **key)
        while n:
            answer = self.browser.message()
            if "id" not in answer:
                self.browser.events.append(answer)
            elif answer["id"] == last:
                return

    def address(self):
        return self.ask("location.pathname + location.search")

    def picture(self, height=None):
        """The page as PNG: all of it, or its first so many pixels."""
        self.call("Page.bringToFront")  # a tab behind others is not drawn
        high = self.ask("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": self.width, "height": min(high, height or high), "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"])

    def said(self, is_allowed, expected=()):
        """Complaints: what was said and asked for since the last time; `expected` are statuses that a page may have."""
        complaints = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Network.requestWillBeSent" and not is_allowed(params["request"]["url"]):
                complaints.append(f"a request for {params['request']['url']}")
            if method == "Runtime.consoleAPICalled":
                complaints.append(f"console {params['type']}: {params['args']}")
            if method == "Runtime.exceptionThrown":
                complaints.append(params["exceptionDetails"].get("text"))
            if method == "Log.entryAdded":
                text = params["entry"]["text"]
                if not any(f"status of {status}" in text for status in expected):
                    complaints.append(f"{params['entry']['level']}: {text}")
        self.forget()
        return complaints

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.forget()
