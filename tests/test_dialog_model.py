"""A language model as it really comes: over HTTP, in the OpenAI protocol, good, wrong, slow, busy, broken, refusing.

The server is a real one in a thread; only its answers are scripted.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from otolith.config import load
from otolith.files.disk import open_tree
from otolith.memory import Memory

pytest.importorskip("openai")
DIALOG = "Ann: I live in Lyon.\nBen: I moved to Graz last year and now I teach physics there."
FACT = {"subject": "Ben", "relation": "teaches", "object": "physics in Graz", "type": "identity", "time_span": "current",
        "confidence": 0.95, "turns": [2]}
GOOD = json.dumps({"summary": "Where Ann and Ben live.", "proposals": [FACT]})
MADE_BY = re.compile(r"127\.0\.0\.1/test-1#[0-9a-f]{8}")
STATE = json.dumps({"summary": "Two friends.", "bounds": ["Europe only"], "open_questions": ["Which school?"],
                    "next_actions": ["Visit Ben"]})


class Server:
    """Speaks the chat protocol. `script` holds the answers to come: a text, a status, or seconds to wait; the last stays."""

    def __init__(self) -> None:
        self.script: list[Any] = [GOOD]
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(body)
                outer.keys.append(self.headers["Authorization"])
                outer.answer(self, body)

            def log_message(self, *_: Any) -> None:
                pass

        self.web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.web.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.web.server_address[1]}/v1"
        threading.Thread(target=self.web.serve_forever, daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        next_one = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if callable(next_one):
            next_one = next_one(body)
        if isinstance(next_one, float):
            time.sleep(next_one)
            next_one = GOOD
        status = next_one if isinstance(next_one, int) else 200
        reply: dict[str, Any] = {"error": {"message": "no", "type": "scripted"}}
        if status == 200:
            reply = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
                     "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": next_one}}]}
        data = json.dumps(reply).encode() if status != 299 else b"<html>not json</html>"
        try:
            handler.send_response(200 if status == 299 else status)
            if status in (301, 307):
                handler.send_header("Location", "http://127.0.0.1:1/elsewhere")
            handler.send_header("Content-Type", "application/json" if status != 299 else "text/html")
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        except OSError:
            return  # the client did not wait


@pytest.fixture
def server() -> Iterator[Server]:
    speaking = Server()
    yield speaking
    speaking.web.shutdown()
    speaking.web.server_close()


@pytest.fixture
def told(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, configured as the home's model."""
    for name, value in (("URL", server.url), ("MODEL", "test-1"), ("KEY", "sk-test"), ("SECONDS", "0.7")):
        monkeypatch.setenv(f"OTOLITH_CHAT_{name}", value)
    return server


@pytest.fixture
def asking(told: Server, home: Path, clock: Clock) -> Iterator[Memory]:
    with Memory(home, clock=clock) as memory:
        yield memory


def summary_of(home: Path, entry: Any) -> dict[str, Any] | None:
    path = home / "topics" / entry.topic / entry.id / "summary.json"
    return json.loads(path.read_text()) if path.exists() else None


def added(entry: Any) -> list[str]:
    """What the model added to the rules' facts."""
    return [fact.object for fact in entry.facts if fact.made_by]


# It answers

@pytest.mark.clause("dialog-37", "dialog-10", "dialog-25")
def test_a_models_facts_are_kept_with_what_made_them_and_where_they_stand(asking: Memory, server: Server, home: Path) -> None:
    entry = asking.log(DIALOG, topic="friends")

    kept = summary_of(home, entry)
    assert kept is not None
    *by_rules, fact = kept["facts"]
    assert "Lyon" in [rule["object"] for rule in by_rules], "what the rules drew stays"
    assert MADE_BY.fullmatch(fact["made_by"])
    assert kept["made_by"] == f"rules-1, {fact['made_by']}"
    assert kept["summary"] == "Where Ann and Ben live."
    assert (fact["subject"], fact["object"], fact["turn"], fact["confidence"]) == ("Ben", "physics in Graz", 2, 0.95)
    assert (fact["entry_id"], fact["trust"]) == (entry.id, "agent"), "a model's word is no person's"
    assert "teach physics" in fact["sentence"]
    assert server.keys == ["Bearer sk-test"]
    assert "[2] Ben: I moved to Graz" in server.asked[0]["messages"][0]["content"]
    assert server.asked[0]["response_format"]["type"] == "json_schema"
    assert not asking.notices


