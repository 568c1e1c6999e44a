"""The command line of the ground: answers on stdout, one clear line on stderr, an exit code of its own, never a traceback."""


from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Clock, Ran
from otolith.doors.cli import main
from otolith.memory import Memory
from otolith.verbs.table import table

Run = Callable[..., Ran]
VERBS = [row.name for row in table().values() if "cli" in row.doors]
TEA = ("note", "Tea", "--text", "Steep for three minutes.", "--tag", "drinks")


@pytest.fixture
def tea(run: Run) -> str:
    return str(run(*TEA, "--json").json["id"])


@pytest.fixture
def call(home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line without a process of its own, where dozens of calls are made."""
    monkeypatch.setenv("OTOLITH_HOME", str(home))

    def run(*words: str) -> Ran:
        capfd.readouterr()
        code = main(words)
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run


def clear(told: Ran, code: int) -> str:
    """The one line a failed command prints."""
    assert told.code == code, told
    assert told.out == ""
    assert told.err.startswith("otolith: ")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    return told.err


# Failing


FAILURES: list[tuple[int, tuple[str, ...]]] = [
    (2, ("frobnicate",)), (2, ("note",)), (2, ("note", "T", "--importance", "high")), (2, ("--frob",)), (2, ("edit", "x")),
    (2, ("edit", "{id}", "--set", "title")), (2, ("list", "--kind", "dream")), (2, ("completion", "tcsh")), (2, ("get",)), (2, ("get", "a", "b")),
    (3, ("get", "nothing")), (3, ("forget", "nothing")), (3, ("restore", "nothing")), (3, ("pin", "nothing")),
    (3, ("related", "nothing")), (3, ("link", "{id}", "SOLVES", "nothing")), (3, ("unlink", "{id}", "SOLVES", "{id}")),
    (4, ("note", "T", "--text", "x", "--type", "nonsense")), (4, ("note", "T", "--text", "x", "--importance", "7")),
    (4, ("note", " ", "--text", "x")), (4, ("get", "../../etc/passwd")), (4, ("memo", "stuff", "--text", "x")),
    (4, ("memo", "../x", "--text", "x")), (4, ("edit", "{id}", "--importance", "7")),
    (4, ("edit", "{id}", "--set", "tags=redis")), (4, ("edit", "{id}", "--set", "origin={}")),
    (4, ("edit", "{id}", "--set", "nonsense=1")), (4, ("get", "{id}", "--depth", "abyss")),
    (4, ("link", "{id}", "LIKES", "{id}")), (4, ("related", "{id}", "--depth", "0")), (4, ("list", "--since", "yesterdayish")),
    (4, ("note", "T\udcff", "--text", "x")), (4, ("config", "--provider", "oracle")), (4, ("restore", "{id}")),
    (10, ("forget", "{id}", "--purge")),
]


@pytest.mark.parametrize(("code", "words"), FAILURES, ids=[f"{code} {' '.join(words)!a}" for code, words in FAILURES])
def test_a_failed_command_says_why_in_one_line_and_exits_with_its_own_code(
        call: Run, mem: Memory, snapshot: Callable[[], dict[str, bytes]], code: int, words: tuple[str, ...]) -> None:
    tea = mem.note("Tea", "Steep for three minutes.").id
    before = snapshot()
    given = [word.replace("{id}", tea) for word in words]

    clear(call(*given), code)

    error = call(*given, "--json")
    assert (error.code, error.out) == (code, "")
    assert set(error.error) == {"code", "message", "hint"}
    assert error.err.count("\n") == 1
    assert snapshot() == before


def test_stdin_that_is_not_utf_8_is_refused(run: Run) -> None:
    clear(run("note", "T", "--text", "-", stdin=b"caf\xe9"), 2)


def test_a_nul_byte_on_stdin_is_refused(run: Run) -> None:
    clear(run("note", "T", "--text", "-", stdin=b"a\0b"), 4)


@pytest.mark.parametrize(("path", "text"), [
    ("_config.json", "{"), ("_config.json", "[]"), ("otolith.toml", "= ="),
    ("otolith.toml", 'projects = "one"'), ("otolith.toml", "\udcff"), ("otolith.toml", "caps = 1" + "0" * 5000)])
def test_a_broken_settings_file_is_named(run: Run, tea: str, home: Path, path: str, text: str) -> None:
    (home / path).write_bytes(text.encode(errors="surrogateescape"))

    told = clear(run("get", tea), 4)

    assert path in told or "provider" in told


def test_settings_under_their_former_name_are_told_to_be_renamed(run, home: Path) -> None:
    home.mkdir()
    (home / "strata.toml").write_text('home_id = "11111111-1111-4111-8111-111111111111"\n')

    refused = run("stats")
    (home / "strata.toml").rename(home / "otolith.toml")

    assert refused.code == 4
    assert "rename that file to otolith.toml" in refused.err
    assert run("stats").code == 0


@pytest.mark.parametrize("path", ["_config.json", "otolith.toml"])
def test_nobody_waits_for_a_settings_file_that_is_a_pipe_or_follows_a_link(run: Run, tea: str, home: Path, path: str) -> None:
    (home / path).unlink(missing_ok=True)
    os.mkfifo(home / path)
    clear(run("get", tea), 4)
    (home / path).unlink()
    (home / path).symlink_to("/etc/passwd")
    clear(run("get", tea), 4)


def test_a_home_that_is_a_file_is_one_clear_line(run: Run, home: Path) -> None:
    home.write_text("I am a file.")

    told = run(*TEA)

    assert told.code in (4, 7)
    clear(told, told.code)
    assert home.read_text() == "I am a file."


def test_the_folder_one_stands_in_may_be_gone(run: Run, tea: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && unset OTOLITH_PROJECT && {sys.executable} -m otolith get {tea}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False,
                          env={**os.environ, "OTOLITH_HOME": str(tmp_path / "home")})

    assert (done.returncode, "Steep" in done.stdout) == (0, True), done.stderr


# A home that takes no writes


AS_NOBODY = """
import importlib, os, pkgutil, sys
import otolith, tomllib, uuid, yaml_rs, encodings.idna
for found in pkgutil.walk_packages(otolith.__path__, "otolith."):  # afterwards this Python may be out of reach
    if found.name.split(".")[1] not in ("__main__", "doors", "providers") or found.name.startswith("otolith.doors.cli"):
        importlib.import_module(found.name)
from otolith.doors.cli import main
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(main(sys.argv[1:]))
"""


def as_nobody(home: Path, *words: str, env: dict[str, str]) -> Ran:
    """The command as somebody who may look at the home but not write to it."""
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, *words], capture_output=True, text=True, check=False, cwd="/",
                          env={**os.environ, "OTOLITH_HOME": str(home), **env})
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def readable(run: Run, tea: str, home: Path, tmp_path: Path) -> Iterator[tuple[str, Path, dict[str, str]]]:
    """A home that others may read, in a place they can reach, and a cache of their own."""
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    run("reindex")
    place = Path("/tmp") / f"otolith-readable-{os.getpid()}"
    shutil.copytree(home, place / "home")
    for path in [place, *place.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    cache = place / "cache"
    cache.mkdir(mode=0o777)
    cache.chmod(0o777)
    yield tea, place / "home", {"XDG_CACHE_HOME": str(cache), "XDG_CONFIG_HOME": str(cache), "HOME": str(cache)}
    shutil.rmtree(place)


def test_a_read_only_home_is_read_and_refuses_writes_in_one_line(readable: tuple[str, Path, dict[str, str]]) -> None:
    tea, home, env = readable
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}

    for words in (("get", tea), ("list",), ("check",), ("stats",), ("sync",), ("tags",)):
        told = as_nobody(home, *words, env=env)
        assert (told.code, told.err) == (0, ""), words
    for words in (TEA, ("edit", tea, "--importance", "0.9"), ("forget", tea), ("pin", tea), ("episode", "x"), ("init",),
                  ("memo", "user_likes_green_tea", "--text", "x"), ("config", "--provider", "none")):
        assert "cannot write" in clear(as_nobody(home, *words, env=env), 7), words

    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_one_clear_line_and_loses_nothing(run: Run, small: Path) -> None:
    home = {"OTOLITH_HOME": str(small / "home")}
    kept = [run("note", f"Note {at}", "--text", "x" * 4000, "--json", env=home).json["id"] for at in range(3)]
    try:
        with open(small / "filler", "wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
    except OSError:
        pass

    told = clear(run("note", "One too many", "--text", "y" * 9000, env=home), 7)
    assert "full" in told
    clear(run("edit", kept[0], "--text", "z" * 9000, env=home), 7)
    assert {item["id"] for item in run("list", "--kind", "note", "--json", env=home).json["items"]} == set(kept)
    assert run("get", kept[0], "--json", env=home).json["record"]["text"] == "x" * 4000
    (small / "filler").unlink()
    assert run("note", "Room again", "--text", "y", env=home).code == 0
    assert run("check", env=home).code == 0
    assert not list((small / "home").rglob(".otolith-*"))


# Answering


def test_a_record_is_answered_in_one_shape(run: Run, tea: str) -> None:
    memo = ("memo", "user_likes_green_tea", "--text", "Green.")
    for words in (("get", tea), TEA, ("edit", tea, "--importance", "0.9"), memo):
        told = run(*words, "--json").json
        assert set(told) >= {"id", "kind", "path", "record"}  # a note may come with proposals
        assert told["record"]["text"]
    run("forget", tea)
    assert set(run("restore", tea, "--json").json) == {"id", "kind", "path", "record"}


def test_lists_are_answered_in_one_shape(run: Run, tea: str) -> None:
    other = run("note", "Thirst", "--text", "Often.", "--type", "problem", "--json").json["id"]
    run("link", tea, "SOLVES", other)
    for words in (("list",), ("list", "--forgotten"), ("related", tea), ("tags",), ("sync",)):
        told = run(*words, "--json").json
        assert set(told) == {"items", "total"}
        assert isinstance(told["items"], list)
    assert run("list", "--json", "--limit", "1").json["total"] > 1
    assert run("related", tea, "--json").json["items"][0]["id"] == other


def test_check_answers_its_findings_and_exits_with_6(run: Run, tea: str, home: Path) -> None:
    assert run("check", "--json") == Ran(0, '{"findings": []}\n', "")
    (home / "graph/general/bad.md").write_text("---\nid: 1\nid: 2\n---\n")

    told = run("check", "--json")

    assert told.code == 6
    finding, = told.json["findings"]
    assert list(finding) == ["path", "line", "code", "message", "remedy"]
    assert (finding["path"], finding["line"], finding["code"]) == ("graph/general/bad.md", 3, "duplicate-key")
    plain = run("check")
    assert plain.code == 6
    assert plain.out.startswith("graph/general/bad.md:3: duplicate-key: ")


def test_ten_kinds_of_damage_are_each_named(run: Run, tea: str, home: Path, tmp_path: Path) -> None:
    base = (home / run("get", tea, "--json").json["path"]).read_text()
    notes = home / "graph/general"
    (notes / "dup.md").write_text(base)
    (notes / "open.md").write_text("---\ntitle: x\n")
    (notes / "bytes.md").write_bytes(b"\xff\xfe")
    (notes / "nul.md").write_bytes(b"a\0b")
    (notes / "merge.md").write_text("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")
    (notes / "type.md").write_text("---\ntype: dream\n---\n")
    (notes / "big.md").write_text("---\na: " + "x" * 3_000_000 + "\n---\n")
    (notes / "link.md").symlink_to(tmp_path)
    os.mkfifo(notes / "pipe.md")
    (notes / "tea (conflicted copy 2026-02-10).md").write_text(base)
    (home / "chunks/2026-02").mkdir(parents=True)
    (home / "chunks/2026-02/chunk-2026-02-10-00000000.json").write_text('{"id": "chunk')
    with (home / "index/audit.log").open("ab") as file:
        file.write(b'{"torn')
    (home / "links.jsonl").write_text('{"op":"add","from":"nowhere","type":"cites","to":"nothing"}\n')

    findings = run("check", "--json").json["findings"]

    assert {finding["code"] for finding in findings} == {
        "duplicate-id", "front-matter", "encoding", "nul", "merge-markers", "invalid", "too-large", "symlink", "not-a-file",
        "copy", "json", "line", "dangling-link"}
    assert all(finding["remedy"] for finding in findings)


def test_recall_answers_in_the_documented_shape(run: Run, tea: str) -> None:
    told = run("recall", "how", "long", "to", "steep", "--json").json

    assert set(told) >= {"query", "depth", "budget", "tokens", "enough", "index_lag", "hits"}
    hit = next(hit for hit in told["hits"] if hit["id"] == tea)
    assert set(hit) >= {"id", "kind", "type", "title", "text", "score", "why", "created", "tags", "path", "origin",
                        "superseded_by", "tokens"}


def test_finding_nothing_is_no_failure(run: Run) -> None:
    assert run("recall", "anything").code == 0
    assert run("list").code == 0
    assert run("recall", "anything", "--json").json["hits"] == []


def test_looking_into_a_home_that_is_not_there_does_not_make_it(run: Run, home: Path) -> None:
    run("list")
    run("recall", "x")
    run("check")
    run("stats")

    assert not home.exists()


def test_every_verb_explains_itself_with_an_example(run: Run) -> None:
    listed = run("help", "all").out
    for verb in VERBS:
        assert f"\n  {verb}" in listed
    for verb in ("note", "get", "forget", "sync"):
        told = run(verb, "--help")
        assert told.code == 0
        assert "examples:\n  otolith " in told.out


def test_a_misspelt_verb_gets_a_suggestion(run: Run) -> None:
    assert "'recall'" in run("recal", "x").err


def test_the_home_is_the_flag_else_the_variable_else_the_users_own(run: Run, tmp_path: Path) -> None:
    run(*TEA, "--home", str(tmp_path / "flag"))
    assert (tmp_path / "flag/graph").is_dir()
    run("note", "T", "--text", "x", env={"OTOLITH_HOME": ""})
    assert (tmp_path / "xdg-data/otolith/graph").is_dir()


def test_a_piped_list_is_one_line_a_record(run: Run, tea: str) -> None:
    run("note", "Two\nlines\tand tabs", "--text", "x")

    lines = run("list", "--kind", "note").out.splitlines()

    assert len(lines) == 2
    assert all(line.count("\t") == 5 for line in lines)


def test_text_comes_from_an_option_or_from_stdin(run: Run) -> None:
    told = run("note", "Piped", stdin="From a pipe.\n", env={}).out
    note = told.split()[2]

    assert run("get", note, "--json").json["record"]["text"] == "From a pipe."


def on_a_terminal(home: Path, *words: str, answer: bytes = b"") -> str:
    """What a person at a terminal sees."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "otolith", *words], stdin=follower, stdout=follower, stderr=follower,
                               env={**os.environ, "OTOLITH_HOME": str(home), "TERM": "xterm", "COLUMNS": "120"})
    os.close(follower)
    if answer:
        os.write(leader, answer)
    seen = b""
    try:
        while part := os.read(leader, 65536):
            seen += part
    except OSError:
        pass  # the terminal is closed once the command has ended
    process.wait()
    os.close(leader)
    return seen.decode()


