"""The sets that recall is measured on: what is stored and how, what is asked, what answers it. Nothing of them is in here.

Each home is one `Home`: records are stored through the public verbs, a question names the keys that answer it, and `key_of` tells
which key a hit is. A foreign question is one that another home of the set, or another set, can answer and this one cannot.

    locomo     dialogs of two people, a session is one `log`; keys are turns
    realmem    one user's sessions with an assistant; keys are sessions; only earlier ones are stored when a prompt is asked
    docs       sections of documentation as notes
    japanese   paragraphs as notes
    code       functions of installed packages as chunks, asked for by the first sentence of their docstring; made here
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from locomo import log_sessions, read_dialogs

from otolith.memory import Memory

Key = Any
PACKAGES = ("tomlkit", "rich", "starlette", "uvicorn", "httpx", "pathspec", "hypothesis")
FUNCTIONS, ASKED = 600, 200
FOREIGN = 200


class Query(NamedTuple):
    """A question, the keys that answer it (none for a foreign one), and its label."""

    text: str
    gold: frozenset[Key]
    label: str = "own"  # or wrong person, foreign
    step: int = 0  # asked when so many steps of the home are stored


class Stored(NamedTuple):
    """A home of a set: steps that store it one after the other, each returning (record, turn) → key."""

    set: str
    name: str
    steps: Sequence[Callable[[Memory], dict[tuple[str, int | None], Key]]]
    asked: Sequence[Query]


def key_of(names: dict[tuple[str, int | None], Key], record: str, turn: int | None) -> Key | None:
    """The key of a hit: its turn's, else its record's."""
    return names.get((record, turn), names.get((record, None)))


def read_sets(folder: Path) -> Iterator[Stored]:
    """Every home of every set that is there."""
    dialogs = read_dialogs(folder / "locomo-dev.json")
    chance = random.Random(3)
    people = [asked.text for dialog in dialogs for asked in dialog.asked if asked.category != 5]
    docs, japanese = (json.loads((folder / "units" / f"{name}.json").read_text()) for name in ("docs", "japanese"))
    sections = [asked["question"] for asked in docs["asked"]]

    def strange(texts: Sequence[str], count: int = FOREIGN) -> list[Query]:
        return [Query(text, frozenset(), "foreign") for text in chance.sample(list(texts), min(count, len(texts)))]

    for dialog in dialogs:
        own = [Query(asked.text, asked.evidence, "wrong person" if asked.category == 5 else "own") for asked in dialog.asked]
        others = [asked.text for other in dialogs if other is not dialog for asked in other.asked if asked.category != 5]
        yield Stored("locomo", dialog.name, [lambda mem, dialog=dialog: log_sessions(mem, dialog)], own + strange(others))
    yield realmem(json.loads((folder / "realmem-dev.json").read_text()), strange(people, 100) + strange(sections, 60))
    for name, data in (("docs", docs), ("japanese", japanese)):
        own = [Query(asked["question"], frozenset(asked["gold"])) for asked in data["asked"]]
        yield Stored(name, name, [lambda mem, data=data: store_notes(mem, data["units"])], own + strange(people, 100))
    functions = read_functions()
    own = [Query(asked, frozenset([key])) for key, (asked, _) in list(functions.items())[:ASKED]]
    yield Stored("code", "code", [lambda mem: store_chunks(mem, {key: text for key, (_, text) in functions.items()})],
                 own + strange(people, 100))


def realmem(sessions: Sequence[dict[str, Any]], foreign: Sequence[Query]) -> Stored:
    """Sessions in order of their day. A session's own prompts are asked before it is stored."""
    ordered = sorted(sessions, key=lambda session: session["date"])
    asked = []
    for step, session in enumerate(ordered):
        for at, turn in enumerate(session["turns"][:-1]):
            if turn.get("is_query"):
                used = frozenset(session["turns"][at + 1].get("memory_session_uuids") or ())
                earlier = used & {before["session"] for before in ordered[:step]}
                if earlier:
                    asked.append(Query(turn["content"], earlier, step=step))
    last = [query._replace(step=len(ordered)) for query in foreign]
    return Stored("realmem", "realmem", [lambda mem, session=session: log_session(mem, session) for session in ordered], asked + last)


def log_session(mem: Memory, session: dict[str, Any]) -> dict[tuple[str, int | None], Key]:
    messages = [{"role": turn["speaker"].lower(), "content": turn["content"]} for turn in session["turns"]]
    entry = mem.log(messages, topic="chat", created=session["date"][:10])
    return {(entry.id, None): session["session"]}


def store_notes(mem: Memory, units: Sequence[dict[str, str]]) -> dict[tuple[str, int | None], Key]:
    with mem.bulk():
        return {(mem.note(unit["title"] or "Untitled", unit["text"]).id, None): unit["id"] for unit in units}


def store_chunks(mem: Memory, texts: dict[Key, str]) -> dict[tuple[str, int | None], Key]:
    names: dict[tuple[str, int | None], Key] = {}
    with mem.bulk():
        for key, text in texts.items():
            names |= {(chunk.id, None): key for chunk in mem.remember(text, conversation_id=f"file-{key}")}
    return names


def read_functions() -> dict[str, tuple[str, str]]:
    """Functions of installed packages: name → (first sentence of its docstring, its source without it)."""
    found: dict[str, tuple[str, str]] = {}
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for path in sorted(Path(spec.origin).parent.rglob("*.py")) if spec and spec.origin else ():
            source = path.read_text(errors="replace")
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.FunctionDef) and (said := ast.get_docstring(node)) and len(node.body) > 1:
                    asked = " ".join(said.split("\n\n")[0].split()).split(". ")[0]
                    lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
                    doc = node.body[0]
                    body = lines[: doc.lineno - node.lineno] + lines[(doc.end_lineno or 0) - node.lineno + 1 :]
                    if len(asked.split()) >= 5 and 5 <= len(body) <= 60:
                        found[f"{package}.{path.stem}.{node.name}"] = (asked, "\n".join(body))
    order = sorted(found, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:FUNCTIONS]
    return {name: found[name] for name in order}
