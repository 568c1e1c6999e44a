"""The nightly round: in order, complete, and the second time of a day without changing a byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from otolith import upkeep
from otolith.memory import Memory


@pytest.fixture
def stocked(mem):
    notes = [mem.note(f"Note {at}", f"Text {at} about redis.", type="fix", tags=["redis", "x"], importance=0.7)
             for at in range(5)]
    mem.link(notes[0].id, "RELATED_TO", notes[1].id)
    mem.get(notes[0].id)
    return notes


def git(home, *words):
    done = subprocess.run(["git", "-C", str(home), *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(home, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Someone")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "someone@example.org")
    subprocess.run(["git", "init", "-q", "-b", "main", str(home)], check=True)


def test_the_steps_come_in_the_settled_order():
    names = [rung.name for rung in upkeep.RUNGS]
    order = ["sync", "usage", "edges", "decay", "core", "reflection", "commit"]

    assert [name for name in names if name in order] == order


@pytest.mark.clause("notes-34", "notes-40", "notes-48", "notes-69")
def test_one_round_builds_state_core_and_reflection(mem, home, stocked):
    report = mem.upkeep()

    assert report.failed == {}
    assert json.loads((home / "_state.json").read_text())["entries"].keys() == {note.id for note in stocked}
    assert {"CORE.md", "REFLECTION.md", "_state.json", "_index.json"} <= {file.name for file in home.iterdir()}


def test_a_second_round_on_the_same_day_changes_no_byte(mem, clock, stocked, snapshot):
    mem.upkeep()
    before = snapshot()
    clock.pass_time(hours=1)
    report = mem.upkeep()

    assert snapshot() == before
    assert report.changed == {}
    assert len(stocked) == 5


def test_a_round_sweeps_once_and_scores_the_notes_once(mem, clock, stocked, monkeypatch):
    from otolith.verbs import reports

    sweeps, scorings, sweep, score = [], [], mem.home.sweep, reports.score_all
    monkeypatch.setattr(mem.home, "sweep", lambda **more: sweeps.append(1) or sweep(**more))
    monkeypatch.setattr(reports, "score_all", lambda *given: scorings.append(1) or score(*given))
    counts = []
    for hours in (0, 1, 24):  # the first round, the second of that day, that of the next
        clock.pass_time(hours=hours)
        if hours == 1:
            mem.get(stocked[0].id)
        mem.upkeep()
        counts.append((len(sweeps), len(scorings)))

    assert counts == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize("name", ["CORE.md", "GLOBAL_MEMORY.md", "topics/life/topic_memory.md"])
def test_a_built_file_that_is_gone_or_changed_comes_back_in_the_second_round(mem, home, name):
    mem.note("Tea", "Steep.", type="fix")
    mem.log("Ann: I am a vegan.", topic="life")
    mem.upkeep()
    before = (home / name).read_text()
    (home / name).write_text("mine\n")
    mem.upkeep()
    edited = (home / name).read_text()
    (home / name).unlink()
    mem.upkeep()

    assert edited == before == (home / name).read_text()
    assert [file.read_text() for file in (home / "archive/edited").rglob("*.md.*")] == ["mine\n"]


def test_not_even_without_the_index(mem, home, clock, stocked, snapshot, tmp_path):
    import shutil

    mem.upkeep()
    before = snapshot()
    shutil.rmtree(tmp_path / "xdg-cache")
    clock.pass_time(hours=1)
    with Memory(home, clock=clock) as again:
        again.upkeep()

    assert snapshot() == before
    assert len(stocked) == 5


def test_the_next_day_only_scores_change(mem, clock, stocked, snapshot):
    mem.upkeep()
    before = snapshot()
    clock.pass_time(days=1)
    mem.upkeep()

    assert {path for path, data in snapshot().items() if before.get(path) != data} == {"_state.json"}
    assert "Last updated: 2026-02-10" in mem.show("core")
    assert len(stocked) == 5


def test_a_use_between_two_rounds_reaches_the_state_and_the_reflection(mem, home, stocked):
    mem.upkeep()
    for _ in range(4):
        mem.get(stocked[3].id)
    mem.upkeep()

    assert json.loads((home / "_state.json").read_text())["entries"][stocked[3].id]["access_count"] == 4
    assert "1. [Note 3]" in (home / "REFLECTION.md").read_text()


@pytest.mark.parametrize("name", ["CORE.md", "REFLECTION.md", "_state.json", "_index.json"])
def test_what_was_deleted_comes_back(mem, home, stocked, name):
    mem.upkeep()
    before = (home / name).read_text()
    (home / name).unlink()
    mem.upkeep()

    assert (home / name).read_text() == before
    assert len(stocked) == 5


def test_a_page_edited_twice_in_a_second_is_kept_aside_twice(mem, home, stocked):
    mem.upkeep()
    for text in ("mine\n", "mine too\n"):
        (home / "CORE.md").write_text(text)
        mem.core()

    assert sorted(file.read_text() for file in (home / "archive/edited").iterdir()) == ["mine\n", "mine too\n"]


def test_a_page_edited_by_hand_is_kept_aside_and_rebuilt(mem, home, stocked):
    mem.upkeep()
    before = (home / "CORE.md").read_text()
    (home / "CORE.md").write_text("mine\n")
    mem.upkeep()

    assert (home / "CORE.md").read_text() == before
    assert [file.read_text() for file in (home / "archive/edited").iterdir()] == ["mine\n"]
    assert len(stocked) == 5


def test_a_long_ledger_becomes_one_line_and_keeps_its_counts(mem, home, stocked, monkeypatch):
    monkeypatch.setattr("otolith.files.ledger.USAGE_BYTES", 100)
    for _ in range(5):
        mem.get(stocked[1].id)
    mem.upkeep()
    ledger, = (home / "log").glob("usage*")
    mem.get(stocked[1].id)
    mem.upkeep()

    assert ledger.read_text().count("\n") == 1
    assert json.loads((home / "_state.json").read_text())["entries"][stocked[1].id]["access_count"] == 6


def test_a_rung_that_fails_does_not_stop_the_others(mem, home, stocked, monkeypatch):
    from otolith.errors import Provider

    def fail(*_):
        raise Provider("no answer")

    monkeypatch.setattr("otolith.verbs.reports.core_rung", fail)
    report = mem.upkeep()

    assert report.failed == {"core": "no answer"}
    assert (home / "REFLECTION.md").exists()
    assert len(stocked) == 5


def test_a_rung_that_fails_is_named_and_gives_the_exit_code(mem, run, home, stocked):
    mem.log("Ann: I am a vegan.", topic="life")
    (home / "GLOBAL_MEMORY.json").write_text('{"schema": "global_memory.v9"}')

    told = run("upkeep")

    assert told.code == 6
    failed, = [line for line in told.err.splitlines() if "failed" in line]
    assert "global failed: " in failed
    assert (home / "CORE.md").exists()
    assert run("upkeep", "--json").json["failed"].keys() == {"global"}
    (home / "GLOBAL_MEMORY.json").unlink()
    assert run("upkeep").code == 0
    assert len(stocked) == 5


def test_a_rung_that_cannot_write_is_named_and_the_later_ones_run(mem, run, home, stocked):
    for goal in ("Brew", "Brew again"):
        mem.record({"goal": goal, "task_type": "other", "success": True, "summary": "done"}, files=["src/tea.py"])
    (home / "work/chapters").write_text("a file where a folder should be")

    told = run("upkeep")

    assert told.code == 7
    failed, = [line for line in told.err.splitlines() if "failed" in line]
    assert failed.startswith("otolith: chapters failed: cannot write work/chapters/chapter_")
    assert {"CORE.md", "REFLECTION.md", "_state.json", "_index.json"} <= {file.name for file in home.iterdir()}
    (home / "work/chapters").unlink()
    assert run("upkeep").code == 0
    assert len(mem.chapters()) == 1
    assert len(stocked) == 5


def test_a_home_in_use_is_told_for_each_rung_and_the_next_round_does_it_all(mem, home, stocked, monkeypatch):
    from otolith.files import lock

    for word in ("one", "two", "three", "four", "five", "six"):
        mem.memo(f"user_prefs_{word}_tea", f"On {word}.")
    holder = subprocess.Popen(
        [sys.executable, "-c", "import fcntl, sys; file = open(sys.argv[1], 'r+'); fcntl.flock(file, fcntl.LOCK_EX); "
         "print(flush=True); sys.stdin.read()", str(home / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"\n"
    monkeypatch.setattr(lock, "LOCK_SECONDS", 0.05)
    try:
        report = mem.upkeep()
    finally:
        holder.communicate()

    assert report.exit_code == 9
    assert {"decay", "core", "reflection", "exports"} <= report.failed.keys()
    assert all("in use by another process" in why for why in report.failed.values())
    assert report.proposals.keys() == {"garden"}
    after = mem.upkeep()
    assert (after.failed, after.exit_code) == ({}, 0)
    assert {"decay", "core", "reflection", "exports"} <= after.changed.keys()
    assert len(stocked) == 5


def test_upkeep_at_the_command_line(mem, run, home, stocked):
    first = run("upkeep", "--json").json

    assert first["changed"]["decay"] == ["_state.json"]
    assert run("upkeep").out == "nothing to do\n"
    assert (home / "CORE.md").exists()
    assert mem.get(stocked[0].id)


def test_a_round_in_which_rungs_failed_is_not_called_nothing(home, run):
    run("note", "Tea", "--text", "Steep.")
    run("upkeep")
    (home / "CORE.md").unlink()
    (home / "CORE.md").mkdir()
    done = run("upkeep")

    assert done.code != 0
    assert "core failed" in done.err
    assert "nothing to do" not in done.out


# git

def test_git_is_off_by_default(mem, home, repository, stocked):
    mem.init()
    mem.upkeep()

    assert git(home, "rev-list", "--all", "--count").strip() == "0"
    assert 'git_commit = "off"' in (home / "otolith.toml").read_text()
    assert (repository, len(stocked)) == (None, 5)


@pytest.mark.usefixtures("repository")
def test_upkeep_commits_once_a_round_if_asked_and_not_without_a_change(home, clock):
    (home / "otolith.toml").write_text('git_commit = "upkeep"\n')
    with Memory(home, clock=clock) as mem:
        mem.init()
        mem.note("Tea", "Steep.")
        report = mem.upkeep()
        mem.upkeep()

    assert report.changed["commit"][0].startswith("git commit ")
    assert git(home, "log", "--format=%s").splitlines() == ["otolith upkeep 2026-02-10"]
    assert "CORE.md" in git(home, "ls-files")
    assert git(home, "status", "--porcelain") == ""


@pytest.mark.usefixtures("repository")
def test_a_session_commits_when_it_ends_if_asked(home, clock):
    (home / "otolith.toml").write_text('git_commit = "session"\n')
    with Memory(home, clock=clock) as mem:
        mem.note("Tea")
        mem.upkeep()
        none = git(home, "rev-list", "--all", "--count").strip()
        mem.end("")

    assert none == "0"
    assert git(home, "rev-list", "--all", "--count").strip() == "1"


def test_without_a_repository_upkeep_says_so_and_goes_on(home, clock):
    home.mkdir()
    (home / "otolith.toml").write_text('git_commit = "upkeep"\n')
    with Memory(home, clock=clock) as mem:
        mem.note("Tea")
        report = mem.upkeep()

        assert report.failed == {}
        assert any("not a git repository" in notice for notice in mem.notices)


@pytest.mark.usefixtures("repository")
def test_a_homes_own_hooks_are_not_run(home, clock, tmp_path):
    (home / "otolith.toml").write_text('git_commit = "upkeep"\n')
    hook = home / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    with Memory(home, clock=clock) as mem:
        mem.note("Tea")
        mem.upkeep()

    assert git(home, "rev-list", "--all", "--count").strip() == "1"
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def committing(home, clock, repository):
    """A home that commits with its upkeep, with one commit."""
    (home / "otolith.toml").write_text('git_commit = "upkeep"\n')
    with Memory(home, clock=clock) as mem:
        mem.note("Tea", "Steep.")
        mem.upkeep()
        yield mem


def test_upkeep_commits_the_homes_own_files_and_leaves_what_is_staged(home, committing):
    (home / "sub").mkdir()
    for name in ("sub/.env", "notes-private.txt", "staged.txt", "graph/.secret"):
        (home / name).write_text("mine\n")
    git(home, "add", "staged.txt")
    gone = committing.note("Gone", "Soon.")
    committing.note("Käse: *", "Cut.")
    committing.upkeep()
    git(home, "rm", "-q", committing.get(gone.id).path)
    committing.note("Bread", "Bake.")
    committing.upkeep()
    tracked = git(home, "-c", "core.quotePath=off", "ls-tree", "-r", "--name-only", "HEAD").split()

    assert sorted(one.partition("-")[0] for one in tracked if one.startswith("graph/")) == [
        "graph/general/bread", "graph/general/käse", "graph/general/tea"]
    assert not {"sub/.env", "notes-private.txt", "staged.txt", "graph/.secret", "_config.json"} & set(tracked)
    assert git(home, "status", "--porcelain", "-uall").splitlines() == [
        "A  staged.txt", "?? graph/.secret", "?? notes-private.txt", "?? sub/.env"]


@pytest.mark.usefixtures("repository")
def test_a_home_in_a_folder_of_a_repository_is_committed_alone(tmp_path, home, clock):
    subprocess.run(["mv", str(home / ".git"), str(tmp_path)], check=True)
    (home / "otolith.toml").write_text('git_commit = "upkeep"\n')
    (tmp_path / "CORE.md").write_text("not ours\n")
    with Memory(home, clock=clock) as mem:
        mem.note("Tea")
        mem.upkeep()

    assert "home/CORE.md" in git(tmp_path, "ls-files").split()
    assert "CORE.md" not in git(tmp_path, "ls-files").split()


@pytest.mark.parametrize("how", ["merge", "cherry-pick", "rebase"])
def test_a_conflict_in_git_stays_one(home, committing, how):
    file = home / committing.get("Tea").path
    text = file.read_text()
    for branch, word in (("other", "Boil."), ("main", "Wait.")):
        git(home, "checkout", "-q", "-B", branch, "main")
        file.write_text(text.replace("Steep.", word))
        if branch == "other":
            git(home, "commit", "-qam", "other")
            git(home, "checkout", "-q", "main")
    git(home, "commit", "-qam", "mine")
    subprocess.run(["git", "-C", str(home), how, "other"], capture_output=True, check=False)
    before = git(home, "ls-files", "--unmerged")
    assert before
    committing.note("Bread", "Bake.")
    report = committing.upkeep()

    assert git(home, "ls-files", "--unmerged") == before
    assert "commit" not in report.changed
    assert any("not finished" in notice for notice in committing.notices)
    file.write_text(text)
    git(home, "add", str(file))
    staged = git(home, "diff", "--cached", "--name-only")
    committing.upkeep()
    assert git(home, "diff", "--cached", "--name-only") == staged


# Timers

def test_a_timer_is_printed_and_written_only_when_asked(run, home, tmp_path):
    shown = run("upkeep", "--install-timer")
    folder = tmp_path / "xdg-config/systemd/user"

    assert "OnCalendar=daily" in shown.out
    assert f"upkeep --home {home}" in shown.out
    assert "17 3 * * * " in shown.out
    assert not folder.exists()
    assert run("upkeep", "--install-timer", "--write").code == 0
    assert sorted(file.suffix for file in folder.iterdir()) == [".service", ".timer"]
    assert run("upkeep", "--write").code == 2
    assert not home.exists() or os.listdir(home) == []


@pytest.mark.parametrize(("home", "word"), [
    ("/home/a b/100% \"mine\"", '"/home/a b/100%% \\"mine\\""'), ("/srv/$HOME", '"/srv/$$HOME"'), ("/srv/mem", "/srv/mem")])
def test_strange_folders_are_quoted_for_systemd(home, word):
    from otolith.doors.cli.tenders import cron_line, unit_files

    service = next(text for name, text in unit_files(home, ["otolith", "upkeep", "--home", home]).items() if "service" in name)

    assert f"ExecStart=otolith upkeep --home {word}\n" in service
    assert "%" not in cron_line(["otolith", home]).replace("\\%", "")
