"""What the page shows, a program can ask for: the views as JSON, files that come in, versions that come back."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")


@pytest.fixture(scope="module")
def shelf(server):
    """A few records of two projects."""
    ids = [server.note(f"Shelf {name}", f"It holds {name}.", tags=["shelf", name], project=project)
           for name, project in (("apples", "cellar"), ("books", "attic"), ("boots", "cellar"))]
    for source, target in ((0, 1), (1, 2)):
        server.post("link", source=ids[source], type="RELATED_TO", target=ids[target])
    return ids


def test_browse_filters_by_title_tag_and_project_and_counts_what_there_is(server, shelf):
    found = server.get("/api/views/browse?tags=shelf&project=cellar").json
    narrowed = server.get("/api/views/browse?tags=shelf&title=SHELF+boo").json

    assert {item["title"] for item in found["items"]} == {"Shelf apples", "Shelf boots"}
    assert {"name": "apples", "records": 1} in found["tags"]
    assert found["projects"] == [{"name": "cellar", "records": 2}]
    assert {item["title"] for item in narrowed["items"]} == {"Shelf books", "Shelf boots"}
    assert narrowed["total"] == 2


def test_the_frame_names_the_home_and_its_projects(server, shelf):
    frame = server.get("/api/views/frame").json

    assert frame["home"] == server.home.name
    assert {"name": "cellar", "records": 2} in frame["projects"]


def test_search_finds_what_half_a_word_begins_and_keeps_to_the_project(server, shelf):
    assert server.get("/api/views/search?q=shelf+ap").json["hits"][0]["title"] == "Shelf apples"
    assert {hit["project"] for hit in server.get("/api/views/search?q=shelf&project=attic").json["hits"]} == {"attic"}
    assert server.get("/api/views/search?q=").json["error"]["message"] == "the question is empty"


@pytest.mark.parametrize(("depth", "count"), [(1, 2), (2, 3)])
def test_the_graph_around_a_record_goes_as_far_as_asked(server, shelf, depth, count):
    found = server.get(f"/api/views/graph?around={shelf[0]}&depth={depth}").json

    assert len(found["nodes"]) == found["total"] == count
    assert found["nodes"][0]["id"] == shelf[0]


def test_a_graph_that_would_be_too_large_says_where_to_begin_instead(server, shelf):
    whole = server.get("/api/views/graph?tags=shelf&whole=true&limit=2").json
    part = server.get("/api/views/graph?tags=shelf&limit=2").json

    assert (whole["nodes"], whole["links"], whole["total"]) == ([], [], 3)
    assert whole["starts"][0]["title"] == "Shelf books"
    assert len(part["nodes"]) == 2
    assert server.get("/api/views/graph?depth=4").status == 422


def test_the_audit_says_who_did_what_and_can_be_narrowed_down(server, shelf):
    server.post("edit", id=shelf[0], changes={"text": "It holds pears."})
    found = server.get("/api/views/audit?verb=edited").json

    assert found["items"][0]["title"] == "Shelf apples"
    assert found["items"][0]["origin"]["door"] == "rest"
    assert {item["verb"] for item in found["items"]} == {"edited"}
    assert "edited" in found["verbs"]
    assert len(found["verbs"]) > 1


def test_what_today_shows_counts_as_told_to_nobody_but_a_brief_does(server, shelf):
    server.call("POST", "/api/memo", {"name": "shelves_hold_much", "text": "Shelves hold much.", "category": "present"}, server.as_person())
    server.get("/api/views/today")
    before = server.get("/api/views/told").json["total"]

    server.get("/api/brief")

    found = server.get("/api/views/told").json
    assert found["total"] == before + 1
    assert found["items"][0]["by"] == "brief"
    assert {record["used"] for record in found["items"][0]["records"]} == {None}


def test_a_former_version_is_listed_and_brought_back_over_rest(server):
    note = server.note("Dated", "One.")
    server.post("edit", id=note, changes={"text": "Two."})
    version = server.get(f"/api/versions?id={note}").json["items"][0]

    assert version["record"]["text"] == "One."
    assert server.post("restore", id=note, version=version["version"]).status == 200
    assert server.record(note).json["text"] == "One."


def test_a_record_tells_what_it_says_and_what_ended_it(server):
    old = server.note("Where the office is", "The office is in Ghent.")
    new = server.note("Where the office is now", "The office is in Bruges now.")

    said, = server.get(f"/api/views/record?id={old}").json["claims"]

    assert said["text"] == "The office is in Ghent"
    assert said["closed_by"] == {"id": new, "text": "The office is in Bruges now"}
    assert said["until"]


def test_files_are_counted_then_kept_as_from_outside_and_known_the_second_time(server):
    files = [{"name": "vault/Pear.md", "data": base64.b64encode(b"# Pear\n\nGreen.").decode()}]

    dry = server.post("import", files=files, dry_run=True).json
    assert (dry["found"], dry["kept"]) == ({"note": 1}, {})
    kept = server.post("import", files=files).json
    assert kept["kept"] == {"note": 1}
    assert server.get("/api/get?id=Pear").json["origin"]["trust"] == "outside"
    assert server.post("import", files=files).json["known"] == {"note": 1}


def test_an_import_larger_than_the_door_lets_in_is_refused(server):
    body = b'{"files": [{"name": "a.zip", "data": "' + b"A" * (5 << 20) + b'"}]}'
    try:
        told = server.call("POST", "/api/import", body, {"Content-Type": "application/json"})
    except OSError:
        return  # refused before all of it was sent
    assert told.status == 413


@pytest.mark.parametrize("path", ["browse?limit=0", "work?offset=-1", "audit?limit=9999", "told?limit=x", "search?limit=99", "browse?depth=1"])
def test_views_refuse_what_they_do_not_take(server, path):
    assert server.get(f"/api/views/{path}").status == 422


def test_titles_are_given_for_those_that_are_there(server, shelf):
    found = server.get(f"/api/views/titles?id={shelf[0]}&id={quote('no such id')}").json["titles"]

    assert found == {shelf[0]: {"title": "Shelf apples", "kind": "note"}}