def test_what_could_act_on_a_terminal_is_shown_escaped_there(run: Run, home: Path) -> None:
    evil = "red \x1b[31malert \u202e txt"
    note = run("note", "Evil", "--text", evil, "--json").json["id"]

    assert evil in run("get", note).out
    seen = on_a_terminal(home, "get", note)
    assert "\x1b[31m" not in seen
    assert "\u202e" not in seen
    assert "alert" in seen


def test_a_terminal_gets_a_table_with_a_heading(run: Run, home: Path, tea: str) -> None:
    seen = on_a_terminal(home, "list", "--kind", "note")

    assert "title" in seen
    assert tea[:6] in seen


def test_a_purge_asks_first(run: Run, home: Path, tea: str) -> None:
    assert "cannot be undone" in on_a_terminal(home, "forget", tea, "--purge", answer=b"n\n")
    assert run("get", tea).code == 0
    assert "purged" in on_a_terminal(home, "forget", tea, "--purge", answer=b"y\n")
    assert run("get", tea).code == 3


def test_an_unknown_provider_of_a_home_is_a_finding_and_locks_nothing(run: Run, tea: str, home: Path) -> None:
    (home / "_config.json").write_text('{"embedding_provider": "xyz", "mine": 1}')

    assert run("get", tea).code == run("recall", "steep").code == 0
    done = run("check", "--json")
    assert (done.code, [(one["path"], one["code"]) for one in done.json["findings"]]) == (6, [("_config.json", "settings")])
    assert "xyz" in done.json["findings"][0]["message"]
    assert run("config", "--provider", "static").code == 0
    assert run("check").code == 0
    assert json.loads((home / "_config.json").read_text())["mine"] == 1


