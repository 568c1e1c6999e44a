"""A home in git: two clones of it become one again, record by record, and `sync --git` carries that out."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from otolith.errors import Conflict, Invalid, OtolithError
from otolith.files.codec import decode
from otolith.files.paths import former_kind
from otolith.files.threeway import merge
from otolith.memory import Memory
from otolith.model.kinds import KINDS, NOTE_LINKS

NOTE = "graph/general/tea-a1b2c3.md"


def note(title: str = "Tea", text: str = "Steep.\n\nDrink.", **more: Any) -> bytes:
    fields = {"id": "a1b2c3d4-0000-4000-8000-000000000000", "type": "general", "title": title, "importance": 0.5,
              "tags": ["drinks"], "created": "2026-02-10T21:37:00+00:00", "updated": "2026-02-10T21:37:00+00:00", **more}
    lines = [f"{key}: {json.dumps(value)}" for key, value in fields.items()]
    return ("---\n" + "\n".join(lines) + f"\n---\n\n{text}\n").encode()


def merged(base: bytes | None, ours: bytes, theirs: bytes, path: str = NOTE) -> str:
    """The merge, which must be the same whoever merges, and need nobody."""
    one, other = merge(path, base, ours, theirs), merge(path, base, theirs, ours)

    assert not one.disputed
    assert not other.disputed
    if former_kind(path) in KINDS and not path.startswith("episodes/"):
        assert decode(path, one.data, lambda: 0.0) == decode(path, other.data, lambda: 0.0)
    else:
        assert one.data == other.data
    return one.data.decode()


def test_two_fields_changed_on_two_sides_are_both_changed() -> None:
    text = merged(note(), note(title="Green tea"), note(importance=0.9))

    assert 'title: "Green tea"' in text
    assert "importance: 0.9" in text


def test_tags_are_a_set_and_the_later_change_is_the_time_of_change() -> None:
    text = merged(note(tags=["a", "b"]), note(tags=["a", "b", "c"], updated="2026-02-11T00:00:00+00:00"),
                  note(tags=["b", "d"], updated="2026-02-12T00:00:00+00:00"))

    assert "tags: [b, c, d]" in text
    assert "2026-02-12" in text


def test_relations_are_joined_by_target_and_type() -> None:
    def to(*targets: str) -> list[dict[str, str]]:
        return [{"target": target, "type": "SOLVES", "direction": "outgoing"} for target in targets]

    text = merged(note(relations=to("one", "two")), note(relations=to("one", "two", "three")), note(relations=to("two", "four")))

    assert all(f"target: {name}" in text for name in ("two", "three", "four"))
    assert "target: one" not in text


def test_paragraphs_changed_on_two_sides_are_both_changed() -> None:
    text = merged(note(text="One.\n\nTwo.\n\nThree."), note(text="One!\n\nTwo.\n\nThree."),
                  note(text="One.\n\nTwo.\n\nThree.\n\nFour."))

    assert text.endswith("One!\n\nTwo.\n\nThree.\n\nFour.\n")


def test_comments_and_keys_of_other_tools_stay() -> None:
    ours = note().replace(b"tags:", b"# mine\nmood: calm\ntags:")

    for text in (merged(note(), ours, note(title="Green")), merged(note(), note(title="Green"), ours)):
        assert "# mine\nmood: calm\n" in text
        assert 'title: "Green"' in text


def test_what_both_changed_differently_is_marked_with_both_texts_and_nothing_else_is() -> None:
    result = merge(NOTE, note(), note(title="Green tea", importance=0.7), note(title="Black tea"))

    assert result.disputed
    assert b'<<<<<<< ours\ntitle: "Green tea"\n=======\ntitle: "Black tea"\n>>>>>>> theirs\n' in result.data
    assert result.data.count(b"<<<<<<<") == 1
    assert b"importance: 0.7" in result.data


def test_a_memo_said_on_two_machines_is_one_memo_said_twice() -> None:
    def memo(*said: str, times: int, tags: str = "tea") -> bytes:
        lines = "".join(f"**Said:** {line}\n" for line in said)
        return (f"# Steep tea\n**Created:** 2026-02-10 21:37\n**Category:** past\n**Tags:** [{tags}]\n**Says:** rule\n"
                f"{lines}**Times:** {times}\n---\nSteep tea for three minutes.\n").encode()

    first = "2026-02-10T21:37:00Z s1 1"
    text = merged(memo(first, times=1), memo(first, "2026-02-11T08:00:00Z s2 1", times=2),
                  memo(first, "2026-02-12T08:00:00Z s3 4", times=2, tags="tea, habit"), "allmemories/steep_tea.md")

    assert text.count("**Said:**") == 3
    assert "**Tags:** [tea, habit]" in text


def test_a_day_written_on_two_machines_has_every_block_whole() -> None:
    def block(time: str, heading: str) -> str:
        return f"## {time} - {heading}\n- **Type:** diary\n- **Tags:** \n- **Summary:** {heading}.\n\n"

    base = "# 2026-02-10\n\n" + block("08:00", "Woke")
    text = merged(base.encode(), (base + block("10:00", "Tea") + block("12:00", "Lunch")).encode(),
                  (base + block("11:00", "Walk")).encode(), "episodes/2026-02-10.md")

    assert text == base + block("10:00", "Tea") + block("11:00", "Walk") + block("12:00", "Lunch")


def test_json_records_are_merged_by_key_and_keep_their_order() -> None:
    def chunk(**more: Any) -> bytes:
        value = {"id": "chunk-2026-02-10-a1b2c3d4", "content": "Tea.", "tokens": 2, "type": "fact",
                 "metadata": {"created": "2026-02-10T21:37:00Z", "confidence": 0.7, "access_count": 0},
                 "links": {}, "tags": ["x"], **more}
        return json.dumps(value, indent=2).encode()

    text = merged(chunk(), chunk(tags=["x", "y"]), chunk(type="note"), "chunks/2026-02/chunk-2026-02-10-a1b2c3d4.json")

    assert json.loads(text)["tags"] == ["x", "y"]
    assert json.loads(text)["type"] == "note"
    assert list(json.loads(text))[:3] == ["id", "content", "tokens"]


@pytest.mark.parametrize("path", ["CORE.md", "GLOBAL_MEMORY.json", "topics/tea/topic_memory.json", "topics/tea/topic_memory.md"])
def test_a_built_page_stays_ours_until_upkeep_builds_it(path: str) -> None:
    assert merge(path, b"old\n", b"ours\n", b"theirs\n") == (b"ours\n", False)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"---\n: [\n---\n", b"no front matter\n"])
def test_a_file_that_is_no_record_is_merged_by_its_lines(data: bytes) -> None:
    assert merge(NOTE, b"one\ntwo\nthree\n", b"ONE\ntwo\nthree\n", b"one\ntwo\nTHREE\n") == (b"ONE\ntwo\nTHREE\n", False)
    assert merge(NOTE, note(), data, note(title="Other")).disputed


# Two clones


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(autouse=True)
def _somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


class Clones:
    """Two clones of one home, and the bare repository between them."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder, self.clock = folder, clock
        self.bare = folder / "bare.git"
        subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(self.bare)], check=True)
        self.a = self.open("a")
        self.a.init(git=True)
        git(self.path("a"), "symbolic-ref", "HEAD", "refs/heads/main")
        git(self.path("a"), "remote", "add", "origin", str(self.bare))

    def path(self, name: str) -> Path:
        return self.folder / name

    def open(self, name: str) -> Memory:
        return Memory(self.path(name), clock=self.clock)

    def clone(self) -> Memory:
        self.a.sync(git=True)
        git(self.folder, "clone", "--quiet", str(self.bare), str(self.path("b")))
        self.b = self.open("b")
        self.b.init(git=True)
        return self.b

    def close(self) -> None:
        for mem in (self.a, getattr(self, "b", None)):
            if mem:
                mem.close()


