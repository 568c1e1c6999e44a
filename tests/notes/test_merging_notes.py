"""merge A B: nothing said is lost, edges lead to A, B's id finds A, and it can be taken back."""

from __future__ import annotations

import pytest

from otolith.errors import Invalid, NotFound


@pytest.fixture
def two(mem):
    """A note to keep, one to take in, and a problem that the second one solves."""
    keep = mem.note("Redis keepalive", "Set socket_keepalive.", type="solution", tags=["redis"], importance=0.6)
    absorb = mem.note("Redis timeout", "Set socket_timeout to 300.", type="solution", tags=["redis", "timeout"], importance=0.8)
    problem = mem.note("Redis drops connections", type="problem")
    mem.link(absorb.id, "SOLVES", problem.id, text="It waits longer.")
    return keep, absorb, problem


def test_the_kept_note_says_what_both_said(mem, two):
    keep, absorb, _ = two
    merged = mem.merge(keep.id, absorb.id)

    assert merged.id == keep.id
    assert merged.text == "Set socket_keepalive.\n\n## Redis timeout\n\nSet socket_timeout to 300."
    assert (merged.tags, merged.importance) == (("redis", "timeout"), 0.8)


def test_the_others_uses_count_for_the_kept_note_until_it_is_undone(mem, two):
    keep, absorb, _ = two
    mem.get(keep.id)
    for _ in range(3):
        mem.get(absorb.id)
    counts = {note: count for note, count, *_ in mem.decay()}
    assert (counts[keep.id], counts[absorb.id]) == (1, 3)

    mem.merge(keep.id, absorb.id)
    assert {note: count for note, count, *_ in mem.decay()}[keep.id] == 4

    mem.unmerge(absorb.id)
    counts = {note: count for note, count, *_ in mem.decay()}
    assert (counts[keep.id], counts[absorb.id]) == (1, 3)


def test_the_others_edges_lead_to_the_kept_note(mem, two):
    keep, absorb, problem = two
    mem.merge(keep.id, absorb.id)
    relation, = mem.get(problem.id).record.relations
    edge, = mem.edges()[0]

    assert [found["id"] for found in mem.related(keep.id)] == [problem.id]
    assert (relation.target, edge["from_id"], edge["from_title"]) == (keep.id, keep.id, "Redis keepalive")
    assert edge["text"] == "It waits longer."
    assert mem.check() == []


def test_the_old_id_title_and_wikilink_find_the_kept_note(mem, two):
    keep, absorb, _ = two
    other = mem.note("Overview", "See [[Redis timeout]].")
    mem.merge(keep.id, absorb.id)

    assert mem.get(absorb.id).id == keep.id
    assert mem.get("Redis timeout").id == keep.id
    assert [found["id"] for found in mem.related(other.id)] == [keep.id]
    assert [row["title"] for row in mem.list(kind="note")[0]].count("Redis timeout") == 0


def test_a_note_merged_twice_is_still_found(mem, two):
    keep, absorb, _ = two
    last = mem.note("Redis", "All of it.", type="solution")
    mem.merge(keep.id, absorb.id)
    mem.merge(last.id, keep.id)

    assert mem.get(absorb.id).id == mem.get(keep.id).id == last.id


def test_the_old_note_lies_in_the_archive(mem, home, two):
    keep, absorb, _ = two
    path = mem.get(absorb.id).path
    before = (home / path).read_bytes()
    mem.merge(keep.id, absorb.id)

    assert not (home / path).exists()
    assert (home / "archive" / path).read_bytes() == before


def test_a_merge_is_told_in_the_diary(mem, home, two):
    keep, absorb, _ = two
    mem.merge(keep.id, absorb.id)

    assert "- **Type:** merge\n" in (home / "episodes/2026-02-10.md").read_text()


def test_an_edge_between_the_two_goes_and_a_double_one_stays_single(mem, two):
    keep, absorb, problem = two
    mem.link(keep.id, "SOLVES", problem.id)
    mem.link(keep.id, "ALTERNATIVE_TO", absorb.id)
    mem.merge(keep.id, absorb.id)

    assert [(edge["from_id"], edge["type"], edge["to_id"]) for edge in mem.edges()[0]] == [(keep.id, "SOLVES", problem.id)]
    assert len(mem.get(keep.id).record.relations) == 1
    assert mem.check() == []


def test_a_text_that_is_already_there_is_not_repeated(mem):
    one = mem.note("A", "Boil the water.\n\nSteep for three minutes.")
    other = mem.note("B", "steep  for three minutes.")

    assert mem.merge(one.id, other.id).text == one.text


def test_two_procedures_keep_all_their_steps(mem):
    one = mem.note("A", type="procedure", steps=["Boil", "Steep"])
    other = mem.note("B", type="procedure", steps=["Steep", "Pour"], preconditions=["Water"])
    merged = mem.merge(one.id, other.id)

    assert (merged.steps, merged.preconditions) == (("Boil", "Steep", "Pour"), ("Water",))


