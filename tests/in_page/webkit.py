"""WebKit, as WebKitGTK's MiniBrowser has it: a tab that goes, types, clicks and tells what it shows, as tests need it.

It is driven over WebDriver, with the standard library. It draws on a screen of its own, since it has no headless mode.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from typing import Any

BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"  # off the PATH, where Debian puts it
PATIENCE = 280.0  # seconds until something has to be there
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name for one
KEYS = {"Enter": "\ue007", "ArrowDown": "\ue015", "ArrowRight": "\ue014", "Escape": "\ue00c", "Tab": "\ue004"}


def browser() -> str | None:
    """Where the browser is, if it is."""
    return next(iter(sorted(glob(BROWSERS), reverse=True)), None)


class WebKit:
    """A tab, with the methods of `firefox.Firefox` that the tests call."""

    def __init__(self, driver: str) -> None:
        options = {"webkitgtk:browserOptions": {"binary": browser(), "args": ["--automation"]}}
        asked = {"capabilities": {"alwaysMatch": options}}
        self.session = f"{driver}/session/" + _asked(f"{driver}/session", asked)["sessionId"]

    def _ask(self, path: str, body: Any, method: str = "POST") -> Any:
        return _asked(self.session + path, body, method)

    def goto(self, address: str) -> None:
        self._ask("/url", {"url": address})

    def reload(self) -> None:
        self._ask("/refresh", {})

    def evaluate(self, expression: str) -> Any:
        return self._ask("/execute/sync", {"script": f"return ({expression})", "args": []})

    def wait_for(self, condition: str) -> None:
        """condition: an expression of JavaScript, or of a promise of its value"""
        end = time.monotonic() + PATIENCE
        script = f"const done = arguments[0]; Promise.resolve({condition}).then(done, () => done(false))"
        while not self._ask("/execute/async", {"script": script, "args": []}):
            assert time.monotonic() < end, condition
            time.sleep(0.1)

    def text(self, selector: str) -> str:
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def focus(self, selector: str) -> None:
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")

    def click(self, selector: str) -> None:
        found = self._ask("/element", {"using": "css selector", "value": selector})[ELEMENT]
        self._ask(f"/element/{found}/click", {})

    def fill(self, selector: str, text: str) -> None:
        """Has the whole text of an input or a textarea replaced, as by pasting."""
        self.focus(selector)
        self.evaluate(
            f"(document.activeElement.select(), document.execCommand('insertText', false, {json.dumps(text)}))"
        )

    def type(self, text: str) -> None:
        strokes = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._ask("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def press(self, key: str) -> None:
        self.type(KEYS[key])


def _asked(address: str, body: Any, method: str = "POST") -> Any:
    request = urllib.request.Request(address, json.dumps(body).encode() if body is not None else None, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{address}: {json.load(error)['value']['message']}") from None


@contextmanager
def webkit() -> Iterator[WebKit]:
    """A tab of a WebKit that runs meanwhile."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    plain = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1", "WEBKIT_DISABLE_COMPOSITING_MODE": "1"}
    command = ["xvfb-run", "--auto-servernum", "WebKitWebDriver", f"--port={port}"]
    running = subprocess.Popen(command, env=plain, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        yield WebKit(_ready(f"http://127.0.0.1:{port}"))
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait()


def _ready(driver: str) -> str:
    """The driver's address, once it answers."""
    end = time.monotonic() + 60
    while True:
        try:
            _asked(f"{driver}/status", None, "GET")
            return driver
        except OSError:
            assert time.monotonic() < end, "WebKitWebDriver does not answer"
            time.sleep(0.1)