@pytest.mark.parametrize("value", ['"bogus"', "true", "[]"])
@pytest.mark.usefixtures("tea")
def test_an_unknown_git_commit_is_a_finding(run: Run, home: Path, value: str) -> None:
    file = home / "otolith.toml"
    file.write_text(file.read_text().replace('git_commit = "off"', f"git_commit = {value}"))

    assert [(one["path"], one["code"]) for one in run("check", "--json").json["findings"]] == [("otolith.toml", "settings")]
    assert run("upkeep").code == 0


@pytest.mark.parametrize("field", ["id", "self", "expect", "home", "handle", "nosuch"])
def test_a_field_that_cannot_be_set_is_refused(run: Run, tea: str, field: str) -> None:
    done = run("edit", tea, "--set", f"{field}=x", "--json")

    assert (done.code, done.error["code"]) == (4, "invalid")


@pytest.mark.parametrize("words", [
    "note T", "remember", "log -", "end -", "edit {tea} --text -", "review", "record", "memo user_likes_tea --text -",
    "forget {tea} --purge", "config --openai-key -", "hook session-start", "import -"])
def test_a_closed_stdin_is_an_empty_one(home: Path, tea: str, words: str) -> None:
    def ran(stdin: str) -> int:
        command = f"exec {sys.executable} -m otolith {words.format(tea=tea)} {stdin}"
        done = subprocess.run(command, shell=True, capture_output=True, env={**os.environ, "OTOLITH_HOME": str(home)}, check=False)
        assert b"a bug" not in done.stderr
        return done.returncode

    assert ran("<&-") == ran("</dev/null") != 1


