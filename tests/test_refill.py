"""Recall never says that nothing is known while something is: what cannot be delivered takes no place from what can."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otolith.memory import Memory

SIXTY = 60
WORDS = ("server cache node cluster timeout replica failover latency memory eviction key policy queue worker batch shard "
         "lock").split()


def about(word, number, length=70):
    """A text that shares one word with others of its kind and little else."""
    return " ".join([word, *(WORDS[(number * 7 + at * (number % 5 + 1)) % len(WORDS)] for at in range(length))])


def test_sixty_notes_that_share_a_word_are_known(mem):
    for number in range(SIXTY):
        mem.note(f"Finding {number}", about("redis", number))

    assert len(mem.recall("redis").hits) == len(mem.recall("redis", kind="note").hits) == 10
    assert mem.recall("redis").enough


@pytest.mark.parametrize("question", ["redis", "redis findings"])
def test_edges_without_a_text_take_no_place_from_notes(mem, question):
    with mem.bulk():
        notes = [mem.note(f"Redis {number}", about("redis", number, 30)) for number in range(12)]
        for one in notes:
            for other in notes:
                if one.id < other.id:
                    mem.link(one.id, "RELATED_TO", other.id)
    found = mem.recall(question, limit=12)

    assert {hit.id for hit in found.hits} == {note.id for note in notes}


def test_an_edge_without_a_text_is_a_reason_and_never_a_hit(mem):
    drops = mem.note("Redis drops idle connections", "The pool hands out dead sockets.")
    keep = mem.note("Keepalive", "Set a timeout of 300 seconds.")
    edge = mem.link(keep.id, "SOLVES", drops.id)

    found = mem.recall("keepalive solves redis drops idle connections")

    assert edge.edge_id not in [hit.id for hit in found.hits]
    assert f"linked: SOLVES {drops.id}" in next(hit for hit in found.hits if hit.id == keep.id).why
    assert not mem.recall(edge.edge_id).hits


def test_rejected_facts_take_no_place_from_what_is_known(mem):
    with mem.bulk():
        for number in range(80):
            mem.log([{"role": "user", "content": f"I prefer redis number {number}."}], topic=f"t{number}")
        for fact in mem.facts():
            mem.review(fact.id, score=0)
    note = mem.note("Why not", "After all we do not use redis in the new shop any more, it was too slow there.")

    assert note.id in [hit.id for hit in mem.recall("redis", kind=["note", "fact"]).hits]


def test_one_long_note_does_not_keep_the_others_out(mem):
    mem.note("Everything about redis", "\n\n".join(about("redis", number, 180) for number in range(120)))
    short = [mem.note(f"Finding {number}", f"A redis {WORDS[number]} was seen on the {WORDS[number + 1]}.")
             for number in range(9)]

    found = mem.recall("redis", limit=10)

    assert {note.id for note in short} < {hit.id for hit in found.hits}


def test_copies_of_one_text_do_not_keep_the_others_out(mem):
    with mem.bulk():
        for number in range(100):
            mem.remember("The redis server is in Frankfurt.", conversation_id=f"c{number}")
        other, = mem.remember("A redis replica was planned for next year, in a long sentence that says a lot more besides.",
                              conversation_id="z")

    found = mem.recall("redis", limit=2)

    assert len(found.hits) == 2
    assert other.id in [hit.id for hit in found.hits]


TEXTS = st.lists(st.sampled_from(["redis", "redis node", "node cache", "cache redis lock", "lock?", "redis?"]), min_size=1,
                 max_size=6).map(" and ".join)
WRITES = st.lists(st.tuples(st.sampled_from(["note", "memo", "chunk", "log", "work", "link", "episode", "reject", "upkeep"]),
                            TEXTS), min_size=1, max_size=14)


@settings(max_examples=25, deadline=None)
@given(WRITES, st.sampled_from(["redis", "cache", "node", "lock"]), st.integers(1, 3))
def test_what_a_filter_finds_is_not_nothing_without_it(writes, word, limit):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        with Memory(Path(folder, "home"), clock=lambda: 1_770_759_420.0) as mem:
            write_all(mem, writes)
            kinds = [row["kind"] for row in mem.list(limit=None, kind=None)[0]]
            for kind in {*kinds, "edge", "fact", "episode", "topic"}:
                if mem.recall(word, kind=kind, limit=limit).hits:
                    assert mem.recall(word, limit=limit).hits


def write_all(mem, writes):
    notes = []
    for number, (verb, text) in enumerate(writes):
        if verb == "note":
            notes.append(mem.note(f"{text} {number}", text))
        elif verb == "memo":
            mem.memo(f"user_says_{number}", text)
        elif verb == "chunk":
            mem.remember(text, conversation_id=f"c{number % 2}")
        elif verb == "log":
            mem.log([{"role": "user", "content": f"I use {text}."}, {"role": "assistant", "content": text}], topic="t")
        elif verb == "work":
            mem.record(goal=text, task_type="refactor", success=True, summary=text)
        elif verb == "link" and len(notes) > 1:
            mem.link(notes[-1].id, "RELATED_TO", notes[0].id, context=text if number % 2 else None)
        elif verb == "episode":
            mem.episode(text)
        elif verb == "reject":
            for fact in mem.facts():
                mem.review(fact.id, score=0)
        elif verb == "upkeep":
            mem.upkeep()
