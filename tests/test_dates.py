"""Dates in words: wherever a verb takes a date, it takes them as people say them."""

from __future__ import annotations

import pytest

from otolith.errors import Invalid
from otolith.model.dates import read_moment
from otolith.model.times import parse_time, zulu

NOW = parse_time("2026-11-18T15:30:00Z")  # a Wednesday


@pytest.mark.parametrize(("words", "moment"), [
    ("2026-02-10", "2026-02-10T00:00:00Z"), ("2026-02-10T21:37:00Z", "2026-02-10T21:37:00Z"),
    ("2026-02-10T21:37:00+02:00", "2026-02-10T19:37:00Z"), ("now", "2026-11-18T15:30:00Z"),
    ("today", "2026-11-18T00:00:00Z"), ("yesterday", "2026-11-17T00:00:00Z"), ("Yesterday", "2026-11-17T00:00:00Z"),
    ("tomorrow", "2026-11-19T00:00:00Z"), ("the day before yesterday", "2026-11-16T00:00:00Z"),
    ("7d", "2026-11-11T15:30:00Z"), ("2w", "2026-11-04T15:30:00Z"), ("3h", "2026-11-18T12:30:00Z"),
    ("1y", "2025-11-18T15:30:00Z"), ("2mo", "2026-09-18T15:30:00Z"), ("90 min", "2026-11-18T14:00:00Z"),
    ("an hour ago", "2026-11-18T14:30:00Z"), ("two weeks ago", "2026-11-04T15:30:00Z"),
    ("3 months ago", "2026-08-18T15:30:00Z"), ("last 30 days", "2026-10-19T15:30:00Z"),
    ("this week", "2026-11-16T00:00:00Z"), ("last week", "2026-11-09T00:00:00Z"), ("last month", "2026-10-01T00:00:00Z"),
    ("last year", "2025-01-01T00:00:00Z"), ("last monday", "2026-11-16T00:00:00Z"), ("friday", "2026-11-13T00:00:00Z"),
    ("in May", "2026-05-01T00:00:00Z"), ("May", "2026-05-01T00:00:00Z"), ("in December", "2025-12-01T00:00:00Z"),
    ("May 2025", "2025-05-01T00:00:00Z"), ("5 May", "2026-05-05T00:00:00Z"), ("Dec 24", "2025-12-24T00:00:00Z"),
    ("2025-05", "2025-05-01T00:00:00Z"), ("2025", "2025-01-01T00:00:00Z"), ("next week", "2026-11-23T00:00:00Z")])
def test_a_date_in_words_is_the_moment_at_which_it_begins(words, moment):
    assert zulu(read_moment(words, NOW)) == moment


def test_a_month_ago_has_the_days_that_month_has():
    assert zulu(read_moment("1 month ago", parse_time("2026-03-31T10:00:00Z"))) == "2026-02-28T10:00:00Z"


@pytest.mark.parametrize("words", ["", "blah", "soon", "recently", "last summer", "after May", "7x", "d", "31 February", "13-13",
                                   "99999d", "yesterday or so", "\ud800", "²d", "9" * 5000, "a" * 100_000])
def test_what_is_no_date_is_one_line_that_says_what_is(words):
    with pytest.raises(Invalid, match="since is not a time") as refused:
        read_moment(words, NOW, "since")

    assert "yesterday, 7d" in refused.value.hint


@pytest.mark.parametrize("value", [True, ["today"], None, {"day": 1}])
def test_what_is_no_text_or_number_is_no_date(value):
    with pytest.raises(Invalid, match="not a time"):
        read_moment(value, NOW)


def test_every_verb_that_takes_a_date_takes_it_in_words(mem, clock):
    note = mem.note("Tea", "Steep it.", created="yesterday")
    chunk, = mem.remember("The kettle whistles.", created="2d", conversation_id="c")
    work = mem.record({"goal": "Boil", "task_type": "other", "success": True, "summary": "Boiled"}, created="last week")
    entry = mem.log("User: I live in Oslo.\nAssistant: Fine.", topic="home", created="3 days ago")
    memo = mem.memo("tea_is_green", "Tea is green.", created="4d")
    clock.pass_time(hours=1)

    assert [zulu(record.created)[:10] for record in (note, chunk, work, entry, memo)] == [
        "2026-02-09", "2026-02-08", "2026-02-02", "2026-02-07", "2026-02-06"]
    assert {row["id"] for row in mem.list(since="47h", kind=["notes", "chunks"])[0]} == {note.id}
    assert mem.list(before="last monday", kind="works")[1] == 1
    assert mem.facts(as_of="last week") == []
    assert mem.recall("tea", since="yesterday", kind="notes").hits[0].id == note.id
    assert mem.diary("today") == mem.diary("2026-02-10") == mem.diary()


@pytest.mark.parametrize(("command", "code"), [
    (("list", "--since", "blah"), 4), (("recall", "--before", "someday"), 4), (("facts", "--as-of", "blah"), 4),
    (("episode", "--date", "blah"), 4), (("list", "--kind", "nots"), 2), (("list", "--since"), 2)])
def test_a_wrong_date_or_kind_is_one_line_at_the_command_line(run, command, code):
    told = run(*command)

    assert (told.code, told.out, told.err.count("\n")) == (code, "", 1)


@pytest.mark.parametrize("kind", ["notes", "note"])
def test_kinds_are_taken_in_the_plural(run, mem, kind):
    mem.note("Tea", "Steep it.")
    mem.memo("tea_is_green", "Tea is green.")
    mem.close()

    assert run("list", "--kind", kind, "--json").json["total"] == 1
    assert "Tea" in run("graph", "--kind", kind).out
