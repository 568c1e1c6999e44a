"""What a person does on the page from beginning to end: create, find, change by hand, meet a conflict, decide, take it back."""

from __future__ import annotations

import base64
import json
import os
import pty
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright: pip install playwright")
from web import payloads  # (beside this file)
from web.conftest import CHROMIUM, Server, world

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: make browser, or apt-get install chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def search(page: Any, words: str, title: str) -> None:
    """Type into the search that opens everywhere, and open what stands first."""
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.wait_for_selector(f"#found li[aria-selected=true] .title >> text={title}")
    page.keyboard.press("Enter")
    page.wait_for_selector(f".v-record h1 >> text={title}")


def undo(page: Any, word: str) -> None:
    page.click(f".toast:has-text('{word}') button >> text=Undo")


# Create → find → edit by hand → conflict → decide → undo


def test_a_note_is_written_found_changed_by_hand_contested_decided_and_taken_back(visit, server):
    page = visit("/")
    page.keyboard.press("n")
    page.fill("input[name=title]", "Sourdough")
    page.fill("textarea[name=text]", "Feed it daily.\nSee [[Kettle]].")
    page.fill("input[name=tags]", "kitchen, bread")
    page.click("button >> text=Keep")
    page.wait_for_selector(".v-record h1 >> text=Sourdough")
    kept = server.get("/api/get?id=Sourdough").json
    assert kept["origin"]["door"] == "page"
    assert set(kept["tags"]) == {"kitchen", "bread"}

    page.goto(server.url + "/health")
    page.wait_for_selector("main h1")
    search(page, "sourd", "Sourdough")
    path = server.home / server.record(kept["id"]).json["path"]
    page.keyboard.press("e")
    page.fill("textarea[name=text]", "Feed it twice a day.")
    path.write_text(path.read_text().replace("Feed it daily.", "Feed it weekly."))
    page.click("text=Save")

    page.wait_for_selector(".clash")
    shown = page.inner_text(".clash")
    assert "twice a day" in shown
    assert "weekly" in shown
    assert "weekly" in path.read_text()
    page.click("text=Keep mine")
    page.wait_for_selector(".prose >> text=Feed it twice a day.")
    undo(page, "Saved")
    page.wait_for_selector(".prose >> text=Feed it weekly.")
    assert "weekly" in path.read_text()


def test_a_former_version_is_compared_and_brought_back(visit, server):
    note = server.note("Recipe", "One egg.")
    server.post("edit", id=note, changes={"text": "Two eggs."})
    server.post("edit", id=note, changes={"text": "Three eggs."})
    page = visit(f"/record/{note}")

    page.click(".versions summary >> nth=-1")
    assert page.inner_text(".versions details[open] del") == "One egg."
    assert page.inner_text(".versions details[open] ins") == "Two eggs."
    page.click(".versions details[open] >> text=Bring this version back")

    page.wait_for_selector(".prose >> text=One egg.")
    assert server.record(note).json["text"] == "One egg."
    undo(page, "This version is back")
    page.wait_for_selector(".prose >> text=Three eggs.")
    assert {"edited"} <= set(page.locator(".log b").all_inner_texts())


def test_a_memo_and_a_pasted_dialog_are_kept(visit, server):
    page = visit("/new?tab=memo")
    page.fill("textarea[name=text]", "Answers come first, reasons after.")
    page.click("button >> text=Keep")
    page.wait_for_selector(".v-record .mark >> text=memo")
    undo(page, "Kept")
    page.wait_for_selector(".toast >> text=Taken back")

    page.goto(server.url + "/new?tab=dialog")
    page.fill("textarea[name=dialog]", "Rosa: I live in Porto.\nAssistant: Since when?\nRosa: I have a dog called Bolt.")
    page.fill("input[name=topic]", "Rosa at home")
    page.click("button >> text=Keep")
    page.wait_for_selector(".v-record .prose >> text=I live in Porto.")
    assert '"Porto"' in json.dumps(server.get("/api/facts?topic=rosa-at-home").json)


# Contradictions


def test_a_contradiction_has_three_answers_and_each_can_be_taken_back(visit, server):
    server.run("log", "-", "--topic", "ports", given="user: The API port is 8080.")
    server.run("log", "-", "--topic", "ports", given="assistant: The API port is 8443.")
    page = visit("/review?tab=contradictions")
    page.wait_for_selector(".pair")

    for answer in ("The older holds", "Both, each in its scope", "The newer holds"):
        page.click(f"text={answer}")
        page.wait_for_selector("text=No two statements contradict")
        undo(page, "Settled")
        page.wait_for_selector(".pair")
        page.wait_for_selector(".toast", state="detached", timeout=8_000)

    said = [json.loads(line) for path in server.home.rglob("curation.jsonl") for line in path.read_text().splitlines()]
    assert [line["holds"] for line in said if line.get("op") == "settle"] == ["old", "open", "both", "open", "new", "open"]


