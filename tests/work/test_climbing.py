"""Chapters and wisdom through the verbs: found by upkeep, made by hand, idempotent, and coming back when deleted."""

from __future__ import annotations

import json

import pytest

from otolith.errors import Invalid, NotFound, Provider
from otolith.memory import Memory
from otolith.verbs import chapters as climbing

SHORT = {"task_type": "bug_fix", "success": True, "summary": "done"}


@pytest.fixture
def work(mem, clock):
    """work("goal", "file") records a work an hour after the one before."""

    def add(goal, *files, **more):
        clock.pass_time(hours=1)
        return mem.record({**SHORT, "goal": goal, **more}, files=files).id

    return add


@pytest.fixture
def two_chapters(work):
    """Two works on each of two folders."""
    return ([work("Refresh tokens", "src/auth/a.ts", learnings=["Queue requests"], tags=["auth"]),
             work("Rotate tokens", "src/auth/b.ts", tags=["auth"])],
            [work("Migrate schema", "db/schema.sql", success=False, failure_reason="stale fixtures",
                  failure_category="test_failure"),
             work("Migrate schema again", "db/schema.sql", learnings=["Queue requests"],
                  approach_chosen="Regenerate fixtures")])


def read(mem, folder):
    return {path.name: json.loads(path.read_text()) for path in sorted((mem.path / "work" / folder).glob("*.json"))}


@pytest.mark.clause("work-12", "work-13", "work-14", "work-15", "work-16", "work-17", "work-18", "work-19", "work-20",
                    "work-21")
def test_upkeep_finds_chapters_and_writes_them_as_files(mem, two_chapters):
    mem.upkeep()

    found = {tuple(chapter["memories"]): chapter for chapter in read(mem, "chapters").values()}
    assert set(found) == {tuple(ids) for ids in two_chapters}
    auth = found[tuple(two_chapters[0])]
    first, last = (mem.get(id).record.created_at for id in two_chapters[0])
    assert (auth["start_ts"], auth["end_ts"], auth["origin"], auth["project_id"]) == (first, last, "auto", "default")
    assert auth["title"]
    assert "2 works in src/auth" in auth["summary"]
    assert auth["learnings"] == ["Queue requests"]
    assert auth["tags"] == ["auth"]
    assert "tokens" in auth["topics"]


@pytest.mark.clause("work-21")
def test_the_join_table_gives_the_order_of_works_in_a_chapter(mem, two_chapters):
    mem.upkeep()

    rows = mem.sql("SELECT c.memory_id FROM chapter_memories c JOIN chapters h ON h.id = c.chapter_id "
                   "WHERE h.title LIKE 'src/auth%' ORDER BY c.position")["rows"]
    assert rows == [[id] for id in two_chapters[0]]


@pytest.mark.clause("work-22", "work-23", "work-24", "work-25", "work-26", "work-27", "work-28", "work-29", "work-30")
@pytest.mark.usefixtures("two_chapters")
def test_upkeep_distils_wisdom_from_the_chapters_of_a_project(mem):
    mem.upkeep()

    piece, = read(mem, "wisdom").values()
    told = {chapter.id: chapter for chapter in mem.chapters()}
    assert piece["id"].startswith("wisdom_")
    assert piece["project_id"] == "default"
    assert set(piece["chapters"]) == set(told)
    assert piece["start_ts"] == min(chapter.start_ts for chapter in told.values())
    assert piece["end_ts"] == max(chapter.end_ts for chapter in told.values())
    assert piece["summary"].startswith("2 chapters of default")
    assert piece["insights"][0].startswith("Queue requests [chapter_")
    assert any("Regenerate fixtures" in line for line in piece["best_practices"])
    assert mem.sql("SELECT count(*) FROM wisdom_chapters")["rows"] == [[2]]
    assert mem.wisdom()[0].id == piece["id"]


