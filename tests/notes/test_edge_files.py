"""Edges: files of their own, with true copies in both notes, whatever happens in between."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from otolith.errors import Conflict, Invalid, NotFound
from otolith.memory import Memory
from otolith.model.kinds import NOTE_LINKS
from otolith.verbs.edges import delete_edge


@pytest.fixture
def pair(mem):
    """A solution and the problem it solves, not linked yet."""
    return (mem.note("Fixed Redis timeouts", "Redis connections stay open by keepalive.", type="solution"),
            mem.note("Redis drops under load", "Idle Redis connections are closed.", type="problem"))


@pytest.fixture
def crash(mem, monkeypatch):
    """Let the home's process end just before its n-th write of a file."""

    def at(number: int) -> None:
        write, count = mem.home.tree.write, [0]

        def failing(*given, **more):
            count[0] += 1
            if count[0] == number:
                raise KeyboardInterrupt
            return write(*given, **more)

        monkeypatch.setattr(mem.home.tree, "write", failing)

    return at


def edge_file(home: Path) -> Path:
    file, = (home / "graph/edges").glob("*.md")
    return file


def relations(mem, note):
    return mem.get(note.id).record.relations


@pytest.mark.clause("notes-01", "notes-26", "notes-27", "notes-28", "notes-29")
def test_a_link_is_an_edge_file_and_a_reference_in_both_notes(mem, pair):
    solution, problem = pair
    link = mem.link(solution.id, "SOLVES", problem.id, strength=0.9, context="Keeps idle sockets open")
    out, = relations(mem, solution)
    back, = relations(mem, problem)

    assert (out.target, out.type, out.direction, out.strength) == (problem.id, "SOLVES", "outgoing", 0.9)
    assert (back.target, back.type, back.direction, back.strength) == (solution.id, "SOLVES", "incoming", 0.9)
    assert out.edge_id == back.edge_id == link.edge_id
    assert out.context == "Keeps idle sockets open"


@pytest.mark.clause("notes-28", "notes-29")
def test_a_relation_is_written_as_the_document_has_it(mem, home, pair):
    solution, problem = pair
    link = mem.link(solution.id, "SOLVES", problem.id, context="Keeps idle sockets open")

    assert (f"relations:\n  - target: {problem.id}\n    type: SOLVES\n    direction: outgoing\n    strength: 0.8\n"
            f'    context: "Keeps idle sockets open"\n    edge_id: {link.edge_id}\n---\n') in (
                home / mem.get(solution.id).path).read_text()


@pytest.mark.clause("notes-31", "notes-32", "notes-33")
def test_an_edge_file_has_the_documents_name_and_form(mem, home, pair):
    solution, problem = pair
    link = mem.link(solution.id, "SOLVES", problem.id, strength=0.7, text="Because it\n\nkeeps them open.")
    file = edge_file(home)
    head, body = file.read_text().split("---\n")[1:]

    assert file.name == f"fixed-redis-timeouts--SOLVES--redis-drops-under-load-{link.edge_id[:6]}.md"
    assert head.split("\n")[:9] == [
        f"id: {link.edge_id}", "type: SOLVES", f"from_id: {solution.id}", 'from_title: "Fixed Redis timeouts"',
        f"to_id: {problem.id}", 'to_title: "Redis drops under load"', "strength: 0.7", "created: 2026-02-10T21:37:00+00:00",
        "updated: 2026-02-10T21:37:00+00:00"]
    assert body == "\nBecause it\n\nkeeps them open.\n"


@pytest.mark.clause("notes-25", "notes-30")
def test_the_seven_types_are_accepted_and_no_other(mem, pair):
    solution, problem = pair
    assert NOTE_LINKS == ("SOLVES", "CAUSES", "BUILDS_ON", "ALTERNATIVE_TO", "REQUIRES", "FOLLOWS", "RELATED_TO")
    for type_ in NOTE_LINKS:
        assert mem.link(solution.id, type_, problem.id).type == type_
    with pytest.raises(Invalid, match="unknown link type"):
        mem.link(solution.id, "LIKES", problem.id)


@pytest.mark.clause("notes-25", "notes-27")
@pytest.mark.parametrize("line", ["type: LIKES", "strength: 2", "direction: sideways"])
def test_a_relation_that_breaks_a_rule_is_a_finding_with_its_file(mem, home, line):
    given = {"target": "def789ab-0000-4000-8000-000000000001", "type": "SOLVES", "direction": "outgoing"}
    given |= dict([line.split(": ")])
    note = mem.note("Tea")
    file = home / mem.get(note.id).path
    lines = "\n    ".join(f"{key}: {value}" for key, value in given.items())
    file.write_text(file.read_text().replace("origin:", f"relations:\n  - {lines}\norigin:"))

    assert [finding.path for finding in mem.check()] == [str(file.relative_to(home))]