def test_a_closed_pipe_is_no_failure(run: Run, tea: str, home: Path) -> None:
    script = f"{sys.executable} -m otolith get {tea} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False,
                          env={**os.environ, "OTOLITH_HOME": str(home)})

    assert (done.returncode, done.stderr) == (0, "")


# init, config

@pytest.mark.clause("notes-93")
def test_init_makes_what_git_needs_and_touches_nothing_that_is_there(run: Run, home: Path) -> None:
    home.mkdir()
    (home / ".gitattributes").write_text("mine\n")

    made = run("init", "--json").json["made"]

    assert made == ["otolith.toml", ".gitignore"]
    assert (home / ".gitignore").read_text().startswith("_state.json\n_index.json\n_embeddings.json\n_config.json\n")
    assert (home / ".gitattributes").read_text() == "mine\n"
    assert run("init", "--json").json["made"] == []


@pytest.mark.clause("notes-94")
def test_git_sees_the_records_and_not_what_can_be_made_anew(run: Run, home: Path, tea: str) -> None:
    run("init")
    run("reindex")
    run("get", tea)
    run("config", "--provider", "none")
    (home / "CORE.md").write_text("x")
    (home / "REFLECTION.md").write_text("x")
    (home / "_state.json").write_text("{}")
    (home / "_embeddings.json").write_text("{}")
    subprocess.run(["git", "init", "-q"], cwd=home, check=True)
    seen = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=home, check=True, capture_output=True, text=True)

    tracked = {line[3:] for line in seen.stdout.splitlines()}
    assert {path.split("/")[0] for path in tracked} == {".gitattributes", ".gitignore", "CORE.md", "REFLECTION.md", "episodes",
                                                        "graph", "index", "otolith.toml"}
    assert {path for path in tracked if path.startswith("index/")} == {"index/audit.log"}


