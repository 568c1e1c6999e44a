"""What the server costs: the first paint of Today and of the graph, a search while one types, a recall over HTTP, what an
idle page asks, and fifty clients at once.

    python -m bench.serve [records] [seconds]

Today is painted in a real browser and compared with a static page of as many bytes from the same server (the page's own
scripts cached in both). A recall is compared with the same call in this process plus a bare echo of the same framework.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from bench.homes import draw_words, fill
from bench.screenshots import FLAGS, serving

from otolith.memory import Memory

ECHO = """
    import json, sys, uvicorn
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route
    body, size = json.loads(sys.argv[2]).encode(), int(sys.argv[3])
    page = b"<!doctype html><title>x</title><h1>x</h1><p>" + b"x " * (size // 2)
    async def echo(request): return Response(body, media_type="application/json")
    async def static(request): return Response(page, media_type="text/html")
    uvicorn.run(Starlette(routes=[Route("/echo", echo), Route("/static", static)]), port=int(sys.argv[1]), log_level="error")
"""


def middle(act: Callable[[], Any], times: int) -> float:
    """The median of some timings, in milliseconds."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        found.append(1000 * (time.perf_counter() - began))
    return statistics.median(found)


class Client:
    """One kept connection."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.wire, self.headers = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60), headers

    def get(self, path: str) -> bytes:
        self.wire.request("GET", path, headers=self.headers)
        answer = self.wire.getresponse()
        data = answer.read()
        assert answer.status == 200, (answer.status, data[:300])
        return data


def questions(count: int) -> list[str]:
    chance = random.Random(11)
    return [" ".join(draw_words(chance, 4)) for _ in range(count)]


def measure_recall(home: Path, told: dict[str, str], headers: dict[str, str]) -> None:
    asked = questions(100)
    client = Client(told["url"], headers)
    with Memory(home) as mem:
        for question in asked[:10]:
            mem.recall(question)
            client.get(f"/api/recall?query={quote(question)}")
        both: list[tuple[float, float]] = []
        for question in asked:  # by turns, so that both see the same machine
            own = middle(lambda: mem.recall(question).to_dict(), 1)  # noqa: B023 (called at once)
            both.append((own, middle(lambda: client.get(f"/api/recall?query={quote(question)}"), 1)))  # noqa: B023
        size = json.dumps(mem.recall(asked[0]).to_dict())
    inside, outside = (statistics.median(side) for side in zip(*both, strict=True))
    with echoing(size, 1000) as url:
        other = Client(url, {})
        other.get("/echo")
        echo = middle(lambda: other.get("/echo"), 300)
    print(f"recall  in process {inside:.2f} ms, bare echo {echo:.2f} ms, REST {outside:.2f} ms "
          f"= {outside / (inside + echo):.2f}× of both together (goal 1.3)")


class echoing:
    """A bare server of the same framework in a process of its own."""

    def __init__(self, body: str, size: int) -> None:
        self.port = _free_port()
        words = [str(self.port), json.dumps(body), str(size)]
        self.process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(ECHO), *words])

    def __enter__(self) -> str:
        url = f"http://127.0.0.1:{self.port}"
        for _ in range(200):
            try:
                Client(url, {}).get("/echo")
                return url
            except OSError:
                time.sleep(0.05)
        raise TimeoutError("the bare server did not start")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def measure_paint(told: dict[str, str], headers: dict[str, str]) -> None:
    """First contentful paint, and for Today the moment its list stands on the page."""
    client = Client(told["url"], headers)
    size = len(client.get("/"))
    wire = middle(lambda: client.get("/"), 30)
    chromium = shutil.which("chromium")
    if chromium is None:
        print(f"today   {size} bytes, {wire:.1f} ms on the wire; no browser to paint it")
        return
    from playwright.sync_api import sync_playwright

    with echoing("{}", size) as url, sync_playwright() as play:
        other = Client(url, {})
        bare = middle(lambda: other.get("/static"), 30)
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.goto(told["link"])
        page.wait_for_selector(".rows")
        ours, listed, theirs = [], [], []
        for _ in range(15):
            page.goto(told["url"] + "/")
            page.wait_for_selector(".rows")
            ours.append(_painted(page))
            listed.append(page.evaluate("performance.getEntriesByName('today')[0]?.startTime"))
            page.goto(url + "/static")
            theirs.append(_painted(page))
        browser.close()
    mine, shown, static = map(statistics.median, (ours, listed, theirs))
    print(f"today   {size} bytes: wire {wire:.1f} ms against {bare:.1f} ms static; first paint {mine:.0f} ms, list painted "
          f"{shown:.0f} ms, static {static:.0f} ms = {mine / static:.2f}× and {shown / static:.2f}×; on the wire {wire / bare:.2f}× (goal 1.5)")


def _painted(page: Any) -> float:
    return float(page.evaluate("""() => new Promise(done => {
        const look = () => {
            const entry = performance.getEntriesByName('first-contentful-paint')[0];
            entry ? done(entry.startTime) : setTimeout(look, 5);
        };
        look(); })"""))


def measure_search(home: Path, told: dict[str, str], headers: dict[str, str]) -> None:
    """What is asked while a question is typed, letter by letter, against a warm recall of the same words in the server."""
    client = Client(told["url"], headers)
    with Memory(home) as mem:
        titles = [row["title"] for row in mem.list(limit=40)[0]]
    typed = [title[:at] for title in titles for at in range(3, min(len(title), 18), 3)]
    for words in typed[:20]:
        client.get(f"/api/recall?query={quote(words)}&limit=8&depth=summary")
        client.get(f"/api/views/search?q={quote(words)}")
    searches, recalls = [], []
    for words in typed:  # by turns, so that both see the same machine
        recalls.append(middle(lambda: client.get(f"/api/recall?query={quote(words)}&limit=8&depth=summary"), 1))  # noqa: B023
        searches.append(middle(lambda: client.get(f"/api/views/search?q={quote(words)}"), 1))  # noqa: B023
    late, usual = (sorted(times)[int(len(times) * 0.95)] for times in (searches, recalls))
    print(f"search  {len(typed)} beginnings: median {statistics.median(searches):.1f} ms, p95 {late:.1f} ms; a warm recall "
          f"{statistics.median(recalls):.1f} and {usual:.1f} ms = {late / usual:.2f}× at p95 (goal 1.3)")


PAN = """() => new Promise(done => {
    const canvas = document.querySelector('.above'), box = canvas.getBoundingClientRect(), began = performance.now();
    const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: box.x + x, clientY: box.y + y}));
    canvas.setPointerCapture = () => {};
    let frames = 0;
    send('pointerdown', 5, 5);
    const step = () => {
        frames += 1;
        const far = frames % 40 < 20 ? frames % 40 : 40 - frames % 40;
        send('pointermove', 5 + 6 * far, 5 + 3 * far);
        if (performance.now() - began < 3000) return requestAnimationFrame(step);
        send('pointerup', 5, 5);
        done(frames / 3);
    };
    step();
})"""


def measure_pages(told: dict[str, str]) -> None:
    """The graph: when it is first drawn, when calm, and the frames a second while one pans; then what an idle page asks."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(subprocess.run([sys.executable, "-m", "otolith", "serve", "--link", "--port", str(urlsplit(told["url"]).port)],
                                 capture_output=True, text=True, check=True).stdout.strip())
        page.wait_for_selector(".rows")
        for turn in ("first", "again"):
            began = time.perf_counter()
            page.goto(told["url"] + "/graph")
            page.wait_for_selector("canvas[data-frame], .too-many")
            drawn = time.perf_counter() - began
            if page.query_selector(".too-many"):
                print(f"graph   {page.inner_text('.head .count')}, {turn}: said to be too many after {drawn:.1f} s")
                page.click(".too-many a >> nth=0")
                page.wait_for_selector("canvas[data-frame]")
                print(f"        the neighbourhood of the most linked: {page.inner_text('.head .count')}")
                continue
            page.wait_for_selector("canvas[data-calm=true]", timeout=120_000)
            calm = time.perf_counter() - began
            print(f"graph   {page.inner_text('.head .count')}, {turn}: drawn after {drawn:.1f} s (goal 1.5), calm after {calm:.1f} s, "
                  f"{page.evaluate(PAN):.0f} frames/s while panning (goal 20), a sharp picture {page.get_attribute('canvas', 'data-paint')} ms")
        asked: list[str] = []
        page.goto(told["url"] + "/")
        page.wait_for_selector("#live[data-state=on]", state="attached")
        page.wait_for_timeout(1500)
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(10_000)
        browser.close()
    print(f"idle    {len(asked)} requests in ten seconds")


