"""No cycle inside a room: of two modules of one room at most one knows the other, at the top of the file or lazily."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import otolith

PACKAGE = Path(otolith.__file__).parent
NAMES = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
         for path in PACKAGE.rglob("*.py")}
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())


def imports_of(name: str) -> Iterator[str]:
    """Every module that a module imports, wherever it does, also as an attribute of its room (`verbs.links.link`)."""
    tree = ast.parse(NAMES[name].read_text())
    typing_only = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
                   for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in typing_only:  # never run: no module needs the other to be loaded
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in NAMES else str(node.module)
                        for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"otolith.{node.value.id}.{node.attr}"


def graph_of(room: str) -> dict[str, set[str]]:
    inside = {name for name in NAMES if name.startswith(f"otolith.{room}.")}
    return {name: {other for other in imports_of(name) if other in inside and other != name} for name in inside}


def in_cycles(graph: Mapping[str, set[str]]) -> set[str]:
    """The modules from which a way leads back to themselves."""
    def reach(start: str) -> set[str]:
        seen, todo = set[str](), [start]
        while todo:
            for other in graph[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        return seen

    return {name for name in graph if name in reach(name)}


@pytest.mark.parametrize("room", ROOMS)
def test_no_two_modules_of_a_room_need_each_other(room: str) -> None:
    assert sorted(in_cycles(graph_of(room))) == []


def test_a_cycle_is_seen_also_where_it_is_lazy() -> None:
    assert in_cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c"}