@pytest.mark.clause("notes-24")
def test_an_edge_to_a_note_that_is_not_there_is_refused(mem, pair):
    with pytest.raises(NotFound):
        mem.link(pair[0].id, "SOLVES", "00000000-0000-4000-8000-000000000000")


def test_linking_twice_keeps_one_edge(mem, home, pair):
    solution, problem = pair
    first = mem.link(solution.id, "SOLVES", problem.id)
    again = mem.link(solution.id, "SOLVES", problem.id)

    assert first.edge_id == again.edge_id
    assert len(relations(mem, solution)) == 1
    edge_file(home)


def test_what_is_given_when_linking_again_is_taken(mem, home, clock, pair, snapshot):
    solution, problem = pair
    first = mem.link(solution.id, "SOLVES", problem.id, strength=0.9, text="First reason. And more of it.")
    before = snapshot()
    clock.pass_time(hours=1)
    mem.link(solution.id, "SOLVES", problem.id)
    mem.link(solution.id, "SOLVES", problem.id, strength=0.9, context="First reason.")
    assert snapshot() == before

    again = mem.link(solution.id, "SOLVES", problem.id, strength=0.1)
    assert (again.edge_id, again.strength, again.context) == (first.edge_id, 0.1, "First reason.")
    mem.link(solution.id, "SOLVES", problem.id, context="second")
    assert edge_file(home).read_text().endswith("---\n\nsecond\n")
    assert "updated: 2026-02-10T22:37:00+00:00" in edge_file(home).read_text()
    for note in pair:
        one, = relations(mem, note)
        assert (one.strength, one.context) == (0.1, "second")


def test_unlinking_takes_the_edge_and_both_references(mem, pair, snapshot):
    solution, problem = pair
    before = {path: data for path, data in snapshot().items() if path.startswith("graph/")}
    mem.link(solution.id, "SOLVES", problem.id)
    mem.unlink(solution.id, "SOLVES", problem.id)

    assert {path: data for path, data in snapshot().items() if path.startswith("graph/")} == before


# Healing

@pytest.mark.clause("notes-01")
@pytest.mark.parametrize("number", [2, 3])
def test_a_link_broken_off_after_the_edge_stands_and_upkeep_completes_it(mem, home, clock, pair, crash, number):
    solution, problem = pair
    crash(number)
    with pytest.raises(KeyboardInterrupt):
        mem.link(solution.id, "SOLVES", problem.id)

    with Memory(home, clock=clock) as again:
        assert [found["id"] for found in again.related(solution.id)] == [problem.id]
        assert any(finding.code == "unmirrored-edge" for finding in again.check())
        again.upkeep()
        assert [one.direction for one in relations(again, solution)] == ["outgoing"]
        assert [one.direction for one in relations(again, problem)] == ["incoming"]
        assert again.check() == []


def test_a_link_broken_off_before_the_edge_leaves_nothing(mem, pair, crash, snapshot):
    before = snapshot()
    crash(1)
    with pytest.raises(KeyboardInterrupt):
        mem.link(pair[0].id, "SOLVES", pair[1].id)

    assert snapshot() == before


def test_the_next_write_of_a_note_heals_its_references(mem, home, clock, pair, crash):
    solution, problem = pair
    crash(2)
    with pytest.raises(KeyboardInterrupt):
        mem.link(solution.id, "SOLVES", problem.id)

    with Memory(home, clock=clock) as again:
        again.sync()
        again.edit(solution.id, importance=0.9)
        assert len(relations(again, solution)) == 1
        assert relations(again, problem) == ()


def test_an_edge_file_deleted_by_hand_is_a_link_deleted(mem, home, pair):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id)
    edge_file(home).unlink()
    mem.upkeep()

    assert mem.related(solution.id) == []
    assert relations(mem, solution) == relations(mem, problem) == ()


def test_a_reference_deleted_by_hand_comes_back(mem, home, pair):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id)
    file = home / mem.get(problem.id).path
    whole = file.read_text()
    file.write_text(whole[: whole.index("relations:")] + whole[whole.index("---\n\nIdle Redis") :])

    assert any(finding.code == "unmirrored-edge" for finding in mem.check())
    mem.upkeep()
    assert file.read_text() == whole


