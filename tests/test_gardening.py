"""Proposals that keep memos from turning into fossil layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.faults import Snapshot, count_calls, killed_at, sampled

from conftest import Clock
from otolith.derive.protocol import Proposal, find_proposals
from otolith.memory import Memory
from otolith.model.memo import Memo, check_name


def memo(name: str, text: str = "Said once.", day: int = 1, tags: tuple[str, ...] = (), **more: object) -> Memo:
    return Memo(
        id=name, title=name.replace("_", " "), created_at=f"2026-02-{day:02} 10:00", tags=tags, text=text, **more
    )  # type: ignore[arg-type]


def about(count: int, prefix: str = "user_prefs", tags: tuple[str, ...] = ()) -> list[Memo]:
    words = ("colors", "fonts", "spacing", "tables", "length", "tone", "emoji", "language")
    return [memo(f"{prefix}_{word}", f"On {word}.", day, tags) for day, word in enumerate(words[:count], 1)]


def apply(memos: list[Memo], proposals: list[Proposal]) -> list[Memo]:
    """What the verb will do: write the target, add the note to the retired ones."""
    by_name = {m.name: m for m in memos}
    for proposal in proposals:
        for name in proposal.names:
            old = by_name[name]
            by_name[name] = memo(name, f"{old.text}\n{proposal.note}\n", 1, old.tags)
        by_name[proposal.target] = memo(proposal.target, proposal.text, 28, proposal.tags)
    return list(by_name.values())


@pytest.mark.clause("protocol-36")
def test_more_than_five_memos_with_the_same_first_words_are_to_be_combined():
    [proposal] = find_proposals(about(6))

    assert (proposal.kind, proposal.target) == ("consolidate", "user_prefs_master")
    assert set(proposal.names) == {m.name for m in about(6)}
    assert all(f"On {word}." in proposal.text for word in ("colors", "fonts", "spacing", "tables", "length", "tone"))


@pytest.mark.clause("protocol-36")
def test_five_memos_on_a_topic_are_left_alone():
    assert find_proposals(about(5, tags=("style",))) == []


@pytest.mark.clause("protocol-37")
def test_more_than_five_with_one_tag_go_to_a_master_named_after_it():
    memos = [
        memo(f"{word}_of_{word}", tags=("Python",)) for word in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    ]

    [proposal] = find_proposals(memos)

    assert proposal.target == check_name("python_notes_master")
    assert "the tag python" in proposal.reason


def test_a_memo_is_part_of_one_consolidation_only():
    memos = about(7, tags=("style", "user"))

    assert len(find_proposals(memos)) == 1


def test_a_topic_that_grew_again_goes_into_the_master_it_has():
    master = memo("user_prefs_master", "## colors\n\nBlue.", 20)

    [proposal] = find_proposals([*about(5), master])

    assert proposal.target == "user_prefs_master"
    assert "user_prefs_master" not in proposal.names
    assert proposal.text.startswith("## colors\n\nBlue.\n\n## user prefs colors")


@pytest.mark.clause("protocol-38", "protocol-39")
def test_the_newer_memo_supersedes_the_one_it_contradicts_with_a_dated_note():
    old = memo("user_prefers_tabs_indent", "User prefers tabs.", 1, ("style",))
    new = memo("user_prefers_spaces_indent", "User prefers spaces.", 8, ("style",))

    [proposal] = find_proposals([new, old])

    assert (proposal.kind, proposal.names, proposal.target) == ("supersede", (old.name,), new.name)
    assert proposal.text == "User prefers spaces.\n\nUser changed mind 2026-02-08.\n"
    assert proposal.note == "DEPRECATED: See valid architecture in user_prefers_spaces_indent.md"


def test_two_preferences_about_different_things_stand_side_by_side():
    memos = [
        memo("user_prefers_structured_output", "User prefers structured output.", 1, ("style",)),
        memo("user_prefers_tea_over_coffee", "User prefers tea over coffee.", 2, ("style",)),
    ]

    assert find_proposals(memos) == []


def test_of_two_memos_of_one_minute_neither_is_the_newer():
    memos = [memo("user_prefers_tabs_indent", "User prefers tabs."), memo("user_prefers_spaces_indent", "User prefers spaces.")]

    assert find_proposals(memos) == []


def test_of_three_that_contradict_each_other_the_newest_wins():
    memos = [
        memo(f"project_database_{n}_choice", f"The database is {n}.", day, ("db",))
        for day, n in ((1, "mysql"), (2, "postgres"), (3, "sqlite"))
    ]

    [proposal] = find_proposals(memos)

    assert proposal.target == "project_database_sqlite_choice"
    assert proposal.names == ("project_database_mysql_choice", "project_database_postgres_choice")


def test_memos_on_different_topics_are_not_compared():
    assert (
        find_proposals(
            [memo("server_a_port_number", "The port is 80."), memo("server_b_port_number", "The port is 81.", 2)]
        )
        == []
    )


def test_deprecated_memos_give_no_proposals():
    memos = about(6)
    memos[0] = memo(memos[0].name, "On colors.\nDEPRECATED: See valid architecture in user_prefs_blue.md")

    assert find_proposals(memos) == []
    assert find_proposals([*about(5), memo("user_prefs_tone", deprecated_by="other_tone_memo")]) == []


def test_a_garden_in_which_everything_was_applied_gives_no_more_proposals():
    memos = [
        *about(8, tags=("style",)),
        memo("user_likes_tea_hot", "User likes tea.", 1, ("drink",)),
        memo("user_dislikes_tea_now", "User dislikes tea.", 2, ("drink",)),
    ]
    first = find_proposals(memos)

    assert [proposal.kind for proposal in first] == ["supersede", "consolidate"]
    assert find_proposals(apply(memos, first)) == []


def test_the_order_of_the_memos_does_not_matter():
    memos = [*about(8, tags=("style",)), *about(7, "project_rules", ("rules",))]

    assert find_proposals(memos) == find_proposals(memos[::-1])


def test_memos_of_two_projects_are_never_compared(mem):
    mem.memo("team_uses_tabs_for_indenting", "We use tabs for indentation.", tags=["style"], project="shop", created="2026-01-01")
    mem.memo("team_uses_spaces_for_indenting", "We use spaces for indentation, not tabs.", tags=["style"], project="bank",
             created="2026-02-01")
    for number in range(4):
        mem.memo(f"style_rule_for_shop_number{number}", f"Shop rule {number}.", tags=["style"], project="shop")
        mem.memo(f"style_rule_for_bank_number{number}", f"Bank rule {number}.", tags=["style"], project="bank")

    assert mem.garden().proposals == []


def test_a_master_belongs_to_the_project_of_its_memos(mem):
    for project in ("shop", "bank"):
        for number in range(6):
            mem.memo(f"{project}_deploy_step_part{number}", f"Step {number} of {project}.", tags=["deploy"], project=project)

    masters = mem.garden(apply=True).applied

    assert sorted((proposal.target, proposal.project) for proposal in masters) == [
        ("bank_deploy_master", "bank"), ("shop_deploy_master", "shop")]
    assert {mem.get(proposal.target).record.origin.project for proposal in masters} == {"shop", "bank"}
    assert mem.garden().proposals == []


def test_two_projects_with_the_same_tag_have_a_master_each(mem):
    for project in ("shop", "bank"):
        for number, word in enumerate(("alpha", "beta", "gamma", "delta", "kappa", "sigma")):
            mem.memo(f"{word}{project}_deploy_step_part{number}", f"Step {number} of {project}.", tags=["deploy"], project=project)

    targets = [proposal.target for proposal in mem.garden(apply=True).applied]

    assert targets == ["deploy_notes_master", "shop_deploy_master"]
    assert mem.garden().proposals == []


def test_lines_that_only_say_where_a_memo_comes_from_contradict_nothing(mem):
    mem.memo("user_prefers_tea_morning", "Tea is served at eight.\n\nReason: the user does not want coffee, turn 3.",
             tags=["drinks"], created="2026-01-01")
    mem.memo("user_prefers_coffee_evening", "Coffee is served at nine.\n\nReason: the user wants coffee, turn 9.",
             tags=["drinks"], created="2026-02-01")

    assert mem.garden().proposals == []


@pytest.mark.parametrize("archive", [False, True], ids=["superseded", "archived"])
def test_a_gardening_that_was_killed_is_carried_on_with_by_the_next(home: Path, clock: Clock, archive: bool) -> None:
    with Memory(home, clock=clock) as mem:
        for at, word in enumerate(("colors", "fonts", "spacing", "tables", "length", "tone")):
            mem.memo(f"mill_prefs_{word}", f"On {word} at the mill.", created=clock() - 86400 * (10 - at))

    def tend() -> None:
        with Memory(home, clock=clock) as mem:
            mem.garden(apply=True, archive=archive)

    def outcome() -> dict[str, tuple[str, Any]]:
        with Memory(home, clock=clock) as mem:
            return {item["id"]: (record.text, record.deprecated_by) for item in mem.list(kind="memo", limit=None)[0]
                    for record in [mem.get(item["id"]).record]}

    base = Snapshot(home)
    number = count_calls(tend, base)
    wanted = outcome()
    for call in sampled(range(1, number + 1), about=12):
        base.restore()
        killed_at(call, tend)

        tend()

        assert outcome() == wanted, call
        with Memory(home, clock=clock) as mem:
            assert mem.garden().proposals == [], call
            mem.garden(undo=True)
            assert {item["id"] for item in mem.list(kind="memo", limit=None)[0]} >= {
                f"mill_prefs_{word}" for word in ("colors", "fonts", "spacing", "tables", "length", "tone")}, call
