"""REST: the verbs over real sockets, refusals before anything else, changes that compare, writes that may be repeated."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from otolith.doors import calls
from otolith.doors.web import gate
from otolith.doors.web.routes import API, describe
from otolith.errors import OtolithError
from otolith.memory import Memory
from otolith.verbs.table import PLUMBING, table
from web.conftest import Server, world

# The verbs

@pytest.mark.clause("dialog-65")
def test_a_dialog_is_logged_and_its_facts_are_read_over_rest(server):
    made = server.post("log", dialog="Mira: I live in Lisbon.\nAssistant: Since when?\nMira: I translate.", topic="people")

    assert made.status == 200
    assert made.json["kind"] == "entry"
    facts = server.get("/api/facts?topic=people").json
    assert facts["total"] == len(facts["items"]) >= 1
    assert "Lisbon" in {fact["record"]["object"] for fact in facts["items"]}
    assert [topic["topic"] for topic in server.get("/api/topics").json["items"]] == ["people"]


def test_what_is_kept_is_recalled_with_reasons(server):
    kept = server.note("Kettle boils at altitude", "Water boils at ninety degrees up here.", tags=["kitchen"])

    found = server.get("/api/recall?query=kettle%20altitude&limit=3&tags=kitchen").json

    assert found["hits"][0]["id"] == kept
    assert found["hits"][0]["why"]


@pytest.mark.clause("work-100")
def test_filters_alone_and_dates_in_words_are_taken_over_rest(server):
    kept = server.post("note", title="Roof", text="It leaks.", tags=["attic"]).json["id"]

    chosen = server.get("/api/recall?tags=attic&since=yesterday&kind=notes").json

    assert [hit["id"] for hit in chosen["hits"]] == [kept]
    assert server.get("/api/recall?since=someday").status == 422


def test_every_verb_of_the_table_is_a_route_and_in_the_document(server):
    document = server.get("/api/openapi.json").json

    for row in calls.offered("rest"):
        assert ("get" if row.only_reads("rest") else "post") in document["paths"][f"{API}/{row.name}"]


@pytest.mark.parametrize(("method", "path", "body", "status", "code"), [
    ("GET", "/api/get?id=nothing-of-that-name", None, 404, "not_found"),
    ("GET", "/api/records/nothing-of-that-name", None, 404, "not_found"),
    ("GET", "/api/nowhere", None, 404, "not_found"),
    ("DELETE", "/api/stats", None, 405, "usage"),
    ("GET", "/api/recall", None, 422, "invalid"),
    ("GET", "/api/views/record", None, 422, "invalid"),
    ("GET", "/api/views/record?again=true", None, 422, "invalid"),
    ("GET", "/api/recall?query=x&limit=many", None, 422, "invalid"),
    ("GET", "/api/list?since=1&since=2", None, 422, "invalid"),
    ("POST", "/api/note", {"title": "x", "text": "y", "importance": 7}, 422, "invalid"),
    ("POST", "/api/note", {"title": "x", "text": "y", "colour": "red"}, 422, "invalid"),
    ("POST", "/api/note", b"{not json", 400, "usage"),
    ("POST", "/api/note", b"[1, 2]", 400, "usage"),
    ("POST", "/api/note", b'{"title": "x", "text": "y", "importance": NaN}', 400, "usage"),
])
def test_an_error_has_the_status_of_its_kind_and_says_what_to_do(server, method, path, body, status, code):
    headers = {"Content-Type": "application/json"} if isinstance(body, bytes) else {}

    answer = server.call(method, path, body, headers)

    assert (answer.status, answer.code) == (status, code)
    assert answer.json["error"]["message"]


# Who may come in

def _routes() -> list[tuple[str, str]]:
    """Every route of the application itself, not of a list that could be out of date."""
    from otolith.doors.web.rest import Door, make_app
    from otolith.doors.web.serving import Assets

    app = make_app(Door(None, Assets(), lambda: "x" * 40))  # type: ignore[arg-type]
    return sorted({(method, route.path.replace("{id:path}", "some-id")) for route in app.routes  # type: ignore[attr-defined]
                   for method in route.methods - {"HEAD"}})  # type: ignore[attr-defined]


def test_every_route_refuses_without_a_token(server):
    from otolith.doors.web.serving import Assets

    free = {*Assets().free, "/api/signin"}
    asked = [(method, path) for method, path in [*_routes(), ("POST", "/mcp"), ("GET", "/mcp")] if path not in free]

    refused = {(method, path): server.call(method, path, {} if method != "GET" else None, token=False).status
               for method, path in asked}

    assert len(asked) > 60
    assert set(refused.values()) == {401}, refused


@pytest.mark.parametrize("headers", [
    {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}, {"Authorization": "Bearer "},
    {"Cookie": "otolith=1~2~3"}, {"Cookie": "otolith=; otolith=~~"},
])
def test_a_wrong_token_or_cookie_is_refused(server, headers):
    assert server.call("GET", "/api/stats", headers=headers, token=False).status == 401


def test_a_token_in_the_address_is_no_token(server):
    assert server.get(f"/api/stats?token={server.token}", token=False).status == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example:80", ""])
def test_a_foreign_host_is_refused_even_with_the_token(server, host):
    assert server.get("/api/stats", headers={"Host": host}).status in (400, 421)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:1", "null", "http://127.0.0.1"])
def test_a_foreign_page_is_refused_even_with_the_token(server, origin):
    answer = server.call("POST", "/api/note", {"title": "x", "text": "y"}, {"Origin": origin})

    assert (answer.status, answer.code) == (403, "forbidden")


def test_its_own_origin_may_write(server):
    assert server.call("POST", "/api/note", {"title": "Own origin", "text": "y"}, {"Origin": server.url}).status == 200


@pytest.mark.parametrize(("site", "mode"), [("cross-site", "cors"), ("same-site", "no-cors"), ("cross-site", "navigate")])
def test_a_browser_that_asks_for_another_site_is_refused(server, site, mode):
    headers = {**server.as_person(), "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": "image"}

    assert server.get("/api/stats", headers=headers, token=False).status == 403


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""])
def test_a_write_that_a_form_could_send_is_refused(server, kind):
    headers = {"Content-Type": kind, **server.as_person()}

    answer = server.call("POST", "/api/note", b'{"title": "x", "text": "y"}', headers, token=False)

    assert answer.status == 415


def _raw(server: Any, headers: str, body: bytes = b"", times: int = 0) -> bytes:
    """What a client hears that sends as much as it likes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        wire.sendall(f"POST /api/note HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
                     f"Content-Type: application/json\r\n{headers}\r\n\r\n".encode())
        with suppress(OSError):  # the server may hang up in the middle, as it should
            for _ in range(times):
                wire.sendall(body)
        try:
            return wire.recv(100)
        except OSError:
            return b""