def test_an_edge_file_put_there_by_hand_is_a_link(mem, home, pair):
    solution, problem = pair
    (home / "graph/edges").mkdir()
    (home / "graph/edges/a--REQUIRES--b-e1e1e1.md").write_text(
        f"---\nid: e1e1e1e1-0000-4000-8000-000000000000\ntype: REQUIRES\nfrom_id: {solution.id}\nto_id: {problem.id}\n"
        "---\n\nWhy.\n")
    mem.upkeep()

    assert [found["link"] for found in mem.related(solution.id)] == ["requires"]
    assert [one.context for one in relations(mem, problem)] == ["Why."]
    assert 'from_title: "Fixed Redis timeouts"' in edge_file(home).read_text()


def test_a_relation_without_an_edge_file_is_left_as_it_is(mem, home, pair):
    solution, problem = pair
    file = home / mem.get(solution.id).path
    file.write_text(file.read_text().replace("origin:", f"relations:\n  - target: {problem.id}\n    type: SOLVES\n"
                                                        "    direction: outgoing\norigin:"))
    before = file.read_bytes()
    mem.upkeep()

    assert [found["id"] for found in mem.related(problem.id)] == [solution.id]
    assert file.read_bytes() == before
    assert relations(mem, problem) == ()


def test_a_new_title_stands_in_the_edges_and_their_names_stay(mem, home, pair):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id)
    name = edge_file(home).name
    mem.edit(problem.id, title="Redis loses idle sockets")

    assert edge_file(home).name == name
    assert 'to_title: "Redis loses idle sockets"' in edge_file(home).read_text()


def test_a_title_changed_by_hand_reaches_the_edges_in_upkeep(mem, home, pair):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id)
    mem.upkeep()
    file = home / mem.get(solution.id).path
    file.write_text(file.read_text().replace('"Fixed Redis timeouts"', '"Keepalive for Redis"'))
    mem.upkeep()

    assert 'from_title: "Keepalive for Redis"' in edge_file(home).read_text()
    assert mem.check() == []


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("strength: 0.8", "strength: 0.3", ("SOLVES", 0.3, "Old reason.")),
    ("type: SOLVES", "type: CAUSES", ("CAUSES", 0.8, "Old reason.")),
    ("type: SOLVES", "type: RELATED_TO", ("RELATED_TO", 0.8, "Old reason.")),
    ("Old reason.", "New reason.", ("SOLVES", 0.8, "New reason.")),
])
def test_an_edge_changed_by_hand_reaches_both_notes(mem, home, pair, snapshot, old, new, expected):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id, text="Old reason.")
    mem.upkeep()
    file = edge_file(home)
    file.write_text(file.read_text().replace(old, new))

    assert {finding.code for finding in mem.check()} == {"unmirrored-edge"}
    mem.upkeep()
    after = snapshot()
    mem.upkeep()
    assert snapshot() == after
    for note, way in ((solution, "outgoing"), (problem, "incoming")):
        one, = relations(mem, note)
        assert (one.type, one.strength, one.context, one.direction) == (*expected, way)
    assert mem.check() == []


@pytest.mark.parametrize("type", ["SOLVES", "RELATED_TO"])
def test_an_edge_turned_to_another_note_by_hand_leaves_the_first(mem, home, pair, type):
    solution, problem = pair
    third = mem.note("Redis is slow")
    mem.link(solution.id, type, problem.id)
    mem.upkeep()
    file = edge_file(home)
    file.write_text(file.read_text().replace(f"to_id: {problem.id}", f"to_id: {third.id}"))

    assert {finding.code for finding in mem.check()} == {"unmirrored-edge"}
    mem.upkeep()
    assert [(one.target, one.direction) for one in relations(mem, solution)] == [(third.id, "outgoing")]
    assert [(one.target, one.direction) for one in relations(mem, third)] == [(solution.id, "incoming")]
    assert relations(mem, problem) == ()
    assert mem.check() == []


def test_an_edge_turned_round_by_hand_is_turned_in_its_notes(mem, home, pair):
    solution, problem = pair
    mem.link(solution.id, "FOLLOWS", problem.id)
    file = edge_file(home)
    text = file.read_text().replace(f"to_id: {problem.id}", "to_id: x").replace(f"from_id: {solution.id}", f"from_id: {problem.id}")
    file.write_text(text.replace("to_id: x", f"to_id: {solution.id}"))
    mem.upkeep()

    assert [one.direction for one in relations(mem, solution)] == ["incoming"]
    assert [one.direction for one in relations(mem, problem)] == ["outgoing"]


