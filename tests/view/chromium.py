"""A real browser for tests: Debian's Chromium, headless, driven through its DevTools protocol over two pipes."""

from __future__ import annotations

import base64
import json
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BINARY = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "Chromium isn't installed; 'apt-get install chromium' brings it"
PATIENCE = 90.0  # seconds; the machine may be busy
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--mute-audio",
    "--force-color-profile=srgb", "--remote-debugging-pipe",
)  # fmt: skip


class Tab:
    """One page; `problems` collects what its console complains about."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser, self.session = browser, session
        self.problems: list[str] = []
        self.dialogs = 0
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.call(method, params, self)

    def note(self, event: dict[str, Any]) -> None:
        params, method = event["params"], event["method"]
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"])[:600])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(json.dumps(params["entry"])[:600])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs += 1

    def open(self, url: str) -> None:
        """Go to an address and wait until the page has drawn itself."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && document.querySelector('main h1, main .notice') !== null")

    def run(self, script: str) -> Any:
        """Return what an expression gives; a promise is waited for."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError(f"{script}: {json.dumps(found['exceptionDetails'])[:600]}")
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = PATIENCE) -> Any:
        """Wait until an expression is true."""
        found = f"const value = {script}; return value instanceof Node ? true : value;"
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if value := self.run(f"(() => {{ try {{ {found} }} catch (error) {{ return null; }} }})()"):
                return value
            time.sleep(0.05)
        shown = self.run("document.body.innerText.slice(0, 1500)")
        raise AssertionError(f"never true: {script}\nproblems: {self.problems}\nthe page says: {shown}")

    def click(self, selector: str, text: str | None = None) -> None:
        """Click with the mouse in the middle of an element."""
        chosen = f"[...document.querySelectorAll({json.dumps(selector)})]"
        if text is not None:
            chosen += f".filter((one) => one.textContent.trim() === {json.dumps(text)})"
        self.wait(f"{chosen}.length > 0")
        self.run(f"{chosen}[0].scrollIntoView({{ block: 'center' }})")
        x, y = self.run(
            f"(() => {{ const box = {chosen}[0].getClientRects()[0];"
            " return [box.x + Math.min(box.width / 2, 30), box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector: str, text: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)

    def key(self, name: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                text="\r" if name == "Enter" and kind == "keyDown" else "",
            )  # fmt: skip

    def texts(self, selector: str) -> list[str]:
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")

    def choose(self, selector: str, value: str) -> None:
        self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.value = {json.dumps(value)};"
            " one.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )

    def screenshot(self, path: Path, width: int = 1100, height: int = 800, dark: bool = False) -> None:
        self.size(width, height)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        found = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def size(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )


class Browser:
    def __init__(self, profile: Path) -> None:
        assert BINARY, MISSING
        theirs_read, self._write = os.pipe()
        self._read, theirs_write = os.pipe()
        # The protocol speaks on descriptors 3 and 4.
        command = ["bash", "-c", f'exec "$@" 3<&{theirs_read} 4>&{theirs_write}', "bash", BINARY, *FLAGS]
        command += [f"--user-data-dir={profile}", "about:blank"]
        with (profile.parent / "chromium.log").open("wb") as log:
            self.process = subprocess.Popen(
                command, pass_fds=(theirs_read, theirs_write), stdout=log, stderr=log, start_new_session=True
            )
        os.close(theirs_read)
        os.close(theirs_write)
        self._number = 0
        self._lock = threading.Lock()
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._tabs: dict[str, Tab] = {}
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def call(self, method: str, params: dict[str, Any], tab: Tab | None = None) -> dict[str, Any]:
        with self._lock:
            self._number += 1
            number, answer = self._number, queue.Queue[dict[str, Any]]()
            self._answers[number] = answer
            message: dict[str, Any] = {"id": number, "method": method, "params": params}
            if tab:
                self._tabs[tab.session] = tab
                message["sessionId"] = tab.session
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self._write, data) :]
        found = answer.get(timeout=PATIENCE)
        if "error" in found:
            raise AssertionError(f"{method}: {found['error']}")
        return found["result"]

    def tab(self) -> Tab:
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        return Tab(self, session)

    def _listen(self) -> None:
        rest = b""
        while chunk := os.read(self._read, 1 << 20):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self._answers.pop(message["id"]).put(message)
                elif message.get("sessionId") in self._tabs:
                    self._tabs[message["sessionId"]].note(message)

    def close(self) -> None:
        try:
            self.call("Browser.close", {})
            self.process.wait(30)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, 9)
                self.process.wait()
            self._thread.join(10)
            os.close(self._write)
            os.close(self._read)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    opened = Browser(folder / "profile")
    try:
        yield opened
    finally:
        opened.close()