def test_a_body_that_says_it_is_too_long_is_refused_before_it_is_read(server):
    assert b" 413 " in _raw(server, f"Content-Length: {1 << 33}")


def test_a_body_without_end_is_cut_off(server):
    said = _raw(server, "Transfer-Encoding: chunked", b"20000\r\n" + b" " * 0x20000 + b"\r\n", times=200)

    assert said == b"" or b" 413 " in said


def test_every_answer_carries_the_headers_that_bind_a_browser(server):
    for path, token in (("/", True), ("/api/stats", True), ("/api/stats", False), ("/in", False), ("/api/nowhere", True)):
        headers = server.get(path, token=token).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "cache-control" in headers


def test_the_page_without_a_session_says_how_to_get_in(server):
    answer = server.get("/health", headers={"Accept": "text/html"}, token=False)

    assert answer.status == 401
    assert b"otolith serve --link" in answer.body


# Signing in

def test_a_sign_in_code_is_good_once_and_its_cookie_is_kept_from_scripts_and_other_sites(server):
    code = server.run("serve", "--link", "--port", str(server.port)).strip().split("#")[1]

    first = server.call("POST", "/api/signin", {"code": code}, token=False)
    second = server.call("POST", "/api/signin", {"code": code}, token=False)

    assert (first.status, second.status) == (200, 401)
    flags = first.headers["set-cookie"].lower()
    assert "httponly" in flags
    assert "samesite=strict" in flags
    assert server.get("/api/stats", headers={"Cookie": first.headers["set-cookie"].split(";")[0]}, token=False).status == 200


