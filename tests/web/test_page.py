"""The page, in a real browser: what a person clicks and types, what they see, and what nothing remembered can make it do."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright: pip install playwright")
from web import payloads
from web.conftest import CHROMIUM

VIEWS = ("/", "/new", "/new?tab=memo", "/new?tab=dialog", "/new?tab=files", "/browse", "/browse?archive=true", "/recall", "/recall?q=kettle", "/review",
         "/review?tab=contradictions", "/review?tab=merges", "/work", "/work?tab=chapters", "/work?tab=wisdom", "/graph", "/graph?around=Kettle", "/timeline",
         "/history", "/history?tab=told", "/history?tab=audit", "/health")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: make browser, or apt-get install chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_today_shows_what_changed_and_what_waits(visit):
    page = visit("/")

    assert page.locator(".rows .title", has_text="Kettle").count() == 1
    assert int(page.locator(".waits b").first.inner_text()) >= 3


def test_a_sign_in_link_that_was_used_says_so(browser, server, person):
    page = browser.new_page()
    page.goto(server.link)

    page.wait_for_selector("#hint:not([hidden])")

    assert "used before" in page.inner_text("#state")
    page.close()


def test_a_question_is_answered_with_reasons_and_a_hit_opens(visit):
    page = visit("/recall")
    page.fill("input[type=search]", "at how many degrees does the kettle boil")
    page.keyboard.press("Enter")

    page.wait_for_selector(".hit")
    assert page.locator(".hit .why").count() >= 1
    assert "tokens" in page.inner_text(".meter >> nth=-1")
    page.click(".hit h2 a >> nth=0")
    page.wait_for_selector(".v-record")


def test_facts_are_scored_corrected_and_taken_back_by_keys(visit, server):
    page = visit("/review")
    page.wait_for_selector(".fact[data-id]")
    first = page.get_attribute(".fact[data-id]", "data-id")

    page.keyboard.press("7")
    page.wait_for_function("id => document.querySelector('.fact')?.dataset.id !== id", arg=first)
    assert server.record(first).json["record"]["user_fact_score"] == 7

    page.keyboard.press("u")
    page.wait_for_selector(f".fact[data-id='{first}']")
    assert server.record(first).json["record"]["user_fact_score"] is None

    page.keyboard.press("c")
    page.fill("input[name=object]", "something else")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.fact') && !document.querySelector('.fact form')")  # it was taken
    assert page.get_attribute(".fact", "data-id") != first
    assert "something else" in json.dumps(server.get("/api/facts?topic=people").json)


def test_keys_pressed_while_a_score_is_on_its_way_are_not_about_another_fact(visit, server):
    page = visit("/review")
    page.wait_for_selector(".fact[data-id]")
    held = []
    page.route("**/api/review", lambda route: held.append(route))
    first = page.get_attribute(".fact[data-id]", "data-id")

    with page.expect_request("**/api/review"):
        page.keyboard.press("7")
    for key in "scu5":
        page.keyboard.press(key)
    assert page.get_attribute(".fact", "data-id") == first
    sent, = held
    sent.continue_()
    page.unroute("**/api/review")
    page.wait_for_function("id => document.querySelector('.fact').dataset.id !== id", arg=first)
    assert page.inner_text(".count").startswith("2 of ")
    assert server.record(first).json["record"]["user_fact_score"] == 7

    page.keyboard.press("u")
    page.wait_for_selector(f".fact[data-id='{first}']")
    assert server.record(first).json["record"]["user_fact_score"] is None


def test_keys_at_the_end_of_the_queue_do_nothing(visit):
    page = visit("/review")
    page.wait_for_selector(".fact[data-id]")
    while page.query_selector(".fact[data-id]"):
        page.keyboard.press("s")

    for key in "csx7":
        page.keyboard.press(key)

    assert page.inner_text(".fact .triple") == "Nothing waits for review."


def test_contradicting_statements_stand_side_by_side_and_one_is_chosen(visit, server):
    server.run("log", "-", "--topic", "ports", given="user: The API port is 8080.")
    server.run("log", "-", "--topic", "ports", given="assistant: The API port is 8443.")
    page = visit("/review?tab=contradictions")
    page.wait_for_selector(".pair")
    assert all(port in page.inner_text(".pair") for port in ("8080", "8443"))

    page.click("text=The newer holds")

    page.wait_for_selector("text=No two statements contradict")
    ends = {fact["record"]["object"]: fact["record"].get("superseded_by")
            for fact in server.get("/api/facts?topic=ports").json["items"]}
    assert ends["8080"]
    assert not ends["8443"]


def test_what_changed_is_listed_with_what_it_replaced(visit):
    page = visit("/history")

    page.wait_for_selector("del")

    assert any("Bergen" in text for text in page.locator("del").all_inner_texts())
    assert "Oslo" in page.inner_text(".events")


def test_a_node_of_the_graph_shows_and_opens_its_record(visit, server):
    kettle = server.get("/api/get?id=Kettle").json["id"]
    page = visit("/graph")
    page.wait_for_selector("canvas[data-calm=true]")
    place = page.evaluate("id => { const c = document.querySelector('canvas'), b = c.getBoundingClientRect(), p = c.where(id);"
                          " return [b.x + p[0], b.y + p[1]]; }", kettle)

    page.mouse.click(*place)

    page.wait_for_selector(".peek h2 >> text=Kettle")
    assert "solves" in page.inner_text(".peek")
    page.click(".peek >> text=Open")
    page.wait_for_selector(".v-record h1 >> text=Kettle")


def test_the_slider_goes_back_in_time(visit, server):
    server.run("remember", "A chunk of long ago, about a lighthouse that was painted twice.", "--created", "2025-03-01")
    page = visit("/timeline")
    now = page.inner_text(".asof .count")

    page.locator("input[type=range]").evaluate("slider => { slider.value = 0; slider.dispatchEvent(new Event('input')); }")

    page.wait_for_selector(".asof .count >> text=/^1 records/")
    assert page.inner_text(".asof .count") != now
    assert "lighthouse" in page.inner_text(".rows")
    assert "at=2025-03-01" in page.url


def test_a_stale_edit_shows_both_versions_and_overwrites_nothing_unasked(visit, server):
    kept = server.note("Contested", "One line.\nAnother line.")
    path = server.home / server.record(kept).json["path"]
    page = visit(f"/record/{kept}")
    page.keyboard.press("e")
    page.fill("textarea[name=text]", "One line.\nMy line.")
    path.write_text(path.read_text().replace("Another line.", "The editor's line."))

    page.click("text=Save")

    page.wait_for_selector(".clash")
    shown = page.inner_text(".clash")
    assert "My line." in shown
    assert "The editor's line." in shown
    assert "The editor's line." in path.read_text()
    page.click("text=Keep mine")
    page.wait_for_selector(".v-record .prose >> text=My line.")
    assert "My line." in path.read_text()


def test_an_edit_by_hand_appears_on_the_open_page_without_reload(visit, server):
    kept = server.note("Watched", "Before the editor came.")
    path = server.home / server.record(kept).json["path"]
    page = visit(f"/record/{kept}")
    page.wait_for_selector("#live[data-state=on]", state="attached")
    page.evaluate("window.same = true")

    path.write_text(path.read_text().replace("Before the editor came.", "After the editor went."))

    page.wait_for_selector(".prose >> text=After the editor went.")
    assert page.evaluate("window.same") is True


def test_a_record_is_pinned_forgotten_and_brought_back(visit, server):
    kept = server.note("Precious", "Keep me.")
    page = visit(f"/record/{kept}")

    page.keyboard.press("p")
    page.wait_for_selector(".meta >> text=pinned")
    assert server.record(kept).json["path"].startswith("vault/")
    page.click("button:has-text('Forget')")
    page.wait_for_selector(".gone")
    page.click(".gone >> text=Restore")
    page.wait_for_selector(".gone", state="detached")
    assert server.record(kept).status == 200
    assert {"forgot", "restored"} <= set(page.locator(".log b").all_inner_texts())


def test_upkeep_is_run_and_reports(visit):
    page = visit("/health")

    page.click("text=Run upkeep")

    page.wait_for_selector(".proposal[role=status]", timeout=60_000)
    assert page.locator(".chart").count() >= 3


def test_keys_lead_around_and_every_view_has_its_landmarks(visit):
    page = visit("/")
    for keys, name in (("gb", "Browse"), ("gr", "Recall"), ("gv", "Review"), ("gw", "Work"), ("gg", "Graph"), ("gl", "Timeline"),
                       ("gi", "History"), ("gh", "Health")):
        page.evaluate("document.activeElement?.blur()")
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_selector(f"main h1 >> text={name}")
        assert page.locator("main").count() == page.locator("nav[aria-label]").count() == page.locator("main h1").count() == 1
        assert page.get_attribute("#nav a[aria-current=page]", "data-view") == name.lower()
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("?")
    assert page.is_visible("dialog#help")


def test_nothing_is_wider_than_a_phone(visit):
    page = visit("/")
    page.set_viewport_size({"width": 375, "height": 700})
    for view in (*VIEWS, "/record/Kettle"):
        page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/", 3)[2] + view)
        page.wait_for_selector("main h1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, view


def test_a_long_word_in_a_title_is_broken_on_a_small_phone(visit, server):
    long = "Unbroken" * 30
    note = server.note(long, long, tags=[long[:60]])
    page = visit("/")
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto("/".join(page.url.split("/", 3)[:3]) + f"/record/{note}")
    page.wait_for_selector("main h1")

    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_dark_and_light_both_have_readable_text(visit):
    page = visit("/")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        ink, paper = page.evaluate("""() => ['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name]
            .match(/[\\d.]+/g).slice(0, 3).map(Number))""")
        assert _contrast(ink, paper) > 7


def _contrast(one: list[float], other: list[float]) -> float:
    def light(colour: list[float]) -> float:
        parts = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    pair = sorted((light(one), light(other)))
    return (pair[1] + 0.05) / (pair[0] + 0.05)


def test_a_form_and_a_fetch_of_another_site_reach_nothing(browser, server, person):
    before = server.get("/api/stats").json["records"]
    context = browser.new_context(storage_state=person.storage_state())
    page = context.new_page()
    form = f"""<form method=post enctype=text/plain action="{server.url}/api/note">
               <input name='{{"title":"x","text":"' value='"}}'></form>"""
    page.route("http://other.invalid/", lambda route: route.fulfill(content_type="text/html", body=form))
    page.goto("http://other.invalid/")

    said = page.evaluate("""async url => {
        const body = '{"title": "x", "text": "y"}', plain = {'content-type': 'text/plain'};
        const tries = [fetch(url + '/api/stats', {credentials: 'include'}),
            fetch(url + '/api/note', {method: 'POST', mode: 'no-cors', credentials: 'include', headers: plain, body})];
        return Promise.all(tries.map(one => one.then(answer => answer.type + answer.status, () => 'refused')));
    }""", server.url)
    page.evaluate("document.forms[0].submit()")
    page.wait_for_load_state()

    assert said[0] == "refused"
    assert server.get("/api/stats").json["records"] == before
    context.close()


# Nothing remembered can act

@pytest.fixture(scope="module")
def poisoned(server: Any, person: Any) -> list[str]:
    """Every payload in every field of every kind; gives the ids of the records that hold them."""
    done = subprocess.run([sys.executable, payloads.__file__, str(server.home)], env=server.env, capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_three_hundred_script_payloads_do_nothing(visit, server, poisoned):
    assert len(set(payloads.PAYLOADS)) == 300
    pages = ["/", "/browse", "/browse?title=alert", "/work", "/work?tab=chapters", "/history", "/history?tab=told", "/history?tab=audit", "/recall?q=alert+script+onerror", "/recall?q=alert+x&kind=chunk&limit=100", "/review?topic=poison",
             "/timeline", "/health", "/graph?kind=note", *(f"/record/{quote(record, safe='')}" for record in poisoned)]
    page = visit("/")
    for path in pages:
        page.goto(server.url + path)
        page.wait_for_selector("main h1")
        if path == "/timeline":
            for _ in range(5):
                page.click("text=Show earlier ones")
                page.wait_for_timeout(50)
        acting = page.evaluate("""() => [...document.querySelectorAll('main *')].filter(one =>
            ['SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'STYLE', 'LINK', 'META', 'BASE', 'IMG', 'FORM'].includes(one.tagName) &&
                !one.closest('form') ||
            [...one.attributes].some(a => /^on/i.test(a.name) || /^\\s*(javascript|data):/i.test(a.value)))
            .map(one => one.outerHTML)""")
        assert acting == [], path
        assert page.evaluate("window.hit") is None
        assert page.url.startswith(server.url)
    assert payloads.AWAY not in str(page.context.away)
