"""Counts of how the code is built, from its syntax trees: the table that the laws under tests/laws/ keep from rising.

    python -m bench.structure            the table
    python -m bench.structure --list     every place behind each count
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "otolith"
KINDS = {"chunk", "memo", "entry", "fact", "topic", "global", "work", "agent", "chapter", "wisdom", "note", "edge",
         "episode", "page"}
EVENTS = {"SAID", "ANSWERED", "CALLED", "STOPPED", "NOTICE", "ROLES"}  # of a session; an event is no record
CLASSES = {"Chunk", "Memo", "Entry", "Fact", "Topic", "GlobalMemory", "Work", "Agent", "Chapter", "Wisdom", "Note", "Edge",
           "Episode", "Page"}
SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|PRAGMA)\s")
VAGUE = {"found", "one", "told", "said", "wanted", "known"}
COLUMNS = 110
COMPLEX = 20
Places = list[str]


def modules() -> dict[Path, ast.Module]:
    """Every module with its syntax tree."""
    return {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def count(trees: dict[Path, ast.Module]) -> dict[str, Places]:
    """Each count's places, as `file:line what`."""
    functions = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)
                 if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {
        "sql": [place for path, tree in trees.items() if not _is_sql(path) for place in _sql(path, tree)],
        "kinds": [place for path, tree in trees.items() if name_of(path) not in ("model/kinds.py", "files/codec.py")
                  for place in _kind_tests(path, tree)],
        "loose": [f"{name_of(path)}:{node.lineno} {node.name}" for path, node in functions
                  if name_of(path) in ("memory.py", "reader.py") and not node.name.startswith("_")
                  and (node.args.kwarg or node.args.vararg)],
        "cycles": [" ".join(sorted(group)) for group in _cycles(trees)],
        "complex": [f"{name_of(path)}:{node.lineno} {node.name} {complexity(node)}" for path, node in functions
                    if complexity(node) > COMPLEX],
        "long_lines": [f"{name_of(path)}:{at}" for path in trees
                       for at, line in enumerate(path.read_text().splitlines(), 1) if len(line) > COLUMNS],
        "twice": _class_names(trees),
        "vague": [f"{name_of(path)}:{node.lineno} {node.id}" for path, tree in trees.items() for node in ast.walk(tree)
                  if isinstance(node, ast.Name) and node.id in VAGUE],
    }


def _inside(path: Path, room: str) -> bool:
    return path.relative_to(PACKAGE).parts[0] == room


def _is_sql(path: Path) -> bool:
    """The index, and the one medium of a home that is a database itself."""
    return _inside(path, "index") or path.relative_to(PACKAGE).as_posix() == "files/postgres.py"


def _sql(path: Path, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        statement = isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
        call = isinstance(node, ast.Attribute) and node.attr in ("execute", "executemany", "executescript")
        if statement or call or "sqlite3" in names:
            yield f"{name_of(path)}:{node.lineno} {'string' if statement else 'execute' if call else 'import'}"


def _kind_tests(path: Path, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and _tests_kind([node.left, *node.comparators]):
            yield f"{name_of(path)}:{node.lineno} {ast.unparse(node)}"
        elif isinstance(node, ast.Match) and _of_kind(node.subject):
            yield from (f"{name_of(path)}:{case.pattern.lineno} case" for case in node.cases)
        elif isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len(keys) > 1 and len(keys) == len(node.keys) and set(keys) <= KINDS:
                yield from (f"{name_of(path)}:{node.lineno} key {key}" for key in keys)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            classes = {ast.unparse(name).split(".")[-1] for name in ast.walk(node.args[1])
                       if isinstance(name, ast.Name | ast.Attribute)}
            if classes & CLASSES:
                yield f"{name_of(path)}:{node.lineno} {ast.unparse(node)}"


def _tests_kind(sides: list[ast.expr]) -> bool:
    """A kind compared with names of kinds, spelt out here or in a constant."""
    if not any(_of_kind(side) for side in sides):
        return False
    texts = {name.value for side in sides for name in ast.walk(side) if isinstance(name, ast.Constant)}
    return bool(texts & KINDS) or any(isinstance(side, ast.Name) and side.id.isupper() and side.id not in EVENTS
                                      for side in sides)


def _of_kind(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in ("kind", "kinds")) or (
        isinstance(node, ast.Name) and node.id in ("kind", "kinds")) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "kind") or (
        isinstance(node, ast.Call) and "kind" in ast.unparse(node))


def complexity(function: ast.AST) -> int:
    """McCabe's number: one, and one more for each place where the way may part."""
    total = 1
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.Assert | ast.Lambda):
            total += 1
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            total += 1 + bool(node.orelse)
        elif isinstance(node, ast.Try):
            total += len(node.handlers) + bool(node.orelse)
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        elif isinstance(node, ast.Match):
            total += len(node.cases)
    return total


def _cycles(trees: dict[Path, ast.Module]) -> list[set[str]]:
    """Modules of one room that reach each other by imports, those inside functions and through `verbs.name` included."""
    dotted = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
              for path in trees}
    uses: dict[str, set[str]] = {}
    for name, path in dotted.items():
        room = name.split(".")[1] if name.count(".") > 1 else ""
        uses[name] = {other for other in _imports(trees[path], dotted)
                      if room and other != name and other.split(".")[1:2] == [room]}
    return [group for group in _components(uses) if len(group) > 1]


def _imports(tree: ast.Module, dotted: dict[str, Path]) -> Iterator[str]:
    skipped = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.If)
               and "TYPE_CHECKING" in ast.unparse(node.test) for part in node.body for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "verbs":
            names = [f"otolith.verbs.{node.attr}"]
        for name in names:
            if name in dotted and dotted[name].name != "__init__.py":
                yield name
            elif name == "otolith.verbs" and isinstance(node, ast.ImportFrom) and node.module == "otolith":
                yield from (module for module in dotted if module.startswith("otolith.verbs."))  # it may load any of them


def _components(uses: dict[str, set[str]]) -> list[set[str]]:
    """Groups whose members all reach each other."""
    reach: dict[str, set[str]] = {}
    for start in uses:
        seen, left = set(), [start]
        while left:
            for other in uses.get(left.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        reach[start] = seen
    groups = {frozenset({name} | {other for other in reach[name] if name in reach[other]}) for name in uses}
    return [set(group) for group in groups]


def _class_names(trees: dict[Path, ast.Module]) -> Places:
    where: dict[str, Places] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                where[node.name].append(name_of(path))
    return [f"{name}: {', '.join(paths)}" for name, paths in sorted(where.items()) if len(paths) > 1]


def sizes(trees: dict[Path, ast.Module]) -> dict[str, float]:
    """Modules, lines, and the means."""
    lines = sum(len(path.read_text().splitlines()) for path in trees)
    bodies = [(node.end_lineno or 0) - node.lineno + 1 for tree in trees.values() for node in ast.walk(tree)
              if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {"modules": len(trees), "lines": lines, "lines_a_module": round(lines / len(trees), 1),
            "lines_a_function": round(sum(bodies) / len(bodies), 1)}


def main() -> None:
    trees = modules()
    for name, value in sizes(trees).items():
        print(f"{name:18} {value:>8}")
    for name, places in count(trees).items():
        largest = f"   largest {max(len(place.split()) for place in places)}" if name == "cycles" and places else ""
        print(f"{name:18} {len(places):>8}{largest}")
        if "--list" in sys.argv:
            kept = places if name != "vague" else [f"{n}: {c}" for n, c in Counter(p.split()[-1] for p in places).items()]
            print("".join(f"    {place}\n" for place in kept), end="")


if __name__ == "__main__":
    main()