def test_removing_the_token_file_ends_every_session_of_a_server_that_runs(start, tmp_path):
    server, listener = start()
    person, file = server.as_person(), tmp_path / "config" / "otolith" / "token"
    status = lambda: (server.get("/api/stats").status,  # noqa: E731
                      server.get("/api/stats", headers=person, token=False).status,
                      server.call("POST", "/mcp", {}).status == 401)
    assert status() == (200, 200, False)
    kept = file.read_text()

    file.unlink()

    assert status() == (401, 401, True)
    assert server.get("/api/stats", headers={"Authorization": "Bearer "}, token=False).status == 401
    listener.ended(seconds=40)
    listener.close()
    link = server.run("serve", "--link", "--port", str(server.port)).strip()
    assert status() == (401, 401, True)
    server.token, server.link, server.cookie = file.read_text().strip(), link, ""
    assert server.get("/api/stats").status == 200
    assert server.get("/api/stats", headers=server.as_person(), token=False).status == 200
    file.write_text(kept)
    file.chmod(0o644)
    assert server.get("/api/stats").status == 401


@pytest.mark.parametrize(("host", "called"), [("::1", "[::1]"), ("127.0.0.2", "127.0.0.2"), ("0.0.0.0", "127.0.0.1"),
                                              ("localhost", "localhost"), ("::", "[::1]")])
def test_the_address_that_is_told_is_the_one_that_answers(tmp_path, host, called):
    if ":" in host and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    server = Server(tmp_path / "home", world(tmp_path), "--host", host)
    try:
        fresh = server.run("serve", "--link", "--host", host, "--port", str(server.port))
        signed = [_ask(f"{server.url}/api/signin", {"code": link.strip().split("#")[1]}, {})
                  for link in (server.link, fresh)]
        stats = _ask(f"{server.url}/api/stats", None, {"Authorization": f"Bearer {server.token}"})
        tools = _ask(f"{server.url}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                     {"Authorization": f"Bearer {server.token}", "Accept": "application/json, text/event-stream"})
    finally:
        server.stop()

    assert server.url == f"http://{called}:{server.port}"
    assert {link.partition("/in#")[0] for link in (server.link, fresh)} == {server.url}
    assert (signed, stats) == ([200, 200], 200)
    assert tools not in (403, 421)


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError:
        return False
    return True


def _ask(url: str, body: Any, headers: dict[str, str]) -> int:
    data = None if body is None else json.dumps(body).encode()
    given = {"Content-Type": "application/json", **headers} if data else headers
    try:
        with urlopen(Request(url, data, given), timeout=30) as answer:
            return int(answer.status)
    except HTTPError as error:
        error.close()
        return error.code


def test_a_link_to_a_server_that_is_not_there_is_an_error_of_its_own(run):
    with socket.socket() as taken:  # bound and never listening
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

        told = run("serve", "--link", "--port", str(port))

    assert (told.code, told.out) == (3, "")
    assert f"no server of Otolith answers at http://127.0.0.1:{port}" in told.err


def test_codes_and_cookies_end_with_time_with_the_token_and_with_the_server():
    token, now = "t" * 40, 1_000_000.0
    cookie = gate.make_cookie(token, now)

    assert gate.check_signed(token, "cookie", cookie, now + 10, gate.COOKIE_SECONDS)
    assert not gate.check_signed(token, "cookie", cookie, now + gate.COOKIE_SECONDS + 10, gate.COOKIE_SECONDS)
    assert not gate.check_signed("u" * 40, "cookie", cookie, now + 10, gate.COOKIE_SECONDS)
    assert not gate.check_signed(token, "code", cookie, now + 10, gate.CODE_SECONDS)
    old = gate.make_code(token, now)
    assert not gate.Codes(lambda: token, clock=lambda: now + 60).spend(old)
    assert gate.Codes(lambda: token, clock=lambda: now).spend(old)


def test_too_many_requests_at_once_have_to_wait():
    now = [0.0]
    bucket = gate.Bucket(3, 2, clock=lambda: now[0])

    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]


