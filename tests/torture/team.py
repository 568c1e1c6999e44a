"""`python -m tests.torture.team [ROW …] [--times N] [--postgres 16|18]`: what a team's database holds, on a real server.

Rows: probes (raw SQL of a member against a space that is not theirs), kills (the server, by SIGKILL, while people
write), feed (what is heard of eight writers, by LISTEN and by asking through a pooler), writers (notes a second
against a folder), recall (against a folder), keys. Each prints a line of the table; it ends with 1 if one failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from otolith.errors import OtolithError
from otolith.files.postgres import PgTree
from otolith.memory import Memory
from pgserver import Server, Team, _free_port

SECRET, PLACE = "zirconium", "graph/general/kettle-a1b2c3.md"
FORK = multiprocessing.get_context("fork")
Row = tuple[str, str, bool]


def tree_of(team: Team, space: str, key: str, local: Path, port: int = 0) -> PgTree:
    url = team.url(space).replace(f":{team.server.port}/", f":{port}/") if port else team.url(space)
    return PgTree(url, key=lambda: key, local=str(local))


# Probes: each kind gives SQL that would show or change something of the other space

SHAPES = ("select {what} from otolith.documents where {of}", "select {what} from otolith.documents d where exists (select 1 where {of})",
          "with x as materialized (select * from otolith.documents) select {what} from x where {of}",
          "select {what} from (select * from otolith.documents offset 0) d where {of}",
          "select {what} from otolith.documents d join (values ({other})) v(s) on d.space = v.s where {of}")
WHAT = ("*", "count(*)", "max(path)", "string_agg(path, ',')", "max(size)", "min(written)", "array_agg(hands)", "bool_or(body is not null)")
OF = ("space = {other}", "space <> {own}", "body like '%{part}%'", "path like '{start}%'", "size > {n}", "not space = {own}",
      "digest = sha256('{secret}')", "space = {other} and path = '{path}'")
CALLS = ("scan('{p}', '{name}', '')", "look('{p}', '{name}', '{path}')", "read('{p}', '{name}', array['{path}'])",
         "write('{p}', '{name}', 'graph/general/x{n}.md', 'x', null)", "append('{p}', '{name}', 'links.jsonl', 'x', '')",
         "move('{p}', '{name}', '{path}', 'vault/x.md')", "remove('{p}', '{name}', '{path}')", "feed('{p}', '{name}', '{cursor}')",
         "listen('{p}', '{name}')", "ring('{p}', '{name}')", "turn('{p}', '{name}')", "identity('{p}', '{name}')",
         "expunge('{p}', '{name}', array['{path}'], array['x'])")


def kinds_of_probe(dice: random.Random, world: dict[str, Any]) -> list[Callable[[], str]]:
    def words(text: str) -> str:
        cut = dice.randrange(1, len(SECRET))
        return text.format(**world, part=SECRET[:cut], start=PLACE[: dice.randrange(5, 20)], n=dice.randrange(10_000), secret=SECRET,
                           path=PLACE)

    def shaped(what: str, of: str) -> str:
        return words(dice.choice(SHAPES).replace("{what}", what).replace("{of}", of))

    def forged() -> str:
        parts = world["p"].split(";")
        at = dice.randrange(6)
        change = dice.choice((lambda text: f"{text},{world['other']}", lambda text: str(world["other"]), lambda text: text[::-1],
                              lambda text: text + str(dice.randrange(10)), lambda text: "", lambda text: text * 2))
        parts[at] = change(parts[at])
        return ";".join(parts)

    def called(given: str) -> str:
        return "select * from otolith." + words(dice.choice(CALLS).replace("{p}", given))

    return [
        lambda: shaped("*", dice.choice(OF)),  # 1 read
        lambda: shaped(dice.choice(WHAT[1:]), dice.choice(OF[:2])),  # 2 counts
        lambda: shaped("count(*)", "body like '%{part}%' and space <> {own}"),  # 3 search
        lambda: words("select {{}} from otolith.lines where space = {other} or body like '%{part}%'".replace("{{}}", dice.choice(("*", "count(*)")))),
        lambda: words("select 1 / (case when body like '%{part}%' then 0 else 1 end) from otolith.documents where space <> {own}"),  # 5 division
        lambda: words("select convert_from(body, 'UTF8')::int from otolith.documents where space <> {own}"),  # 6 errors that quote
        lambda: called(forged()).replace("{name}", world["name"]),  # 7 forged pass
        lambda: f"select set_config('otolith.pass', '{forged()}', true), count(*) from otolith.documents where space = {world['other']}",
        lambda: called(world["p"]),  # 9 one's own pass, their space
        lambda: f"table otolith.{dice.choice(('keys', 'about', 'spaces', 'principals', 'members', 'audit', 'gone', 'revisions'))}",
        lambda: f"select * from {dice.choice(('pg_stats', 'pg_stats_ext', 'pg_statistic'))} where {'schemaname' if dice.random() < 9 else ''} = 'otolith'",
        lambda: words(dice.choice(("insert into otolith.documents (space, path, body) values ({other}, 'graph/general/p{n}.md', 'x') returning *",
                                   "insert into otolith.documents (space, path, body) values ({other}, '{path}', 'x') returning *",
                                   "insert into otolith.lines (space, document, body) values ({other}, {n}, 'x') returning *"))),  # 12
        lambda: words(dice.choice(("update otolith.documents set space = {own} where space = {other} returning *",
                                   "update otolith.documents set body = 'x' where path = '{path}' returning *",
                                   "delete from otolith.documents where space = {other} returning *",
                                   "delete from otolith.lines where space = {other} returning *"))),  # 13
        lambda: words("create function pg_temp.f{n}(x bytea) returns boolean language plpgsql cost 1e-9 as $x$ begin raise notice '%', x; return"
                      " true; end $x$; select count(*) from otolith.documents where pg_temp.f{n}(body) and space <> {own}"),  # 14 leaky function
        lambda: dice.choice(("set role postgres", "set session authorization postgres", "alter table otolith.documents disable row level security",
                             "create policy p on otolith.documents using (true)", "grant otolith_app to ada with admin option",
                             "select pg_read_file('PG_VERSION')", "set row_security = off; table otolith.documents",
                             "create or replace function otolith.readable() returns integer[] language sql as 'select null::int[]'")),  # 15
        lambda: words(dice.choice(("select otolith.seal('{n};1;{other};{other};9999999999')", "select otolith.opened()",
                                   "select otolith.cursor({other}, 1)", "select otolith.since({other}, '{cursor}')",
                                   "select otolith.channel({other})", "select * from otolith.credit(array[1,2,3])"))),  # 16 inner functions
        lambda: words(dice.choice(("select otolith.whole({other}, '{path}')", "select * from otolith.versions({other}, '', null)",
                                   "select otolith.unfold({other}, {n})", "select * from otolith.report()"))),  # 17
        lambda: words("explain (analyze, buffers off, timing off) select * from otolith.documents where space = {other}"),  # 18
        lambda: words("copy (select * from otolith.documents where space <> {own}) to stdout"),  # 19
        lambda: words("select * from otolith.feed('{p}', '{ownname}', '{cursor}')"),  # 20 a cursor of their space
    ]


def probes(team: Team, root: Path, times: int) -> list[Row]:
    """Raw SQL with a valid pass of one's own; anything of the other space in rows, errors or notices is a leak."""
    theirs, own = team.space(), team.space()
    victim = tree_of(team, theirs, team.key("ben", **{theirs: "owner"}), root / "v")
    victim.write(PLACE, SECRET.encode())
    victim.append("links.jsonl", f"{SECRET}\n".encode())
    victim.changes({})
    numbers = dict(team.admin.execute("select name, space from otolith.spaces").fetchall())
    key, dice, leaks, notices = team.key("eve", **{own: "owner"}), random.Random(1), list[str](), list[str]()
    raw = psycopg.connect(team.server.url("team", "ada"), autocommit=True)
    raw.add_notice_handler(lambda told: notices.append(str(told.message_primary)))
    world = {"own": numbers[own], "other": numbers[theirs], "name": theirs, "ownname": own, "cursor": victim.cursor,
             "p": raw.execute("select otolith.enter(%s)", (key,)).fetchone()[0]}
    kinds = kinds_of_probe(dice, world)
    owner = raw.execute("select otolith.enter(%s)", (victim._key(),)).fetchone()[0]
    if SECRET not in probe(raw, owner, f"select * from otolith.documents where space = {world['other']}"):
        leaks.append("a control: whoever may read it does not see it either, so nothing was proved")
    before = team.admin.execute("select count(*), max(tx::text) from otolith.documents where space = %s", (numbers[theirs],)).fetchone()
    for at in range(times):
        sql = kinds[at % len(kinds)]()
        seen = probe(raw, world["p"], sql)
        hidden = seen.replace(sql, "").lower()
        shown = SECRET in hidden or SECRET.encode().hex() in hidden or "kettle-a1b2c3" in hidden.replace("graph/general/p", "")
        if shown or any(SECRET in notice or SECRET.encode().hex() in notice for notice in notices):
            leaks.append(f"{sql[:150]} → {seen[:150]}")
        counted = at % len(kinds) in (1, 2, 7) and any(char in seen for char in "123456789") and "rror" not in seen and "(None" not in seen
        if counted and str(world["other"]) not in seen and "'" not in seen and "[(0,)]" not in seen:
            leaks.append(f"count: {sql[:150]} → {seen[:150]}")
    after = team.admin.execute("select count(*), max(tx::text) from otolith.documents where space = %s", (numbers[theirs],)).fetchone()
    if before != after:
        leaks.append(f"something was changed: {before} → {after}")
    ratio = timing(raw, world)
    raw.close()
    victim.close()
    for leak in leaks[:10]:
        print("  LEAK", leak)
    return [(f"{times:,} cross-space probes of {len(kinds)} kinds", f"{len(leaks)} leaks; a path that is there takes {ratio:.2f}× one that is not",
             not leaks and 0.8 < ratio < 1.25)]