def measure_crowd(told: dict[str, str], headers: dict[str, str], seconds: float, clients: int = 50) -> None:
    """Fifty clients, each asking as fast as it is answered."""
    counts, times, errors = [0], [], []
    asked = questions(200)
    host = urlsplit(told["url"])

    async def one(number: int, end: float) -> None:
        reader, writer = await asyncio.open_connection(host.hostname, host.port)
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        turn = number
        while time.perf_counter() < end:
            turn += 1
            path = f"/api/recall?query={quote(asked[turn % len(asked)])}" if turn % 4 else "/api/views/today"
            began = time.perf_counter()
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host.netloc}\r\n{lines}\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
            times.append(1000 * (time.perf_counter() - began))
            counts[0] += 1
            if " 200 " not in head.splitlines()[0] + " ":
                errors.append(head.splitlines()[0])
        writer.close()

    async def all_of_them() -> None:
        end = time.perf_counter() + seconds
        done = await asyncio.gather(*(one(number, end) for number in range(clients)), return_exceptions=True)
        errors.extend(str(error) for error in done if error is not None)

    asyncio.run(all_of_them())
    times.sort()
    print(f"crowd   {clients} clients for {seconds:g} s: {counts[0]} answers ({counts[0] / seconds:.0f}/s), "
          f"median {times[len(times) // 2]:.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms, "
          f"errors {len(errors)} {errors[:3]}")


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update({f"XDG_{name}_HOME": f"{scratch}/{name}" for name in ("CACHE", "CONFIG", "DATA")})
        home = Path(scratch) / "memory"
        fill(home, records, time.time(), links=records // 3)
        with Memory(home) as mem:
            mem.embed()
        with serving(home) as told:
            headers = {"Authorization": f"Bearer {Path(told['token']).read_text().strip()}"}
            measure_paint(told, headers)
            measure_pages(told)
            measure_search(home, told, headers)
            measure_recall(home, told, headers)
            measure_crowd(told, headers, seconds)


if __name__ == "__main__":
    main()
