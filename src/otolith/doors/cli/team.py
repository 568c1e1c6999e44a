"""Commands of a team: `promote`, `push`, `pull`, and `admin`, which the database's own roles allow."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256

from otolith import config
from otolith.doors.cli.command import Command
from otolith.errors import WrongUsage
from otolith.files.postgres import Administration
from otolith.model.record import Change
from otolith.model.text import visible_line
from otolith.model.times import zulu

QUIET = ("pushed", "pulled", "merged")  # counted; what else happens is told one by one
SCOPES = ("read", "write", "team:write")
SPACES, PRINCIPALS = ("team", "project", "private"), ("person", "agent", "service")
LOGIN = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def _admin(command: Command) -> None:
    args = command.args
    url = args.database or config.home_name(args.home)
    with Administration(url.partition("#")[0]) as database:
        ACTS[args.act](command, database)


def _promote(command: Command) -> None:
    done = command.mem.promote(**command.keywords())
    command.answer(done, f"{done['id']} in {done['home']}")


def _push(command: Command) -> None:
    with command.progress("pushing") as progress:
        _carried(command, command.mem.push(**command.keywords(), progress=progress))


def _pull(command: Command) -> None:
    with command.progress("pulling") as progress:
        _carried(command, command.mem.pull(**command.keywords(), progress=progress))


def _carried(command: Command, changes: Sequence[Change]) -> None:
    rows = [{"change": change.what, "path": change.path} for change in changes]
    counts = Counter(change.what for change in changes)
    single = [f"{change.what}\t{visible_line(change.path)}" for change in changes if change.what not in QUIET]
    lines = [*single, *(f"{counts[what]} {what}" for what in QUIET if counts[what])]
    command.items(rows, "\n".join(lines) or "everything is up to date")


def _init(command: Command, database: Administration) -> None:
    login = command.args.login
    if login and not LOGIN.fullmatch(login):
        raise WrongUsage(f"{login!r} cannot be a login's name", "use small letters, digits and _")
    made = database.set_up()
    password = database.make_login(login) if login else None
    if command.args.days is not None:
        database.ask("keep_days", command.args.days)
    lines = ["the database holds homes now" if made else "the database holds homes already"]
    if password:
        lines.append(f"login {login}, password {password}; it is shown once: put it into a PGPASSFILE")
    command.answer({"made": made, "login": login, "password": password}, "\n".join(lines))


def _space(command: Command, database: Administration) -> None:
    [name] = _words(command, "a space's name")
    kind = _one_of(command.args.kind, SPACES, "kind")
    _say(command, database.ask("make_space", name, kind))


def _member(command: Command, database: Administration) -> None:
    space, name = _words(command, "a space", "a member's name")
    behalf, role = command.args.behalf, command.args.role
    kind = _one_of(command.args.kind or ("agent" if behalf else None), PRINCIPALS, "kind")
    _say(command, database.ask("make_member", space, name, kind, behalf, None if role == "none" else role))


def _key(command: Command, database: Administration) -> None:
    [name] = _words(command, "whose key")
    scopes = list(command.args.scope or ()) or ["read", "write"]
    for scope in scopes:
        _one_of(scope, SCOPES, "scope")
    days = command.args.days
    until = None if days is None else zulu(time.time() + days * 86_400)
    key = f"otolith_{os.urandom(20).hex()}"
    number = database.ask("make_key", name, sha256(key.encode()).digest(), scopes, until)
    command.answer({"key": key, "number": number, "name": name, "scopes": scopes, "until": until},
                   f"{key}\nkey {number} of {name}; shown once. Keep it as OTOLITH_KEY, or under [keys] in "
                   "the user's config.toml")


def _revoke(command: Command, database: Administration) -> None:
    [number] = _words(command, "a key's number")
    if not number.isdecimal():
        raise WrongUsage(f"{number!r} is not a key's number", "see: otolith admin audit")
    _say(command, f"revoked {database.ask('revoke', int(number))}")


def _audit(command: Command, database: Administration) -> None:
    _words(command)
    rows = [dict(zip(("kind", "name", "says"), row, strict=True)) for row in database.rows("report")]
    command.items(rows, "\n".join(f"{row['kind']:<6}{row['name']}  {row['says']}" for row in rows))


def _words(command: Command, *wanted: str) -> list[str]:
    words = list(command.args.words or ())
    if len(words) != len(wanted):
        raise WrongUsage(f"admin {command.args.act} needs {' and '.join(wanted) or 'no further words'}",
                         "see: otolith admin --help")
    return words


def _one_of(word: str | None, words: tuple[str, ...], what: str) -> str:
    if word is not None and word not in words:
        raise WrongUsage(f"unknown {what} {word!r}", f"use one of {', '.join(words)}")
    return word or words[0]


def _say(command: Command, line: str) -> None:
    command.answer({"done": line}, line)


ACTS: dict[str, Callable[[Command, Administration], None]] = {
    "init": _init, "space": _space, "member": _member, "key": _key, "revoke": _revoke, "audit": _audit}
COMMANDS = {"promote": _promote, "push": _push, "pull": _pull, "admin": _admin}