# Browse


def test_browsing_narrows_down_by_facets_and_while_typing(visit, server):
    server.note("Brown bread", "Rye.", tags=["bakery"])
    server.note("White bread", "Wheat.", tags=["bakery"])
    server.note("Bakery hours", "Seven to two.", type="configuration")
    page = visit("/browse")

    page.click(".facets a:has-text('bakery')")
    page.wait_for_selector(".head .count >> text=2 records")
    page.fill(".filterbar input", "brow")
    page.wait_for_selector(".head .count >> text=1 record")
    assert page.locator(".row .title").all_inner_texts() == ["Brown bread"]
    assert "title=brow" in page.url


def test_several_are_selected_tagged_linked_merged_and_forgotten_each_with_an_undo(visit, server):
    ids = [server.note(f"Batch {name}", f"About {name}.") for name in ("one", "two")]
    server.note("Shelf", "Where they stand.")
    page = visit("/browse?title=batch")

    def select() -> None:
        page.wait_for_selector(".row.selectable")
        for box in page.locator(".row input[type=checkbox]").all():
            box.check()

    def tags() -> list[list[str]]:
        return [server.record(one).json["tags"] for one in ids]

    def linked() -> set[str]:
        return {row["title"] for one in ids for row in server.get(f"/api/related?id={one}").json["items"]}

    select()
    page.click(".selected >> text=Tag…")
    page.fill(".selected input", "spring, sale")
    page.click(".selected >> button:has-text('Tag')")
    page.wait_for_selector(".toast >> text=2 tagged")
    assert tags() == [["spring", "sale"]] * 2
    undo(page, "2 tagged")
    page.wait_for_selector(".toast >> text=Taken back")
    assert tags() == [[], []]

    select()
    page.click(".selected >> text=Link…")
    page.fill(".selected input", "Shelf")
    page.click(".selected >> button:has-text('Link')")
    page.wait_for_selector(".toast >> text=2 linked")
    assert linked() == {"Shelf"}
    undo(page, "2 linked")
    page.wait_for_function("() => document.querySelectorAll('.toast').length >= 2")
    page.wait_for_timeout(200)
    assert linked() == set()

    select()
    page.click(".selected >> text=Merge")
    page.wait_for_selector(".toast >> text=/merged into/")
    page.wait_for_function("() => document.querySelectorAll('.row.selectable').length === 1")
    undo(page, "merged into")
    page.wait_for_function("() => document.querySelectorAll('.row.selectable').length === 2")

    select()
    page.click(".selected >> text=Forget")
    page.wait_for_selector("text=Nothing fits.")
    undo(page, "2 forgotten")
    page.wait_for_function("() => document.querySelectorAll('.row.selectable').length === 2")
    assert all(server.record(one).status == 200 for one in ids)


# Projects


def test_every_view_keeps_to_the_project_that_is_chosen(visit, server):
    server.note("Boat hull", "Teak.", project="boat", tags=["wood"])
    server.note("Barn roof", "Slate.", project="barn", tags=["wood"])
    page = visit("/browse?tags=wood")
    page.wait_for_selector(".row .title >> text=Barn roof")

    page.select_option("#project", "boat")

    page.wait_for_selector(".row .title >> text=Barn roof", state="detached")
    assert page.locator(".row .title").all_inner_texts() == ["Boat hull"]
    for path in ("/", "/timeline", "/recall?q=wood", "/history?tab=audit"):
        page.goto(server.url + path)
        page.wait_for_selector("main >> text=Boat hull")
        assert page.locator("main >> text=Barn roof").count() == 0, path
    page.goto(server.url + "/graph?group=kind")
    page.wait_for_selector(".nodes >> text=Boat hull")
    assert page.locator(".nodes li").count() == 1
    page.keyboard.press("/")
    page.keyboard.type("roof")
    page.wait_for_selector("#found >> text=Recall “roof”")
    assert page.locator("#found >> text=Barn roof").count() == 0
    page.keyboard.press("Escape")
    page.select_option("#project", "")
    page.wait_for_selector("#project option:checked >> text=All of", state="attached")


# Search