@pytest.fixture
def clones(tmp_path: Path, clock: Clock) -> Iterator[Clones]:
    pair = Clones(tmp_path, clock)
    yield pair
    pair.close()


def test_what_one_clone_writes_the_other_finds_after_both_synced(clones: Clones) -> None:
    clones.a.note("Kettle", "Water at 80 degrees.")
    b = clones.clone()
    b.note("Pot", "Clay keeps warm.")

    b.sync(git=True)
    changes = clones.a.sync(git=True)

    assert clones.a.recall("clay pot").hits[0].title == "Pot"
    assert b.recall("water degrees").hits[0].title == "Kettle"
    assert [change.what for change in changes][:2] == ["merged", "pushed"]


def test_a_second_sync_does_nothing(clones: Clones) -> None:
    clones.a.note("Kettle", "Water.")
    clones.clone()
    clones.a.sync(git=True)
    head = git(clones.path("a"), "rev-parse", "HEAD")

    changes = clones.a.sync(git=True)

    assert [change.what for change in changes] == ["pushed"]
    assert git(clones.path("a"), "rev-parse", "HEAD") == head


def test_one_record_edited_in_two_clones_has_both_edits(clones: Clones) -> None:
    tea = clones.a.note("Tea", "Steep for three minutes.", tags=["drinks"])
    b = clones.clone()
    clones.a.edit(tea.id, title="Green tea", tags=["drinks", "green"])
    b.edit(tea.id, importance=0.9, tags=["drinks", "hot"])
    other = b.note("Kettle", "Water.")
    b.link(other.id, "SOLVES", tea.id)

    b.sync(git=True)
    clones.a.sync(git=True)
    b.sync(git=True)

    for mem in (clones.a, b):
        record = mem.get(tea.id).record
        assert (record.title, record.importance, record.tags) == ("Green tea", 0.9, ("drinks", "green", "hot"))
        assert [relation.type for relation in record.relations] == ["SOLVES"]
        assert not mem.check()