@pytest.mark.usefixtures("two_chapters")
def test_a_second_upkeep_changes_nothing(mem, snapshot):
    mem.upkeep()
    before = snapshot()

    report = mem.upkeep()

    assert snapshot() == before
    assert not {"chapters", "wisdom", "cold"} & set(report.changed)


@pytest.mark.clause("work-20")
@pytest.mark.usefixtures("two_chapters")
def test_a_chapter_found_again_is_updated_and_not_duplicated(mem, work):
    mem.upkeep()
    before = set(read(mem, "chapters"))
    work("Revoke tokens", "src/auth/c.ts")

    mem.upkeep()

    assert set(read(mem, "chapters")) == before
    assert sorted(len(chapter.memories) for chapter in mem.chapters()) == [2, 3]


def test_an_edited_work_changes_its_chapter_and_leaves_the_others_alone(mem, two_chapters):
    mem.upkeep()
    mem.edit(two_chapters[0][0], outcome={"learnings": ["Never queue"]})

    report = mem.upkeep()

    assert [line.split()[0] for line in report.changed["chapters"]] == ["changed"]
    assert any("Never queue" in (chapter.learnings or ()) for chapter in mem.chapters())


@pytest.mark.usefixtures("two_chapters")
def test_a_deleted_chapter_and_wisdom_come_back_as_they_were(mem, snapshot):
    mem.upkeep()
    before = snapshot()
    for folder in ("chapters", "wisdom"):
        for path in (mem.path / "work" / folder).glob("*.json"):
            path.unlink()

    mem.upkeep()

    assert snapshot() == before


@pytest.mark.usefixtures("two_chapters")
def test_without_the_index_the_same_is_found(mem, snapshot):
    mem.upkeep()
    before = snapshot()

    mem.home.rebuild()
    mem.sync()
    mem.upkeep()

    assert snapshot() == before


def test_a_chapter_that_loses_its_works_goes(mem, two_chapters):
    mem.upkeep()
    mem.forget(two_chapters[0][0])

    mem.upkeep()

    assert [chapter.memories for chapter in mem.chapters()] == [tuple(two_chapters[1])]
    assert mem.wisdom() == []


@pytest.mark.usefixtures("two_chapters")
def test_a_hand_edited_found_chapter_is_kept_aside_and_rebuilt(mem):
    mem.upkeep()
    name, chapter = next(iter(read(mem, "chapters").items()))
    path = mem.path / "work/chapters" / name
    path.write_text(json.dumps({**chapter, "summary": "My own words"}))

    mem.upkeep()

    assert json.loads(path.read_text())["summary"] == chapter["summary"]
    kept, = (mem.path / "archive/edited/work/chapters").iterdir()
    assert json.loads(kept.read_text())["summary"] == "My own words"


def test_a_found_chapter_edited_by_the_verb_is_the_persons_from_then_on(mem, two_chapters, work):
    mem.upkeep()
    chapter = next(chapter for chapter in mem.chapters() if set(chapter.memories) == set(two_chapters[0]))

    mem.edit(chapter.id, title="The token story")
    work("Revoke tokens", "src/auth/c.ts")
    mem.upkeep()

    kept = mem.get(chapter.id).record
    assert (kept.title, kept.origin, set(kept.memories)) == ("The token story", "manual", set(two_chapters[0]))


@pytest.mark.clause("work-12", "work-15", "work-20")
def test_a_chapter_made_by_hand_keeps_its_works_from_being_found_elsewhere(mem, two_chapters, clock):
    mem.upkeep()
    a, b = two_chapters[0][0], two_chapters[1][0]

    made = mem.chapter([b, a], title="Mixed")
    mem.upkeep()

    assert (made.origin, made.title, made.memories, made.created_at) == ("manual", "Mixed", (a, b), int(clock()))
    assert "2 works" in made.summary
    assert [chapter.origin for chapter in mem.chapters()] == ["manual"]


def test_works_of_a_forgotten_manual_chapter_are_found_again(mem, two_chapters):
    made = mem.chapter(two_chapters[0])
    mem.upkeep()
    mem.forget(made.id)

    mem.upkeep()

    assert {chapter.memories for chapter in mem.chapters(origin="auto")} == {tuple(ids) for ids in two_chapters}


