"""remember: cutting, keeping once, linking by itself; links by hand; the exports; the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otolith.derive.chunking import ChunkingEngine
from otolith.errors import Conflict, Invalid

LONG = "\n\n".join(f"Paragraph {n} tells of the harbour, its boats and the weather on day {n}. " * 8 for n in range(30))


# Cutting and keeping


@pytest.mark.clause("chunk-27")
def test_a_long_text_becomes_chunks_of_100_to_800_tokens_that_join_to_it(mem):
    chunks = mem.remember(LONG, conversation_id="c")

    count = ChunkingEngine().count_tokens
    assert len(chunks) > 3
    assert "".join(chunk.content for chunk in chunks) == LONG
    assert all(100 <= chunk.tokens == count(chunk.content) <= 800 for chunk in chunks)


def test_each_piece_knows_where_in_the_text_it_stood(mem):
    chunks = mem.remember(LONG, conversation_id="c")

    cuts = [chunk.otolith.cut for chunk in chunks]
    assert [LONG[cut["start"] : cut["stop"]] for cut in cuts] == [chunk.content for chunk in chunks]
    assert [(cut["part"], cut["parts"]) for cut in cuts] == [(n, len(chunks)) for n in range(1, len(chunks) + 1)]
    assert len({cut["of"] for cut in cuts}) == 1


@pytest.mark.clause("chunk-27")
def test_a_short_text_is_one_chunk_without_further_marks(mem):
    [chunk] = mem.remember("  User prefers Python.\n", conversation_id="c")

    assert chunk.content == "  User prefers Python.\n"
    assert chunk.type == "preference"
    assert (chunk.otolith.cut, chunk.otolith.key, chunk.otolith.place) == (None, None, None)


def test_what_is_given_is_kept(mem):
    [chunk] = mem.remember("It rained.", conversation_id="c", tags=["weather", " ", "weather", "log"], type="decision",
                           confidence=0.4, created="2025-12-31", source="import")

    assert (chunk.tags, chunk.type, chunk.confidence) == (("weather", "log"), "decision", 0.4)
    assert (chunk.metadata.created, chunk.metadata.source) == ("2025-12-31T00:00:00Z", "import")
    assert mem.get(chunk.id).path == f"chunks/2025-12/{chunk.id}.json"


@pytest.mark.parametrize("text", [LONG, "One sentence only."])
def test_the_same_text_again_in_the_same_conversation_is_kept_once_and_says_so(mem, text, snapshot):
    first = mem.remember(text, conversation_id="c")
    before = snapshot()

    again = mem.remember(text, conversation_id="c")

    assert [chunk.id for chunk in again] == [chunk.id for chunk in first]
    assert snapshot() == before
    [notice] = mem.notices
    assert "already remembered in c" in notice
    assert [chunk.id for chunk in mem.remember(text, conversation_id="d")] != [chunk.id for chunk in first]


@pytest.mark.parametrize("text", [LONG, "One sentence only."])
def test_a_text_remembered_again_has_the_tags_and_the_higher_confidence_of_both_times(mem, text):
    first = mem.remember(text, conversation_id="c", tags=["weather"], confidence=0.9)

    again = mem.remember(text, conversation_id="c", tags=["harbour", "weather"], confidence=0.4)

    assert [chunk.id for chunk in again] == [chunk.id for chunk in first]
    assert {(chunk.tags, chunk.confidence) for chunk in again} == {(("weather", "harbour"), 0.9)}
    assert mem.get(first[-1].id).record == again[-1]
    assert "tagged harbour" in mem.notices[-1]
    mem.remember(text, conversation_id="c", confidence=0.95)
    assert mem.get(first[0].id).record.confidence == 0.95


def test_texts_that_begin_alike_are_kept_apart(mem):
    one, two = "Said it. Once.", "Said it. Twice."

    assert mem.remember(one, conversation_id="c")[0].id != mem.remember(two, conversation_id="c")[0].id
    assert mem.remember("x" * 50, conversation_id="c")[0].id != mem.remember("x" * 51, conversation_id="c")[0].id


def test_a_text_of_which_a_piece_was_forgotten_is_completed(mem):
    first = mem.remember(LONG, conversation_id="c")
    mem.forget(first[1].id)

    again = mem.remember(LONG, conversation_id="c")

    assert [a.id == b.id for a, b in zip(first, again, strict=True)] == [n != 1 for n in range(len(first))]
    assert "".join(chunk.content for chunk in again) == LONG
    assert again[1].links.follows == (first[0].id,)


def test_a_key_gives_the_same_chunks_on_another_day_and_refuses_another_text(mem, clock):
    first = mem.remember(LONG, conversation_id="c", key="k1")
    clock.pass_time(days=2)

    assert [chunk.id for chunk in mem.remember(LONG, conversation_id="c", key="k1")] == [chunk.id for chunk in first]
    with pytest.raises(Conflict, match="k1"):
        mem.remember("Something else.", conversation_id="c", key="k1")
    with pytest.raises(Conflict, match="k1"):
        mem.remember(LONG + "!", conversation_id="c", key="k1")
    assert mem.remember("Something else.", conversation_id="c", key="k2")[0].id not in {chunk.id for chunk in first}


@pytest.mark.parametrize("wrong", [
    {"text": ""}, {"text": " \n"}, {"text": None}, {"text": b"bytes"}, {"text": "half \udc80"}, {"text": "a\0b"}, {"tags": "word"},
    {"type": "rumour"}, {"confidence": 2}, {"source": "dream"}, {"created": "soon"}])
def test_bad_input_is_refused_before_anything_is_written(mem, home, wrong):
    with pytest.raises(Invalid):
        mem.remember(**{"text": "Some text.", "conversation_id": "c", **wrong})

    assert not home.exists()


def test_control_characters_survive(mem):
    [chunk] = mem.remember("a\x01b\x1b[31m\r\nc\u2028d", conversation_id="c")

    assert mem.get(chunk.id).record.content == "a\x01b\x1b[31m\r\nc\u2028d"
    assert mem.sync() == []
    assert mem.check() == []


def test_chunks_are_recalled_like_everything_else(mem):
    [chunk] = mem.remember("The harbour master keeps a parrot.", conversation_id="c", tags=["harbour"])

    assert mem.recall("parrot", kind="chunk").hits[0].id == chunk.id


# Links


@pytest.mark.clause("chunk-17")
def test_context_of_names_the_conversation_and_nothing_else(mem):
    for n in range(4):
        [chunk] = mem.remember(f"Line {n} of the talk.", conversation_id="conv-abc123")
        assert chunk.links.context_of == ("conv-abc123",)

    assert mem.list(conversation="conv-abc123")[1] == 4


@pytest.mark.clause("chunk-18")
def test_follows_names_the_nearest_predecessor_within_five_minutes(mem, clock):
    [first] = mem.remember("First.", conversation_id="c")
    [second] = mem.remember("Second.", conversation_id="c")
    [aside] = mem.remember("Aside.", conversation_id="d")
    clock.pass_time(minutes=5)
    [third] = mem.remember("Third.", conversation_id="c")
    clock.pass_time(minutes=5, seconds=1)
    [fourth] = mem.remember("Fourth.", conversation_id="c")

    follows = [chunk.links.follows for chunk in (first, second, aside, third, fourth)]
    assert follows == [(), (first.id,), (), (second.id,), ()]


@pytest.mark.clause("chunk-18")
def test_the_pieces_of_a_text_follow_each_other(mem):
    [before] = mem.remember("Before it.", conversation_id="c")
    chunks = mem.remember(LONG, conversation_id="c")

    assert [chunk.links.follows for chunk in chunks] == [(one.id,) for one in [before, *chunks[:-1]]]


@pytest.mark.clause("chunk-19")
def test_related_to_names_the_ten_with_most_shared_tags_then_the_newest(mem, clock):
    made = {}
    for name, tags in [("one-a", "x"), *((f"two-{n}", "x y") for n in range(9)), ("one-b", "y"), ("none", "z")]:
        clock.pass_time(hours=1)
        made[name] = mem.remember(f"About {name}.", conversation_id=name, tags=tags.split())[0].id
    clock.pass_time(hours=1)

    [chunk] = mem.remember("The new one.", conversation_id="new", tags=["x", "y"])

    assert chunk.links.related_to == (*(made[f"two-{n}"] for n in range(8, -1, -1)), made["one-b"])
    assert mem.remember("Untagged.", conversation_id="new")[0].links.related_to == ()


@pytest.mark.clause("chunk-19")
def test_a_rare_tag_is_found_among_a_hundred_that_share_a_common_one(mem):
    [old] = mem.remember("The rare one.", conversation_id="a", tags=["rare", "common"])
    with mem.bulk():
        for n in range(120):
            mem.remember(f"Filler number {n}.", conversation_id="b", tags=["common"])

    [new] = mem.remember("The new one.", conversation_id="c", tags=["rare", "common"])

    assert new.links.related_to[0] == old.id


@pytest.mark.clause("chunk-20", "chunk-21")
def test_supports_and_contradicts_are_set_by_hand_and_never_by_themselves(mem):
    [a] = mem.remember("The database is Postgres.", conversation_id="c", tags=["db"])
    [b] = mem.remember("The database is not Postgres.", conversation_id="c", tags=["db"])
    assert (b.links.supports, b.links.contradicts) == ((), ())

    mem.link(b.id, "contradicts", a.id, strength=0.9)
    mem.link(a.id, "supports", b.id, context="the same meeting")

    held = mem.get(b.id).record
    assert (held.links.contradicts, held.otolith.details["contradicts"][a.id]["strength"]) == ((a.id,), 0.9)
    assert mem.get(a.id).record.links.supports == (b.id,)
    mem.unlink(b.id, "contradicts", a.id)
    assert mem.get(b.id).record.links.contradicts == ()


def test_a_link_to_a_chunk_that_is_not_there_is_refused(mem):
    [a] = mem.remember("One.", conversation_id="c")

    with pytest.raises(Exception, match="no record"):
        mem.link(a.id, "supports", "chunk-2026-02-10-nothing")


# Exports


@pytest.mark.clause("chunk-23", "chunk-24", "chunk-25")
def test_the_three_indexes_are_written_in_their_places(mem, home):
    [a] = mem.remember("User prefers tea.", conversation_id="c", tags=["drink"], confidence=0.8)
    [b] = mem.remember("User decided on green tea.", conversation_id="c", tags=["drink", "green"])
    mem.reindex()

    metadata, by_tag, graph = (json.loads((home / "index" / f"{name}.json").read_text())
                               for name in ("metadata_index", "tag_index", "link_graph"))
    assert [list(shape) for shape in (metadata, by_tag, graph)] == [["entries", "lists", "updated"]] * 3
    assert metadata["entries"][a.id]["conversation_id"] == "c"
    assert (metadata["entries"][a.id]["type"], metadata["entries"][a.id]["confidence"]) == ("preference", 0.8)
    assert by_tag["lists"] == {"drink": sorted([a.id, b.id]), "green": [b.id]}
    assert graph["entries"][b.id]["follows"] == graph["entries"][b.id]["related_to"] == [a.id]
    assert graph["entries"][a.id]["context_of"] == ["c"]


# The command line


def test_remember_at_the_command_line(run):
    done = run("remember", "User prefers Python over JavaScript", "--conversation", "conv-123", "--tag", "coding", "--json")

    [item] = done.json["items"]
    assert (item["kind"], item["record"]["type"], item["record"]["tags"]) == ("chunk", "preference", ["coding"])
    again = run("remember", "-", "--conversation", "conv-123", stdin="User prefers Python over JavaScript")
    assert item["id"] in again.out
    assert "already remembered" in again.err


@pytest.mark.parametrize(("words", "code"), [(("remember", ""), 4), (("remember", "x", "--type", "rumour"), 4),
                                             (("remember", "x", "--confidence", "high"), 2)])
def test_a_wrong_call_says_so_in_one_line(run, words: tuple[str, ...], code: int):
    done: Any = run(*words)

    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