@pytest.mark.clause("notes-88", "notes-89", "notes-90", "notes-92")
def test_config_writes_the_seeds_four_keys_for_the_owner_only(run: Run, home: Path, tea: str) -> None:
    assert run("config", "--json").json["embedding_provider"] == "static"

    run("config", "--provider", "openai", "--openai-key", "sk-1234567890")

    kept = json.loads((home / "_config.json").read_text())
    assert kept == {"embedding_provider": "openai", "openai_api_key": "sk-1234567890", "ollama_model": "nomic-embed-text",
                    "openai_model": "text-embedding-3-small"}
    assert (home / "_config.json").stat().st_mode & 0o777 == 0o600
    shown = run("config").out
    assert "sk-1234567890" not in shown
    run("config", "--openai-key", "-", stdin="sk-from-stdin\n")
    assert json.loads((home / "_config.json").read_text())["openai_api_key"] == "sk-from-stdin"
    run("config", "--openai-key", "null", "--provider", "ollama")
    assert json.loads((home / "_config.json").read_text())["openai_api_key"] is None
    (home / "_config.json").write_text('{"mine": 1}')
    assert run("config", "--json").json["embedding_provider"] == "ollama"
    run("config", "--ollama-model", "other")
    assert json.loads((home / "_config.json").read_text()) == {"mine": 1, "ollama_model": "other"}


