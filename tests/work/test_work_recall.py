"""Work found by every path and shown at five depths; triggers that tell known from shown."""

from __future__ import annotations

import pytest

from otolith.errors import Invalid
from otolith.model.record import DEPTHS
from otolith.providers.tokens import count_tokens


@pytest.fixture
def works(mem, clock):
    """Four works that differ in one thing each."""

    def add(name, **more):
        clock.pass_time(days=1)
        told = {"goal": f"Repair the {name} cache", "task_type": "bug_fix", "success": True, "summary": "Repaired", **more}
        return mem.record(told, agent=told.pop("agent", None), project=told.pop("project", None)).id

    return {"plain": add("plain"), "failed": add("failed", success=False), "kim": add("kim", agent="kim", tags=["hot"]),
            "file": add("file", files=["src/cache/store.py"], task_type="refactor", project="shop")}


def found(mem, **filters):
    return {hit.id for hit in mem.recall("repair cache", **filters).hits}


@pytest.mark.clause("work-86", "work-32")
@pytest.mark.parametrize(("filters", "names"), [
    ({}, {"plain", "failed", "kim", "file"}), ({"agent": "kim"}, {"kim"}), ({"project": "shop"}, {"file"}),
    ({"type": "refactor"}, {"file"}), ({"failures": True}, {"failed"}), ({"successes": True}, {"plain", "kim", "file"}),
    ({"file": "src/cache/store.py"}, {"file"}), ({"file": "store.py"}, {"file"}), ({"file": "src/cache"}, {"file"}),
    ({"file": "ore.py"}, set()), ({"tag": "hot"}, {"kim"}), ({"since": "2026-02-13"}, {"kim", "file"}),
    ({"before": "2026-02-13"}, {"plain", "failed"}), ({"agent": "kim", "failures": True}, set()),
    ({"type": "bug_fix", "successes": True, "since": "2026-02-12"}, {"kim"}),
])
def test_works_are_found_by_any_combination_of_paths(mem, works, filters, names):
    assert found(mem, **filters) == {works[name] for name in names}


@pytest.mark.clause("work-87", "work-09")
def test_of_two_equally_relevant_works_the_more_important_comes_first(mem):
    told = {"goal": "Rotate the signing keys", "task_type": "security_fix", "success": True, "summary": "Rotated"}
    low = mem.record(told, importance=0.1)
    high = mem.record(told, importance=0.9)

    assert [hit.id for hit in mem.recall("rotate signing keys").hits] == [high.id, low.id]


@pytest.mark.clause("work-86")
def test_a_work_is_found_along_its_links(mem, works):
    mem.link(works["plain"], "caused_by", works["failed"])

    assert {link["id"] for link in mem.related(works["plain"])} == {works["failed"]}


@pytest.mark.clause("work-10", "work-11", "work-88")
def test_a_work_that_is_delivered_counts_as_used_once_a_call(mem, works, clock):
    mem.recall("repair cache kim", agent="kim")
    clock.pass_time(hours=1)
    mem.get(works["kim"])
    mem.list(kind="work")
    mem.check_file("src/cache/store.py")

    rows = mem.sql("SELECT access_count, last_accessed FROM memories WHERE agent_id = 'kim'")["rows"]
    assert rows == [[2, int(clock())]]
    assert mem.sql("SELECT sum(access_count) FROM memories")["rows"] == [[2]]


# Depths


@pytest.mark.clause("work-93", "work-94", "work-95", "work-96", "work-97", "work-98", "work-99")
def test_get_and_recall_show_a_work_at_the_depth_asked_for(mem, seed):
    seed["actions"][0]["details"] |= {"diff": "- a\n+ b", "diff_hash": "feed01"}
    work = mem.record(**seed)
    words = {"summary": "JWT refresh now works", "outcome": "Always check for refresh token expiry too",
             "reasoning": "Complex timer management", "full": "Token TTL is 1hr but refresh TTL is 7d", "complete": "feed01"}

    for at, depth in enumerate(DEPTHS):
        shown, recalled = mem.get(work.id, depth=depth).text, mem.recall("jwt", depth=depth).hits[0].text
        for other, word in words.items():
            assert (word in shown) == (DEPTHS.index(other) <= at)
            assert (word in recalled) == (DEPTHS.index(other) <= at)