def test_search_remembers_questions_and_counts_no_use(visit, server):
    note = server.note("Lantern", "It hangs by the door.")
    page = visit("/")
    page.keyboard.press("/")
    page.keyboard.type("lant", delay=30)
    page.wait_for_selector("#found .title >> text=Lantern")
    page.fill("#palette input", "where does the lantern hang")
    page.wait_for_selector("#found >> text=Recall “where does")
    assert server.get("/api/views/record?again=true&id=" + note).json["uses"] == 0
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".hit")

    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("/")

    page.wait_for_selector("#found .title >> text=where does the lantern hang")


def test_what_is_not_sure_is_said_above_weak_hits(visit):
    page = visit("/recall?q=submarine+licence+of+my+neighbour")

    page.wait_for_selector(".notice, .empty")

    assert page.locator(".notice >> text=Nothing sure.").count() + page.locator("text=Nothing is known about this.").count() == 1


# Files


def drop(page: Any, *files: tuple[str, bytes]) -> None:
    given = [[name, base64.b64encode(data).decode()] for name, data in files]
    page.evaluate("""given => {
        const moved = new DataTransfer();
        for (const [name, data] of given)
            moved.items.add(new File([Uint8Array.from(atob(data), c => c.charCodeAt(0))], name));
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: moved, bubbles: true, cancelable: true}));
    }""", given)


def test_dropped_files_are_looked_at_first_then_kept_as_from_outside(visit, server):
    page = visit("/new?tab=files")
    drop(page, ("Tea.md", b"# Tea\n\nSteep it for three minutes."), ("Soup.md", b"# Soup\n\nSee [[Tea]]."))

    page.wait_for_selector("text=2 notes, 1 link would come in")
    assert server.get("/api/list?kind=note").json["items"][0]["title"] not in ("Tea", "Soup")
    page.click("text=Import as from outside")
    page.wait_for_selector("text=2 notes, 1 link kept")

    assert server.get("/api/get?id=Soup").json["origin"]["trust"] == "outside"


def test_what_is_dropped_as_mine_is_mine_and_what_came_from_outside_is_vouched_for_later(visit, server):
    def trust(title: str) -> str:
        listed = server.get("/api/views/browse?title=" + title).json["items"]
        return str(listed[0]["trust"]) if listed else "none"

    page = visit("/new?tab=files")
    drop(page, ("Quince.md", b"# Quince\n\nIt is mine."))
    page.click("text=Import as mine")
    page.wait_for_selector(".toast >> text=It counts as yours")
    assert trust("Quince") == "user"
    undo(page, "It counts as yours")
    page.wait_for_selector(".toast >> text=It counts as from outside")
    assert trust("Quince") == "outside"

    page.goto(server.url + "/browse?title=quince")
    page.check(".row input[type=checkbox]")
    page.click(".selected >> text=Trust")
    page.wait_for_selector(".toast >> text=1 count as yours")
    assert trust("Quince") == "user"
    undo(page, "1 count as yours")
    page.wait_for_selector(".toast >> text=Taken back")
    assert trust("Quince") == "outside"


def test_a_drop_of_ten_megabytes_is_refused_with_a_sentence(visit):
    page = visit("/new?tab=files")

    page.evaluate("""() => {
        const moved = new DataTransfer();
        moved.items.add(new File([new Uint8Array(10 << 20)], 'export.zip'));
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: moved, bubbles: true, cancelable: true}));
    }""")

    page.wait_for_selector(".notice >> text=otolith import export.zip")
    assert "10.0 MB; the page takes 3 MB" in page.inner_text(".notice")


@pytest.mark.parametrize(("files", "says"), [
    ([{"name": "../../evil.md", "data": ""}], "not a name that a file can have"),
    ([{"name": "a.md", "data": "***"}], "not base64"), ([{"name": "a.xyz", "data": "AAAA"}], "not in a known format"),
    (["a"], "has a name and data"), ([], "from 1 to"),
])
def test_files_that_cannot_be_read_are_refused_in_one_line(server, files, says):
    told = server.post("import", files=files, dry_run=True)

    assert told.status == 422
    assert says in told.json["error"]["message"]
    assert "/tmp" not in told.body.decode()


# Nothing typed can act


