"""After a purge nothing is left: every file of home, cache and settings is searched, also inside what is packed.

Each round writes one secret into a record of some kind, lets everything that copies, distils, exports and
indexes run over it, purges it, and searches names and bytes: as they are, unpacked from gzip, in each page of
each SQLite file, and in the forms in which JSON, YAML and URLs would write it.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.torture.harness import NOW, Size, World

from otolith.memory import Memory

TITLES = {"note": "purge, then a search for what is left"} | dict.fromkeys(("memo", "entry", "work", "chunk", "page", "edge"), "purge, then a search for what is left")
KINDS = ("note", "memo", "entry", "work", "chunk", "edge")


def trials(size: Size, world: World) -> Iterator[str]:
    draw = random.Random(size.seed)
    yield from (f"{KINDS[at % len(KINDS)]}:{draw.randrange(1 << 30)}" for at in range(size.of(3, 50)))


def run(trial: str, world: World) -> list[str]:
    kind, _, seed = trial.partition(":")
    draw = random.Random(int(seed))
    world.clear()
    secret = "zz" + "".join(draw.choice("bcdfghjklmnpqrstvw") for _ in range(10))
    with world.open(at=NOW, salt=seed) as mem:
        _bystanders(mem)
        record = _make(mem, kind, secret, draw)
        _spread(mem, record, kind, secret, draw)
    if draw.random() < 0.5:
        with world.open(at=NOW + 86400, salt="second") as mem:
            mem.upkeep()
    if not holding(world, secret):
        return ["the secret was nowhere before the purge"]
    with world.open(at=NOW + 86400, salt="purge") as mem:
        mem.forget(record, purge=True)
    left = holding(world, secret)
    with world.open(at=NOW + 90000, salt="after") as mem:
        mem.upkeep()
        hits = [hit.id for hit in mem.recall(secret).hits if secret in f"{hit.title} {hit.text}"]
    left += [place for place in holding(world, secret) if place not in left]
    return [*(f"{secret} is left in {place}" for place in left), *(f"recall still shows {hit}" for hit in hits)]


def _bystanders(mem: Memory) -> None:
    for at in range(4):
        mem.note(f"Kettle {at}", f"Kettle {at} whistles.", tags=["kitchen"])
    mem.log("Ann: I like green tea.", topic="kitchen")
    mem.record({"goal": "Mend the kettle", "task_type": "other", "success": True, "summary": "Mended", "files": ["a.py"]})


def _make(mem: Memory, kind: str, secret: str, draw: random.Random) -> str:
    title = f"About {secret}" if draw.random() < 0.5 else "About a thing"
    text = f"Nobody may know {secret}. It is {secret}."
    if kind == "note":
        return mem.note(title, text, tags=[secret] if draw.random() < 0.3 else ["kitchen"], importance=0.95, type="solution").id
    if kind == "memo":
        return mem.memo(f"user_keeps_{secret}", text, tags=["kitchen"]).id
    if kind == "entry":
        return mem.log(f"Ann: I live in {secret}.\nBob: We decided to use {secret}.", topic=draw.choice(("kitchen", secret))).id
    if kind == "work":
        return mem.record({"goal": f"Hide {secret}", "task_type": "other", "success": False, "summary": text, "learnings": [text],
                           "files": [f"{secret}.py"]}).id
    if kind == "edge":
        ids = [item["id"] for item in mem.list(kind="note")[0]]
        mem.link(ids[0], "SOLVES", ids[1], context=text)
        return str(next(item["id"] for item in mem.list(kind="edge")[0]))
    return mem.remember(text, conversation_id="c", tags=["kitchen"])[0].id


def _spread(mem: Memory, record: str, kind: str, secret: str, draw: random.Random) -> None:
    """Let everything see it: links, uses, edits, merges, the garden, the archive, built pages, exports."""
    other = next(item["id"] for item in mem.list(kind="note")[0] if item["id"] != record and "Kettle" in item["title"])
    steps: list[Callable[[], Any]] = [
        lambda: mem.recall(secret), lambda: mem.get(record), lambda: mem.upkeep(), lambda: mem.brief("the kettle"), lambda: mem.hud(),
        lambda: mem.core(), lambda: mem.reflection(), lambda: mem.embed(), lambda: mem.reindex(), lambda: mem.garden(apply=True),
        lambda: mem.cold(days=0, uses=99, apply=True), lambda: mem.check_file(f"{secret}.py")]
    if kind != "edge":  # a merge of its ends would forget it
        steps += [lambda: mem.reflect(apply=True), lambda: mem.link(other, "cites", record), lambda: mem.pin(record), lambda: (mem.forget(record), mem.restore(record))]
    if kind == "note":
        steps += [lambda: mem.link(record, "SOLVES", other, context=f"by {secret}"), lambda: mem.edit(record, title=f"Now {secret}"),
                  lambda: mem.edit(record, type="decision")]
    if kind == "memo":
        steps += [lambda: mem.memo(f"user_lost_{secret[:6]}_again", "Gone.", supersedes=[record])]
    if kind == "work":
        steps += [lambda: mem.link(record, "caused_by", next(item["id"] for item in mem.list(kind="work")[0] if item["id"] != record)),
                  lambda: mem.chapter([item["id"] for item in mem.list(kind="work")[0]], title="All of it")]
    for step in draw.sample(steps, draw.randrange(4, len(steps) + 1)):
        step()


# The search

def holding(world: World, secret: str) -> list[str]:
    """Every place below home, cache and settings that holds the secret."""
    needles = _forms(secret)
    places: list[str] = []
    for folder in (world.home, world.cache, world.config):
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(world.root))
            if secret in name.lower():
                places.append(f"the name {name}")
            if path.is_file() and any(needle in data for data in _contents(path) for needle in needles):
                places.append(name)
    return places


def _forms(secret: str) -> set[bytes]:
    spelled = {secret, secret.upper(), secret.capitalize(), quote(secret), json.dumps(secret)[1:-1]}
    packed = {base64.b64encode(("x" * shift + secret).encode())[4 * bool(shift) : -4].rstrip(b"=") for shift in range(3)}
    return {word.encode() for word in spelled} | {word.encode("utf-16-le") for word in spelled} | packed | {secret.encode().hex().encode()}


def _contents(path: Path) -> Iterator[bytes]:
    data = path.read_bytes()
    yield data.lower()
    yield data
    if data.startswith(b"\x1f\x8b"):
        yield gzip.decompress(data)
    for at in range(len(data)):
        if data[at : at + 2] in (b"\x78\x9c", b"\x78\xda"):  # what zlib packs begins so
            try:
                yield zlib.decompressobj().decompress(data[at:], 1 << 20)
            except zlib.error:
                continue
    if data.startswith(b"SQLite format 3\0"):
        yield from _rows(path)


def _rows(path: Path) -> Iterator[bytes]:
    """Every value of every table, as some are spread over pages; and full-text indexes by their words."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            try:
                for row in db.execute(f'SELECT * FROM "{name}"'):
                    for value in row:
                        yield value if isinstance(value, bytes) else str(value).lower().encode()
            except sqlite3.Error:
                continue
    finally:
        db.close()