@pytest.mark.clause("work-94", "work-95", "work-96", "work-97", "work-98", "work-99")
def test_the_deeper_the_larger_and_about_as_large_as_the_seed_says(mem, seed):
    work = mem.record(**seed)

    sizes = [count_tokens(mem.get(work.id, depth=depth).text) for depth in DEPTHS]

    assert sizes == sorted(set(sizes))
    for size, estimate in zip(sizes, (20, 50, 150, 300, 500), strict=True):
        assert estimate / 2 <= size <= estimate * 2


@pytest.mark.clause("work-93")
def test_an_unknown_depth_is_refused(mem, works):
    with pytest.raises(Invalid, match="summary, outcome, reasoning, full, complete"):
        mem.get(works["plain"], depth="deep")


# Triggers


@pytest.mark.clause("work-85")
def test_a_file_tells_who_touched_it_and_what_failed_there(mem, clock):
    told = {"task_type": "bug_fix", "files": ["src/auth.ts"]}
    mem.record(told, goal="Refresh on a timer", success=False, summary="Logged out", failure_reason="timers race", agent="kim")
    clock.pass_time(days=2)
    mem.record(told, goal="Log refreshes", success=True, summary="Logged", agent="lee")

    found = mem.check_file("src/auth.ts")

    assert found.state == "notices"
    assert [(notice.agent, notice.success, notice.age) for notice in found.notices] == [
        ("kim", False, "2 days ago"), ("lee", True, "moments ago")]
    assert found.notices[0].why == "timers race"


@pytest.mark.clause("work-85")
def test_already_shown_never_looks_like_nothing_known(mem, clock):
    mem.record(goal="g", task_type="bug_fix", success=False, summary="s", files=["src/auth.ts"])

    assert mem.check_file("src/nobody.ts").state == "nothing"
    assert mem.check_file("src/auth.ts").state == "notices"
    again = mem.check_file("src/auth.ts")
    assert (again.state, again.known, again.notices) == ("shown", 1, ())
    assert mem.check_file("src/auth.ts", again=True).state == "notices"
    clock.pass_time(minutes=31)
    assert mem.check_file("src/auth.ts").state == "notices"


def test_the_cooldown_is_a_sessions_own(home, monkeypatch):
    from otolith.memory import Memory

    def ask(session):
        monkeypatch.setenv("OTOLITH_SESSION", session)
        with Memory(home) as mem:
            return mem.check_file("a.py").state

    with Memory(home) as mem:
        mem.record(goal="g", task_type="bug_fix", success=True, summary="s", files=["a.py"])

    assert [ask("one"), ask("one"), ask("two")] == ["notices", "shown", "notices"]


def test_a_plan_that_failed_here_is_a_conflict_even_if_it_was_shown(mem):
    mem.record(goal="Refresh tokens on a timer", task_type="bug_fix", success=False, summary="s", files=["src/auth.ts"])
    mem.check_file("src/auth.ts")

    found = mem.check_file("src/auth.ts", plan="refreshing tokens with a timer")

    assert [notice.trigger for notice in found.notices] == ["conflict"]


@pytest.mark.clause("work-74", "work-75")
@pytest.mark.parametrize(("asked", "known"), [
    ("src/auth.ts", 1), ("auth.ts", 1), ("./src/auth.ts", 1), ("/srv/shop/src/auth.ts", 1), ("src", 1), ("uth.ts", 0),
    ("src/auth", 0), ("lib/auth.ts", 0), ("src/auth.tsx", 0)])