@pytest.mark.parametrize(("works", "error"), [([], Invalid), ("mem_1", Invalid), (["mem_nowhere"], NotFound)])
def test_a_chapter_of_nothing_is_refused(mem, works, error):
    with pytest.raises(error):
        mem.chapter(works)


def test_a_chapter_holds_only_works(mem):
    with pytest.raises(Invalid, match="is a note"):
        mem.chapter([mem.note("A note").id])


@pytest.mark.usefixtures("two_chapters")
def test_chapters_and_wisdom_are_recalled_like_anything_else(mem):
    mem.upkeep()

    assert mem.recall("migrate schema fixtures").hits[0].kind == "work"
    for kind in ("chapter", "wisdom"):  # which only retell it, so that unasked they stand behind it or not at all
        assert mem.recall("migrate schema fixtures", kind=kind).hits[0].kind == kind


@pytest.mark.usefixtures("two_chapters")
def test_projects_keep_their_chapters_apart(mem):
    mem.record({**SHORT, "goal": "Other"}, files=["src/auth/a.ts"], project="shop")
    mem.record({**SHORT, "goal": "Other two"}, files=["src/auth/a.ts"], project="shop")

    mem.upkeep()

    assert len(mem.chapters()) == 3
    assert [len(chapter.memories) for chapter in mem.chapters(project="shop")] == [2]
    assert mem.wisdom(project="shop") == []


def test_a_climb_reads_only_what_changed(mem, work, monkeypatch):
    for n in range(12):
        for m in range(3):
            work(f"Work {m} in {n}", f"dir{n}/f.py")
    mem.upkeep()
    work("One more", "dir3/f.py")
    loaded = []
    load = mem.home.load
    monkeypatch.setattr(mem.home, "load", lambda record: loaded.append(record) or load(record))

    climbing.climb(mem.home)

    assert len(loaded) == 4


# With a language model


class Model:
    """A model's answers, and what it was asked."""

    name = "test/model"

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def __call__(self, question):
        self.asked.append(question)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.usefixtures("two_chapters", "mem")
def test_a_model_retells_a_chapter_once_for_the_same_works(home, clock):
    model = Model(json.dumps({"title": "Retold", "summary": "In better words.", "learnings": ["So it goes"]}))
    with Memory(home, clock=clock, providers={"ask": model}) as better:
        better.upkeep()
        asked = len(model.asked)
        better.upkeep()

        assert {chapter.title for chapter in better.chapters()} == {"Retold"}
        assert all(chapter.extra["made_by"].startswith("test/model#") for chapter in better.chapters())
        assert len(model.asked) == asked


@pytest.mark.parametrize("answer", ["no JSON", Provider("out of reach")])
@pytest.mark.usefixtures("two_chapters", "mem")
def test_a_model_that_fails_leaves_the_rules_words(home, clock, answer):
    with Memory(home, clock=clock, providers={"ask": Model(answer)}) as better:
        report = better.upkeep()

        assert len(better.chapters()) == 2
        assert "chapters" not in report.failed
        assert any("in the rules' words" in notice for notice in better.notices)


@pytest.mark.parametrize("answer", ["no JSON", Provider("out of reach")])
@pytest.mark.usefixtures("two_chapters", "mem")
def test_a_model_that_failed_is_asked_again_in_the_next_round(home, clock, snapshot, answer):
    model = Model(answer)
    with Memory(home, clock=clock, providers={"ask": model}) as better:
        better.upkeep()
        told = snapshot()
        asked = len(model.asked)
        assert better.upkeep().changed == {}
        assert snapshot() == told
        assert len(model.asked) > asked

        model.answer = json.dumps({"title": "Retold", "summary": "In better words.", "learnings": ["So it goes"]})
        better.upkeep()

        assert {chapter.title for chapter in better.chapters()} == {"Retold"}
        asked = len(model.asked)
        better.upkeep()
        assert len(model.asked) == asked