def test_a_true_disagreement_is_shown_with_both_texts_and_then_gone_on_with(clones: Clones) -> None:
    tea = clones.a.note("Tea", "Steep for three minutes.")
    b = clones.clone()
    clones.a.edit(tea.id, title="Green tea")
    b.edit(tea.id, title="Black tea")
    b.sync(git=True)

    with pytest.raises(Conflict, match="both sides changed"):
        clones.a.sync(git=True)
    finding = next(found for found in clones.a.check() if found.code == "merge-markers")
    with pytest.raises(Conflict, match="both sides changed"):
        clones.a.sync(git=True)
    path = clones.path("a") / finding.path
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True)
                            if not line.startswith(("<<<<", "====", ">>>>")) and "Black" not in line))
    changes = clones.a.sync(git=True)
    b.sync(git=True)

    assert "Green tea" in finding.message
    assert "Black tea" in finding.message
    assert "merged" in [change.what for change in changes]
    assert b.get(tea.id).title == clones.a.get(tea.id).title == "Green tea"


def test_somebody_elses_merge_is_left_alone(clones: Clones) -> None:
    clones.a.note("Tea", "Steep.")
    clones.clone()
    (clones.path("a") / ".git" / "MERGE_HEAD").write_text(git(clones.path("a"), "rev-parse", "HEAD"))
    clones.a.note("Pot", "Clay.")
    before = git(clones.path("a"), "status", "--porcelain")

    with pytest.raises(Conflict, match="is not finished here"):
        clones.a.sync(git=True)

    assert git(clones.path("a"), "status", "--porcelain") == before


def test_without_a_remote_it_is_committed_here_and_said_so(mem: Memory, home: Path) -> None:
    mem.note("Tea", "Steep.")
    mem.init(git=True)

    mem.sync(git=True)

    assert "committed here only" in mem.home.notices[-1]
    assert not git(home, "status", "--porcelain")


def test_without_a_repository_it_says_how_to_make_one(mem: Memory) -> None:
    mem.note("Tea", "Steep.")

    with pytest.raises(Invalid, match="not a git repository") as error:
        mem.sync(git=True)

    assert "otolith init --git" in error.value.hint


def test_a_remote_that_is_gone_is_one_line_and_loses_nothing(clones: Clones) -> None:
    tea = clones.a.note("Tea", "Steep.")
    clones.clone()
    shutil.rmtree(clones.bare)
    clones.a.edit(tea.id, importance=0.9)

    with pytest.raises(OtolithError, match="git could not fetch"):
        clones.a.sync(git=True)

    assert clones.a.get(tea.id).record.importance == 0.9


def test_a_home_within_a_repository_of_something_else_merges_as_well(tmp_path: Path, clock: Clock) -> None:
    git(tmp_path, "init", "--quiet", "-b", "main", "work")
    root = tmp_path / "work"
    with Memory(root / "memory", clock=clock) as mem:
        tea = mem.note("Tea", "Steep.", tags=["a"])
        mem.init(git=True)
        mem.sync(git=True)
        git(root, "checkout", "--quiet", "-b", "other")
        mem.edit(tea.id, tags=["a", "b"])
        mem.sync(git=True)
        git(root, "checkout", "--quiet", "main")
        mem.sync()
        mem.edit(tea.id, tags=["a", "c"])
        mem.sync(git=True)
        git(root, "merge", "--quiet", "--no-edit", "other")

        assert mem.get(tea.id).record.tags == ("a", "b", "c")


def test_built_pages_of_another_clone_are_not_taken_for_edits_by_hand(clones: Clones) -> None:
    clones.a.note("Kettle", "Water at 80 degrees.", type="decision", importance=0.9)
    clones.a.upkeep()
    b = clones.clone()
    b.note("Pot", "Clay keeps warm.", type="decision", importance=0.9)
    b.upkeep()
    b.sync(git=True)

    clones.a.sync(git=True)
    clones.a.upkeep()

    assert "Pot" in (clones.path("a") / "CORE.md").read_text()
    assert not (clones.path("a") / "archive" / "edited").exists()