def test_a_procedure_taken_into_another_type_keeps_its_steps_as_text(mem):
    one, other = mem.note("Tea"), mem.note("Making tea", type="procedure", steps=["Boil", "Steep"])

    assert "- Boil\n- Steep" in mem.merge(one.id, other.id).text


def test_undoing_a_merge_puts_everything_back(mem, two, snapshot):
    keep, absorb, problem = two
    mem.link(keep.id, "ALTERNATIVE_TO", absorb.id)
    before = {path: data for path, data in snapshot().items() if path.startswith("graph/")}
    mem.merge(keep.id, absorb.id)
    mem.unmerge(absorb.id)
    after = {path: data for path, data in snapshot().items() if path.startswith(("graph/", "archive/"))}

    assert set(after) == set(before)
    assert mem.get(keep.id).record.text == keep.text
    assert mem.get(keep.id).record.aliases is None
    assert mem.get(absorb.id).id == absorb.id
    assert {(edge["from_id"], edge["to_id"]) for edge in mem.edges()[0]} == {(absorb.id, problem.id), (keep.id, absorb.id)}
    assert mem.check() == []


def test_undoing_keeps_what_was_written_since(mem, two):
    keep, absorb, _ = two
    mem.merge(keep.id, absorb.id)
    mem.edit(keep.id, text="Rewritten by hand.")
    mem.unmerge(absorb.id)

    assert mem.get(keep.id).record.text == "Rewritten by hand."
    assert mem.get(keep.id).record.tags == ("redis",)
    assert any("changed since the merge" in notice for notice in mem.notices)


def test_a_merge_broken_off_is_completed_by_merging_again(mem, home, clock, two, monkeypatch):
    from otolith.memory import Memory

    keep, absorb, problem = two
    write, count = mem.home.tree.write, [0]

    def failing(*given, **more):
        count[0] += 1
        if count[0] == 3:  # after the merge's own record and the turned edge
            raise KeyboardInterrupt
        return write(*given, **more)

    monkeypatch.setattr(mem.home.tree, "write", failing)
    with pytest.raises(KeyboardInterrupt):
        mem.merge(keep.id, absorb.id)

    with Memory(home, clock=clock) as again:
        again.merge(keep.id, absorb.id)
        assert [found["id"] for found in again.related(keep.id)] == [problem.id]
        again.unmerge(absorb.id)
        assert [found["id"] for found in again.related(absorb.id)] == [problem.id]
        assert again.check() == []


def test_only_two_different_notes_are_merged(mem, two):
    keep, _, _ = two
    with pytest.raises(Invalid, match="itself"):
        mem.merge(keep.id, keep.id)
    with pytest.raises(NotFound):
        mem.merge(keep.id, "00000000-0000-4000-8000-000000000000")
    with pytest.raises(Invalid, match="only notes"):
        mem.merge(keep.id, mem.edges()[0][0]["id"])
    with pytest.raises(NotFound, match="not merged"):
        mem.unmerge(keep.id)


def test_purging_a_merged_note_removes_the_merges_own_record_and_says_what_stays(mem, home, two):
    keep, absorb, _ = two
    mem.merge(keep.id, absorb.id)
    done = mem.forget(absorb.id, purge=True)

    assert mem.get(keep.id).id == keep.id
    assert not list((home / "archive").rglob("*.json"))
    assert any("into which it was merged" in line for line in done["beyond_reach"])


def test_merging_at_the_command_line(mem, run, two):
    keep, absorb, _ = two

    assert run("merge", keep.id, absorb.id[:8], "--json").json["id"] == keep.id
    assert run("get", absorb.id, "--json").json["id"] == keep.id
    assert run("merge", "--undo", absorb.id, "--json").json["id"] == absorb.id
    assert run("get", absorb.id, "--json").json["id"] == absorb.id
    assert run("merge", keep.id).code == 2
    assert mem.get(keep.id).record.text == keep.text


def test_a_name_that_a_merge_left_behind_never_destroys_the_note_that_stayed(mem):
    keep, gone = mem.note("Keep", "It stays."), mem.note("Quagga", "It goes.")
    mem.merge(keep.id, gone.id)

    told = mem.forget("Quagga", purge=True)

    assert told["id"] == gone.id
    assert mem.get(keep.id).record.title == "Keep"
    with pytest.raises(NotFound, match="another name of"):
        mem.forget("Quagga")


def test_a_merge_is_undone_by_the_title_of_the_note_that_went(mem):
    keep, gone = mem.note("Keep", "It stays."), mem.note("Quagga", "It goes.")
    mem.merge(keep.id, gone.id)

    assert mem.unmerge("Quagga").id == gone.id
    assert mem.get("Quagga").id == gone.id


def test_the_question_before_a_purge_names_what_would_go(mem, run):
    note = mem.note("Keep", "It stays.")

    told = run("forget", "keep", "--purge")

    assert told.code == 10
    assert note.id in told.err
    assert "Keep" in told.err