WORDS = json.dumps({"title": "Retold", "summary": "In better words.", "learnings": ["So it goes"]})


def test_what_the_rules_told_is_told_again_once_there_is_a_model(mem, home, clock, two_chapters, snapshot):
    mem.upkeep()
    mine, = (chapter.id for chapter in mem.chapters() if chapter.memories == tuple(two_chapters[0]))
    mem.edit(mine, title="The token story")
    mem.upkeep()
    by_hand = mem.get(mine).record
    model = Model(Provider("out of reach"))

    with Memory(home, clock=clock, providers={"ask": model}) as better:
        better.upkeep()
        assert {chapter.title for chapter in better.chapters(origin="auto")} != {"Retold"}
        model.answer = WORDS
        better.upkeep()
        told, asked = snapshot(), len(model.asked)
        assert better.upkeep().changed == {}

        assert snapshot() == told
        assert len(model.asked) == asked
        assert [chapter.title for chapter in better.chapters(origin="auto")] == ["Retold"]
        assert better.get(mine).record == by_hand
        assert [(piece.made_by[:11], piece.summary) for piece in better.wisdom()] == [("test/model#", "In better words.")]


def test_wisdom_on_chapters_of_peoples_own_is_told_by_a_model_that_came_later(mem, home, clock, two_chapters, snapshot):
    for works in two_chapters:
        mem.chapter(works, title="My own", summary="As I say.")
    mem.upkeep()
    assert [piece.made_by for piece in mem.wisdom()] == ["rules-1"]

    with Memory(home, clock=clock, providers={"ask": Model(WORDS)}) as better:
        better.upkeep()
        told = snapshot()
        better.upkeep()

        assert snapshot() == told
        assert [(piece.made_by[:11], piece.summary) for piece in better.wisdom()] == [("test/model#", "In better words.")]
        assert {(chapter.title, chapter.summary) for chapter in better.chapters()} == {("My own", "As I say.")}


def test_what_the_rules_told_while_the_model_was_away_is_told_again_when_it_is_back(mem, home, clock, work):
    works = [work(f"Work {n}", "src/a.py") for n in range(2)]
    for goal, providers in (("", {"ask": Model(WORDS)}), ("Another", None), ("", {"ask": Model(WORDS)})):
        if goal:
            works.append(work(goal, "src/a.py"))
        with Memory(home, clock=clock, providers=providers) as other:
            other.upkeep()
            chapter, = other.chapters()
            assert (chapter.title == "Retold") == (providers is not None)

    assert chapter.memories == tuple(works)


# Purging


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_purged_work_leaves_no_word_in_chapters_and_wisdom(mem, two_chapters, snapshot, by_hand):
    secret = mem.record({**SHORT, "goal": "Hide the zebra", "learnings": ["Zebras bite"]}, files=["src/auth/a.ts"])
    if by_hand:
        mem.chapter([two_chapters[0][0], secret.id])
    mem.upkeep()
    mem.check_file("src/auth/a.ts")
    assert any(b"ebra" in data for path, data in snapshot().items() if "chapters/" in path)

    mem.forget(secret.id, purge=True)

    left = {path: data for path, data in snapshot().items() if path != "index/audit.log"}
    assert [path for path, data in left.items() if b"ebra" in data or secret.id.encode() in data] == []
    mem.upkeep()
    assert not any(b"ebra" in data for data in snapshot().values())


def test_a_manual_chapter_of_one_purged_work_goes_and_given_words_stay(mem, two_chapters):
    alone = mem.chapter([two_chapters[0][0]])
    named = mem.chapter([two_chapters[0][0], two_chapters[1][0]], title="Mine", summary="My words")

    mem.forget(two_chapters[0][0], purge=True)

    with pytest.raises(NotFound):
        mem.get(alone.id)
    kept = mem.get(named.id).record
    assert (kept.title, kept.summary, kept.memories) == ("Mine", "My words", (two_chapters[1][0],))