def test_a_copy_changed_by_hand_is_set_right_and_its_unknown_keys_stay(mem, home, pair):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id, text="Why.")
    file = home / mem.get(problem.id).path
    file.write_text(file.read_text().replace("    strength: 0.8\n", "    strength: 0.1\n    seen: yes\n"))
    mem.upkeep()

    assert "    strength: 0.8\n" in file.read_text()
    assert "    seen: " in file.read_text()


def test_a_damaged_edge_and_a_lost_index_take_nothing_from_the_notes(mem, home, pair, snapshot):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id)
    mem.upkeep()
    file = edge_file(home)
    whole, before = file.read_text(), snapshot()
    file.write_text(whole.replace("strength: 0.8", "strength: high"))
    mem.reindex()

    missing = [finding for finding in mem.check() if finding.code == "missing-edge"]
    assert len(missing) == 2
    assert all("cannot be read" in finding.message and "stays" in finding.remedy for finding in missing)
    mem.upkeep()
    with pytest.raises(Conflict, match="cannot be read"):
        mem.link(solution.id, "SOLVES", problem.id)
    file.write_text(whole)
    assert {path: data for path, data in snapshot().items() if path.startswith("graph/")} == {
        path: data for path, data in before.items() if path.startswith("graph/")}
    assert mem.check() == []


def test_a_damaged_edge_that_is_removed_is_a_link_deleted(mem, home, pair):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id)
    edge_file(home).write_text("no edge")
    mem.reindex()
    mem.upkeep()
    edge_file(home).unlink()
    mem.upkeep()

    assert relations(mem, solution) == relations(mem, problem) == ()
    assert mem.check() == []


def test_an_edge_whose_relation_stands_again_is_not_restored_beside_it(mem, home, pair):
    solution, problem = pair
    old = mem.link(solution.id, "RELATED_TO", problem.id)
    delete_edge(mem.home, old.edge_id)
    new = mem.link(problem.id, "RELATED_TO", solution.id)

    with pytest.raises(Conflict, match=new.edge_id):
        mem.restore(old.edge_id)
    edge_file(home)
    delete_edge(mem.home, new.edge_id)
    assert mem.restore(old.edge_id).id == old.edge_id


def test_two_edge_files_of_one_relation_are_a_finding(mem, home, pair):
    solution, problem = pair
    link = mem.link(solution.id, "SOLVES", problem.id)
    mem.link(solution.id, "REQUIRES", problem.id)
    file, = (home / "graph/edges").glob("*SOLVES*")
    twin = file.with_name("twin.md")
    twin.write_text(file.read_text().replace(link.edge_id, "e1e1e1e1-0000-4000-8000-000000000001"))
    mem.upkeep()

    found, = mem.check()
    assert (found.code, found.path) == ("second-edge", "graph/edges/twin.md")
    assert str(file.relative_to(home)) in found.message
    delete_edge(mem.home, "e1e1e1e1-0000-4000-8000-000000000001")
    assert mem.check() == []


# Asking and changing

def test_edges_are_listed_by_note_by_type_and_by_words(mem, pair):
    solution, problem = pair
    other = mem.note("Cache choice", type="decision")
    mem.link(solution.id, "SOLVES", problem.id, text="Keepalive packets.")
    mem.link(other.id, "REQUIRES", solution.id, text="Needs the pool.")

    assert mem.edges()[1] == 2
    assert [edge["type"] for edge in mem.edges(note=problem.id)[0]] == ["SOLVES"]
    assert [edge["from_title"] for edge in mem.edges(type="REQUIRES")[0]] == ["Cache choice"]
    assert [edge["text"] for edge in mem.edges("keepalive")[0]] == ["Keepalive packets."]
    assert [edge["text"] for edge in mem.edges("cache choice")[0]] == ["Needs the pool."]
    assert mem.edges('" OR *')[1] == 0


def test_a_changed_edge_changes_both_references(mem, clock, pair):
    solution, problem = pair
    link = mem.link(solution.id, "SOLVES", problem.id, text="Old.")
    clock.pass_time(hours=1)
    edge = mem.edit(link.edge_id, strength=0.3, text="New reason.", type="RELATED_TO")

    assert edge.updated_at == "2026-02-10T22:37:00+00:00"
    for note in pair:
        one, = relations(mem, note)
        assert (one.strength, one.type, one.context) == (0.3, "RELATED_TO", "New reason.")


def test_an_edges_ends_cannot_be_changed(mem, pair):
    link = mem.link(pair[0].id, "SOLVES", pair[1].id)

    with pytest.raises(Invalid, match="from_id"):
        mem.edit(link.edge_id, {"from_id": pair[1].id})


