"""Headless Chromium, driven by the DevTools protocol over two pipes: no library, no port.

Messages are JSON, each ended by a NUL; the browser reads them from its descriptor 3 and answers on
4 (https://chromedevtools.github.io/devtools-protocol/, `--remote-debugging-pipe`).
"""

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

BROWSER = Path("/usr/bin/chromium")
"""Where Debian's package `chromium` puts it."""

FULL = bool(os.environ.get("NND_TEST_FULL"))

PATIENCE = 60.0  # seconds for one answer; busy machines start browsers slowly

_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # it needs a user other than root, and the pages are our own
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)
# The shell gives the browser our two pipes as its 3 and 4.
_LAUNCH = 'exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null'

_KEYS = {
    "Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowDown": (40, ""),
    "ArrowUp": (38, ""), "Home": (36, ""), "End": (35, ""), "PageDown": (34, ""),
    "PageUp": (33, ""),
}  # fmt: skip


def require_browser() -> None:
    """Skip what drives a browser where there is none; with NND_TEST_FULL=1 it fails instead."""
    if not BROWSER.is_file():
        if FULL:
            pytest.fail(f"there is no {BROWSER}: install Debian's package chromium")
        pytest.skip("drives a browser: NND_TEST_FULL=1")


class Chromium:
    """A browser that lives as long as its `with`.

    Args:
        home: Folder for its profile and whatever else it writes.
    """

    def __init__(self, home: Path) -> None:
        self._log = home / "stderr.txt"
        self._home = home
        self._number = 0
        self._unread = b""
        self._tabs: dict[str, Tab] = {}

    def __enter__(self) -> Self:
        environment = os.environ | {"HOME": str(self._home), "TMPDIR": str(self._home)}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    "sh",
                    "-c",
                    _LAUNCH,
                    BROWSER,
                    *_FLAGS,
                    f"--user-data-dir={self._home / 'profile'}",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # itself and its helpers
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    @contextlib.contextmanager
    def tab(self) -> Iterator["Tab"]:
        """An empty tab, closed in the end."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._tabs[session] = tab = Tab(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        yield tab
        self.call("Target.closeTarget", targetId=target)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Ask for something and return the answer; what happens meanwhile goes to its tab."""
        assert self._process.stdin
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        until = time.monotonic() + PATIENCE
        while True:
            found = self._read(until)
            if found.get("id") == self._number:
                assert "error" not in found, f"{method}: {found['error']}"
                result: dict[str, Any] = found["result"]
                return result
            if found.get("sessionId") in self._tabs:
                self._tabs[found["sessionId"]].events.append(found)

    def _read(self, until: float) -> dict[str, Any]:
        assert self._process.stdout
        parts = [self._unread]
        while b"\0" not in parts[-1]:
            ready = select.select([self._process.stdout], [], [], max(0, until - time.monotonic()))
            more = os.read(self._process.stdout.fileno(), 1 << 20) if ready[0] else b""
            assert more, f"no answer: {self._log.read_text(errors='replace')[-2_000:]}"
            parts.append(more)
        message, _, self._unread = b"".join(parts).partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


class Tab:
    """One page.

    Attributes:
        events: All that it told, in order.
    """

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser = browser
        self._session = session
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something of this page and return the answer."""
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int = 900) -> None:
        """Set the size of the window, in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def media(self, medium: str = "", scheme: str = "light") -> None:
        """Pretend another medium (`print`) or another colour scheme (`dark`); nothing glides."""
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        self.call("Emulation.setEmulatedMedia", media=medium, features=features)

    def open(self, path: Path) -> None:
        """Go to a file and wait for its first byte to be read."""
        answer = self.call("Page.navigate", url=path.as_uri())
        assert "errorText" not in answer, answer

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        before = time.monotonic()
        while not self.evaluate(condition):
            assert time.monotonic() - before < PATIENCE, f"never true: {condition}"
            time.sleep(0.01)

    def press(self, *keys: str) -> None:
        """Press keys one after another: letters, or names such as `Enter`."""
        for key in keys:
            code, text = _KEYS.get(key) or (ord(key.upper()), key)
            pressed = {"key": key, "windowsVirtualKeyCode": code, "text": text}
            self.call("Input.dispatchKeyEvent", type="keyDown", **pressed)
            self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def write(self, text: str) -> None:
        """Put a text where the cursor is, as if it were typed."""
        self.call("Input.insertText", text=text)

    def click(self, element: str) -> None:
        """Click, with the mouse, the middle of an element (a JavaScript expression)."""
        x, y = self.evaluate(
            f"(async () => {{ const it = {element}; it.scrollIntoView({{ block: 'center' }}); "
            "await new Promise(requestAnimationFrame); const box = it.getBoundingClientRect(); "
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def pdf(self) -> bytes:
        """Print the page."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def requests(self) -> list[str]:
        """Return every address that was asked for, in order."""
        return [
            str(event["params"]["request"]["url"])
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Return warnings, errors and exceptions, of the page and about it."""
        found = []
        for event in self.events:
            told = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(told["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and told["entry"]["level"] in _BAD:
                found.append(str(told["entry"]["text"]))
            elif event["method"] == "Runtime.consoleAPICalled" and told["type"] in _BAD:
                found.append(json.dumps(told["args"]))
        return found


_BAD = {"warning", "error", "assert"}
