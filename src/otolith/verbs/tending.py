"""Tending a home: `init` makes its own files, `config` shows and changes settings, `check` reports findings.

And upkeep's plain steps: sweep, and fold the usage ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from otolith import config as configuration
from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.codec import amend_object, write_object
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.record import Finding, Usage
from otolith.model.settings import SETTINGS, shown_as
from otolith.model.shape import plain
from otolith.model.times import zulu
from otolith.verbs import delivered, links
from otolith.verbs.steps import bytes_of, each

DEFAULTS = {"embedding_provider": "ollama", "openai_api_key": None, "ollama_model": "nomic-embed-text",
            "openai_model": "text-embedding-3-small"}
LEFT_BEHIND = 3600  # seconds
SCHEMAS = {"meta.json": "entry_meta.v1", "summary.json": "entry_summary.v1",
           "topic_memory.json": "topic_memory.v1"}


# A home's own files

def init(home: Home, *, git: bool = False) -> list[str]:
    """Make the home's own files; returns those that were not there. With `git`, a repository that merges."""
    home_id, made = configuration.settle(home.tree, home.new_id)
    home.config = home.config.replace(home_id=home_id)
    if not git:
        return made
    from otolith.verbs.git import set_up

    return [*made, *(name for name in set_up(home) if name not in made)]


# Settings: seed 004's _config.json. Keys are never shown whole.

def change_settings(home: Home, changes: Mapping[str, Any]) -> None:
    """Write the four keys; other keys in the file stay."""
    provider = changes.get("embedding_provider")
    if provider is not None and provider not in configuration.PROVIDERS:
        raise Invalid(f"embedding provider {provider!r} is unknown",
                      f"use one of {', '.join(configuration.PROVIDERS)}")
    home.settle()  # what keeps the key out of git is there before the key is
    new = {key: None if value == "null" else value for key, value in changes.items()}
    data = bytes_of(home, "_config.json")
    if data is None:
        home.tree.write("_config.json", write_object(
            {**DEFAULTS, "embedding_provider": home.config.provider, **new}))
    else:
        before = configuration.seed_config(home.tree) or {}
        home.tree.write("_config.json", amend_object(data, {**before, **new}), fingerprint(data))
    home.config = configuration.load(home.tree)


def show_settings(home: Home) -> dict[str, Any]:
    """What is in force, keys masked."""
    values = {"home": home.tree.name}
    for row in SETTINGS.values():
        if row.field:
            value = getattr(home.config, row.field)
            values[shown_as(row)] = _masked(value) if row.secret and value else plain(value)
    return values


def _masked(key: str) -> str:
    return f"{key[:3]}…{key[-2:]}" if len(key) > 12 else "…"


# What wants a person's eye; nothing is changed

def check(home: Home, *, secrets: bool = False) -> list[Finding]:
    """Everything in the home that wants a person's eye: sweep, then look at what the sweep cannot see."""
    home.index.inspect()
    home.sweep()
    findings = {*home.config.flaws, *home.index.cards.problems(), *_dangling(home), *_unmirrored(home),
                *_twins(home), *_odd_files(home), *_logs(home), *_schemas(home), *_left(home),
                *_settings(home)}
    if secrets:
        findings.update(_secrets(home))
    return sorted(findings, key=lambda finding: (finding.path, finding.line or 0, finding.code))


def _left(home: Home) -> Iterator[Finding]:
    """Acts that were interrupted, and files that a killed writer never gave their names."""
    for path in home.tree.leftovers(LEFT_BEHIND):
        yield Finding(path, None, "leftover", "was left behind by a writer that was killed; it is not read",
                      "run: otolith upkeep")
    for path in home.heed():
        yield Finding(path, None, "unfinished",
                      "an act was interrupted; what it was about to remove is hidden meanwhile",
                      "the next verb that writes finishes it, or: otolith upkeep")


def _settings(home: Home) -> Iterator[Finding]:
    """What otolith.toml says of tiers and caps that means nothing."""
    from otolith.derive.topics import read_caps, read_tiers, unknown_keys

    lines = (bytes_of(home, configuration.TRACKED) or b"").decode(errors="replace").splitlines()
    for read, table in ((read_tiers, home.config.tiers), (read_caps, home.config.caps)):
        try:
            read(table)
            for tier, key in unknown_keys(table) if read is read_tiers else ():
                line = next((at for at, text in enumerate(lines, 1) if text.lstrip().startswith(key)), None)
                yield Finding(configuration.TRACKED, line, "settings", f"tiers.{tier} has no key {key!r}",
                              "use score, confidence and types")
        except Invalid as error:
            yield Finding(configuration.TRACKED, None, "settings", error.message.partition(": ")[2],
                          error.hint or "fix the value")


def _dangling(home: Home) -> Iterator[Finding]:
    for unit, a, word, b in home.index.graph.dangling():
        yield Finding(unit, None, "dangling-link",
                      f"links {a} {word} {b}, of which one is nowhere in the home",
                      "restore the record, or unlink")