def test_edges_at_the_command_line(mem, run, pair):
    solution, problem = pair
    link = mem.link(solution.id, "SOLVES", problem.id)

    assert run("edges", "--json").json["total"] == 1
    assert run("edges", "get", link.edge_id, "--json").json["record"]["type"] == "SOLVES"
    assert run("edges", "update", link.edge_id, "--strength", "0.4", "--json").json["record"]["strength"] == 0.4
    assert run("edges", "update", link.edge_id).code == 2
    assert run("edges", "delete", link.edge_id, "--json").json == {"id": link.edge_id, "deleted": True}
    assert run("edges", "--json").json["total"] == 0
    assert mem.get(solution.id).record.relations == ()
    assert run("restore", link.edge_id).code == 0
    assert run("edges", "--json").json["total"] == 1


def test_a_forgotten_notes_edges_are_hidden_and_come_back_with_it(mem, pair):
    solution, problem = pair
    mem.link(solution.id, "SOLVES", problem.id)
    mem.forget(problem.id)
    mem.upkeep()
    hidden = mem.related(solution.id)
    mem.restore(problem.id)

    assert hidden == []
    assert [found["id"] for found in mem.related(solution.id)] == [problem.id]
    assert mem.check() == []


def test_relations_are_followed_to_any_depth(mem):
    notes = [mem.note(f"Step {at}") for at in range(6)]
    for one, following in pairwise(notes):
        mem.link(following.id, "FOLLOWS", one.id)

    assert [found["distance"] for found in mem.related(notes[0].id, depth=3)] == [1, 2, 3]
    assert len(mem.related(notes[0].id, depth=99)) == 5


# Proposals

def test_a_new_note_brings_at_most_three_proposals_and_no_edge(mem, home, run):
    for at in range(5):
        mem.note(f"Redis connection problem {at}", "Redis connections drop after a timeout under load.", type="problem")
    kept = run("note", "Redis connection fix", "--text", "Redis connections no longer drop.", "--type", "fix", "--json")
    proposals = kept.json["proposals"]

    assert len(proposals) == 3
    assert {(one["source"], one["type"]) for one in proposals} == {(kept.json["id"], "SOLVES")}
    assert not (home / "graph/edges").exists()


def test_what_is_already_linked_is_not_proposed_again(mem, pair):
    solution, problem = pair
    proposed, = mem.suggest_edges(solution.id)
    mem.link(proposed.source, proposed.type, proposed.target)

    assert (proposed.source, proposed.type, proposed.target) == (solution.id, "SOLVES", problem.id)
    assert mem.suggest_edges(solution.id) == []


@pytest.mark.usefixtures("pair")
def test_nothing_near_means_no_proposal(mem):
    other = mem.note("Sourdough", "Feed the starter with flour every morning.", type="procedure")

    assert mem.suggest_edges(other.id) == []


def test_without_the_embedder_a_note_is_kept_and_nothing_is_proposed(mem, pair, monkeypatch):
    from otolith.errors import Provider

    def fail(*_):
        raise Provider("the word vectors cannot be read", "reinstall wordllama")

    monkeypatch.setattr("otolith.providers.embedders.Static.embed", fail)

    assert mem.suggest_edges(pair[0].id) == []
    assert any("word vectors" in notice for notice in mem.notices)


def test_what_a_person_wrote_about_a_relation_outlives_the_edge_it_gets(mem, home, pair):
    solution, problem = pair
    [file] = (home / "graph/solutions").glob("*.md")
    file.write_text(file.read_text().replace("origin:", f"relations:\n  - target: {problem.id}\n    type: SOLVES\n"
                                             "    direction: outgoing\n    context: \"As I saw it\"\norigin:"))
    (home / "graph/edges").mkdir()
    (home / "graph/edges/a--SOLVES--b-e1e1e1.md").write_text(
        f"---\nid: e1e1e1e1-0000-4000-8000-000000000001\ntype: SOLVES\nfrom_id: {solution.id}\nto_id: {problem.id}\n"
        "created: 2026-02-10T12:00:00+00:00\n---\n\nThe edge says something else.\n")

    mem.upkeep()
    mem.link(solution.id, "SOLVES", problem.id)

    [relation] = mem.get(solution.id).record.relations
    assert (relation.context, relation.edge_id) == ("As I saw it", "e1e1e1e1-0000-4000-8000-000000000001")
    assert mem.check() == []
    mem.reindex()
    mem.upkeep()
    assert mem.get(solution.id).record.relations == (relation,)