def test_files_match_by_whole_segments(mem, asked, known):
    mem.record(goal="g", task_type="bug_fix", success=True, summary="s", files=["src/auth.ts"])

    assert mem.check_file(asked).known == known


def test_a_bare_name_in_a_work_does_not_stand_for_every_file_of_that_name(mem):
    mem.record(goal="g", task_type="bug_fix", success=True, summary="s", files=["README.md"])

    assert mem.check_file("README.md").known == 1
    assert mem.check_file("/srv/shop/docs/README.md").known == 0


def test_a_work_edited_by_hand_is_told_as_it_is_now(mem):
    work = mem.record(goal="Old words", task_type="bug_fix", success=True, summary="s", files=["a.py"])
    path = mem.path / mem.get(work.id).path
    path.write_text(path.read_text().replace("Old words", "New words"))

    assert mem.check_file("a.py").notices[0].title == "New words"


def test_many_works_on_a_file_are_counted_and_a_few_are_told(mem):
    with mem.bulk():
        for n in range(60):
            mem.record(goal=f"Goal {n}", task_type="bug_fix", success=True, summary="s", files=["a.py"])

    found = mem.check_file("a.py")

    assert found.known == 60
    assert len(found.notices) == 5


def test_the_same_path_in_another_project_is_another_file(mem):
    told = {"task_type": "bug_fix", "success": True, "summary": "s", "files": ["src/auth.ts"]}
    mine = mem.record(told, goal="Mine")
    theirs = mem.record(told, goal="Theirs", project="shop")

    assert [notice.id for notice in mem.check_file("src/auth.ts", again=True).notices] == [mine.id]
    assert [notice.id for notice in mem.check_file("src/auth.ts", project="shop").notices] == [theirs.id]
    assert mem.check_file("src/auth.ts", project="bakery").state == "nothing"
    mem.forget(mine.id)
    assert [notice.id for notice in mem.check_file("src/auth.ts", again=True).notices] == [theirs.id]


@pytest.mark.parametrize("path", ["", " ", "/", "./", "///"])
def test_a_path_that_names_nothing_is_refused(mem, path):
    mem.record(goal="g", task_type="bug_fix", success=True, summary="s", files=["a.py"])

    with pytest.raises(Invalid):
        mem.check_file(path)


def test_a_broken_line_in_the_log_of_what_was_shown_harms_nothing(home, monkeypatch):
    from otolith.memory import Memory

    monkeypatch.setenv("OTOLITH_SESSION", "one")
    with Memory(home) as mem:
        mem.record(goal="g", task_type="bug_fix", success=True, summary="s", files=["a.py"])
        (home / "log").mkdir(exist_ok=True)
        (home / f"log/delivered-{mem.home.machine}.jsonl").write_text('{"t": "x", "session": "one", "ids": 3}\nnonsense\n{"session": "one"}\n')

        assert mem.check_file("a.py").state == "notices"


def test_an_aim_that_was_had_before_is_noticed(mem, works):
    found = mem.check_intent("repair the failed caches", "bug_fix")

    assert found[0].id == works["failed"]
    assert mem.check_intent("bake bread") == []


@pytest.mark.parametrize("layers", [
    {"intent": {"ticket": "The pangolin report"}}, {"perception": {"mood": ["calm", {"seen": "a pangolin"}]}},
    {"reasoning": {"analysis": "The pangolin cache is cold", "approach_chosen": "Warm it"}},
    {"outcome": {"aftermath": "A pangolin moved in"}}, {"actions": [{"type": "search", "why": "Looking for pangolins"}]},
    {"actions": [{"type": "search", "details": {"note": "a pangolin"}}]},
    {"perception": {"observations": [{"what": "smoke", "colour": "pangolin grey"}]}},
])
def test_text_under_a_key_that_a_layer_does_not_know_is_kept_and_found(mem, works, layers):
    work = mem.record({"goal": "Tidy up", "task_type": "other", "success": True, "summary": "Tidied", **layers})

    assert [hit.id for hit in mem.recall("pangolin", kind="work").hits][:1] == [work.id]
    assert mem.get(work.id).record == work