def test_the_command_line_syncs(run: Callable[..., Ran], home: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(tmp_path / "bare.git")], check=True)
    assert run("init", "--git").code == 0
    git(home, "remote", "add", "origin", str(tmp_path / "bare.git"))
    run("note", "Tea", "--text", "Steep.")

    done = run("sync", "--git", "--json")

    assert done.code == 0, done.err
    assert [item["change"] for item in done.json["items"]][:2] == ["committed", "pushed"]


# Any interleaving


TITLES = ("Tea", "Kettle", "Pot", "Cup", "Water", "Leaf")


def act(mem: Memory, dice: random.Random, own: list[str], side: str) -> None:
    """One verb on what this side may decide alone, or on what both sides may say at once."""
    shared = [row.id for row in mem.home.index.cards.rows_of(SHARED).values()]
    number = dice.randrange(10**6)
    match dice.randrange(9):
        case 0 | 1:
            own.append(mem.note(dice.choice(TITLES), f"About {number}.", tags=[dice.choice("abc")]).id)
        case 2:
            record = dice.choice(shared)
            mem.edit(record, tags=sorted({*mem.get(record).record.tags, f"{side}{number % 7}"}))
        case 3:  # each side has fields of its own
            record = dice.choice(shared)
            mem.edit(record, **({"importance": number / 10**6} if side == "a" else {"text": f"Now {number}."}))
        case 4:
            first, second = dice.sample(sorted({*shared, *own}), 2)
            mem.link(first, dice.choice(NOTE_LINKS), second)
        case 5:
            mem.log([{"role": "user", "content": f"I prefer {dice.choice(TITLES).lower()} over coffee {number}."}], topic="tea")
        case 6:
            mem.remember(f"We decided on {dice.choice(TITLES)} number {number}.", conversation_id="c")
        case 7:
            mem.episode(f"Drank {dice.choice(TITLES)}", summary=str(number))
        case 8 if own:
            mem.forget(own.pop(dice.randrange(len(own))))


SHARED: list[str] = []


def told(mem: Memory) -> dict[str, Any]:
    """What the home answers, without what belongs to one machine: paths of its exports, use, the last look."""
    mem.reindex()
    with mem.home.uncounted():
        items, total = mem.list(limit=None)
        answer: dict[str, Any] = {"list": items, "total": total, "tags": mem.tags(),
                                  "facts": [fact.to_dict() for fact in mem.facts(current=True)]}
        for item in items:
            answer[item["id"]] = [mem.related(item["id"], 2), mem.get(item["id"], "full").to_dict()]
        for question in (*TITLES, "what do I prefer"):
            answer[question] = [(hit.id, hit.text) for hit in mem.recall(question, limit=20).hits]
    return answer


@pytest.mark.parametrize("seed", range(4))
def test_any_interleaving_of_verbs_merged_in_either_order_gives_the_same_answers(clones: Clones, clock: Clock, seed: int,
                                                                                 tmp_path: Path) -> None:
    dice = random.Random(seed)
    SHARED[:] = [clones.a.note(title, f"Shared {title}.").id for title in TITLES[:4]]
    b = clones.clone()
    sides = [(clones.a, list[str](), "a"), (b, list[str](), "b")]
    for _ in range(60):
        clock.pass_time(seconds=dice.randrange(3))
        mem, own, side = dice.choice(sides)
        act(mem, dice, own, side)
    for name in "ab":
        sides["ab".index(name)][0].close()
        git(clones.path(name), "add", "--all")
        git(clones.path(name), "commit", "--quiet", "--allow-empty", "-m", "mine")
        shutil.copytree(clones.path(name), tmp_path / f"merged-{name}", ignore=shutil.ignore_patterns("log"))  # a machine's own
    for name, other in ("ab", "ba"):
        git(tmp_path / f"merged-{name}", "pull", "--quiet", "--no-rebase", "--no-edit", str(clones.path(other)), "main")

    answers = []
    for name in "ab":
        with Memory(tmp_path / f"merged-{name}", clock=clock) as mem:
            answers.append(told(mem))

    assert answers[0].keys() == answers[1].keys()
    for name in answers[0]:
        assert answers[0][name] == answers[1][name], name


def test_the_driver_answers_bad_calls_in_one_line(tmp_path: Path) -> None:
    for words in ([], ["x"], ["a", "b", "c", "d"]):
        done = subprocess.run([sys.executable, "-m", "otolith.doors.merge_driver", *words], cwd=tmp_path, capture_output=True,
                              text=True, check=False)

        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
