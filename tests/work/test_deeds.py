"""Works from deeds: what agents did in sessions, told as events."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from otolith.memory import Memory
from otolith.model.events import ANSWERED, CALLED, SAID, STOPPED, Call, Event, Part, Session
from otolith.model.work import Work
from otolith.verbs.deeds import keep_deeds
from otolith.verbs.offering import unfinished

FOLDER = "/home/ada/shop"
_numbers = count(1)


def said(text: str, pasted: str = "", key: str = "") -> Event:
    parts = (Part(text), *((Part(pasted, "document"),) if pasted else ()))
    return Event(SAID, key or f"s{next(_numbers)}", "2026-03-01T10:00:00Z", text, parts=parts)


def answered(text: str) -> Event:
    return Event(ANSWERED, f"a{next(_numbers)}", "2026-03-01T10:01:00Z", text)


def edit(path: str, old: str = "", new: str = "", ok: bool = True) -> Event:
    edits = ((f"{FOLDER}/{path}", old, new),) if old or new else ()
    return Event(CALLED, f"c{next(_numbers)}", call=Call("Edit", "edit", (f"{FOLDER}/{path}",), edits=edits, ok=ok))


def read(path: str) -> Event:
    return Event(CALLED, f"c{next(_numbers)}", call=Call("Read", "read", (f"{FOLDER}/{path}",), ok=True))


def run(command: str, ok: bool = True, result: str = "") -> Event:
    return Event(CALLED, f"c{next(_numbers)}", call=Call("Bash", "run", command=command, ok=ok, result=result))


def stopped() -> Event:
    return Event(STOPPED, f"x{next(_numbers)}")


def tell(mem: Memory, *events: Event, session: str = "one", fresh: int = 0) -> list[Work]:
    return keep_deeds(mem.home, Session("claude-code", session, events, FOLDER, fresh=fresh))


def works(mem: Memory) -> list[Work]:
    return [mem.get(item["id"]).record for item in mem.list(kind="work", limit=None)[0]]


def test_a_request_that_edited_a_file_is_a_work_in_five_layers(mem: Memory) -> None:
    work, = tell(
        mem, said("Let the cart show the tax, please."), read("src/tax.py"),
        answered("I'll use Decimal because floats lose cents."), edit("src/cart.py", "total", "def tax(order):\n    ..."),
        run("pytest tests/", result="12 passed"), answered("Done. The cart now shows the tax below the sum of its items."))

    assert work.intent.goal == "Let the cart show the tax, please."
    assert [seen.path for seen in work.perception.relevant_files] == ["src/tax.py"]
    assert work.reasoning.approach_chosen == "I'll use Decimal because floats lose cents."
    assert [action.details.file_path or action.details.command for action in work.actions] == ["src/cart.py", "pytest tests/"]
    assert work.actions[0].details.diff_summary == "+2 −1 lines, tax"
    assert work.outcome.success
    assert work.outcome.summary == "The cart now shows the tax below the sum of its items."
    assert work.outcome.verified_by is not None
    assert work.outcome.verified_by.command == "pytest tests/"
    assert work.origin is not None
    assert work.origin.trust == "agent"


def test_a_request_that_only_reads_leaves_no_work(mem: Memory) -> None:
    assert tell(mem, said("How is the tax worked out?"), read("src/tax.py"), run("grep -rn tax src", ok=False),
                answered("By the country of the buyer.")) == []


def test_check_file_knows_every_file_that_was_edited_however_it_was_edited(mem: Memory) -> None:
    tell(mem, said("Rename the shop everywhere."), edit("src/name.py"),
         run("sed -i 's/Shop/Store/' README.md docs/intro.md"), run("cat > src/banner.txt <<'EOF'\nStore > all\nEOF"),
         run("cd web && echo 'Store' >> title.txt && perl -pi -e 's/a/b/' app.js"),
         run("apply_patch <<'P'\n*** Begin Patch\n*** Update File: src/label.py\n@@\n-a\n+b\n*** End Patch\nP"),
         run("go build ./... 2>/dev/null > /dev/null"), answered("The shop is called Store in all files now."))

    for path in ("src/name.py", "README.md", "docs/intro.md", "src/banner.txt", "web/title.txt", "web/app.js", "src/label.py"):
        assert mem.check_file(path, again=True).known == 1, path
    assert len(works(mem)[0].files()) == 7


def test_a_command_that_failed_and_then_worked_in_another_form_is_learned_with_both_forms(mem: Memory) -> None:
    work, = tell(mem, said("Check the code with vet."),
                 run("go vet ./...", ok=False, result="Exit code 1\npattern ./...: directory prefix . does not contain main module"),
                 run("cd cli && go vet ./..."), answered("Vet finds nothing in the whole module now."))

    assert work.outcome.success
    assert work.outcome.learnings == (
        "`go vet ./...` fails: pattern ./...: directory prefix . does not contain main module; `cd cli && go vet ./...` works.",)


def test_a_check_that_fails_to_the_end_makes_a_failed_work_with_its_error(mem: Memory) -> None:
    work, = tell(mem, said("Make prices integers."), edit("src/price.py"),
                 run("pytest", ok=False, result="E   assert 3 == 4\n1 failed"), answered("One test still fails."))

    assert not work.outcome.success
    assert work.outcome.failure_category == "test_failure"
    assert work.outcome.failure_reason == "`pytest`: E   assert 3 == 4"


def test_what_the_agent_plainly_names_as_the_cause_is_learned_and_its_guesses_are_not(mem: Memory) -> None:
    work, = tell(mem, said("The import is slow."), answered("The problem is probably the disk."),
                 run("python bench.py", ok=False, result="TimeoutError: 30 s"),
                 answered("The root cause was that every row opened its own connection."), edit("src/load.py"),
                 answered("The loader keeps one connection for all rows."))

    assert work.outcome.learnings == ("The root cause was that every row opened its own connection.",)


def test_the_users_next_words_can_turn_a_success_into_a_failure(mem: Memory) -> None:
    tell(mem, said("No row twice in the list."), edit("src/rows.py"), answered("Every row is shown once from now on."),
         said("NO! I still get rows twice."))

    work, = works(mem)
    assert not work.outcome.success
    assert work.outcome.failure_reason == 'the user answered: "NO! I still get rows twice."'


def test_the_users_next_words_count_when_they_come_with_the_next_stop(mem: Memory) -> None:
    before = [said("No row twice in the list."), edit("src/rows.py"), answered("Every row is shown once.")]
    tell(mem, *before)
    assert works(mem)[0].outcome.success

    tell(mem, *before, said("That is still not working."), answered("Let me look."), fresh=3)

    assert not works(mem)[0].outcome.success


def test_no_problem_is_not_a_no(mem: Memory) -> None:
    tell(mem, said("No row twice in the list."), edit("src/rows.py"), answered("Every row is shown once."),
         said("No problem, and thanks."))

    assert works(mem)[0].outcome.success


def test_a_later_success_on_the_same_file_solves_the_failed_work_which_is_then_no_longer_unfinished(mem: Memory) -> None:
    failed = [said("Sort the orders by date."), edit("src/orders.py"), run("make test", ok=False, result="error: 2 tests")]
    tell(mem, *failed)
    assert [notice.title for notice in unfinished(mem.home)] == ["Sort the orders by date."]

    tell(mem, *failed, said("Compare them as dates, not as text."), edit("src/orders.py"), run("make test"),
         answered("Orders are compared as dates."), fresh=3)

    assert unfinished(mem.home) == []
    newer, older = sorted(works(mem), key=lambda work: -work.outcome.success)
    assert mem.home.index.notes.relation(newer.id, "solves", older.id)


def test_a_stop_that_fires_again_changes_nothing_and_one_with_more_lets_the_work_grow(mem: Memory) -> None:
    first = [said("Add a search box."), edit("src/search.py"), answered("The box stands above the list.")]
    tell(mem, *first)
    before, = works(mem)

    tell(mem, *first)
    assert works(mem) == [before]

    tell(mem, *first, edit("src/style.css"), answered("It has its own style."), fresh=3)
    work, = works(mem)
    assert work.id == before.id
    assert [path for path, _ in work.files()] == ["src/search.py", "src/style.css"]


def test_small_requests_on_the_same_file_are_one_work(mem: Memory) -> None:
    tell(mem, said("Show two categories in the list."), edit("main.py", "a", "b"), answered("The list has two categories now."),
         said("Only 1 gets the singular, all other numbers the plural."), edit("main.py", "c", "d"),
         answered("One is singular, all others are plural."))

    work, = works(mem)
    assert work.intent.goal == "Show two categories in the list."
    assert work.intent.context == "then: Only 1 gets the singular, all other numbers the plural."
    assert work.outcome.summary.endswith("Then: One is singular, all others are plural.")
    assert len(work.requests or ()) == 2


def test_small_requests_join_across_stops_as_within_one(mem: Memory) -> None:
    first = [said("Show two categories in the list."), edit("main.py", "a", "b"), answered("The list has two categories now.")]
    more = [said("Only 1 gets the singular form."), edit("main.py", "c", "d"), answered("One is singular now, and only one.")]
    tell(mem, *first)
    tell(mem, *first, *more, fresh=3)
    once, = works(mem)
    tell(mem, *more)

    assert works(mem) == [once]
    assert len(once.actions[0].details.diff_hash.split()) == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(("words", "goal"), [
    ("proceed", "Write the rates into a table of their own"),
    ("yes, go ahead", "Write the rates into a table of their own"),
    ("address #2", "The tax is rounded twice, once per item and once per order."),
])
def test_words_that_only_point_take_what_they_point_to_as_the_goal(mem: Memory, words: str, goal: str) -> None:
    review = ("1. Rates are hard-coded in three places.\n2. The tax is rounded twice, once per item and once per order.\n\n"
              "Shall I write the rates into a table of their own?")
    work, = tell(mem, said("Review the tax code."), read("tax.py"), answered(review), said(words), edit("tax.py"))

    assert work.intent.goal == goal


def test_a_question_after_a_stop_goes_on_with_what_was_stopped(mem: Memory) -> None:
    tell(mem, said("Watch the folder for new files."), edit("watch.py"), stopped(), said("What is the problem here?"),
         answered("The handle was missing."), edit("watch.py"), answered("The folder is watched from now on."))

    work, = works(mem)
    assert work.intent.goal == "Watch the folder for new files."
    assert work.outcome.success


def test_a_pasted_plan_gives_the_goal_its_title_and_nothing_more(mem: Memory) -> None:
    work, = tell(mem, said("Implement the following plan:", pasted="# Plan: Watch the folder\n\n## Context\nLong text."),
                 edit("watch.py"))

    assert work.intent.goal == "Watch the folder"


@pytest.mark.parametrize("words", [
    "What is this supposed to do? How does it help anyone?", "You are making it far too hard.", "· 4 rooms · 12 guests · 3 late",
    "no man, the whole point is that nobody waits"])
def test_words_that_ask_for_nothing_take_what_was_done_as_the_goal(mem: Memory, words: str) -> None:
    work, = tell(mem, said(words), edit("rooms.py"), answered("Replaced the queue in `rooms.py` by a plain list."))

    assert work.intent.goal == "Replaced the queue in `rooms.py` by a plain list."
    plain = words[0].isalpha() and not words.endswith("?")  # a question or a piece of output tells nobody why
    assert words in work.intent.context if plain else work.intent.context == ""
    assert work.outcome.summary == "Changed rooms.py."


def test_words_that_ask_for_nothing_take_what_is_so_now_if_nobody_says_what_was_done(mem: Memory) -> None:
    work, = tell(mem, said("What on earth is this? How is that a list?"), edit("rooms.py"),
                 answered("Good. The guests of `rooms.py` come out in the order they came in."))

    assert work.intent.goal == "The guests of `rooms.py` come out in the order they came in."


@pytest.mark.parametrize(("words", "goal"), [
    ("no, use a plain list in rooms.py", "Use a plain list in rooms.py"), ("Can you sort the rooms?", "Sort the rooms?"),
    ("The rooms are shown twice in the list.", "The rooms are shown twice in the list."),
    ("Hello! Nice work so far. Sort the rooms by name. Thanks!", "Sort the rooms by name.")])
def test_what_was_plainly_asked_for_is_the_goal_without_what_stands_around_it(mem: Memory, words: str, goal: str) -> None:
    work, = tell(mem, said(words), edit("rooms.py"), answered("Replaced the queue in `rooms.py` by a plain list."))

    assert work.intent.goal == goal


def test_what_was_done_is_told_from_an_earlier_answer_if_the_session_ends_without_one(mem: Memory) -> None:
    work, = tell(mem, said("Sort the rooms by name."), edit("rooms.py"),
                 answered("Added a key to the sort in `rooms.py`. Let me look at the tests."), edit("rooms_test.py"))

    assert work.outcome.summary == "Added a key to the sort in `rooms.py`."


def test_that_all_tests_pass_is_no_summary_where_more_was_said(mem: Memory) -> None:
    work, = tell(mem, said("Sort the rooms by name."), edit("rooms.py"), run("pytest -q"),
                 answered("All tests pass. Rooms come back from `list_rooms` in the order of their names."))
    bare, = tell(mem, said("Sort the guests by name."), edit("guests.py"), run("pytest -q"), answered("All 12 tests pass now."),
                 session="two")

    assert work.outcome.summary == "Rooms come back from `list_rooms` in the order of their names."
    assert bare.outcome.summary == "All 12 tests pass now."


@pytest.mark.parametrize("reply", ["You have been told how to indent.", "uhh, I meant all of the rooms", "why did you open that file?"])
def test_a_stop_or_a_grumble_alone_fails_no_work_that_passed_its_check(mem: Memory, reply: str) -> None:
    tell(mem, said("Sort the rooms by name."), edit("rooms.py"), run("pytest -q"), stopped(), said(reply))

    assert works(mem)[0].outcome.success


@pytest.mark.parametrize("reply", ["Revert that.", "It is still not sorted.", "No, by number.", "that's wrong"])
def test_who_refuses_or_takes_back_fails_a_work_whatever_passed(mem: Memory, reply: str) -> None:
    tell(mem, said("Sort the rooms by name."), edit("rooms.py"), run("pytest -q"), answered("Sorted."), said(reply))

    assert not works(mem)[0].outcome.success


def test_a_work_that_no_check_followed_says_so(mem: Memory) -> None:
    before, = tell(mem, said("Sort the rooms by name."), run("pytest -q"), edit("rooms.py"), session="one")
    after, = tell(mem, said("Sort the guests by name."), edit("guests.py"), run("pytest -q"), session="two")

    assert "Done; no check was run after the last change." in mem.get(before.id).text
    assert "Succeeded." in mem.get(after.id).text


def test_a_work_is_short_however_much_was_done(mem: Memory) -> None:
    events: list[Event] = [said("Rework the whole module. " * 40)]
    for number in range(12):
        events += [read(f"docs/long/path/number/{number}.md"), edit(f"src/part/{number}.py", "a\n" * 50, "b\n" * 50),
                   run(f"pytest tests/{number} -k 'many words here to make it long'", ok=False, result=f"Error: number {number} " * 9),
                   answered(f"The root cause was that part {number} held on to a connection that was long closed. " * 3)]
    work, = tell(mem, *events)

    assert len(f"{work.title}\n{mem.get(work.id).text}".split()) <= 250
    assert len([path for path, operation in work.files() if operation == "edit"]) == 12


def test_a_tools_words_in_the_agents_mouth_are_not_learned(mem: Memory) -> None:
    text = "The root cause was that the vendor requires everybody to send the token along"
    work, = tell(mem, said("Why does it fail?"), run("python call.py", ok=False, result=f"Error 4\n{text}"),
                 answered(f"{text}."), edit("call.py"))

    assert work.outcome.learnings == ()


def test_secrets_in_commands_and_results_are_not_kept(mem: Memory) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    work, = tell(mem, said(f"Use the token {token} for the upload."), edit("up.py"),
                 run(f"GITHUB_TOKEN={token} make upload", ok=False, result=f"error: {token} is not valid"))

    assert token not in str(work.to_dict())


def test_a_stopped_request_is_not_finished(mem: Memory) -> None:
    work, = tell(mem, said("Set up the database again."), edit("db.py"), stopped())

    assert not work.outcome.success
    assert work.outcome.failure_reason == "the user stopped it"


def test_rejected_and_failed_edits_are_no_edits(mem: Memory) -> None:
    assert tell(mem, said("Set up the database again."), edit("db.py", ok=False)) == []


@pytest.mark.clause("work-102")
def test_the_same_diffs_in_a_forked_session_are_not_stored_again(mem: Memory) -> None:
    def events() -> list[Event]:
        return [said("Add a search box to the shop."), edit("search.py", "a", "b"), edit("search.py", "a", "b"),
                edit("style.css", "c", "d")]

    first, = tell(mem, *events(), session="one")
    assert tell(mem, *events(), session="fork") == []
    assert [len((action.details.diff_hash or "").split()) for action in first.actions] == [1, 1]
    assert len(works(mem)) == 1


@pytest.mark.clause("work-102")
def test_a_recorded_work_with_the_same_diffs_is_stored_once_in_a_session_and_reported_from_another(mem: Memory) -> None:
    def record(session: str) -> Work:
        actions: list[dict[str, Any]] = [{"type": "file_edit", "details": {"file_path": "a.py", "diff_hash": "f" * 64}}]
        return mem.record(goal="Fix the sum", task_type="bug_fix", success=True, summary="Fixed.", actions=actions, session=session)

    first = record("one")
    assert record("one").id == first.id
    assert any(first.id in notice and "not stored again" in notice for notice in mem.home.notices)
    other = record("two")
    assert other.id != first.id
    assert any(first.id in notice for notice in mem.home.notices)


def test_edits_of_which_nobody_knows_the_text_are_no_duplicates(mem: Memory) -> None:
    tell(mem, said("Add a search box to the shop."), edit("search.py"), session="one")
    tell(mem, said("Let the search box find brands, too."), edit("search.py"), session="two")

    assert len(works(mem)) == 2


def test_a_forgotten_work_does_not_come_back_with_the_next_stop(mem: Memory) -> None:
    events = [said("Add a search box to the shop."), edit("search.py")]
    work, = tell(mem, *events)
    mem.forget(work.id)

    assert tell(mem, *events, edit("style.css"), fresh=2) == []


def test_a_change_of_which_nobody_says_what_it_was_belongs_to_the_work_before(mem: Memory) -> None:
    work, = tell(mem, said("Make the header sticky."), edit("header.tsx", "a", "b"), answered("The header stays at the top now."),
                 said("more air"), edit("theme.css", "c", "d"), answered("Done."))

    assert work.intent.goal == "Make the header sticky."
    assert work.outcome.summary == "The header stays at the top now."
    assert [path for path, _ in work.files()] == ["header.tsx", "theme.css"]


def test_what_not_to_do_is_no_refusal_of_what_was_done(mem: Memory) -> None:
    tell(mem, said("Fix the double rows in the list."), edit("rows.py"), run("pytest -q"), answered("Rows are shown once."),
         said("no renames in this module"))

    assert works(mem)[0].outcome.success


def test_what_is_said_once_it_works_is_learned_by_the_work_before(mem: Memory) -> None:
    tell(mem, said("The pictures tremble when they are opened."), edit("box.tsx"), said("yes!! that was it"),
         answered("The browser paints before the picture is decoded; awaiting `img.decode()` in `box.tsx` mends that."))

    work, = works(mem)
    assert work.outcome.learnings == (
        "The browser paints before the picture is decoded; awaiting `img.decode()` in `box.tsx` mends that.",)


def test_works_of_one_session_make_no_chapter(mem: Memory) -> None:
    tell(mem, said("Sort the rooms by name."), edit("hotel/rooms.py"), run("pytest", ok=False, result="error: 1 failed"))
    tell(mem, said("Sort the guests by name."), edit("hotel/guests.py"), run("mypy", ok=False, result="error: no type"))
    mem.upkeep()

    assert mem.chapters() == []


def test_what_was_wanted_of_the_task_stands_in_its_work(mem: Memory) -> None:
    work, = tell(mem, said("Add a stock column to the list. It should be 10 wide, not 100."), edit("list.py"),
                 answered("The list has a stock column now."))

    assert work.intent.constraints == ("It should be 10 wide, not 100.",)
    assert "It should be 10 wide, not 100." in mem.get(work.id).text
    assert mem.list(kind="memo", limit=None)[1] == 0


def test_what_only_changed_something_is_a_part_of_the_work_before(mem: Memory) -> None:
    tell(mem, said("The list must never load twice. Fix the double load in load.py."), edit("load.py"), run("pytest -q"),
         answered("The root cause was that `load` ran in the constructor, too."),
         said("Make the header of the page sticky."), edit("page.css"), answered("The header is sticky now."))

    work, = works(mem)
    assert work.intent.goal == "Fix the double load in load.py."
    assert work.outcome.learnings == ("The root cause was that `load` ran in the constructor, too.",)
    assert {path for path, _ in work.files()} == {"load.py", "page.css"}


def test_a_cause_that_a_later_run_proved_wrong_is_not_learned(mem: Memory) -> None:
    work, = tell(mem, said("Fix the rounding in money.py."), edit("money.py", "a", "b"),
                 answered("The cause was that `round` is called before the sum."),
                 run("pytest -q", ok=False, result="E assert 3 == 4"), edit("money.py", "b", "c"), run("pytest -q"),
                 answered("The cause was that `Decimal` was made from a float."))

    assert work.outcome.learnings[-1] == "The cause was that `Decimal` was made from a float."
    assert not any("before the sum" in learned for learned in work.outcome.learnings)
