"""The calls that the design pins, as programs write them."""

from __future__ import annotations

from pathlib import Path

import pytest

import otolith
from otolith.errors import Conflict, Invalid


def test_the_pinned_calls_of_python_work(home: Path) -> None:
    with otolith.open(home) as mem:
        chunk, = mem.remember("Tea is steeped for three minutes.", conversation_id="conv-1", tags=["x"], type=None,
                              confidence=0.7, created=None, source="interaction")
        note = mem.note("Title", "text", type="solution", tags=["redis"], importance=0.8)
        problem = mem.note("Sockets die", "After five minutes.", type="problem")
        memo = mem.memo("user_prefers_structured_output", "text", category="past", tags=[])
        entry = mem.log([{"role": "user", "content": "I live in Bremen."}], topic="startup")
        work = mem.record(intent={"goal": "Fix it", "task_type": "bug_fix"}, outcome={"success": True, "summary": "Done"},
                          perception={}, reasoning={}, actions=[], tags=[], importance=0.5)

        answer = mem.recall("tea", limit=10, depth="full", budget=1000, kind="chunk", since="2026-02-01")
        assert (answer.hits[0].id, answer.tokens > 0) == (chunk.id, True)
        assert mem.recall("fix it", successes=True, failures=False, file=None).hits[0].id == work.id
        assert mem.get(memo.id, depth="full").record == memo
        assert mem.edit(note.id, importance=0.9).importance == 0.9
        mem.link(note.id, "SOLVES", problem.id, context="keeps them open")
        assert [row["id"] for row in mem.related(note.id, depth=2)] == [problem.id]
        assert not mem.trace(work.id, direction="causes")
        mem.check_file("src/auth.ts")
        mem.forget(problem.id, purge=False)
        mem.restore(problem.id)
        mem.pin(note.id)
        assert mem.review(entry.facts[0].id_in("startup"), score=9).user_fact_score == 9
        assert mem.brief(context="tea", budget=2000).text
        with mem.bulk():
            mem.note("One of many", "text")
        assert mem.topics()
        assert mem.facts(topic="startup")
        assert not mem.chapters()
        assert not mem.wisdom()
        assert not mem.check()


def test_edit_takes_fields_by_name_or_as_one_object(mem: otolith.Memory) -> None:
    note = mem.note("Tea", "Steep.", tags=["a"])

    mem.edit(note.id, {"title": "Green tea", "tags": ["b"]}, importance=0.9)

    edited = mem.get(note.id).record
    assert (edited.title, edited.tags, edited.importance, edited.text) == ("Green tea", ("b",), 0.9, "Steep.")
    with pytest.raises(Invalid):
        mem.edit(note.id, {"nonsense": 1})
    with pytest.raises(Conflict):
        mem.edit(note.id, {"title": "Black tea"}, expect="0" * 64)


def test_a_score_that_is_not_given_stays_and_none_takes_it_back(mem: otolith.Memory) -> None:
    fact = mem.log([{"role": "user", "content": "I live in Bremen."}], topic="t").facts[0].id_in("t")
    mem.review(fact, 9)

    corrected = mem.review(fact, correct={"object": "Berlin"})

    assert (corrected.object, corrected.user_fact_score) == ("Berlin", 9)
    assert mem.review(str(corrected.id), None).user_fact_score is None
    with pytest.raises(Invalid):
        mem.review(str(corrected.id))