def _unmirrored(home: Home) -> Iterator[Finding]:
    """Notes that do not name their edges, say something else of them, or name edges that are not there."""
    edges, unread = home.index.notes.edges_at(), home.index.notes.unreadable_edges()
    ends: dict[str, set[str]] = {}
    for edge in edges.values():
        ends.setdefault(edge.a, set()).add(edge.id)
        ends.setdefault(edge.b, set()).add(edge.id)
    units = home.index.cards.units_of(home.index.notes.ids_of(["note"]))
    naming = [unit for note, unit in units.items()
              if note in ends or b"edge_id" in (bytes_of(home, unit) or b"")]
    for unit, note in each(home, naming):
        named = {relation.edge_id: relation for relation in note.relations if relation.edge_id}
        own = ends.get(note.id, set())
        flaws = [f"does not name its edge {edges[edge].unit}" for edge in sorted(own - named.keys())]
        flaws += [f"does not say what its edge {edges[edge].unit} says" for edge, relation in named.items()
                  if edge in own and not links.agrees(relation, note.id, edges[edge])]
        flaws += [f"names the edge {edges[edge].unit}, which links other notes" for edge in named
                  if edge in edges and edge not in own]
        for flaw in flaws:
            yield Finding(unit, None, "unmirrored-edge", flaw, "run: otolith upkeep")
        for edge in named.keys() - edges.keys():
            yield _missing_edge(unit, edge, unread)


def _missing_edge(unit: str, edge: str, unread: Sequence[str]) -> Finding:
    if unread:
        return Finding(unit, None, "missing-edge",
                       f"names the edge {edge}; an edge file cannot be read: {unread[0]}",
                       "fix that file; until then the reference stays")
    return Finding(unit, None, "missing-edge", f"names the edge {edge}, which is not there",
                   "the link counts as deleted; upkeep removes the reference")


def _twins(home: Home) -> Iterator[Finding]:
    for edge, unit, first in home.index.notes.twin_edges():
        yield Finding(unit, None, "second-edge", f"states the same relation as {first}",
                      f"keep what you need of both, then: otolith edges delete {edge}")


def _odd_files(home: Home) -> Iterator[Finding]:
    """A symlink, a folder or a pipe where one of the home's own files should be; a sweep passes it by."""
    for path in paths.SCANNED_FILES:
        if home.tree.look(path) is None:
            try:
                home.tree.read(path)
            except NotFound:
                continue
            except Damaged as error:
                why = error.message.removeprefix(f"{path}: ")
                yield Finding(path, None, error.flaw, f"is not read: {why}",
                              "put a plain file in its place, or move it away")


def _logs(home: Home) -> Iterator[Finding]:
    """Broken lines of the append-only files that no unit stands for."""
    for path in (paths.AUDIT, paths.usage_log(home.machine)):
        try:
            lines = ledger.read_log(home.tree, path)
        except Damaged as error:
            yield Finding(path, error.line, error.flaw, error.message, error.hint or "fix the file")
            continue
        for number, line in lines:
            if line is None:
                yield Finding(path, number, "line", "is not a whole line of JSON",
                              "remove the line; nothing else depends on it")


def _schemas(home: Home) -> Iterator[Finding]:
    for path in home.index.notes.documents("topics/"):
        schema = SCHEMAS.get(path.rsplit("/", 1)[-1])
        data = bytes_of(home, path) if schema else None
        with suppress(Damaged):  # a finding of the sweep
            if schema and data and (odd := codec.foreign_schema(codec.read_object(data), schema)):
                yield Finding(path, 1, "schema", odd, "nothing to do; a rebuild leaves the file alone")


def _secrets(home: Home) -> Iterator[Finding]:
    from otolith.model.secrets import redact

    for path in home.index.notes.documents():
        text = (bytes_of(home, path) or b"").decode(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            for kind in redact(line)[1]:
                yield Finding(path, number, "secret", f"looks like a secret ({kind})",
                              "replace it, and change the secret itself")


# Upkeep's steps

def sweep(home: Home, _providers: Any = None) -> list[str]:
    """What was changed by hand since the last look; what killed writers left behind is tidied away."""
    home.index.inspect()
    gone = [f"tidied {path}" for path in home.tree.tidy()] if home.tree.leftovers(LEFT_BEHIND) else []
    return [*gone, *(f"{change.what} {change.path}" + (f": {change.reason}" if change.reason else "")
                     for change in home.sweep())]


def fold(home: Home, _providers: Any = None) -> list[str]:
    """The ledger's new lines into the index; a large ledger becomes one line."""
    delivered.trim_delivered(home)
    home.fold_usage()
    path = paths.usage_log(home.machine)
    measure = home.tree.measure(path)
    if measure is None or measure.size <= ledger.USAGE_BYTES:
        return []
    with home.writing():
        data, _ = home.tree.read(path)
        totals: dict[str, Usage] = {}
        ledger.fold_usage(ledger.read_lines(data), totals)
        base = {record: [usage.count, None if usage.last is None else zulu(usage.last)]
                for record, usage in sorted(totals.items())}
        line = json.dumps({"base": base}, separators=(",", ":")) + "\n"
        home.tree.write(path, line.encode(), fingerprint(data))
        home.fold_usage()
    return [f"{path}: {measure.size} bytes became {len(line)}"]
