"""`check`: everything in the home that wants a person's eye, with file, line and remedy. It changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from strata.errors import Damaged, NotFound
from strata.files import codec, jsonform, ledger, paths
from strata.home import Home
from strata.index import read
from strata.model.finding import Finding


def check(home: Home, *, secrets: bool = False) -> list[Finding]:
    """Sweep, then look at what the sweep cannot see."""
    home.sweep()
    found = [*read.problems(home.db), *_dangling(home), *_unmirrored(home), *_logs(home), *_schemas(home)]
    if secrets:
        found.extend(_secrets(home))
    return sorted(set(found), key=lambda finding: (finding.path, finding.line or 0, finding.code))


def _dangling(home: Home) -> Iterator[Finding]:
    for unit, a, word, b in read.dangling(home.db):
        yield Finding(unit, None, "dangling-link", f"links {a} {word} {b}, of which one is nowhere in the home",
                      "restore the record, or unlink")


def _unmirrored(home: Home) -> Iterator[Finding]:
    """An edge stands, and one of its notes does not say so; or a note names an edge that is not there."""
    edges = {edge: (a, b, unit) for a, b, edge, unit in
             home.db.execute("SELECT a, b, edge, unit FROM links WHERE edge IS NOT NULL")}
    ends: dict[str, set[str]] = {}
    for edge, (a, b, _) in edges.items():
        ends.setdefault(a, set()).add(edge)
        ends.setdefault(b, set()).add(edge)
    for record, unit in home.db.execute("SELECT id, unit FROM records WHERE kind = 'note'").fetchall():
        mine = ends.get(record, set())
        if not mine and not _mentions_edges(home, unit):
            continue
        try:
            note = codec.read_unit(home.tree, unit)[0][0]
        except (Damaged, NotFound):
            continue
        named = {relation.edge_id for relation in note.relations if relation.edge_id}
        for edge in sorted(mine - named):
            yield Finding(unit, None, "unmirrored-edge", f"does not name its edge {edges[edge][2]}", "run: strata upkeep")
        for edge in sorted(named - edges.keys()):
            yield Finding(unit, None, "missing-edge", f"names the edge {edge}, which is not there",
                          "the link counts as deleted; upkeep removes the reference")


def _mentions_edges(home: Home, unit: str) -> bool:
    try:
        return b"edge_id" in home.tree.read(unit)[0]
    except (Damaged, NotFound):
        return False


def _logs(home: Home) -> Iterator[Finding]:
    """Broken lines of the append-only files that no unit stands for."""
    logs = [paths.AUDIT, paths.usage_log(home.machine)]
    for path in logs:
        try:
            lines = ledger.read_log(home.tree, path)
        except Damaged as error:
            yield Finding(path, error.line, error.flaw, error.message, error.hint or "mend the file")
            continue
        for number, line in lines:
            if line is None:
                yield Finding(path, number, "line", "is no whole line of JSON", "remove the line; nothing else depends on it")


def _schemas(home: Home) -> Iterator[Finding]:
    expected = {"meta.json": "entry_meta.v1", "summary.json": "entry_summary.v1", "topic_memory.json": "topic_memory.v1"}
    for path, in home.db.execute("SELECT path FROM documents WHERE path LIKE 'topics/%.json'").fetchall():
        schema = expected.get(path.rsplit("/", 1)[-1])
        if schema is None:
            continue
        try:
            odd = jsonform.foreign_schema(jsonform.read_object(home.tree.read(path)[0]), schema)
        except (Damaged, NotFound):
            continue
        if odd:
            yield Finding(path, 1, "schema", odd, "nothing to do; a rebuild leaves the file alone")


def _secrets(home: Home) -> Iterator[Finding]:
    from strata.model.secrets import redact

    for path, in home.db.execute("SELECT path FROM documents ORDER BY path").fetchall():
        try:
            text = home.tree.read(path)[0].decode("utf-8", errors="replace")
        except (Damaged, NotFound):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for kind in redact(line)[1]:
                yield Finding(path, number, "secret", f"looks like a secret ({kind})",
                              "replace it, and change the secret itself")