def answered(access: gate.Access, count: int, method: str = "GET", headers: dict[str, str] | None = None) -> list[int]:
    """The statuses of so many requests, one right after the other."""

    async def ask() -> list[int]:
        statuses: list[int] = []

        async def send(message):
            statuses.extend([message["status"]] if message["type"] == "http.response.start" else [])

        pairs = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        for _ in range(count):
            await access({"type": "http", "method": method, "path": "/api/stats", "headers": pairs}, None, send)
        return statuses

    return asyncio.run(ask())


def guarded(token: str) -> gate.Access:
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return gate.Access(app, lambda: token, pages=lambda path: False, locked_page=b"")


def test_strangers_who_ask_too_often_wait_and_do_not_make_others_wait():
    token = "t" * 40
    access = guarded(token)
    person = {"cookie": f"{gate.COOKIE}={gate.make_cookie(token, time.time())}"}

    strangers = answered(access, 800) + answered(access, 50, headers={"authorization": "Bearer wrong"})

    assert strangers[:400] == [200] * 400
    assert 429 in strangers[400:800]
    assert 429 in strangers[800:]  # a wrong token is a stranger's
    assert answered(access, 800, headers={"authorization": f"Bearer {token}"}) == [200] * 800
    assert answered(access, 800, headers=person) == [200] * 800


def test_who_may_write_may_not_write_without_end():
    token = "t" * 40
    access = guarded(token)
    headers = {"authorization": f"Bearer {token}"}

    assert 429 in answered(access, 3_000, "POST", headers)
    assert answered(access, 800, "GET", headers) == [200] * 800  # reading has its own measure


def test_a_person_on_the_page_is_trusted_and_a_program_is_an_agent(server):
    by_program = server.record(server.note("Kept by a program")).json["origin"]
    made = server.call("POST", "/api/note", {"title": "Kept by a person", "text": "y"}, server.as_person(), token=False)
    by_person = server.record(made.json["id"]).json["origin"]

    assert (by_program["door"], by_program["trust"]) == ("rest", "agent")
    assert (by_person["door"], by_person["trust"]) == ("page", "user")


@pytest.mark.parametrize("word", [{"score": 10}, {"undo": True}, {"correct": {"object": "curl evil.example"}}])
def test_only_a_person_has_a_word_on_a_fact_from_outside(server, word):
    with Memory(server.home, door="import", trust="outside") as mem:
        fact = mem.log("Mallory: I live in Evilville.", topic=f"strangers-{min(word)}").facts[0]
    said = {"fact_id": fact.id, **word}

    by_program = server.post("review", **said)
    still = server.record(fact.id).json["record"]
    by_person = server.call("POST", "/api/review", said, server.as_person(), token=False)

    assert (by_program.status, by_program.code) == (422, "invalid")
    assert "only a person" in by_program.json["error"]["message"]
    assert (still["trust"], still["user_fact_score"]) == ("outside", None)
    assert by_person.status == 200


def test_a_program_cannot_accept_what_agents_propose(server):
    wanted = {"merge": {"keep": "a", "absorb": "b"}, "unmerge": {"absorbed": "a"}, "accept": {"proposal": "a"},
              "trust": {"import": "a"}, "undo": {}}
    assert wanted.keys() == {row.name for row in table().values() if row.person and "rest" in row.doors}
    for verb, body in wanted.items():
        assert server.call("POST", f"/api/{verb}", body).status == 403
        status = server.call("POST", f"/api/{verb}", body, server.as_person(), token=False).status
        assert status == 404 or verb == "undo"  # a person reaches the verb: there is no such record


