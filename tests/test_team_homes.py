"""Homes beside each other: read together, one record promoted, a folder pushed to a space and pulled from it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from otolith.errors import CannotWrite, Conflict, NeedsConfirmation
from otolith.memory import Memory
from test_seed_homes import HOMES

OWN = ("log/", ".lock", "_config.json")  # one machine's


def config(tmp_path: Path, homes: list[str], keys: dict[str, str]) -> None:
    """The user's own settings."""
    folder = tmp_path / "xdg-config" / "otolith"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"homes = {json.dumps(homes)}", "[keys]", *(f"{json.dumps(url)} = {json.dumps(key)}" for url, key in keys.items())]
    (folder / "config.toml").write_text("\n".join(lines) + "\n")


@pytest.fixture
def shared(team: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a space that Ada may write to, her key in the environment."""
    name = team.space()
    monkeypatch.setenv("OTOLITH_KEY", team.key("ada", **{name: "owner"}))
    return str(team.url(name))


@pytest.fixture
def both(team: Any, shared: str, home: Path, tmp_path: Path) -> tuple[str, str]:
    """Ada's folder and the space, listed as her homes: (folder, space's name)."""
    config(tmp_path, [str(home), shared], {})
    return str(home), shared.rpartition("#")[2]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not str(path.relative_to(folder)).startswith(OWN)}


# Read together


def test_homes_are_read_together_and_hits_name_theirs(both: tuple[str, str], shared: str, clock: Clock) -> None:
    folder, space = both
    with Memory(shared, clock=clock) as ours, Memory(folder, clock=clock) as mine:
        theirs = ours.note("Kettle", "The kettle is in the cupboard.")
        own = mine.note("Teapot", "The teapot is beside the kettle.")

        hits = {hit.id: hit for hit in mine.recall("kettle").hits}

        assert hits.keys() == {own.id, f"{space}:{theirs.id}"}
        assert (hits[f"{space}:{theirs.id}"].home, hits[own.id].home) == (space, None)
        assert mine.get(f"{space}:{theirs.id}").title == "Kettle"
        assert [hit.id for hit in ours.recall("kettle").hits] == [theirs.id]  # the second home is asked alone
        assert "cupboard" in mine.brief("kettle").text
        assert not list(Path(folder).glob("graph/*/kettle-*.md"))


def test_a_limit_and_a_budget_hold_for_all_homes_together(both: tuple[str, str], shared: str, clock: Clock) -> None:
    with Memory(shared, clock=clock) as ours, Memory(both[0], clock=clock) as mine:
        for at in range(4):
            for mem in (ours, mine):
                mem.note(f"Kettle {at}", f"Kettle number {at} is red and stands in the kitchen.")

        answer = mine.recall("kettle", limit=5)
        assert len(answer.hits) == 5
        assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
        assert mine.recall("kettle", budget=60).tokens <= 60


def test_a_home_that_is_down_is_a_notice_and_not_an_error(home: Path, run: Callable[..., Ran], tmp_path: Path) -> None:
    config(tmp_path, [str(home), "postgres://127.0.0.1:1/team#own"], {})
    env = {"OTOLITH_KEY": "otolith_x", "OTOLITH_HOME": ""}
    run("note", "Kettle", "--text", "In the cupboard.", env=env)

    done = run("recall", "kettle", "--json", env=env)

    assert (done.code, len(done.json["hits"])) == (0, 1)
    assert "was not asked" in done.err
    assert "was not asked" not in run("recall", "kettle", env=env).err  # it is left alone for a while


def test_homes_that_are_no_list_are_refused(home: Path, run: Callable[..., Ran], tmp_path: Path) -> None:
    config(tmp_path, [], {})
    (tmp_path / "xdg-config" / "otolith" / "config.toml").write_text('homes = "~/memory"\n')

    done = run("list", env={"OTOLITH_HOME": ""})

    assert (done.code, done.err.count("\n")) == (4, 1)


# Promoted


def test_a_promoted_record_is_copied_with_its_bytes(both: tuple[str, str], shared: str, clock: Clock) -> None:
    folder, space = both
    with Memory(folder, clock=clock) as mine:
        note = mine.note("Kettle", "The kettle is in the cupboard.")
        done = mine.promote(note.id, space)

        with Memory(shared, clock=clock) as ours:
            (path,) = done["files"]
            assert ours.home.tree.read(path)[0] == (Path(folder) / path).read_bytes()
            assert ours.get(note.id).title == "Kettle"
            assert not ours.check()
        mine.promote(note.id, space)  # again changes nothing
        mine.edit(note.id, text="It is gone.")
        with pytest.raises(Conflict, match="nothing was copied"):
            mine.promote(note.id, shared)


def test_an_agent_cannot_promote(both: tuple[str, str], clock: Clock) -> None:
    with Memory(both[0], clock=clock, trust="agent") as mine:
        note = mine.note("Kettle", "In the cupboard.")
        with pytest.raises(NeedsConfirmation):
            mine.promote(note.id, both[1])


# Pushed and pulled


@pytest.mark.parametrize("seed", [*sorted(HOMES), "all ladders"])
def test_push_then_pull_gives_identical_bytes_for_every_seeds_home(seed: str, shared: str, home: Path, tmp_path: Path,
                                                                   clock: Clock) -> None:
    if seed == "all ladders":
        shutil.copytree(Path(__file__).parent / "fixtures" / "home-v1", home)
    for path, text in HOMES[seed]().items() if seed in HOMES else ():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode())
    before = files(home)
    with Memory(home, clock=clock) as mem:
        mem.push(shared)
    with Memory(tmp_path / "second", clock=clock) as again:
        again.pull(shared)
        assert not again.pull(shared)

    after = files(tmp_path / "second")
    assert {path: data for path, data in after.items() if path in before} == before
    assert files(home) == before


Folders = tuple[Memory, Memory, Any]


@pytest.fixture
def two_folders(shared: str, tmp_path: Path, clock: Clock) -> Iterator[Folders]:
    with Memory(tmp_path / "one", clock=clock) as one, Memory(tmp_path / "two", clock=clock) as two:
        note = one.note("Kettle", "The kettle is in the cupboard.\n\nIt is red.\n\nIt was a present.", tags=["kitchen"])
        one.push(shared)
        two.pull(shared)
        yield one, two, note


def test_changes_on_both_sides_are_merged_by_field_and_line(two_folders: Folders, shared: str, tmp_path: Path, clock: Clock) -> None:
    one, two, note = two_folders
    one.edit(note.id, tags=["kitchen", "red"])
    two.sync()
    two.edit(note.id, text="The kettle is on the shelf.\n\nIt is red.\n\nIt was a present.")
    two.note("Teapot", "Beside it.")
    one.push(shared)

    assert "merged" in {change.what for change in two.push(shared)}
    assert "pulled" in {change.what for change in one.pull(shared)}

    for mem in (one, two):
        known = mem.get(note.id).record
        assert (sorted(known.tags), known.text.split("\n")[0]) == (["kitchen", "red"], "The kettle is on the shelf.")
        assert mem.get("Teapot")
    one.push(shared)
    two.pull(shared)
    built = ("_", "CORE", "index/", "REFLECTION")
    assert {path: data for path, data in files(tmp_path / "one").items() if not path.startswith(built)} == {
        path: data for path, data in files(tmp_path / "two").items() if not path.startswith(built)}


def test_what_nobody_can_decide_is_shown_with_both_texts_and_never_pushed(two_folders: Folders, shared: str, tmp_path: Path, clock: Clock) -> None:
    one, two, note = two_folders
    path = one.get(note.id).path
    one.edit(note.id, text="The kettle is on the shelf.")
    two.sync()
    two.edit(note.id, text="The kettle was thrown away.")
    one.push(shared)

    assert ("disputed", path) in [(change.what, change.path) for change in two.pull(shared)]
    text = (tmp_path / "two" / path).read_text()
    assert "on the shelf" in text
    assert "thrown away" in text
    assert [finding.path for finding in two.check()] == [path]
    assert "undecided" in {change.what for change in two.push(shared)}
    with Memory(shared, clock=clock) as ours:
        assert b"<<<" not in ours.home.tree.read(path)[0]
    kept = text.split("<<<<<<< ours\n")[0] + text.split("<<<<<<< ours\n")[1].split("=======\n")[0] + text.split(">>>>>>> theirs\n")[1]
    (tmp_path / "two" / path).write_text(kept)
    two.push(shared)
    one.pull(shared)
    assert (tmp_path / "one" / path).read_text() == kept


def test_what_is_gone_on_one_side_stays_on_the_other_unless_it_is_said(two_folders: Folders, shared: str, tmp_path: Path, clock: Clock) -> None:
    one, two, note = two_folders
    path = one.get(note.id).path
    (tmp_path / "one" / path).unlink()

    assert ("gone here, kept", path) in [(change.what, change.path) for change in one.push(shared)]
    two.pull(shared)
    assert (tmp_path / "two" / path).exists()
    one.push(shared, delete=True)
    two.pull(shared)
    assert (tmp_path / "two" / path).exists()
    two.pull(shared, delete=True)
    assert not (tmp_path / "two" / path).exists()


def test_a_purge_is_not_undone_by_a_machine_that_was_away(two_folders: Folders, shared: str, tmp_path: Path, clock: Clock) -> None:
    one, two, note = two_folders
    memo = one.memo("user_likes_zirconium_kettles", "Zirconium kettles.")
    one.push(shared)
    two.pull(shared)
    clock.pass_time(hours=1)
    one.forget(note.id, purge=True)
    one.forget(memo.id, purge=True)
    clock.pass_time(hours=1)
    two.edit(note.id, text="The kettle is on the zirconium shelf.")  # it has not heard
    one.push(shared)
    two.push(shared)

    for folder in ("one", "two"):
        left = [path for path in (tmp_path / folder).rglob("*") if path.is_file()]
        assert not [path for path in left if any(word in path.read_bytes() for word in (b"irconium", b"cupboard"))], folder
    with Memory(shared, clock=clock) as ours:
        assert not ours.list(kind=["note", "memo"])[0]


def test_what_was_pulled_is_still_anothers_word(team: Any, shared: str, home: Path, clock: Clock, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(home, clock=clock) as mem:
        own = mem.note("Teapot", "On the shelf.")
        mem.push(shared)
        with monkeypatch.context() as patch:
            patch.setenv("OTOLITH_KEY", team.key("ben", **{shared.rpartition("#")[2]: "writer"}))
            patch.setenv("XDG_CACHE_HOME", str(tmp_path / "bens"))
            with Memory(shared, clock=clock) as theirs:
                kept = theirs.note("Kettle", "In the cupboard.")
                theirs.link(kept.id, "supersedes", own.id)
        mem.pull(shared)

        hits = {hit.id: hit for hit in mem.recall("kettle teapot").hits}
        assert (hits[kept.id].origin["trust"], hits[kept.id].origin["principal"]) == ("peer", "ben")
        assert hits[own.id].superseded_by is None
        assert "Kettle" not in mem.brief("kettle").text


def test_a_push_that_was_interrupted_goes_on(shared: str, home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    from otolith.files.postgres import PgTree

    monkeypatch.setattr("otolith.verbs.carrying.AT_ONCE", 5)
    whole, calls = PgTree.write, [0]

    def failing(tree: PgTree, *given: Any) -> Any:
        calls[0] += 1
        if calls[0] == 12:
            raise CannotWrite("the server went away")
        return whole(tree, *given)

    with Memory(home, clock=clock) as mem:
        for at in range(20):
            mem.note(f"Kettle {at}", "Red.")
        with monkeypatch.context() as patch:
            patch.setattr(PgTree, "write", failing)
            with pytest.raises(CannotWrite):
                mem.push(shared)
        rest = len(mem.push(shared))
        assert 0 < rest < 20
        assert not mem.push(shared)


def test_two_homes_are_not_laid_over_each_other(shared: str, home: Path, clock: Clock, run: Callable[..., Ran]) -> None:
    with Memory(shared, clock=clock) as ours, Memory(home, clock=clock) as mine:
        ours.note("Kettle", "In the cupboard.")
        mine.note("Teapot", "On the shelf.")
    before = files(home)

    done = run("push", shared)

    assert (done.code, done.err.count("\n")) == (Conflict.exit_code, 1)
    assert files(home) == before


def test_a_reader_pulls_and_cannot_push(team: Any, shared: str, home: Path, tmp_path: Path, run: Callable[..., Ran]) -> None:
    key = team.key("ben", **{shared.rpartition("#")[2]: "reader"})
    run("note", "Kettle", "--text", "In the cupboard.", env={"OTOLITH_HOME": str(tmp_path / "adas")})
    run("push", shared, env={"OTOLITH_HOME": str(tmp_path / "adas")})

    url, _, name = shared.partition("#")
    assert run("pull", url, "--space", name, env={"OTOLITH_KEY": key}).code == 0
    run("note", "Teapot", "--text", "On the shelf.")
    done = run("push", shared, env={"OTOLITH_KEY": key})

    assert (done.code, done.err.count("\n")) == (CannotWrite.exit_code, 1)
    shutil.rmtree(home)