# Without words


def chosen(mem, **filters):
    return [hit.id for hit in mem.recall(**filters).hits]


@pytest.mark.clause("work-100")
@pytest.mark.parametrize(("filters", "names"), [
    ({"file": "src/cache/store.py"}, {"file"}), ({"type": "bug_fix", "failures": True}, {"failed"}),
    ({"successes": True}, {"plain", "kim", "file"}), ({"tag": "hot"}, {"kim"}), ({"project": "shop"}, {"file"}),
    ({"since": "2026-02-13"}, {"kim", "file"}), ({"before": "2 days ago", "kind": "works"}, {"plain"}),
    ({"file": "nosuch.py"}, set())])
def test_a_filter_alone_answers_without_a_question(mem, works, filters, names):
    assert set(chosen(mem, **filters)) == {works[name] for name in names}


@pytest.mark.clause("work-100")
def test_of_what_a_filter_chooses_the_weightiest_and_newest_come_first(mem, clock):
    def add(days, importance):
        told = {"goal": f"Repair {days}", "task_type": "bug_fix", "success": True, "summary": "Repaired", "files": ["a.py"]}
        return mem.record(told, importance=importance, created=clock() - days * 86_400).id

    oldest, newest, heavy, middle = add(90, 0.5), add(0, 0.5), add(90, 1.0), add(10, 0.5)

    assert chosen(mem, file="a.py") == [heavy, newest, middle, oldest]
    assert chosen(mem, file="a.py", limit=2) == [heavy, newest]


@pytest.mark.clause("work-100")
def test_a_heavy_old_record_is_not_lost_behind_many_new_ones(mem, clock):
    heavy = mem.note("The one that matters", "Keep it.", importance=1.0, tags=["x"], created="2 months ago")
    with mem.bulk():
        for number in range(80):
            mem.note(f"Trifle {number}", "Not much.", importance=0.3, tags=["x"])

    assert chosen(mem, tag="x", limit=3)[0] == heavy.id


def test_what_was_chosen_is_enough_and_says_why(mem, works):
    answer = mem.recall(file="store.py")

    assert answer.enough
    assert answer.hits[0].why == ["chosen by the filter"]
    assert answer.hits[0].score > 0


def test_what_only_accompanies_records_is_chosen_only_by_its_own_kind(mem):
    tea, cold = mem.note("Tea", "Steep for three minutes."), mem.note("A cold", "It passes.")
    mem.link(tea.id, "SOLVES", cold.id, context="Only with honey.")  # an edge without a text is never a hit

    assert set(chosen(mem, since="today")) == {tea.id, cold.id}
    assert mem.recall(kind="edges").hits[0].kind == "edge"


def test_what_was_replaced_stands_below_what_replaced_it_without_words_too(mem, works):
    mem.link(works["plain"], "supersedes", works["file"])

    assert chosen(mem, kind="work").index(works["file"]) == 3
    assert mem.recall(kind="work").hits[3].superseded_by == works["plain"]


def test_neither_question_nor_filter_is_refused(mem):
    with pytest.raises(Invalid, match="the question is empty"):
        mem.recall()


def test_the_command_line_recalls_by_filter_alone(run, mem, works):
    mem.close()

    assert [hit["id"] for hit in run("recall", "--file", "store.py", "--json").json["hits"]] == [works["file"]]
    assert works["failed"] in run("recall", "--type", "bug_fix", "--failures").out
    assert run("recall", "--kind", "works", "--limit", "1").out.startswith("1. Repair the file cache")
    nothing = run("recall")
    assert (nothing.code, nothing.err.count("\n")) == (2, 1)
    assert run("recall", "--type", "nosuch").out.strip() == "no record passes the filter (type)"