@pytest.mark.clause("notes-90")
def test_a_home_cannot_name_a_server_and_its_key_counts_only_if_nobody_else_could_have_put_it_there(
        home: Path, clock: Clock) -> None:
    from otolith.config import load
    from otolith.files.disk import open_tree

    home.mkdir()
    (home / "_config.json").write_text(json.dumps({"embedding_provider": "openai", "openai_api_key": "sk-x",
                                                   "openai_url": "http://evil.example", "ollama_url": "http://evil.example"}))
    (home / "otolith.toml").write_text('openai_url = "http://evil.example"\n[embedding]\nopenai_url = "http://evil.example"\n')
    (home / "_config.json").chmod(0o644)

    found = load(open_tree(str(home)))
    assert (found.provider, found.openai_url, found.ollama_url, found.openai_key) == (
        "openai", "https://api.openai.com/v1", "http://localhost:11434", None)
    (home / "_config.json").chmod(0o600)
    assert load(open_tree(str(home))).openai_key == "sk-x"
    assert load(open_tree(str(home)), {**os.environ, "OTOLITH_OPENAI_URL": "http://mine.example"}).openai_key is None
    with Memory(home, clock=clock) as mem:
        assert mem.home.config.provider == "openai"


@pytest.mark.clause("notes-95")
def test_deleting_what_can_be_made_anew_loses_nothing(run: Run, home: Path, tea: str) -> None:
    run("reindex")
    before = json.loads((home / "_index.json").read_text())
    for name in ("_index.json", "index/metadata_index.json", "index/tag_index.json", "index/link_graph.json"):
        (home / name).unlink()
    shutil.rmtree(os.environ["XDG_CACHE_HOME"])

    assert run("get", tea).code == 0
    assert not (home / "_index.json").exists()
    run("reindex")
    again = json.loads((home / "_index.json").read_text())
    assert {**again, "updated": None} == {**before, "updated": None}
