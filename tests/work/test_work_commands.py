"""The work ladder at the command line: JSON in, options in, a form on a terminal; answers, trees and refusals out."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys

import pytest

SHORT = {"goal": "Fix the login loop", "task_type": "bug_fix", "success": True, "summary": "The cookie path was wrong"}
OPTIONS = ("--goal", "Fix the login loop", "--task", "bug_fix", "--success", "--summary", "The cookie path was wrong")


def recorded(ran):
    assert ran.code == 0, ran.err
    return ran.json["id"]


@pytest.mark.clause("work-80", "work-82")
def test_a_work_is_recorded_from_stdin_a_file_or_options_alike(run, tmp_path):
    (tmp_path / "work.json").write_text(json.dumps(SHORT))

    said = [run("record", "-", "--json", stdin=json.dumps(SHORT)), run("record", str(tmp_path / "work.json"), "--json"),
            run("record", "--json", stdin=json.dumps(SHORT)), run("record", *OPTIONS, "--json")]

    layers = [{layer: one.json["record"][layer] for layer in ("intent", "outcome")} for one in said]
    assert all(one.code == 0 for one in said)
    assert layers == layers[:1] * 4


def test_every_option_fills_its_field(run):
    ran = run("record", "--goal", "g", "--task", "refactor", "--failed", "--summary", "s", "--reason", "r", "--category",
              "race_condition", "--approach", "a", "--why", "w", "--context", "c", "--learned", "l1", "--learned", "l2",
              "--todo", "t", "--file", "x.py", "--tag", "z", "--importance", "0.8", "--agent", "kim", "--project", "shop",
              "--session", "s1", "--json")

    kept = ran.json["record"]
    assert kept["outcome"] == {"success": False, "summary": "s", "learnings": ["l1", "l2"], "failure_reason": "r",
                               "failure_category": "race_condition", "follow_up_needed": ["t"]}
    assert (kept["agent_id"], kept["project_id"], kept["session_id"]) == ("kim", "shop", "s1")
    assert (kept["tags"], kept["importance"], kept["reasoning"]["why_chosen"]) == (["z"], 0.8, "w")
    assert kept["actions"][0]["details"]["file_path"] == "x.py"
    assert kept["origin"]["door"] == "cli"


@pytest.mark.clause("work-81")
@pytest.mark.parametrize(("given", "code", "says"), [
    ({"goal": None}, 4, "intent.goal"), ({"task_type": "bug"}, 4, "bug_fix, feature_add"),
    ({"success": "yes"}, 4, "true or false"),
    ({"links": {"caused_by": ["mem_nothing"]}}, 3, "mem_nothing"), ({"extra_field": 1}, 4, "no field"),
    ({"actions": [{"type": "command_run", "details": {"command": "x" * 5_000_000}}]}, 4, "condense"),
])
def test_a_bad_work_is_refused_in_one_line_with_its_own_exit_code(run, home, given, code, says):
    ran = run("record", "-", stdin=json.dumps({**SHORT, **given}))

    assert ran.code == code
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (home / "work").exists()


@pytest.mark.parametrize(("stdin", "code"), [("{", 4), ("[]", 4), ("", 4), (b"\xff\xfe", 2), ("[" * 100_000, 4), ("null", 4)])
def test_what_is_no_json_object_is_refused(run, stdin, code):
    ran = run("record", "-", stdin=stdin)

    assert ran.code == code
    assert len(ran.err.splitlines()) == 1
    assert "Traceback" not in ran.err


def test_a_missing_file_is_named(run):
    ran = run("record", "nowhere.json")

    assert (ran.code, "nowhere.json" in ran.err) == (3, True)


def test_a_form_asks_on_a_terminal(home):
    """A real pseudo-terminal, typed into as a person would."""
    lead, terminal = pty.openpty()
    child = subprocess.Popen([sys.executable, "-m", "otolith", "record", "--json"], stdin=terminal, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env={**os.environ, "OTOLITH_HOME": str(home)})
    os.close(terminal)
    os.write(lead, b"\nMend the tap\nplumbing\n1\nmaybe\nn\nIt still drips\nWrong washer\nNew washer\nkitchen/tap\n\n"
                   b"Measure first\n\n\n\n")
    out, err = child.communicate(timeout=60)
    os.close(lead)

    kept = json.loads(out)["record"]
    assert kept["intent"]["goal"] == "Mend the tap"
    assert kept["intent"]["task_type"] == "bug_fix"
    assert (kept["outcome"]["success"], kept["outcome"]["failure_reason"]) == (False, "Wrong washer")
    assert kept["outcome"]["learnings"] == ["Measure first"]
    assert kept["actions"][0]["details"]["file_path"] == "kitchen/tap"
    assert b"What was to be done?" in err


def test_check_file_tells_and_knows_a_file_by_its_place_in_the_repository(run, tmp_path):
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "shop/src").mkdir()
    (tmp_path / "shop/src/auth.ts").touch()
    run("record", *OPTIONS, "--file", "src/auth.ts", "--project", "shop")

    from_root = run("check-file", "src/auth.ts", "--project", "shop", cwd=tmp_path / "shop")
    from_inside = run("check-file", "auth.ts", "--project", "shop", "--json", cwd=tmp_path / "shop/src")
    elsewhere = run("check-file", "lib/auth.ts", cwd=tmp_path)

    told = "Worked: Fix the login loop (main edited, moments ago) — The cookie path was wrong. More: otolith get mem_"
    assert from_root.out.startswith(told)
    assert (from_inside.json["path"], from_inside.json["state"]) == ("src/auth.ts", "notices")
    assert elsewhere.out == "nothing known of lib/auth.ts\n"


def test_the_cooldown_holds_across_processes_of_one_session(run):
    run("record", *OPTIONS, "--file", "a.py")
    session = {"OTOLITH_SESSION": "s1"}

    states = [run("check-file", "a.py", "--json", env=session).json["state"] for _ in range(2)]
    again = run("check-file", "a.py", "--again", "--json", env=session).json["state"]

    assert (states, again) == (["notices", "shown"], "notices")


@pytest.mark.clause("work-90")
def test_trace_draws_a_tree_and_answers_json(run):
    a, b, c = (recorded(run("record", "--goal", goal, *OPTIONS[2:], "--json")) for goal in ("First", "Second", "Third"))
    run("link", b, "caused_by", a)
    run("link", c, "caused_by", b)

    tree = run("trace", c, "--causes").out.splitlines()
    data = run("trace", a, "--effects", "--max-depth", "1", "--json").json

    assert tree == [f"Third  {c}", f"└─ caused_by: Second  {b}", f"   └─ caused_by: First  {a}"]
    assert (data["total"], data["items"][0]["id"], data["items"][0]["link"]) == (1, b, "led_to")


def test_a_tree_with_two_branches_is_drawn_with_both(run):
    a, b, c, d = (recorded(run("record", "--goal", goal, *OPTIONS[2:], "--json")) for goal in "ABCD")
    for source, target in ((a, b), (a, c), (b, d)):
        run("link", source, "led_to", target)

    lines = run("trace", a, "--effects").out.splitlines()

    first, second = (("B", b), ("C", c)) if b < c else (("C", c), ("B", b))
    assert lines[1].startswith(f"├─ led_to: {first[0]}")
    assert any(line.startswith(f"└─ led_to: {second[0]}") for line in lines)
    assert any(line.endswith(f"└─ led_to: D  {d}") for line in lines)


def test_agents_are_registered_listed_and_resumed(run):
    assert run("agent", "kim", "--metadata", '{"model": "small"}').code == 0
    assert run("agent", "kim-tests", "--parent", "kim").code == 0
    run("record", *OPTIONS, "--agent", "kim", "--session", "s7", "--todo", "Add a test")

    listed = {row["id"]: row for row in run("agents", "--json").json["items"]}
    taken = run("resume", "kim")

    assert listed["kim-tests"]["parent_id"] == "kim"
    assert listed["kim"]["works"] == 1
    assert "OTOLITH_SESSION=s7" in taken.out
    assert "follow-up: Add a test" in taken.out
    assert run("agent", "orphan", "--type", "subagent").code == 4
    assert run("agent", "orphan", "--parent", "nobody").code == 3
    assert run("agent", "x", "--metadata", "[1]").code == 4
    assert run("resume", "nobody").code == 3


def test_chapters_and_wisdom_are_made_found_and_shown(run):
    ids = [recorded(run("record", "--goal", f"Work {n}", *OPTIONS[2:], "--file", f"{folder}/x.py", "--learned", "Pin it",
                        "--json")) for n, folder in enumerate(("a", "a", "b", "b"))]
    assert run("wisdom").out.startswith("no wisdom yet")

    made = run("chapter", ids[0], ids[1], "--title", "By hand")
    run("upkeep")

    assert made.code == 0
    listed = run("chapters", "--json").json["items"]
    assert sorted((row["origin"], row["works"]) for row in listed) == [("auto", 2), ("manual", 2)]
    assert "Pin it [chapter_" in run("wisdom").out
    assert run("chapter", "mem_nowhere").code == 3


def test_cold_shows_its_plan_and_acts_only_when_told(run, home):
    run("record", *OPTIONS)

    plan = run("cold", "--days", "0", "--uses", "0", "--json")
    assert plan.json["total"] == 1
    assert not (home / "work/cold").exists()
    assert "--apply" in plan.err

    run("cold", "--days", "0", "--uses", "0", "--apply")
    assert len(list((home / "work/cold").rglob("*.json.gz"))) == 1
    assert run("recall", "login loop", "--json").json["hits"][0]["kind"] == "work"


def test_sql_answers_the_seeds_own_queries_and_refuses_to_write(run):
    run("record", *OPTIONS, "--file", "src/auth.ts")
    query = ("SELECT m.intent_goal, f.operation FROM memories m JOIN memory_files f ON f.memory_id = m.id "
             "WHERE f.file_path = 'src/auth.ts' AND m.outcome_success = 1")

    assert run("sql", query, "--json").json["columns"] == ["intent_goal", "operation"]
    assert run("sql", query, "--json").json["rows"] == [["Fix the login loop", "edit"]]
    assert run("sql", query).out == "Fix the login loop\tedit\n"
    refused = run("sql", "DELETE FROM memories")
    assert (refused.code, "SELECT" in refused.err) == (4, True)


@pytest.mark.clause("work-93", "work-94", "work-98")
def test_get_shows_a_work_at_a_depth(run):
    work = recorded(run("record", *OPTIONS, "--approach", "Read the cookie code", "--json"))

    assert run("get", work, "--depth", "summary").out.endswith("\nFix the login loop → The cookie path was wrong\n")
    assert "Read the cookie code" in run("get", work, "--depth", "reasoning").out
    assert "Origin" in run("get", work, "--depth", "complete").out


def test_a_rum_database_is_imported_and_answers_like_our_own(run, mem, tmp_path):
    path = tmp_path / "app.rum.db"
    old = sqlite3.connect(path)
    old.executescript("""
        CREATE TABLE memories (id TEXT PRIMARY KEY, agent_id TEXT, project_id TEXT, session_id TEXT, created_at INTEGER,
          intent_goal TEXT, intent_type TEXT, outcome_success INTEGER, outcome_summary TEXT, intent JSON, perception JSON,
          reasoning JSON, actions JSON, outcome JSON, tags JSON, importance REAL, access_count INTEGER, last_accessed INTEGER,
          embedding BLOB);
        CREATE TABLE memory_links (source_id TEXT, target_id TEXT, link_type TEXT, created_at INTEGER);""")
    for number in (1, 2):
        old.execute("INSERT INTO memories VALUES (?, 'kim', 'app', 's', 1770000000000, 'Fix login', 'bug_fix', 0, 'No', ?, "
                    "NULL, NULL, ?, ?, '[\"auth\"]', 0.8, 0, NULL, NULL)",
                    (f"mem_old{number}", '{"goal": "Fix login", "task_type": "bug_fix"}',
                     '[{"type": "file_edit", "file_path": "src/auth.ts", "success": true, "timestamp": 1770000001000}]',
                     '{"success": false, "summary": "No", "failure_reason": "wrong path"}'))
    old.execute("INSERT INTO memory_links VALUES ('mem_old2', 'mem_old1', 'caused_by', 1770000005000)")
    old.commit()
    old.close()
    before = path.read_bytes()

    assert run("import", str(path)).code == 0

    assert path.read_bytes() == before
    mem.sync()
    work = mem.get("mem_old1").record
    assert (work.created_at, work.agent_id, work.origin.trust) == (1_770_000_000, "kim", "outside")
    assert work.actions[0].timestamp == 1_770_000_001
    assert [notice.why for notice in mem.check_file("src/auth.ts", project="app").notices] == ["wrong path", "wrong path"]
    assert [step["id"] for step in mem.trace("mem_old2", direction="causes")] == ["mem_old1"]
