"""Nothing grows out of reach: modules, function bodies, the README; and nobody catches everything but the doors."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import otolith

PACKAGE = Path(otolith.__file__).parent
ROOT = PACKAGE.parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_is_longer_than_500_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_body_is_longer_than_50_lines(path: Path) -> None:
    long = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            lines = (node.end_lineno or 0) - body[0].lineno + 1
            if lines > 50:
                long.append(f"{node.name}: {lines}")

    assert long == []


# Where one bad thing among many must not stop the others, whatever is wrong with it.
CATCHING = {"upkeep.py": "what nobody foresaw in a rung is told and ends only that rung",
            "units.py": "any exception while a file is read is that file's finding"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_the_doors_catch_everything(path: Path) -> None:
    broad = [node.lineno for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ExceptHandler)
             and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))]

    assert len(broad) <= (name_of(path) in CATCHING) or path.relative_to(PACKAGE).parts[0] == "doors"


@pytest.mark.parametrize("path", [path for path in MODULES if path.read_text().strip()], ids=name_of)
def test_every_module_opens_with_what_it_is_for(path: Path) -> None:
    said = ast.get_docstring(ast.parse(path.read_text()))

    assert said
    assert len(said.splitlines()) <= 24  # errors.py draws its tree there


def test_the_readme_can_be_read_in_one_go() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_architecture_can_be_read_in_one_go() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 120
