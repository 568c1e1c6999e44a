"""The sets that recall is measured on: what is stored and how, what is asked, what answers it. Nothing of them is in here.

    python bench/sets.py DATA_FOLDER [--models FOLDER] [--only SET …]       measures every set through the public verb

Each home is one `Home`: records are stored through the public verbs, a question names the keys that answer it, and `key_of` tells
which key a hit is. A foreign question is one that another home of the set, or another set, can answer and this one cannot.

    locomo     dialogs of two people, a session is one `log`; keys are turns
    realmem    one user's sessions with an assistant; keys are sessions; only earlier ones are stored when a prompt is asked
    docs       sections of documentation as notes
    japanese   paragraphs as notes
    messages   two of the dialogs as a messenger has them: a message a sentence, in small letters, nobody named; never fitted on
    chinese    paragraphs written for this, as notes, beside 300 Japanese ones; never fitted on
    code       functions of installed packages as chunks, asked for by the first sentence of their docstring; made here
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.util
import json
import random
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cached import CachedMiniLM
from locomo import Dialog, log_sessions, open_memory, read_dialogs

from otolith import meaning
from otolith.memory import Memory
from otolith.model.text import searchable
from otolith.model.words import STOP
from otolith.providers.embedders import Embedder, Static

Key = Any
PACKAGES = ("tomlkit", "rich", "starlette", "uvicorn", "httpx", "pathspec", "hypothesis")
FUNCTIONS, ASKED = 600, 200
FOREIGN, MESSENGERS = 200, 2


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


def unfitted(folder: Path) -> Iterator[Stored]:
    """Sets of another form, on which no weight was fitted."""
    for dialog in read_dialogs(folder / "locomo-dev.json")[:MESSENGERS]:
        own = [Query(plainly(asked.text, dialog), asked.evidence) for asked in dialog.asked if asked.category != 5]
        yield Stored("messages", dialog.name, [lambda mem, dialog=dialog: log_messages(mem, dialog)], own)
    data = json.loads((Path(__file__).parent / "chinese.json").read_text())
    others = json.loads((folder / "units" / "japanese.json").read_text())["units"][:300]
    own = [Query(question, frozenset([key])) for key, (_, questions) in enumerate(data) for question in questions]
    units = [{"id": key, "title": "", "text": text} for key, (text, _) in enumerate(data)]
    yield Stored("chinese", "chinese", [lambda mem: store_notes(mem, [*units, *others])], own)


def plainly(text: str, dialog: Dialog) -> str:
    """As somebody types who knows whom they write to: small letters, no names."""
    names = "|".join(sorted({re.escape(turn.speaker) for turn in dialog.turns}))
    return re.sub(rf"\b(?:{names})(['’]s)?\b", lambda found: "their" if found[1] else "they", text).lower()


def log_messages(mem: Memory, dialog: Dialog) -> dict[tuple[str, int | None], Key]:
    """Each sentence is a message of one of two nameless people; the key is that of the turn it is from."""
    names: dict[tuple[str, int | None], Key] = {}
    for session in dict.fromkeys(turn.session for turn in dialog.turns):
        messages, keys, said = [], [], 0.0
        for place, turn in enumerate(dialog.turns):
            if turn.session == session:
                who, said = "me" if turn.speaker == dialog.turns[0].speaker else "other", turn.said
                for sentence in re.split(r"(?<=[.!?])\s+", plainly(turn.text, dialog)):
                    messages.append({"role": who, "content": sentence.rstrip(".!") or sentence})
                    keys.append(place)
        entry = mem.log(messages, topic=dialog.name, created=said)
        names |= {(entry.id, number): key for number, key in enumerate(keys, 1)}
    return names


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


# Measuring

CUTS = {"locomo": (5, 10, 25, 50), "messages": (5, 10, 25, 50), "realmem": (1, 3, 5, 10)}
LIMIT = 50


class Asked(NamedTuple):
    """What came of a question: its label, recall at each cut, what it was called."""

    label: str
    shares: Sequence[float]
    enough: bool
    other: bool


def ask(mem: Memory, query: Query, names: dict[tuple[str, int | None], Key], cuts: Sequence[int]) -> Asked:
    with mem.home.uncounted():
        recalled = mem.recall(query.text, limit=LIMIT)
    turns = [hit.passage["turn"] if hit.passage and hit.kind == "entry" else None for hit in recalled.hits]
    keys = [key_of(names, hit.id, turn) for hit, turn in zip(recalled.hits, turns, strict=True)]
    order = [key for key in dict.fromkeys(keys) if key is not None]
    return Asked(query.label, shares_of(order, query.gold, cuts), recalled.enough, recalled.about_somebody_else)


def shares_of(order: Sequence[Key], gold: frozenset[Key], cuts: Sequence[int]) -> list[float]:
    return [len(gold.intersection(order[:cut])) / max(1, len(gold)) for cut in cuts]


def measure(stored: Stored, embedders: Sequence[Embedder | None]) -> Iterator[tuple[str, Asked]]:
    """(who answered, what came of it) for every question of a home."""
    cuts = CUTS.get(stored.set, (1, 5, 10))
    with open_memory() as mem:
        names: dict[tuple[str, int | None], Key] = {}
        done = 0
        for step in sorted({query.step for query in stored.asked}):
            for store in stored.steps[done : step or len(stored.steps)]:
                names |= store(mem)
            done = step or len(stored.steps)
            queries = [query for query in stored.asked if query.step == step]
            search = bm25(mem, names)
            yield from (("BM25, stop words out", Asked(query.label, shares_of(search(query.text), query.gold, cuts), False, False))
                        for query in queries)
            for embedder in embedders:
                mem.home.config = mem.home.config.replace(provider=embedder.name if embedder else "none")
                mem.providers = {"embedder": embedder} if embedder else None
                if embedder:
                    meaning.fill(mem.home.index, mem.home.config, embedder, notices=[])
                label = f"Otolith, {embedder.name if embedder else 'words alone'}"
                yield from ((label, ask(mem, query, names, cuts)) for query in queries)


def bm25(mem: Memory, names: dict[tuple[str, int | None], Key]) -> Callable[[str], list[Key]]:
    """Plain FTS5 over the same units: turns, whole sessions, sections, paragraphs, functions."""
    texts: dict[Key, list[str]] = {}
    query = ("SELECT r.id, p.turn, p.text, CASE p.ord WHEN 0 THEN r.title ELSE '' END FROM (SELECT *, n - record AS ord FROM passages) p "
             "JOIN records r ON r.n = p.record WHERE r.kind IN ('entry', 'note', 'chunk') ORDER BY p.n")
    for record, turn, text, title in mem.home.index.db.execute(query):
        key = key_of(names, record, int(turn) if turn and turn.isdecimal() else None)
        texts.setdefault(key, [title] if turn is None else []).append(text)
    keys = list(texts)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')")
    db.executemany("INSERT INTO words(rowid, text) VALUES (?,?)", [(at, searchable(" ".join(texts[key]))) for at, key in enumerate(keys)])

    def search(text: str) -> list[Key]:
        words = [word for word in re.findall(r"\w+", searchable(text).lower()) if word not in STOP]
        match = " OR ".join(f'"{word}"' for word in words)
        found = db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (match, LIMIT)) if words else ()
        return [keys[at] for at, in found]

    return search


def rows_of(name: str, results: dict[str, list[Asked]]) -> Iterator[str]:
    for who, asked in results.items():
        own = [one for one in asked if one.label == "own"]
        cells = [" / ".join(f"{value:.1f}" for value in 100 * np.mean([one.shares for one in own], axis=0))]
        for label in ("own", "foreign", "wrong person"):
            some = [one.enough and not (one.other and label != "foreign") for one in asked if one.label == label]
            cells.append(f"{100 * np.mean(some):.1f}" if some and not who.startswith("BM25") else "")
        yield f"| {name} @{'/'.join(map(str, CUTS.get(name, (1, 5, 10))))} | {who} | " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=Path, help="folder with the MiniLM weights")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--embedder", action="append", default=[], choices=("words", "static", "minilm"))
    given = parser.parse_args()
    embedders: list[Embedder | None] = [None, Static(), *([CachedMiniLM(given.models)] if given.models else [])]
    embedders = [each for each in embedders if not given.embedder or (each.name if each else "words") in given.embedder]
    results: dict[str, dict[str, list[Asked]]] = {}
    for stored in chain(read_sets(given.folder), unfitted(given.folder)):
        if given.only and stored.set not in given.only:
            continue
        for who, asked in measure(stored, embedders):
            results.setdefault(stored.set, {}).setdefault(who, []).append(asked)
        print(stored.set, stored.name, file=sys.stderr, flush=True)
    for name, by_who in results.items():
        for line in rows_of(name, by_who):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
