"""A home with something of everything in it, and every act that writes to one.

`ACTS` has a line for each writing verb of the table of verbs, some several; `tests/test_torture.py` compares.
An act is done once and for all in the home as `fill` leaves it; those with a key may be done again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.torture.harness import NOW, World

from otolith.errors import Conflict, Invalid, NotFound
from otolith.memory import Memory

SECRET = "quaggaherd"  # stands in everything that a purge is to remove
SESSION = "9f0c2f0e-5b1e-4a53-9a55-0d9a3c1f7f10"
Ids = Mapping[str, Any]


def fill(world: World) -> dict[str, Any]:
    """Make the home; returns the ids of what is in it by name."""
    world.clear()
    ids: dict[str, Any] = {}
    with world.open(at=NOW, salt="fill") as mem:
        _notes(mem, ids)
        _dialogs(mem, ids)
        _memos(mem, ids)
        _works(mem, ids)
        ids["chunk"] = mem.remember("A quaggaherd grazes at dawn near the mill.", conversation_id="c1", tags=["zoo"])[0].id
        mem.remember("The mill grinds rye and barley on Mondays.", conversation_id="c1")
        mem.episode("A walk to the mill", summary="It rained.")
        mem.link(ids["problem"], "cites", ids["entry"])
        mem.pin(ids["chunk"])
        mem.forget(ids["gone"])
        mem.forget(ids["gone_entry"])
        mem.recall("mill")
        mem.get(ids["solution"])
        mem.upkeep()
        mem.brief("the mill")
    _foreign(world)
    return ids


def _notes(mem: Memory, ids: dict[str, Any]) -> None:
    ids["solution"] = mem.note("Quaggaherd", "The quaggaherd is wild; fence it.", type="solution", tags=["zoo"], importance=0.9).id
    ids["problem"] = mem.note("Kettle", "The kettle leaks at the mill.", type="problem", tags=["mill"], importance=0.9).id
    ids["twin"] = mem.note("Kettle too", "The kettle leaks at the mill, again.", type="problem", tags=["mill"]).id
    ids["pinned"] = mem.note("Millstone", "Dress the millstone each spring.", type="procedure", steps=["Lift", "Dress"]).id
    ids["gone"] = mem.note("Windmill", "It was sold.").id
    ids["edge"] = mem.link(ids["solution"], "SOLVES", ids["problem"], context="fences")
    mem.pin(ids["pinned"])


def _dialogs(mem: Memory, ids: dict[str, Any]) -> None:
    ids["entry"] = mem.log("Ann: I live with a quaggaherd in Hobbletown.\nBob: I am a vegan.", topic="zoo").id
    ids["other_entry"] = mem.log("Ann: I like green tea.\nBob: I work at the mill.", topic="zoo").id
    ids["gone_entry"] = mem.log("Cleo: I moved to Leeds.", topic="towns").id
    facts = [fact for fact in mem.facts("zoo") if SECRET not in f"{fact.subject} {fact.object}".lower()]
    ids["fact"] = str(facts[0].id)
    mem.review(ids["fact"], score=9)
    ids["entry_facts"] = [str(fact.id) for fact in mem.facts("zoo")]


def _memos(mem: Memory, ids: dict[str, Any]) -> None:
    ids["memo"] = mem.memo("user_keeps_a_quaggaherd", "The quaggaherd.").id
    ids["newer"] = mem.memo("user_keeps_a_zebra", "Yes.").id
    mem.link(ids["newer"], "supersedes", ids["memo"])
    for at, word in enumerate(("colors", "fonts", "spacing", "tables", "length", "tone")):
        mem.memo(f"mill_prefs_{word}", f"On {word} at the mill.", created=NOW - 86400 * (10 - at))


def _works(mem: Memory, ids: dict[str, Any]) -> None:
    works = [mem.record({"goal": f"Tame {word}", "task_type": "other", "success": True, "summary": f"Tamed {word}",
                         "files": ["zoo.py"]}).id for word in ("the quaggaherd", "a zebra", "a horse", "a mule")]
    ids["work"], ids["works"] = works[0], works
    mem.link(works[1], "caused_by", works[0])
    ids["chapter"] = mem.chapter(works[:2], title="Taming").id


def _foreign(world: World) -> None:
    """What is taken in from elsewhere: a transcript of a coding agent and a vault of notes."""
    lines = [{"parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/src/app", "sessionId": SESSION,
              "version": "2.1.30", "type": role, "uuid": f"uuid-{at}", "timestamp": f"2026-02-10T10:0{at}:00.000Z",
              "message": {"role": role, "content": text}}
             for at, (role, text) in enumerate((("user", "Please remember that I prefer tabs over spaces in Go code."),
                                                ("assistant", "I will use tabs."), ("user", "We always deploy on Mondays.")))]
    (world.root / "transcript.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    vault = world.root / "vault"
    vault.mkdir(exist_ok=True)
    (vault / ".obsidian").mkdir(exist_ok=True)
    for name, text in (("Barn", "The barn is dry. See [[Loft]]."), ("Loft", "The loft is full of hay. #barn")):
        (vault / f"{name}.md").write_text(text)
    (world.root / "app").mkdir(exist_ok=True)


def _import(mem: Memory, ids: Ids) -> None:
    from otolith.doors.exchange.importing import Import

    root = Path(mem.home.folder()).parent
    Import(mem).run(root / "vault", "obsidian")


def _bulk(mem: Memory, ids: Ids) -> None:
    with mem.bulk():
        for at in range(4):
            mem.note(f"Sack {at}", f"Sack {at} is full of rye.", key=f"sack-{at}")


def _settings(mem: Memory, ids: Ids) -> None:
    from otolith.verbs import tending

    tending.change_settings(mem.home, {"ollama_model": "nomic"})


def _page(mem: Memory, ids: Ids) -> None:
    from otolith.verbs.notes import write_page

    write_page(mem.home, "plan.md", "Buy rye.")


def _unmerge(mem: Memory, ids: Ids) -> None:
    with suppress(NotFound, Conflict, Invalid):  # it is merged already
        mem.merge(ids["problem"], ids["twin"])
    mem.unmerge(ids["twin"])


def _with_news(verb: str) -> Callable[[Memory, Ids], None]:
    """A verb that builds has something to build after a note and a dialog."""

    def build(mem: Memory, ids: Ids) -> None:
        mem.note("Hay", "Hay is stored in the loft.", type="solution", importance=0.9, key="hay")
        mem.log("Ann: I sold the barn.", topic="zoo", key="barn")
        getattr(mem, verb)(*(["zoo"] if verb == "build_topic" else []))

    return build


def _hook(event: str) -> Callable[[Memory, Ids], None]:
    def fire(mem: Memory, ids: Ids) -> None:
        from otolith.doors.agents import hooks

        root = Path(mem.home.folder()).parent
        mem.close()  # a hook opens the home itself
        hooks.answer(event, {"session_id": SESSION, "transcript_path": str(root / "transcript.jsonl"),
                             "cwd": str(root / "app"), "hook_event_name": event}, str(root / "home"))

    return fire


Act = Callable[[Memory, Ids], Any]
ACTS: dict[str, Act] = {
    "init": lambda mem, ids: mem.init(),
    "note": lambda mem, ids: mem.note("Fresh", "A fresh thing about rye.", tags=["rye"], key="fresh"),
    "memo": lambda mem, ids: mem.memo("user_likes_fresh_tea", "Yes."),
    "remember": lambda mem, ids: mem.remember("Fresh rye arrives at noon.", conversation_id="c2", key="rye"),
    "log": lambda mem, ids: mem.log("Ann: I bought rye.\nBob: I live in York.", topic="farm", key="farm"),
    "record": lambda mem, ids: mem.record({"goal": "Mill rye", "task_type": "other", "success": False,
                                           "summary": "Jammed"}, key="milling"),
    "agent": lambda mem, ids: mem.agent("miller", type="main"),
    "chapter": lambda mem, ids: mem.chapter(ids["works"][2:], title="More taming", key="more"),
    "edit": lambda mem, ids: mem.edit(ids["problem"], text="The kettle no longer leaks."),
    "edit-type": lambda mem, ids: mem.edit(ids["twin"], type="decision"),
    "edit-memo": lambda mem, ids: mem.edit(ids["newer"], text="No more."),
    "link": lambda mem, ids: mem.link(ids["twin"], "RELATED_TO", ids["pinned"], context="both of iron"),
    "link-other": lambda mem, ids: mem.link(ids["twin"], "cites", ids["work"]),
    "unlink": lambda mem, ids: mem.unlink(ids["solution"], "SOLVES", ids["problem"]),
    "pin": lambda mem, ids: mem.pin(ids["problem"]),
    "pin-memo": lambda mem, ids: mem.pin(ids["newer"]),
    "unpin": lambda mem, ids: mem.unpin(ids["pinned"]),
    "review": lambda mem, ids: mem.review(ids["fact"], score=3),
    "settle": lambda mem, ids: mem.settle(ids["entry_facts"][0], ids["entry_facts"][1], "both"),
    "merge": lambda mem, ids: mem.merge(ids["problem"], ids["twin"]),
    "unmerge": _unmerge,
    "episode": lambda mem, ids: mem.episode("Rye came", summary="Two sacks."),
    "forget": lambda mem, ids: mem.forget(ids["problem"]),
    "forget-entry": lambda mem, ids: mem.forget(ids["other_entry"]),
    "restore": lambda mem, ids: mem.restore(ids["gone"]),
    "restore-entry": lambda mem, ids: mem.restore(ids["gone_entry"]),
    "purge": lambda mem, ids: mem.forget(ids["solution"], purge=True),
    "purge-entry": lambda mem, ids: mem.forget(ids["entry"], purge=True),
    "purge-memo": lambda mem, ids: mem.forget(ids["memo"], purge=True),
    "purge-work": lambda mem, ids: mem.forget(ids["work"], purge=True),
    "end": lambda mem, ids: mem.end("user: Remember that I prefer rye bread.\nassistant: Noted."),
    "hud": lambda mem, ids: mem.hud(past="milled", present="baking", future="eating"),
    "garden": lambda mem, ids: mem.garden(apply=True),
    "reflect": lambda mem, ids: mem.reflect(apply=True),
    "cold": lambda mem, ids: mem.cold(days=0, uses=5, apply=True),
    **{verb: _with_news(verb) for verb in ("upkeep", "sync", "reindex", "decay", "core", "reflection", "embed", "build_topic",
                                           "build_global")},
    "bulk": _bulk,
    "import": _import,
    "config": _settings,
    "page": _page,
    "hook-stop": _hook("Stop"),
    "hook-end": _hook("SessionEnd"),
}

# Writing verbs that have no line of their own, and why
ELSEWHERE = {
    "accept": "reflect carries out the same", "edges": "link and unlink", "topics": "build-topic", "global": "build-global",
    "hook": "hook-stop and hook-end", "mcp": "a door", "serve": "a door",
    "settle": "one synced line, as review writes it", "trust": "one synced line, as review writes it",
    "undo": "forget, restore, edit, link and unlink, done backwards", "setup": "init, install, upkeep and import",
    "promote": "a note in another home", "push": "writes a team's database", "pull": "not killed yet",
    "admin": "writes a team's database, not a home", "model": "asks a program; its settings are the user's",
    "install": "writes an agent's settings, not a home", "uninstall": "writes an agent's settings, not a home",
}


def act(world: World, name: str, ids: Ids) -> Callable[[], Any]:
    """The act, ready to be done in a home of its own opening."""

    def done() -> Any:
        with world.open() as mem:
            return ACTS[name](mem, ids) and None

    return done