def probe(raw: Any, given: str, sql: str) -> str:
    try:
        with raw.transaction(force_rollback=True):
            raw.execute("select set_config('otolith.pass', %s, true)", (given,))
            if sql.startswith("copy"):
                with raw.cursor().copy(sql) as rows:
                    return "".join(bytes(row).decode(errors="replace") for row in rows)
            done = raw.execute(sql)
            while done.nextset():
                pass
            return repr(done.fetchall()) if done.description else ""
    except psycopg.Error as error:
        return str(error)


def timing(raw: Any, world: dict[str, Any]) -> float:
    """How long it takes to be refused a path that exists, against one that does not."""
    spent: dict[str, list[float]] = {PLACE: [], "graph/general/nothing-a1b2c3.md": []}
    for _ in range(300):
        for path, times in spent.items():
            began = time.perf_counter()
            probe(raw, world["p"], f"select * from otolith.documents where space = {world['other']} and path = '{path}'")
            times.append(time.perf_counter() - began)
    there, missing = (statistics.median(times) for times in spent.values())
    return there / missing


# Kills

def _write_until_told(url: str, key: str, root: Path, told: Any, ended: Any) -> None:
    os.environ["XDG_CACHE_HOME"] = str(root / "cache")
    with Memory(PgTree(url, key=lambda: key, local=str(root / "local"))) as mem:
        while not ended.is_set():
            with suppress(OtolithError):
                told.put(mem.note("Kettle", "It is red.").id)