# Changes that compare, writes that may be repeated

def test_a_record_that_did_not_change_is_not_sent_again(server):
    first = server.record(kept := server.note("Seen before"))

    again = server.call("GET", f"/api/records/{kept}", headers={"If-None-Match": first.headers["etag"]})

    assert (again.status, again.body) == (304, b"")


def test_an_edit_says_what_it_read(server):
    kept = server.note("Read first")

    assert server.call("PATCH", f"/api/records/{kept}", {"title": "Blind"}).status == 428
    read = server.record(kept)
    changed = server.call("PATCH", f"/api/records/{kept}", {"title": "Seen"}, {"If-Match": read.headers["etag"]})
    assert changed.status == 200
    assert changed.json["title"] == "Seen"
    assert changed.headers["etag"] != read.headers["etag"]
    assert server.call("PATCH", f"/api/records/{kept}", {"title": "Any"}, {"If-Match": "*"}).status == 200


def test_a_stale_edit_changes_nothing_and_gets_the_record_as_it_is(server):
    kept = server.note("Contested", "As it was.")
    read = server.record(kept)
    path = server.home / read.json["path"]
    path.write_text(path.read_text().replace("As it was.", "As the editor left it."))

    refused = server.call("PATCH", f"/api/records/{kept}", {"text": "As I want it."}, {"If-Match": read.headers["etag"]})

    assert (refused.status, refused.code) == (409, "conflict")
    assert refused.json["current"]["text"] == "As the editor left it."
    assert "As the editor left it." in path.read_text()
    now = {"If-Match": f'"{refused.json["current"]["etag"]}"'}
    assert server.call("PATCH", f"/api/records/{kept}", {"text": "Settled."}, now).status == 200


@pytest.mark.parametrize("changes", [{"id": "x"}, {"expect": "x"}, {"kind": "memo"}, {"title": 3}, {"tags": {"a": 1}},
                                     {"importance": "much"}, {"self": 1}, {"home": 1}, {"handle": "x"}])
def test_a_change_that_breaks_a_rule_is_refused_by_name(server, changes):
    kept = server.note("Unbreakable")

    answers = [server.call("PATCH", f"/api/records/{kept}", changes, {"If-Match": "*"}),
               server.post("edit", id=kept, changes=changes)]

    assert {(answer.status, answer.code) for answer in answers} == {(422, "invalid")}
    assert server.record(kept).json["title"] == "Unbreakable"


def test_the_same_key_writes_once(server):
    def send(text: str) -> Any:
        return server.call("POST", "/api/note", {"title": "Only once", "text": text}, {"Idempotency-Key": "key-1"})

    first, again = send("a"), send("a")

    assert first.json["id"] == again.json["id"]
    assert server.get("/api/list?kind=note&limit=500").json["items"].count(
        next(item for item in server.get("/api/list?limit=500").json["items"] if item["id"] == first.json["id"])) == 1
    assert send("other").status == 409


@pytest.mark.parametrize("verb", ["upkeep", "reindex", "decay"])
def test_the_same_key_runs_a_long_verb_once(server, verb):
    def send(key: str) -> Any:
        answer = server.call("POST", f"/api/{verb}", {}, {"Idempotency-Key": f"{verb}-{key}"})
        assert answer.status == 200
        return {name: value for name, value in answer.json.items() if name != "notices"}

    server.note(f"Before the first {verb}", "Steep for three minutes.")
    first = send("first")
    server.note(f"After the first {verb}", "Steep for four minutes.")

    assert send("first") == first
    assert send("second") != first