@pytest.mark.clause("dialog-14", "dialog-15", "dialog-16", "dialog-17", "dialog-45")
def test_a_models_state_is_built_once_for_the_same_inputs(asking: Memory, server: Server, home: Path) -> None:
    asking.log(DIALOG, topic="friends")
    server.script = [STATE]
    state = asking.build_topic("friends").state
    asked = len(server.asked)

    assert (state.summary, state.bounds, state.open_questions) == ("Two friends.", ("Europe only",), ("Which school?",))
    assert state.next_actions == ("Visit Ben",)
    assert MADE_BY.fullmatch(state.made_by)
    asking.build_topic("friends")
    asking.upkeep()
    assert len(server.asked) == asked
    server.script = [GOOD, json.dumps({"summary": "Other words."})]
    asking.log("Ann: I am a vegan.", topic="friends")
    assert asking.build_topic("friends").state.summary == "Other words."


@pytest.mark.clause("dialog-62")
@pytest.mark.parametrize(("url", "name"), [
    ("https://api.deepseek.com", "deepseek"), ("http://localhost:11434/v1", "ollama"), (None, "openai"),
    ("https://models.example.org/v1", "models.example.org")])
def test_any_provider_is_a_matter_of_configuration(url: str | None, name: str, tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    from otolith.verbs.models import maker_of, model_of

    if url:
        monkeypatch.setenv("OTOLITH_CHAT_URL", url)
    monkeypatch.setenv("OTOLITH_CHAT_MODEL", "m")
    with Memory(tmp_path / "home", config=load(open_tree(str(tmp_path / "home")))) as mem:
        assert maker_of(model_of(mem.home)) == f"{name}/m"


def test_a_home_cannot_name_an_address_or_a_key(home: Path) -> None:
    home.mkdir()
    (home / "otolith.toml").write_text('[chat]\nurl = "http://evil.example"\nmodel = "m"\nkey = "k"\n')

    settings = load(open_tree(str(home)))
    assert (settings.chat_url, settings.chat_model, settings.chat_key) == (None, None, None)


@pytest.mark.clause("dialog-37")
def test_a_plain_function_can_be_asked(mem: Memory, home: Path) -> None:
    entry = mem.log(DIALOG, topic="friends", ask=lambda _question: GOOD)

    assert added(entry) == ["physics in Graz"]
    assert str(entry.facts[-1].made_by).startswith("custom/model#")


def test_an_answer_in_a_code_fence_is_read(mem: Memory) -> None:
    entry = mem.log(DIALOG, topic="friends", ask=lambda _: f"Here you are:\n```json\n{GOOD}\n```")

    assert added(entry) == ["physics in Graz"]


def test_a_server_without_schemas_is_asked_more_simply(asking: Memory, server: Server) -> None:
    server.script = [lambda body: 400 if "response_format" in body else GOOD]

    assert added(asking.log(DIALOG, topic="friends")) == ["physics in Graz"]
    assert [body.get("response_format", {}).get("type") for body in server.asked] == ["json_schema", "json_object", None]


def test_a_long_dialog_is_one_question_that_keeps_to_its_limit(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTOLITH_MODEL_TOKENS", "5000")
    asked: list[str] = []
    turns = [{"role": role, "content": f"{at} " + "word " * 2000} for at in range(20) for role in ("user", "assistant")]
    with Memory(home) as mem:
        mem.log([*turns, {"role": "user", "content": "I teach physics."}], topic="long",
                ask=lambda question: asked.append(question) or GOOD)

    question, = asked
    assert len(question) < 5000 * 4 + 500
    assert "[41] user: I teach physics." in question


# It answers wrongly

WRONG: dict[str, Any] = {
    "a turn that is not there": {**FACT, "turns": [9]}, "no turn": {**FACT, "turns": None},
    "a wrong type": {**FACT, "type": "rumour"}, "too sure": {**FACT, "confidence": 7},
    "no subject": {**FACT, "subject": ""}, "a wrong day": {**FACT, "date": "2026-13-40"}, "words": "Ben teaches",
    "half a sign": {**FACT, "object": "\ud800x"}, "a nul": {**FACT, "subject": "a\0b"},
    "invented": {**FACT, "object": "chemistry at the university of Vienna"},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_one_bad_proposal_costs_the_good_ones_nothing(mem: Memory, wrong: Any) -> None:
    answer = json.dumps({"summary": "x", "proposals": [wrong, FACT, wrong]})

    entry = mem.log(DIALOG, topic="friends", ask=lambda _: answer)

    assert added(entry) == ["physics in Graz"]
    assert "Ann lives in Lyon" in [fact.title for fact in entry.facts]


@pytest.mark.parametrize("answer", ["I would rather not.", GOOD[:-5], "[]", '{"summary": "x"}'])
def test_an_answer_that_is_none_is_no_reason_to_ask_again(asking: Memory, server: Server, answer: str) -> None:
    server.script = [answer]

    entry = asking.log(DIALOG, topic="friends")

    assert added(entry) == []
    assert len(server.asked) == 1
    assert "no usable answer" in asking.notices[0]


def test_what_only_a_person_may_set_is_dropped(mem: Memory) -> None:
    forged = {**FACT, "user_fact_score": 10, "entry_id": "other", "trust": "user", "id": "fact_1", "superseded_by": "x"}
    entry = mem.log(DIALOG, topic="friends", ask=lambda _: json.dumps({"summary": "x", "proposals": [forged]}))

    fact = entry.facts[-1]
    assert (fact.object, fact.trust) == ("physics in Graz", "agent")
    assert (fact.user_fact_score, fact.entry_id, fact.id, fact.superseded_by) == (None, entry.id, fact.id_in("friends"), None)


def test_what_an_assistant_said_is_not_the_users_word(mem: Memory) -> None:
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Ben teaches physics well."},
            {"role": "tool", "content": "Ben teaches physics."}]
    entry = mem.log(said, topic="t", ask=lambda _: json.dumps({"summary": "x", "proposals": [
        {**FACT, "object": "physics well"}, {**FACT, "turns": [3]}]}))

    assert [(fact.object, fact.trust) for fact in entry.facts if fact.made_by] == [("physics well", "agent")]


# It does not answer

FAILURES: dict[str, tuple[Any, str]] = {
    "malformed": ("nonsense", "no usable answer"), "slow": (1.5, "within 0.7 s"), "429": (429, "too many requests"),
    "500": (500, "500"), "401": (401, "refused the key"), "404": (404, "404"), "a redirect": (307, "307"),
    "a web page": (299, ""), "an empty answer": ("  ", "answered nothing")}


@pytest.mark.clause("dialog-37")
@pytest.mark.parametrize(("script", "reason"), FAILURES.values(), ids=FAILURES.keys())
def test_whatever_a_model_does_the_entry_stands_and_the_reason_is_told(asking: Memory, server: Server, home: Path, script: Any,
                                                                       reason: str) -> None:
    server.script = [script]

    entry = asking.log(DIALOG, topic="friends")

    assert (home / "topics/friends" / entry.id / "raw.md").read_text() == DIALOG
    assert summary_of(home, entry) is None
    assert "Ann lives in Lyon" in [fact.title for fact in entry.facts]
    notice, = asking.notices
    assert reason in notice
    shown = asking.facts("friends")
    assert [(fact.title, fact.extra["unsaved"]) for fact in shown][:1] == [("Ann lives in Lyon", True)]


def raising(error: BaseException) -> Callable[[str], Any]:
    def ask(_question: str) -> Any:
        raise error
    return ask


@pytest.mark.parametrize("ask", [
    raising(TimeoutError("slow \ud800")), raising(KeyError("choices")), raising(RuntimeError("no loop")), raising(TypeError("x")),
    lambda _: '{"summary": "\\ud800", "facts": []}',
    lambda _: {"summary": "\ud800", "facts": []}, lambda _: {("a",): 1}],
    ids=["slow", "a missing key", "a runtime", "a type", "half a summary", "an object", "odd keys"])
def test_a_function_that_fails_or_answers_what_no_file_can_hold_costs_the_entry_nothing(mem: Memory, home: Path, ask: Any) -> None:
    entry = mem.log(DIALOG, topic="friends", ask=ask)

    assert "Ann lives in Lyon" in [fact.title for fact in entry.facts]
    notice, = mem.notices
    assert "the entry is safe" in notice
    assert json.loads((home / "index/audit.log").read_text())["verb"] == "logged"
    mem.providers = {"ask": ask}
    assert mem.upkeep().failed == {}
    mem.build_topic("friends", ask=ask)
    assert mem.facts("friends")


def test_a_dialog_is_audited_even_if_reading_it_is_broken_off(mem: Memory, home: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        mem.log(DIALOG, topic="friends", ask=raising(KeyboardInterrupt()))

    assert json.loads((home / "index/audit.log").read_text())["verb"] == "logged"


@pytest.mark.parametrize("ask", [raising(TimeoutError("slow")), lambda _: '{"title": "\\ud800", "summary": "x", "learnings": []}'],
                         ids=["it raises", "half a sign"])
def test_works_are_retold_by_the_rules_where_a_function_fails(home: Path, ask: Any) -> None:
    with Memory(home, providers={"ask": ask}) as mem:
        for number in range(5):
            mem.record(goal=f"Brew tea {number}", task_type="other", success=True, summary="Brewed")

        assert mem.upkeep().failed == {}
        assert mem.chapters()
        assert mem.explore("tea", ask=ask).text


def test_nobody_at_the_address(asking: Memory, server: Server, home: Path) -> None:
    server.web.shutdown()
    server.web.server_close()

    entry = asking.log(DIALOG, topic="friends")

    assert summary_of(home, entry) is None
    assert "cannot be reached" in asking.notices[0]


def test_upkeep_tries_again_and_keeps_what_the_model_then_says(asking: Memory, server: Server, home: Path,
                                                               clock: Clock) -> None:
    server.script = [500]
    entry = asking.log(DIALOG, topic="friends")
    asking.upkeep()
    dialogs = [body for body in server.asked if "You keep the memory" in body["messages"][0]["content"]]
    assert len(dialogs) == 1, "not twice on one day"
    clock.pass_time(days=1)
    server.script = [GOOD, STATE]

    report = asking.upkeep()

    kept = summary_of(home, entry)
    assert kept is not None
    assert MADE_BY.fullmatch(kept["facts"][-1]["made_by"])
    assert report.changed["entries"] == [f"{entry.id}: {len(kept['facts'])} facts by {kept['made_by']}"]


def test_after_three_days_the_rules_have_the_last_word(asking: Memory, server: Server, home: Path, clock: Clock) -> None:
    server.script = [500]
    entry = asking.log(DIALOG, topic="friends")
    made_by = []
    for _ in range(3):
        clock.pass_time(days=1)
        asking.upkeep()
        made_by.append((summary_of(home, entry) or {}).get("made_by"))

    assert made_by == [None, "rules-1", "rules-1"]
    assert "Ann lives in Lyon" in [fact.title for fact in asking.facts("friends")]


def test_a_failing_model_does_not_cost_a_topic_its_state(asking: Memory, server: Server, clock: Clock) -> None:
    asking.log(DIALOG, topic="friends")
    server.script = [STATE]
    asking.build_topic("friends")
    server.script = [GOOD, 500]
    asking.log("Ann: I am a vegan.", topic="friends", created="2026-02-11")

    assert asking.build_topic("friends").state.summary == "Two friends."
    assert any("waits" in notice for notice in asking.notices)
    server.script = [json.dumps({"summary": "News."})]
    assert asking.build_topic("friends").state.summary == "News."


def test_without_any_state_yet_the_rules_draw_one_until_the_model_answers(asking: Memory, server: Server) -> None:
    asking.log(DIALOG, topic="friends")
    server.script = [429]
    assert asking.build_topic("friends").state.made_by == "rules-1"
    server.script = [STATE]
    assert MADE_BY.fullmatch(asking.build_topic("friends").state.made_by)


def test_a_model_that_fails_once_is_not_asked_for_every_topic(asking: Memory, server: Server) -> None:
    for name in ("a", "b", "c"):
        asking.log(DIALOG, topic=name)
    asked = len(server.asked)
    server.script = [500]

    asking.upkeep()

    assert len(server.asked) == asked + 1
    assert {row["topic"] for row in asking.topics() if row["built"]} == {"a", "b", "c"}


@pytest.mark.clause("dialog-61")
def test_a_better_model_rewrites_no_summary(asking: Memory, server: Server, home: Path) -> None:
    entry = asking.log(DIALOG, topic="friends")
    before = summary_of(home, entry)
    server.script = [json.dumps({"summary": "Better.", "proposals": []})]

    asking.upkeep()

    assert summary_of(home, entry) == before


def test_a_summary_that_another_process_wrote_first_stays(asking: Memory, server: Server, home: Path) -> None:
    def slow(_body: dict[str, Any]) -> str:
        folder = next((home / "topics" / "friends").iterdir())
        (folder / "summary.json").write_text(json.dumps({"schema": "entry_summary.v1", "entry_id": folder.name,
                                                         "summary": "first", "facts": []}))
        return GOOD

    server.script = [slow]
    entry = asking.log(DIALOG, topic="friends")

    assert entry.summary is not None
    assert entry.summary.summary == "first"


def test_the_command_line_says_why_and_keeps_the_entry(told: Server, run: Callable[..., Ran]) -> None:
    told.script = [401]

    done = run("log", "-", "--topic", "friends", stdin=DIALOG)

    assert done.code == 0
    assert "kept entry" in done.out
    assert "refused the key" in done.err
    assert "sk-test" not in done.err + done.out
