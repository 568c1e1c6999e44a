"""Nobody is kept out: axe-core finds nothing on any view, wide or narrow, light or dark; and every view can be reached by keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright: pip install playwright")
axe = pytest.importorskip("axe_playwright_python", reason="accessibility is tested with axe-core: pip install axe-playwright-python")
from web.conftest import CHROMIUM  # noqa: E402 (beside this file)
from web.test_page import VIEWS  # noqa: E402

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: make browser, or apt-get install chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
AXE = (Path(axe.__file__).parent / "axe.min.js").read_text()
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
SHAPES = {"rules": {"color-contrast": {"enabled": False}, "link-in-text-block": {"enabled": False}}}


@pytest.fixture(scope="module")
def furnished(server: Any, person: Any) -> list[str]:
    """A home with something in every view; gives the addresses."""
    work = server.post("record", intent={"goal": "Find out why tea is bitter", "task_type": "investigation"},
                       outcome={"success": False, "summary": "The water is too hot.", "follow_up_needed": ["try 80 degrees"]},
                       actions=[{"type": "file_edit", "details": {"file_path": "tea.md"}, "result": {"success": True}}]).json["id"]
    server.post("chapter", works=[work], title="A bitter week", summary="Tea was bitter, and we found out why.")
    server.post("forget", id=server.note("Put away", "An old thing."))
    kettle = server.get("/api/get?id=Kettle").json["id"]
    server.post("edit", id=kettle, changes={"text": "It boils at *ninety-three* degrees up here."})
    server.run("log", "-", "--topic", "ports", given="user: The API port is 8080.")
    server.run("log", "-", "--topic", "ports", given="assistant: The API port is 8443.")
    return [*VIEWS, f"/record/{kettle}", f"/record/{work}", "/record/A%20bitter%20week"]


def test_axe_finds_nothing_on_any_view_wide_narrow_or_dark(visit, server, furnished):
    """Colours are looked at in light and in dark, in the frame once and in each view's own part; all else wide and narrow."""
    page, found = visit("/"), {}

    for at, path in enumerate([*furnished, "search"]):
        if path == "search":
            page.keyboard.press("/")
            page.keyboard.type("kettle")
            page.wait_for_selector("#found .mark")
        else:
            page.goto(server.url + path)
            page.wait_for_selector("main h1")
        page.evaluate(AXE)
        part = "html" if at == 0 else "#palette" if path == "search" else "main"
        found[path, "wide"] = _violations(page, "html", SHAPES)
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            found[path, scheme] = _violations(page, part, COLOURS)
        page.set_viewport_size(NARROW)
        found[path, "narrow"] = _violations(page, "html", SHAPES)
        page.set_viewport_size(WIDE)

    assert {view: wrong for view, wrong in found.items() if wrong} == {}


def _violations(page: Any, part: str, which: dict[str, Any]) -> list[str]:
    result = page.evaluate("([part, which]) => axe.run(part, {resultTypes: ['violations'], ...which})", [part, which])
    return [f"{one['id']}: {node['html'][:160]}" for one in result["violations"] for node in one["nodes"][:3]]


def test_a_record_is_found_opened_edited_and_saved_without_a_mouse(visit, server):
    server.note("Keyboard only", "Before.")
    page = visit("/")

    page.keyboard.press("/")
    page.keyboard.type("keyboard on")
    page.wait_for_selector("#found .title >> text=Keyboard only")
    page.keyboard.press("Enter")
    page.wait_for_selector(".v-record h1 >> text=Keyboard only")
    page.keyboard.press("e")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("After.")
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.textContent") != "Save":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    page.wait_for_selector(".v-record .prose >> text=After.")