def kills(team: Team, root: Path, times: int) -> list[Row]:
    space = team.space()
    key = team.key("ada", **{space: "owner"})
    told, ended = FORK.Queue(), FORK.Event()
    writers = [FORK.Process(target=_write_until_told, args=(team.url(space), key, root / str(at), told, ended)) for at in range(3)]
    for writer in writers:
        writer.start()
    dice, kept = random.Random(2), list[str]()
    for _ in range(times):
        time.sleep(0.2 + dice.random() / 3)
        pid = int((team.server.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        start_again(team)
        while not told.empty():
            kept.append(told.get())
    time.sleep(0.5)
    ended.set()
    while any(writer.is_alive() for writer in writers) or not told.empty():
        with suppress(Exception):
            kept.append(told.get(timeout=0.2))
    team.reconnect()
    tree = tree_of(team, space, key, root / "look")
    bodies = [tree.read(path)[0].decode() for path, _ in tree.scan() if path.startswith("graph/")]
    ids = {body.split("id: ", 1)[1].split("\n")[0] for body in bodies}
    audit = tree.read("index/audit.log")[0].decode()
    tree.close()
    lost, bare = {*kept} - ids, [record for record in ids if record not in audit]
    return [(f"SIGKILL of the server {times}× in mid-write", f"{len(kept)} acknowledged, {len(lost)} lost; {len(ids)} records, "
             f"{len(bare)} without their audit line", not lost and not bare and len(kept) > times)]


def start_again(team: Team) -> None:
    """Once the killed server's children are gone."""
    for _ in range(100):
        with suppress(BaseException):
            team.server.start()
            return
        time.sleep(0.1)
    raise RuntimeError("the server did not come back")


# The change feed

def _write_documents(url: str, key: str, root: Path, at: int, count: int, pause: float, told: Any) -> None:
    tree, dice = PgTree(url, key=lambda: key, local=str(root / str(at))), random.Random(at)
    for number in range(count):
        with tree.lock():
            names = [f"graph/general/w{at}-{number}-{part}.md" for part in range(dice.choice((1, 1, 3)))]
            for name in names:
                tree.write(name, b"x" * dice.randrange(10, 2000))
                if len(names) > 1:
                    time.sleep(dice.random() * 0.01)  # some commit late
        told.put((time.time(), names))
        time.sleep(dice.random() * pause)
    tree.close()


def heard_of(team: Team, root: Path, count: int, *, port: int = 0, pause: float = 0.2) -> tuple[int, int, float, bool]:
    """(written, missed, p95 of milliseconds until heard, whether it was by LISTEN) of eight writers."""
    space = team.space()
    key, told = team.key("ada", **{space: "owner"}), FORK.Queue()
    writers = [FORK.Process(target=_write_documents, args=(team.url(space), key, root / f"w{space}", at, count, pause, told)) for at in range(8)]
    ear = tree_of(team, space, key, root / f"ear{space}", port)
    ear.listen()
    time.sleep(3)
    hears = bool(ear._listener and ear._listener.hears)
    versions: dict[str, Any] = {}
    ear.changes(versions)
    for writer in writers:
        writer.start()
    times: dict[str, float] = {}
    written: dict[str, float] = {}
    quiet = time.monotonic()
    while time.monotonic() - quiet < 4:
        for change in ear.changes(versions, ear.cursor):
            times.setdefault(change.path, time.time())
            quiet = time.monotonic()
        versions = dict.fromkeys(times) | {path: ear_version for path, ear_version in versions.items() if ear_version}
        while not told.empty():
            when, names = told.get()
            written.update(dict.fromkeys(names, when))
            quiet = time.monotonic()
        time.sleep(0.001 if hears else 0.1)
    ear.close()
    late = sorted(max(0.0, times[path] - when) for path, when in written.items() if path in times)
    return len(written), len(written.keys() - times.keys()), 1000 * late[int(len(late) * 0.95)], hears


def feed(team: Team, root: Path, times: int) -> list[Row]:
    written, missed, p95, hears = heard_of(team, root, times)
    rows = [(f"change feed, 8 writers, {written} documents, by {'LISTEN' if hears else 'asking'}", f"{missed} missed; heard p95 {p95:.0f} ms",
             hears and not missed and p95 <= 25)]
    with pooler(team) as port:
        if port:
            written, missed, p95, hears = heard_of(team, root, times, port=port)
            rows.append((f"change feed, {written} documents, through a pooler in transaction mode, by {'LISTEN' if hears else 'asking'}",
                         f"{missed} missed; heard p95 {p95:.0f} ms", not missed and p95 <= 1000))
            rows.append(verbs_through(team, root, port))
    return rows


@contextmanager
def pooler(team: Team) -> Iterator[int]:
    """PgBouncer in transaction mode with two server connections; 0 where it is not installed."""
    program, port = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", _free_port()
    if not Path(program).exists():
        print("  no pgbouncer: apt-get install pgbouncer")
        yield 0
        return
    folder = Path(tempfile.mkdtemp(prefix="otolith-bouncer-"))
    (folder / "users").write_text('"ada" ""\n')
    (folder / "b.ini").write_text(
        f"[databases]\n* = host=127.0.0.1 port={team.server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
        f"auth_type = trust\nauth_file = {folder}/users\npool_mode = transaction\ndefault_pool_size = 4\nunix_socket_dir =\n"
        f"logfile = {folder}/log\nignore_startup_parameters = extra_float_digits\n")
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    running = subprocess.Popen([program, "-q", *(["-u", "nobody"] if os.geteuid() == 0 else []), str(folder / "b.ini")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    try:
        yield port
    finally:
        running.terminate()
        running.wait()
        shutil.rmtree(folder, ignore_errors=True)


def verbs_through(team: Team, root: Path, port: int) -> Row:
    """A day of verbs by two people who share a pooler's connections."""
    space, wrong = team.space(), list[str]()
    trees = [tree_of(team, space, team.key(name, **{space: "owner"}), root / f"p-{name}", port) for name in ("ada", "ben")]
    mems = []
    for at, tree in enumerate(trees):
        os.environ["XDG_CACHE_HOME"] = str(root / f"pool-{at}")
        mems.append(Memory(tree))
    for number in range(20):
        for mem in mems:
            note = mem.note(f"Kettle {number}", "It is red.")
            mem.edit(note.id, importance=0.9)
    for mem in mems:
        mem.sync()
        if mem.stats()["kinds"].get("note") != 40:
            wrong.append(f"{mem.stats()['kinds']}")
        mem.upkeep()
        wrong += [str(finding) for finding in mem.check()]
        mem.close()
    return "80 writes, upkeep and check by two people through that pooler", "; ".join(wrong)[:200] or "nothing wrong", not wrong


# Speed

def _write_notes(home: str, key: str, root: Path, seconds: float, start: Any, told: Any) -> None:
    os.environ["XDG_CACHE_HOME"], os.environ["OTOLITH_KEY"] = str(root / "cache"), key
    with Memory(home) as mem:
        with suppress(OtolithError):
            mem.note("Kettle", "It is red.")
        start.wait()
        count, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(OtolithError):
                mem.note("Kettle", "It is red and stands in the kitchen.")
                count += 1
    told.put(count)


def rate(home: str, key: str, root: Path, people: int, seconds: float) -> float:
    """Notes a second of so many processes, each as on a machine of its own: with its own index."""
    start, told = FORK.Event(), FORK.Queue()
    writers = [FORK.Process(target=_write_notes, args=(home, key, root / f"{people}-{at}", seconds, start, told)) for at in range(people)]
    for writer in writers:
        writer.start()
    time.sleep(2 + people / 10)
    start.set()
    total = sum(told.get() for _ in writers)
    for writer in writers:
        writer.join()
    return total / seconds


def writers(team: Team, root: Path, times: int) -> list[Row]:
    rows = []
    for people in (8, 50):
        space = team.space()
        key = team.key("ada", **{space: "owner"})
        disk = rate(str(root / f"disk-{people}"), key, root / "d", people, times)
        database = rate(team.url(space), key, root / "p", people, times)
        rows.append((f"{people} writers, notes a second", f"{database:.0f} against {disk:.0f} in a folder: {database / disk:.1f}×", database >= 3 * disk))
    return rows


def recall(team: Team, root: Path, times: int) -> list[Row]:
    space, dice = team.space(), random.Random(3)
    key = team.key("ada", **{space: "owner"})
    os.environ["OTOLITH_KEY"] = key
    topics = [f"{a} {b}" for a in ("red", "blue", "old", "loud", "small") for b in ("kettle", "router", "compiler", "garden", "invoice", "bicycle")]
    found, mems = {}, {"folder": Memory(root / "home"), "space": Memory(team.url(space))}
    for name, mem in mems.items():
        dice.seed(3)
        with mem.bulk():
            for at in range(times):
                mem.note(f"{dice.choice(topics)} {at}", f"The {dice.choice(topics)} number {at} stands beside the {dice.choice(topics)}.")
        mem.sync()
        mem.recall("red kettle")
        found[name] = []
    for _ in range(40):
        question = f"where is the {dice.choice(topics)} number {dice.randrange(times)}"
        for name, mem in mems.items():
            began = time.perf_counter()
            mem.recall(question)
            found[name].append(time.perf_counter() - began)
    for mem in mems.values():
        mem.close()
    folder, shared = (1000 * statistics.median(found[name]) for name in ("folder", "space"))
    return [(f"recall with {times:,} readable records, warm", f"{shared:.0f} ms against {folder:.0f} ms in a folder: {shared / folder:.2f}×",
             shared <= 1.1 * folder)]


# Keys

def keys(team: Team, root: Path, times: int) -> list[Row]:
    space = team.space()
    good, wrong, tried = team.key("ada", **{space: "owner"}), list[str](), 0
    bad = ["", " ", "\t", "otolith_", good[:-1], good + "0", good.upper(), good[::-1], good.replace("otolith_", ""), f" {good}", f"{good}\n",
           "' or true --", "null", "\u0001", "x" * 100_000, "otolith_é", "otolith_" + "0" * 32, "%", "_" * len(good), good.replace("_", "-")]
    for key in bad:
        tried += 1
        tree = tree_of(team, space, key, root / "k")
        with suppress(OtolithError):
            next(tree.scan(), None)
            wrong.append(f"key {key[:20]!r}")
        tree.close()
    raw = psycopg.connect(team.server.url("team", "ada"), autocommit=True)
    valid = raw.execute("select otolith.enter(%s)", (good,)).fetchone()[0]
    dice = random.Random(4)
    world = {"own": 1, "other": 999, "name": space, "ownname": space, "cursor": "x", "p": valid}
    passes = [valid[:-1], valid + "0", valid.upper(), "", ";", ";;;;;", valid.replace(";", ","), f"{valid};{valid}", valid[::-1], valid.split(";")[-1]]
    for forged in passes + [kinds_of_probe(dice, world)[6]().split("'")[1] for _ in range(20)]:
        tried += 1
        if forged != valid:
            with suppress(psycopg.Error):
                raw.execute("select * from otolith.scan(%s, %s, '')", (forged, space))
                wrong.append(f"pass {forged[:40]}")
    trees = [tree_of(team, space, good, root / f"m{at}") for at in range(3)]
    for tree in trees:
        list(tree.scan())
    began = time.monotonic()
    team.admin.execute("update otolith.keys set revoked = now() where digest = sha256(%s)", (good.encode(),))
    alive = 0
    for tree in trees:
        with suppress(OtolithError):
            list(tree.scan())
            alive += 1
    spent = time.monotonic() - began
    for open_one in (raw, *trees):
        open_one.close()
    return [(f"{tried} bad keys and passes", f"{len(wrong)} taken {wrong[:3] or ''}", not wrong),
            ("a revoked key, three machines that held a pass", f"{alive} alive after {1000 * spent:.0f} ms", not alive and spent < 1)]


ROWS: dict[str, tuple[Callable[[Team, Path, int], list[Row]], int]] = {
    "probes": (probes, 10_000), "keys": (keys, 1), "kills": (kills, 100), "feed": (feed, 60), "writers": (writers, 8), "recall": (recall, 10_000)}


def run(names: list[str], times: int | None, version: str, *, synced: bool) -> list[Row]:
    server, root, rows = Server(version, synced=synced), Path(tempfile.mkdtemp(prefix="otolith-team-")), list[Row]()
    for name in ("CACHE", "CONFIG", "DATA"):
        os.environ[f"XDG_{name}_HOME"] = str(root / name.lower())
    try:
        team = Team(server)
        for name in names:
            act, usual = ROWS[name]
            rows += act(team, root, times or usual)
        team.close()
    finally:
        server.remove()
        shutil.rmtree(root, ignore_errors=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture.team", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS])
    parser.add_argument("--times", type=int, help="how many probes, kills, documents a writer, seconds, records")
    parser.add_argument("--postgres", choices=("16", "18"), default="18")
    parser.add_argument("--unsynced", action="store_true", help="the server's commits do not wait for the disk")
    given = parser.parse_args()
    rows = run(given.rows or list(ROWS), given.times, given.postgres, synced=not given.unsynced)
    print(f"PostgreSQL {given.postgres}, {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC")
    for what, result, good in rows:
        print(f"| {what} | {result} | {'reached' if good else 'MISSED'} |")
    return 0 if all(good for _, _, good in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