def test_payloads_in_every_form_do_nothing(visit, server):
    page = visit("/")
    twenty = payloads.PAYLOADS[::15]
    for at, (payload, other) in enumerate(zip(twenty[::2], twenty[1::2], strict=True)):
        page.evaluate("document.activeElement?.blur()")
        page.keyboard.press("n")
        page.wait_for_selector(".v-new")
        page.fill("input[name=title]", " ".join(payload.split())[:200])
        page.fill("textarea[name=text]", f"{payload}\n\n{other}")
        page.fill("input[name=tags]", f"safe-{at}")
        page.click("button >> text=Keep")
        page.wait_for_selector(".v-record h1, .form .notice")
        assert page.evaluate("window.hit") is None
    drop_page = visit("/new?tab=files")
    drop(drop_page, ("<img src=x onerror=top.hit=1>.md", b"# <script>top.hit=1</script>\n\n<svg onload=top.hit=1>"))
    drop_page.wait_for_selector(".drop + div .card")
    for path in ("/browse", "/graph?group=tag", "/"):
        page.goto(server.url + path)
        page.wait_for_selector("main h1")
        page.keyboard.press("/")
        page.keyboard.type("<img src=x onerror=top.hit=1>")
        page.wait_for_selector("#found >> text=Recall “<img")
        assert page.evaluate("window.hit") is None


# The server goes, the home is empty


def test_when_the_server_goes_what_was_typed_stays_and_the_page_says_how_to_go_on(browser, tmp_path):
    env = world(tmp_path)
    first = Server(tmp_path / "home", env)
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(first.link)
    page.wait_for_selector("text=Welcome")
    empty = {}
    for path in ("/browse", "/recall", "/review", "/work", "/graph", "/timeline", "/history", "/health"):
        page.goto(first.url + path)
        page.wait_for_selector("main h1")
        empty[path] = len(page.inner_text("main")) > 60
    assert all(empty.values()), empty
    page.goto(first.url + "/new")
    page.fill("input[name=title]", "Unsaved thought")
    page.fill("textarea[name=text]", "It must not be lost.")
    first.stop()

    page.click("button >> text=Keep")
    page.wait_for_selector("#gone >> text=otolith serve")
    page.wait_for_selector(".notice >> text=What you typed is still here")
    assert page.input_value("textarea[name=text]") == "It must not be lost."

    again = Server(tmp_path / "home", env, "--port", str(first.port))
    page.wait_for_selector("#gone", state="hidden", timeout=20_000)
    page.reload()
    assert page.input_value("input[name=title]") == "Unsaved thought"
    page.click("button >> text=Keep")
    page.wait_for_selector(".v-record h1 >> text=Unsaved thought")
    again.stop()
    context.close()


def test_serve_opens_the_browser_at_a_terminal_with_a_short_link(tmp_path):
    opened = tmp_path / "opened"
    script = tmp_path / "browser"
    script.write_text(f"#!/bin/sh\necho \"$1\" > {opened}\n")
    script.chmod(0o755)
    ours, theirs = pty.openpty()
    env = {**world(tmp_path), "BROWSER": f"{script} %s", "DISPLAY": ":9"}
    process = subprocess.Popen([sys.executable, "-m", "otolith", "serve", "--home", str(tmp_path / "home"), "--port", "0"], stdout=theirs,
                               stderr=subprocess.STDOUT, env=env)
    os.close(theirs)
    told = b""
    while b"Ctrl-C" not in told:
        told += os.read(ours, 4096)
    for _ in range(100):
        if opened.exists() and opened.read_text():
            break
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    process.terminate()
    process.wait(20)
    os.close(ours)

    link = Path(opened).read_text().strip()
    assert link.encode() in told
    assert len(link.partition("#")[2]) == 22


# Links by name


def test_memory_and_otolith_links_open_the_record(visit, server):
    kettle = server.get("/api/get?id=Kettle").json["id"]
    note = server.note("Pointers", f"See [it](memory://{kettle}), otolith:{kettle} and [again](otolith:{kettle}).")
    page = visit(f"/record/{note}")

    assert [one.get_attribute("href") for one in page.locator(".prose a").all()] == [f"/record/{kettle}"] * 3
    page.click(".prose a >> nth=1")
    page.wait_for_selector(".v-record h1 >> text=Kettle")


# The graph


def test_the_graph_has_a_list_a_search_and_a_neighbourhood(visit, server):
    chain = [server.note(f"Link {name} of a chain", "x") for name in ("first", "second", "third", "fourth")]
    for source, target in pairwise(chain):
        server.post("link", source=source, type="RELATED_TO", target=target)
    page = visit("/graph")
    page.wait_for_selector("canvas[data-calm=true]")
    page.fill("aside input[type=search]", "link first")
    page.wait_for_function("() => document.querySelectorAll('.nodes li').length === 1")
    page.keyboard.press("Enter")
    page.wait_for_selector(".peek h2 >> text=Link first of a chain")

    page.click("text=Only around it")
    for depth, count in ((1, 2), (2, 3), (3, 4)):
        page.click(f".choice >> text=/^{depth} link/")
        page.wait_for_selector(f".head .count >> text={count} records")
