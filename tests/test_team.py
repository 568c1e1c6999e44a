"""A home in PostgreSQL: who may see and write what is decided in the database, and nothing acknowledged is lost."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

import otolith
from conftest import Clock, Ran
from otolith.errors import CannotWrite, Conflict, NotFound, OtolithError, Provider, WrongUsage
from otolith.files.postgres import PgTree
from otolith.memory import Memory

NOTE = "graph/general/tea-a1b2c3.md"
SECRET = "zirconium"


@pytest.fixture
def opened(team: Any, tmp_path: Path) -> Any:
    """The tree of a space, opened with a key."""
    trees = []

    def call(space: str, key: str, user: str = "ada") -> PgTree:
        tree = PgTree(team.url(space, user), key=lambda: key, local=str(tmp_path / f"local-{len(trees)}"))
        trees.append(tree)
        return tree

    yield call
    for tree in trees:
        tree.close()


# Who may do what


def test_a_reader_reads_and_cannot_write(team: Any, opened: Callable[..., PgTree]) -> None:
    name = team.space()
    writer, reader = opened(name, team.key("ada", **{name: "writer"})), opened(name, team.key("ben", **{name: "reader"}))
    writer.write(NOTE, b"tea")

    assert reader.read(NOTE)[0] == b"tea"
    for act in (lambda: reader.write("graph/general/x.md", b"x"), lambda: reader.remove(NOTE),
                lambda: reader.append("links.jsonl", b"{}\n"), lambda: reader.move(NOTE, "vault/x.md")):
        with pytest.raises(CannotWrite, match="not yours to change"):
            act()
    assert writer.read(NOTE)[0] == b"tea"


def test_an_agent_may_do_what_both_it_and_its_person_may(team: Any, opened: Callable[..., PgTree]) -> None:
    name, own = team.space("team"), team.space("private")
    team.key("ada", **{name: "writer", own: "owner"})
    agent = team.key("ada-agent", behalf="ada", **{name: "writer", own: "writer"})
    trusted = team.key("ada-agent", scopes="{read,write,team:write}")

    opened(own, agent).write(NOTE, b"mine")
    opened(name, trusted).write(NOTE, b"ours")

    with pytest.raises(CannotWrite):  # a team's space needs the scope team:write
        opened(name, agent).write("graph/general/x.md", b"x")
    team.key("ada", **{own: "reader"})
    with pytest.raises(CannotWrite):  # the person may only read now
        opened(own, agent).write("graph/general/y.md", b"y")


def test_a_revoked_key_is_dead_at_once_also_for_who_holds_a_pass(team: Any, opened: Callable[..., PgTree]) -> None:
    name = team.space()
    key = team.key("ada", **{name: "writer"})
    tree = opened(name, key)
    tree.write(NOTE, b"tea")

    team.admin.execute("update otolith.keys set revoked = now() where digest = sha256(%s)", (key.encode(),))

    for again in (tree, opened(name, key)):
        with pytest.raises(NotFound, match="not valid"):
            again.read(NOTE)


def test_an_expired_key_and_a_login_that_sees_everything_are_refused(team: Any, opened: Callable[..., PgTree]) -> None:
    name = team.space()
    key = team.key("ada", **{name: "writer"})

    with pytest.raises(NotFound):
        opened(name, key, user="postgres").read(NOTE)
    team.admin.execute("update otolith.keys set expires = now() - interval '1 second' where digest = sha256(%s)", (key.encode(),))
    with pytest.raises(NotFound):
        opened(name, key).read(NOTE)


BAD_KEYS = ["", " ", "otolith_", "otolith_" + "0" * 40, "' or true --", "null", "\u0001", "x" * 100_000, "otolith_é"]


@pytest.mark.parametrize("key", BAD_KEYS, ids=range(len(BAD_KEYS)))
def test_a_bad_key_is_refused(team: Any, opened: Callable[..., PgTree], key: str) -> None:
    with pytest.raises(OtolithError):
        opened(team.space(), key).scan().__next__()


def forgeries(valid: str, other: int) -> list[str]:
    """Passes that somebody could make from their own: widened, prolonged, cut, spliced."""
    number, person, readable, writable, until, seal = valid.split(";")
    return ["", ";", ";;;;;", valid[:-1], valid + "0", valid.upper(), seal, f"{valid};{valid}",
            f"{number};{person};{readable},{other};{writable};{until};{seal}",
            f"{number};{person};{readable};{writable},{other};{until};{seal}",
            f"{number};{person};{other};{other};{until};{seal}",
            f"{number};{person}1;{readable};{writable};{until};{seal}", f"{number}1;{person};{readable};{writable};{until};{seal}",
            f"{number};{person};{readable};{writable};{int(until) * 10};{seal}",
            f"{number};{person};{readable};{writable};{until};" + "0" * 64,
            f"{number};{person};{readable};{writable};{until};", f"{number};{person};{readable};{writable};0;{seal}",
            f"-1;{person};{readable};{writable};{until};{seal}", f"{number};{person};{{}};{{}};{until};{seal}",
            valid.replace(";", ";;", 1), valid[::-1]]


def test_no_forged_pass_opens_anything(team: Any) -> None:
    own, other = team.space(), team.space()
    key = team.key("ada", **{own: "owner"})
    number = team.admin.execute("select space from otolith.spaces where name = %s", (other,)).fetchone()[0]
    with psycopg.connect(team.server.url("team", "ada"), autocommit=True) as raw:
        valid = raw.execute("select otolith.enter(%s)", (key,)).fetchone()[0]
        assert raw.execute("select count(*) from otolith.scan(%s, %s, '')", (valid, own)).fetchone() == (0,)
        for forged in forgeries(valid, number):
            for name in (own, other):
                with pytest.raises(psycopg.Error):
                    raw.execute("select * from otolith.scan(%s, %s, '')", (forged, name))


PROBES = (  # raw SQL by a member of another space, with their own valid pass set
    "select * from otolith.documents", "select * from otolith.lines",
    "select count(*) from otolith.documents where body like '%zirconium%'", "table otolith.keys", "table otolith.about",
    "table otolith.spaces", "table otolith.principals", "table otolith.members", "table otolith.audit",
    "select * from otolith.documents where 1 / (case when body like '%zirconium%' then 0 else 1 end) = 1",
    "select max(tick), max(tx::text) from otolith.documents", "select last_value from otolith.ticks",
    "select otolith.whole({other}, '{path}')", "select * from otolith.versions({other}, '', null)",
    "select otolith.seal('1;1;{other};{other};9999999999')", "select otolith.opened()", "select * from otolith.report()",
    "update otolith.documents set space = {own} where space = {other} returning *",
    "insert into otolith.documents (space, path, body) values ({other}, 'graph/general/x.md', 'x') returning *",
    "insert into otolith.lines (space, path, body) values ({other}, 'links.jsonl', 'x') returning *",
    "delete from otolith.documents where space = {other} returning *", "copy otolith.documents to stdout",
    "alter table otolith.documents no force row level security", "alter table otolith.documents disable row level security",
    "set role postgres", "set session authorization postgres", "create policy p on otolith.documents using (true)",
    "grant otolith_app to ada with admin option", "select pg_read_file('PG_VERSION')",
    "select most_common_vals::text from pg_stats where tablename = 'documents'",
    "create function pg_temp.f(x bytea) returns boolean language plpgsql cost 1e-9 as"
    " $x$ begin raise notice '%', x; return true; end $x$; select * from otolith.documents where pg_temp.f(body)",
    "select * from otolith.documents d join (values ({other})) v(s) on d.space = v.s",
    "explain (analyze) select * from otolith.documents where space = {other}",
    "with x as materialized (select * from otolith.documents) select * from x",
    "select set_config('otolith.pass', replace(current_setting('otolith.pass'), ';{own};', ';{other};'), true);"
    " select * from otolith.documents where space = {other}",
)


def test_raw_sql_of_a_member_shows_and_changes_nothing_of_another_space(team: Any, opened: Callable[..., PgTree]) -> None:
    other, own = team.space(), team.space()
    theirs = opened(other, team.key("ben", **{other: "owner"}))
    theirs.write(NOTE, SECRET.encode())
    theirs.append("links.jsonl", f'{{"x": "{SECRET}"}}\n'.encode())
    numbers = dict(team.admin.execute("select name, space from otolith.spaces").fetchall())
    key = team.key("nobody-else", **{own: "owner"})
    notices: list[str] = []
    with psycopg.connect(team.server.url("team", "ada"), autocommit=True) as raw:
        raw.add_notice_handler(lambda told: notices.append(str(told.message_primary)))
        valid = raw.execute("select otolith.enter(%s)", (key,)).fetchone()[0]
        for probe in PROBES:
            words = probe.format(other=numbers[other], own=numbers[own], path=NOTE)
            seen = [""]
            try:
                with raw.transaction():
                    raw.execute("select set_config('otolith.pass', %s, true)", (valid,))
                    if words.startswith("copy"):
                        with raw.cursor().copy(words) as copied:
                            seen = [bytes(row).decode() for row in copied]
                    else:
                        for part in words.split("; select") if "$x$" not in words else [words]:
                            done = raw.execute(part if part is words or part.startswith("select set") else f"select{part}")
                            seen = [repr(row) for row in done.fetchall()] if done.description else []
            except psycopg.Error as error:
                seen = [str(error)]
            assert SECRET not in "".join(seen), probe
            assert "tea-a1b2c3" not in "".join(seen).replace(words, ""), probe
    assert not any(SECRET in notice for notice in notices)
    assert theirs.read(NOTE)[0] == SECRET.encode()
    assert [path for path, _ in theirs.scan()] == [NOTE, "links.jsonl"]


def test_a_space_that_is_not_there_and_one_that_is_not_yours_are_told_alike(team: Any, opened: Callable[..., PgTree]) -> None:
    own, other = team.space(), team.space()
    key = team.key("ada", **{own: "owner"})

    said = []
    for name in (other, "no-such-space"):
        with pytest.raises(NotFound) as error:
            opened(name, key).read(NOTE)
        said.append(str(error.value).replace(name, "NAME"))

    assert said[0] == said[1]


# Nothing is lost


def test_a_record_and_its_audit_line_are_one_transaction(team: Any, opened: Callable[..., PgTree], clock: Clock) -> None:
    name = team.space()
    key = team.key("ada", **{name: "owner"})
    tree = opened(name, key)

    with pytest.raises(NotFound), tree.lock():
        tree.write(NOTE, b"tea") and tree.remove("graph/general/none.md")

    assert tree.look(NOTE) is None


def test_of_two_who_replace_the_same_only_one_does(team: Any, opened: Callable[..., PgTree]) -> None:
    name = team.space()
    key = team.key("ada", **{name: "owner"})
    trees = [opened(name, key) for _ in range(4)]
    trees[0].write(NOTE, b"0")
    before = otolith.files.tree.fingerprint(b"0")
    done: list[int] = []

    def replace(at: int) -> None:
        try:
            trees[at].write(NOTE, b"%d" % (at + 1), before)
            done.append(at)
        except Conflict:
            pass

    threads = [threading.Thread(target=replace, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(done) == 1
    assert trees[0].read(NOTE)[0] == b"%d" % (done[0] + 1)


def test_lines_of_many_writers_all_arrive_whole(team: Any, opened: Callable[..., PgTree]) -> None:
    name = team.space()
    key = team.key("ada", **{name: "owner"})

    def write(at: int) -> None:
        tree = opened(name, key)
        for number in range(20):
            tree.append("index/audit.log", b'{"who": %d, "n": %d}\n' % (at, number))

    threads = [threading.Thread(target=write, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    lines = opened(name, key).read("index/audit.log")[0].splitlines()
    assert sorted(lines) == sorted(b'{"who": %d, "n": %d}' % (at, n) for at in range(4) for n in range(20))


def test_a_purge_leaves_nothing_of_a_record_in_the_database(team: Any, opened: Callable[..., PgTree], clock: Clock) -> None:
    name = team.space()
    with Memory(opened(name, team.key("ada", **{name: "owner"})), clock=clock) as mem:
        tea = mem.note("Tea", f"Steep with {SECRET}dust.")
        mem.link(mem.note("Pot", "Clay.").id, "SOLVES", tea.id, context=f"{SECRET}dust")
        mem.edit(tea.id, importance=0.9)
        mem.upkeep()
        mem.forget(tea.id, purge=True)

    tables = [row[0] for row in team.admin.execute("select tablename from pg_tables where schemaname = 'otolith'").fetchall()]
    for table in tables:
        rows = team.admin.execute(f"select encode(convert_to(t::text, 'UTF8'), 'escape') from otolith.{table} t").fetchall()
        assert not any(f"{SECRET}dust".encode().hex() in row[0] or f"{SECRET}dust" in row[0] for row in rows), table


def test_two_machines_see_each_others_records(team: Any, opened: Callable[..., PgTree], clock: Clock,
                                              monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = team.space()
    with Memory(opened(name, team.key("ada", **{name: "owner"})), clock=clock) as one:
        tea = one.note("Tea", "Steep for three minutes.", tags=["drinks"])
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another-machine"))
        with Memory(opened(name, team.key("ben", **{name: "writer"})), clock=clock) as two:
            assert two.recall("how long to steep").hits[0].id == tea.id
            two.edit(tea.id, importance=0.9)
            two.sync()
        one.sync()

        assert one.get(tea.id).record.importance == 0.9
        assert not one.check()


# Bad input


@pytest.mark.parametrize(("url", "said"), [
    ("postgres://localhost/team", "names no space"), ("postgres://localhost#x", "names no database"),
    ("postgres://localhost/a/b#x", "names no database"), ("postgres://localhost/team#../x", "names no space"),
    ("postgres://ada:hunter2@localhost/team#x", "has no place")])
def test_a_wrong_url_is_a_usage_error_and_repeats_no_password(run: Callable[..., Ran], url: str, said: str) -> None:
    done = run("list", "--home", url)

    assert (done.code, done.err.count("\n")) == (WrongUsage.exit_code, 1)
    assert said in done.err
    assert "hunter2" not in done.err


def test_a_server_that_is_not_there_is_one_line(run: Callable[..., Ran]) -> None:
    done = run("list", "--home", "postgres://127.0.0.1:1/team#own", env={"OTOLITH_KEY": "otolith_x"})

    assert (done.code, done.err.count("\n")) == (Provider.exit_code, 1)
    assert "cannot be reached" in done.err


def test_without_a_key_it_says_where_to_put_one(team: Any, run: Callable[..., Ran]) -> None:
    done = run("list", "--home", team.url("space-1"))

    assert "OTOLITH_KEY" in done.err
    assert done.err.count("\n") == 1


def test_a_newer_schema_is_refused(team: Any, opened: Callable[..., PgTree]) -> None:
    name = team.space()
    key = team.key("ada", **{name: "owner"})
    team.admin.execute("update otolith.about set version = 99")
    try:
        with pytest.raises(Provider, match="newer Otolith"):
            opened(name, key).read(NOTE)
    finally:
        team.admin.execute("update otolith.about set version = 1")


def test_a_clock_that_is_a_day_ahead_writes_nothing(team: Any, opened: Callable[..., PgTree], clock: Clock,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    name = team.space()
    tree = opened(name, team.key("ada", **{name: "owner"}))
    real = time.time
    monkeypatch.setattr("otolith.files.postgres.time.time", lambda: real() + 86_400)

    with Memory(tree, clock=clock) as mem:
        with pytest.raises(CannotWrite, match="clock is 24 hours ahead of the server's"):
            mem.note("Tea", "Steep for three minutes.")
        assert not mem.list()[0]  # reading goes on
        assert not list(tree.scan())


def test_a_server_that_goes_away_in_mid_verb_leaves_nothing_half_done(team: Any, opened: Callable[..., PgTree], clock: Clock) -> None:
    name = team.space()
    tree = opened(name, team.key("ada", **{name: "owner"}))
    with Memory(tree, clock=clock) as mem:
        mem.note("Tea", "Steep for three minutes.")
        before = {path: tree.read(path)[0] for path, _ in tree.scan()}
        whole = tree.append

        def cut_off(path: str, *given: Any, **more: Any) -> None:
            team.admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ada'")
            whole(path, *given, **more)

        tree.append = cut_off  # type: ignore[method-assign]
        with pytest.raises(Provider, match="cannot be reached"):
            mem.note("Coffee", "Grind it.")
        tree.append = whole  # type: ignore[method-assign]

        assert {path: tree.read(path)[0] for path, _ in tree.scan()} == before
        mem.sync()
        assert [item["title"] for item in mem.list(kind="note")[0]] == ["Tea"]


# From the command line, on a server of its own, whose end is sudden


def test_set_up_used_and_killed_from_outside(team: Any, run: Callable[..., Ran], tmp_path: Path) -> None:
    with psycopg.connect(team.server.url("postgres"), autocommit=True) as once:
        once.execute("create database fresh")
    database = f"postgres://postgres@127.0.0.1:{team.server.port}/fresh"

    def admin(*words: str) -> Any:
        done = run("admin", *words, "--database", database, "--json")
        assert done.code == 0, done.err
        return done.json

    assert admin("init", "--login", "crew")["password"]
    assert not admin("init", "--login", "crew")["made"]
    admin("space", "tea", "--kind", "team")
    admin("member", "tea", "ada", "--role", "owner")
    key = admin("key", "ada", "--days", "30")
    home = {"OTOLITH_HOME": f"postgres://crew@127.0.0.1:{team.server.port}/fresh#tea", "OTOLITH_KEY": key["key"]}

    kept = run("note", "Tea", "--text", "Steep for three minutes.", "--json", env=home)
    found = run("recall", "how long to steep", "--json", env=home)
    assert found.json["hits"][0]["id"] == kept.json["id"]
    assert run("upkeep", env=home).code == 0
    assert run("upkeep", env=home).out == "nothing to do\n"
    assert run("check", env=home).code == 0
    admin("revoke", str(key["number"]))
    assert "not valid" in run("list", env=home).err
    assert run("admin", "space", "Bad Name", "--database", database).err.count("\n") == 1
    assert run("admin", "key", "nobody", "--database", database).code == NotFound.exit_code
    assert "ada (owner)" in run("admin", "audit", "--database", database).out


def test_what_was_acknowledged_survives_a_server_that_is_killed(team: Any, opened: Callable[..., PgTree], clock: Clock) -> None:
    name = team.space()
    key = team.key("ada", **{name: "owner"})
    dice, kept = random.Random(1), list[str]()
    with Memory(opened(name, key), clock=clock) as mem:
        for _ in range(3):
            stopper = threading.Timer(0.05 + dice.random() / 4, lambda: team.server.stop("immediate"))
            stopper.start()
            with pytest.raises(OtolithError):
                kept.extend(mem.note("Note", "Text.").id for _ in iter(int, 1))
            stopper.join()
            team.server.start()
            team.reconnect()
            time.sleep(0.1)
        mem.sync()
        assert {item["id"] for item in mem.list(limit=None)[0] if item["kind"] == "note"} >= {*kept}
        written = mem.home.tree.read("index/audit.log")[0].decode()
        notes = [item["id"] for item in mem.list(kind="note", limit=None)[0]]
    assert all(note in written for note in notes)