def test_the_same_key_edits_once(server):
    kept = server.note("Edited once")
    send = lambda title: server.call("PATCH", f"/api/records/{kept}", {"title": title},  # noqa: E731
                                     {"If-Match": "*", "Idempotency-Key": f"edit-{kept}"})

    assert [send("First").status, send("First").status, send("Second").status] == [200, 200, 409]
    assert server.record(kept).json["title"] == "First"


def test_what_is_forgotten_is_gone_and_comes_back(server):
    kept = server.note("Forgettable")

    assert server.call("DELETE", f"/api/records/{kept}").status == 200
    assert server.record(kept).status == 404
    assert server.get(f"/api/views/record?id={kept}").json["forgotten"] is True
    assert server.post("restore", id=kept).status == 200
    assert server.record(kept).status == 200


# Events

def test_a_hand_edit_is_told_without_being_asked_for(server, listener):
    kept = server.note("Edited by hand", "Before.")
    listener.wait_for(kept)
    listener.events.clear()
    path: Path = server.home / server.record(kept).json["path"]

    path.write_text(path.read_text().replace("Before.", "After."))

    assert listener.wait_for(kept)["records"][0]["title"] == "Edited by hand"


def test_what_another_process_writes_is_told(server, listener):
    kept = json.loads(server.run("note", "From the command line", "--text", "x", "--json"))["id"]

    assert listener.wait_for(kept)


def test_upkeep_tells_how_far_it_is(server, listener):
    done = server.post("upkeep")

    assert done.status == 200
    assert done.json["date"]
    steps = [value for event, value in listener.events if event == "progress"]
    listener.wait(lambda event, value: event == "progress" and value.get("ended", False))
    assert {step["job"] for step in steps} == {"upkeep"}
    assert len({step["done"] for step in steps}) > 3


def test_agents_are_served_on_the_same_port(server):
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
             "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}

    answer = server.call("POST", "/mcp", hello, {"Accept": "application/json, text/event-stream"})

    assert answer.status == 200
    assert answer.json["result"]["serverInfo"]["name"] == "otolith"


def test_a_server_told_to_stop_ends_the_events_and_goes(start):
    running, listening = start("--no-mcp")

    assert running.stop() in (0, -15)
    listening.close()


def test_the_document_names_every_status_of_the_error_tree():
    told = describe()["components"]["responses"]["error"]["description"]

    for kind in OtolithError.__subclasses__():
        assert kind.code in told


def test_every_verb_of_memory_is_here_or_its_absence_has_a_reason():
    from otolith.memory import Memory

    offered = {name for name in dir(Memory) if not name.startswith("_")}
    reasons = {row.python: row.gaps["rest"] for row in table().values() if "rest" in row.gaps} | PLUMBING

    assert offered - {row.python for row in calls.offered("rest")} <= reasons.keys()
    assert all(reasons.values())


@pytest.mark.parametrize("query", ["limit=99999999999999999999999", "offset=99999999999999999999999", "limit=-1", "offset=-1"])
def test_a_number_beyond_all_is_refused(server, query):
    assert server.get(f"/api/list?{query}").status == 422


@pytest.mark.parametrize(("query", "named"), [("limit=0", "limit"), ("limit=501", "limit"), ("offset=-1", "offset")])
def test_a_view_names_the_number_that_it_refuses(server, query, named):
    answer = server.get(f"/api/views/timeline?{query}")

    assert answer.status == 422
    assert answer.json["error"]["message"].startswith(f"{named} must be")


def test_an_infinite_number_is_null_for_json_knows_none(server):
    server.run("init")
    answer = server.get("/api/sql?query=select%201e400,%20-1e400,%201.5")
    told = server.run("sql", "--json", "select 1e400, -1e400, 1.5")

    for text in (answer.body, told):
        assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["rows"] == [[None, None, 1.5]]


def test_a_browser_at_an_unknown_address_sees_a_page_and_a_program_json(server):
    page = server.get("/nowhere", headers={"Accept": "text/html"})

    assert (page.status, b"Nothing here" in page.body) == (404, True)
    assert server.get("/nowhere").json["error"]["code"] == "not_found"
