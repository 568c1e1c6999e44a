"""Imports point down: each room sees only the rooms below it, never a neighbour on its own line."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import otolith

PACKAGE = Path(otolith.__file__).parent
LINES = ("package", "doors", "memory", "reader", "upkeep", "verbs", "derive | recall", "home", "meaning | sync | usage", "units | opening",
         "files | index | providers | config", "model", "errors")
LEVEL = {room: at for at, line in enumerate(LINES) for room in line.split(" | ")}
OUTSIDE = {"__main__": "package", "__init__": "package"}  # the package's own two files see everything
HEAVY = {"numpy", "tokenizers", "wordllama", "rich", "onnxruntime", "openai", "mcp", "starlette", "uvicorn", "httpx"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return OUTSIDE.get(first, first)


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports by dots"
            module = str(node.module)
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def test_every_module_lies_in_a_room_that_has_its_line() -> None:
    assert {room_of(path) for path in MODULES} <= LEVEL.keys()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down_only(path: Path) -> None:
    here = room_of(path)
    wrong = []
    for line, module in imports_of(path):
        parts = module.split(".")
        if parts[0] != "otolith" or len(parts) < 2:
            continue
        there = parts[1]
        if there == "__version__":
            continue
        if there != here and LEVEL.get(there, -1) <= LEVEL[here]:
            wrong.append(f"{path.name}:{line} imports {module}")

    assert wrong == []


@pytest.mark.parametrize("path", [path for path in MODULES if room_of(path) in ("derive", "model")],
                         ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rules_and_values_do_no_input_or_output(path: Path) -> None:
    acting = {"os", "io", "pathlib", "sqlite3", "subprocess", "socket", "shutil", "tempfile", "urllib", "httpx", "glob",
              "secrets", "random"}

    assert [module for _, module in imports_of(path) if module.split(".")[0] in acting] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_packages_are_imported_only_where_they_are_used(path: Path) -> None:
    tree = ast.parse(path.read_text())
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name.split(".")[0] for node in top if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module).split(".")[0] for node in top if isinstance(node, ast.ImportFrom)}
    if path.relative_to(PACKAGE).parts[0] == "doors" and "cli" not in path.parts:
        names -= {"mcp", "starlette", "uvicorn"}  # a server's own door, loaded by the verb that starts it

    assert names & HEAVY == set()


def test_a_plain_command_loads_none_of_the_heavy_packages(mem) -> None:  # type: ignore[no-untyped-def]
    import os
    import subprocess

    note = mem.note("Tea", "Steep.")
    code = ("import sys; from otolith.doors.cli import main; "
            f"assert main(['get', '{note.id}']) == 0; print(sorted({HEAVY | {'dataclasses', 'inspect'}!r} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "OTOLITH_HOME": str(mem.path)})

    assert done.stdout.splitlines()[-1] == "[]"
