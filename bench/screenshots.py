"""Pictures of every view for docs/: a small home is made, served, and looked at in a real browser.

    python -m bench.screenshots docs
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.homes import tell_story

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
VIEWS = {"today": "/", "new": "/new", "browse": "/browse?tags=redis", "recall": "/recall?q=why+do+redis+connections+drop&budget=600", "review": "/review",
         "contradictions": "/review?tab=contradictions", "work": "/record/Find%20why%20sessions%20time%20out", "history": "/history", "graph": "/graph?group=tag",
         "timeline": "/timeline", "health": "/health", "search": "/"}
ONLY_DARK = {"record": "/record/Redis%20drops%20idle%20connections"}
DARK = ("today", "graph", "record")
PHONE = ("today", "browse", "review", "graph")


@contextmanager
def serving(home: Path, *words: str) -> Iterator[dict[str, str]]:
    """`otolith serve` as a process of its own; gives what it prints: url, link, token file."""
    process = subprocess.Popen([sys.executable, "-m", "otolith", "serve", "--home", str(home), "--port", "0", "--json", *words],
                               stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(20)


def take(folder: Path) -> None:
    """Write one PNG a view, some of them dark or as wide as a phone."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update({f"XDG_{name}_HOME": f"{scratch}/{name}" for name in ("CACHE", "CONFIG", "DATA")}
                          | {"OTOLITH_PROJECT": "shop"})
        home = Path(scratch) / "memory"
        tell_story(home, time.time())
        with serving(home) as told, sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            state = None
            wide, narrow = {"width": 1200, "height": 750}, {"width": 390, "height": 750}
            rounds = [("", VIEWS, wide, "light"), ("-dark", DARK, wide, "dark"), ("-phone", PHONE, narrow, "light")]
            for ending, names, size, scheme in rounds:
                context = browser.new_context(viewport=size, color_scheme=scheme, storage_state=state)  # type: ignore[arg-type]
                page = context.new_page()
                if state is None:
                    page.goto(told["link"])
                    page.wait_for_url("**/")
                    state = context.storage_state()
                for name in names:
                    page.goto(told["url"] + (VIEWS | ONLY_DARK)[name])
                    page.wait_for_selector("main h1")
                    if name == "graph":
                        page.wait_for_selector("canvas[data-calm=true]")
                    if name == "search":
                        page.keyboard.press("/")
                        page.keyboard.type("redis co")
                        page.wait_for_selector("#found .mark")
                    page.wait_for_timeout(400)
                    page.screenshot(path=folder / f"{name}{ending}.png")
                context.close()
            browser.close()


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    target.mkdir(exist_ok=True)
    take(target)
    for path in sorted(target.glob("*.png")):
        print(f"{path.stat().st_size / 1000:7.1f} kB  {path.name}")
