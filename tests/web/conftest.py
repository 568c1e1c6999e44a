"""Fixtures of the web doors: `otolith serve` as a process on a real port, and a client that says exactly what it is told."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
DIALOGS = ([{"role": "Jonas", "content": "I live in Bergen. I am allergic to nuts.", "ts": "2026-01-01T10:00:00Z"}],
           [{"role": "Jonas", "content": "I live in Oslo now. My sister Ana is a botanist.", "ts": "2026-01-09T10:00:00Z"}])


class Answer(NamedTuple):
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]


class Server:
    """A server that runs, and how to reach it."""

    def __init__(self, home: Path, env: dict[str, str], *words: str) -> None:
        self.home, self.env = home, env
        command = [sys.executable, "-m", "otolith", "serve", "--home", str(home), "--port", "0", "--json", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.url, self.link = told["url"], told["link"]
        self.port = urlsplit(self.url).port or 0
        self.token = Path(told["token"]).read_text().strip()
        self.cookie = ""

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, *,
             token: bool = True) -> Answer:
        given = {"Authorization": f"Bearer {self.token}"} if token else {}
        data = body
        if body is not None and not isinstance(body, bytes):
            data, given["Content-Type"] = json.dumps(body).encode(), "application/json"
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            wire.request(method, path, data, {**given, **(headers or {})})
            found = wire.getresponse()
            return Answer(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read())
        finally:
            wire.close()

    def get(self, path: str, **more: Any) -> Answer:
        return self.call("GET", path, **more)

    def post(self, verb: str, **body: Any) -> Answer:
        return self.call("POST", f"/api/{verb}", body)

    def note(self, title: str, text: str = "Some text.", **more: Any) -> str:
        return str(self.post("note", title=title, text=text, **more).json["id"])

    def as_person(self) -> dict[str, str]:
        """The headers of a browser that has signed in."""
        if not self.cookie:
            made = self.call("POST", "/api/signin", {"code": self.link.split("#")[1]}, token=False)
            self.cookie = made.headers["set-cookie"].split(";")[0]
        return {"Cookie": self.cookie}

    def record(self, record: str) -> Answer:
        return self.get(f"/api/records/{quote(record, safe='')}")

    def run(self, *words: str, given: str | None = None) -> str:
        """Another process of the same person on the same home; `given` is its input."""
        return subprocess.run([sys.executable, "-m", "otolith", *words, "--home", str(self.home)], env=self.env, check=True,
                              capture_output=True, text=True, timeout=60, input=given).stdout

    def stop(self) -> int:
        self.process.terminate()
        code = self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


class Listener:
    """Somebody who listens to the events."""

    def __init__(self, server: Server) -> None:
        self.wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.wire.connect()
        self.socket = self.wire.sock
        self.wire.request("GET", "/api/events", headers={"Authorization": f"Bearer {server.token}"})
        self.answer = self.wire.getresponse()
        self.events: list[tuple[str, Any]] = []
        self.reading = threading.Thread(target=self._read, daemon=True)
        self.reading.start()
        self.wait(lambda event, _: event == "hello")

    def _read(self) -> None:
        event = ""
        try:
            while line := self.answer.readline():
                if line.startswith(b"event: "):
                    event = line[7:].strip().decode()
                elif line.startswith(b"data: "):
                    self.events.append((event, json.loads(line[6:])))
        except (OSError, ValueError, AttributeError):
            return  # closed

    def ended(self, seconds: float) -> None:
        """Wait until the server ends the stream."""
        self.reading.join(seconds)
        assert not self.reading.is_alive()

    def close(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        self.wire.close()

    def wait(self, wanted: Callable[[str, Any], bool], seconds: float = 40.0) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event, value in list(self.events):
                if wanted(event, value):
                    return value
            time.sleep(0.02)
        raise AssertionError(f"not told in {seconds:g} s; told was {self.events}")

    def wait_for(self, record: str) -> Any:
        return self.wait(lambda event, value: event == "change" and any(one["id"] == record for one in value["records"]))


def world(folder: Path) -> dict[str, str]:
    """An environment in which nothing of the machine's own user is seen."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTOLITH_", "OPENAI_", "OLLAMA_"))}
    own = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
    return {**kept, **own, "HOME": str(folder), "OTOLITH_PROJECT": "default"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("web")
    running = Server(folder / "home", world(folder))
    yield running
    running.stop()


@pytest.fixture
def listener(server: Server) -> Iterator[Listener]:
    listening = Listener(server)
    yield listening
    listening.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[Server, Listener]]]:
    """A server of the test's own, and somebody who listens to it; gone when the test is, however it ended."""
    running: list[Server] = []

    def begin(*words: str) -> tuple[Server, Listener]:
        running.append(Server(tmp_path / "home", world(tmp_path), *words))
        return running[-1], Listener(running[-1])

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.stop()


# A browser

@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def person(browser: Any, server: Any) -> Iterator[Any]:
    """A browser that has signed in; what it does on the side is written down."""
    server.note("Kettle", "It boils at *ninety* degrees up here.", tags=["kitchen"], importance=0.8)
    server.note("Altitude", "Two thousand metres. See [[Kettle]].", type="problem")
    server.post("link", source="Kettle", type="SOLVES", target="Altitude", context="less pressure")
    for dialog in DIALOGS:
        server.post("log", dialog=dialog, topic="people")
    context = browser.new_context(viewport={"width": 1200, "height": 800}, locale="en-GB")
    context.away, context.dialogs = [], []

    def route(given: Any) -> None:
        if given.request.url.startswith(server.url):
            given.continue_()
        else:
            context.away.append(given.request.url)
            given.abort()

    context.route("**/*", route)
    first = context.new_page()
    first.goto(server.link)
    first.wait_for_url(f"{server.url}/")
    first.wait_for_selector("h1")
    yield context
    context.close()


@pytest.fixture
def visit(person: Any, server: Any) -> Iterator[Callable[[str], Any]]:
    """Open an address; whatever goes wrong on the page fails the test."""
    pages: list[Any] = []
    wrong: list[str] = []

    def open_page(path: str) -> Any:
        page = person.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (person.dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(server.url + path)
        page.wait_for_selector("main h1")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not wrong
    assert not person.dialogs
    assert not person.away
