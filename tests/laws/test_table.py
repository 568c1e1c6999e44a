"""The table of verbs is the truth about them: Memory's methods have its names, defaults and kinds of parameters."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from otolith.doors.agents.install import AGENTS
from otolith.doors.cli import manual
from otolith.doors.cli.command import make_parser
from otolith.doors.exchange import FORMATS
from otolith.doors.mcp import manual as tools_manual
from otolith.memory import Memory
from otolith.model.recall import FILTERS as FILTER_NAMES
from otolith.model.shape import Shape
from otolith.reader import Reader
from otolith.verbs.table import (
    ANSWERS,
    DOORS,
    FAMILIES,
    FILTERS,
    PLUMBING,
    Param,
    Type,
    Verb,
    choices_of,
    in_model,
    rows_of,
    table,
    verb,
)

TABLE = table()
IN_PYTHON = [row for row in TABLE.values() if "python" in row.doors]
PARAMS = [pytest.param(row, param, id=f"{row.name}.{param.name}") for row in TABLE.values() for param in row.params]


def _written(row: Verb) -> dict[str, tuple[Any, Any]]:
    """name → (default, kind) as the table has them."""
    kinds = [(param, inspect.Parameter.POSITIONAL_OR_KEYWORD) for param in row.takes]
    kinds += [(param, inspect.Parameter.KEYWORD_ONLY) for param in row.options]
    return {param.name: (inspect.Parameter.empty if param.required else param.default, kind)
            for param, kind in kinds if "python" in param.doors}


@pytest.mark.parametrize("row", IN_PYTHON, ids=lambda row: row.name)
def test_a_method_s_signature_is_that_of_the_table(row: Verb) -> None:
    signature = inspect.signature(getattr(Memory, row.python))
    method = {name: (given.default, given.kind) for name, given in signature.parameters.items() if name != "self"}

    assert method == _written(row)


def test_every_public_method_is_a_verb_and_every_verb_of_python_a_method() -> None:
    methods = {name for kind in (Memory, Reader) for name in vars(kind) if not name.startswith("_")}

    assert methods == {row.python for row in IN_PYTHON} | PLUMBING.keys()


@pytest.mark.parametrize("row", IN_PYTHON, ids=lambda row: row.name)
def test_every_method_has_a_docstring(row: Verb) -> None:
    assert (getattr(Memory, row.python).__doc__ or "").strip()


def test_a_misspelt_keyword_is_a_type_error(mem: Memory) -> None:
    with pytest.raises(TypeError):
        mem.note("Tea", "Steep.", importence=0.9)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        mem.recall("tea", bogus=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        mem.list(bogus=1)  # type: ignore[call-arg]


def test_a_family_lists_its_rows_and_no_verb_stands_twice() -> None:
    for family, names in FAMILIES.items():
        assert set(rows_of(family)) == set(names)
        assert all(row.name == name for name, row in rows_of(family).items())
    assert len(TABLE) == sum(map(len, FAMILIES.values()))
    assert verb("recall") is TABLE["recall"]
    assert verb("nonsense") is None


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.name)
def test_a_row_is_whole(row: Verb) -> None:
    names = [param.name for param in row.params]
    assert len(names) == len(set(names))
    assert row.gives in ANSWERS
    assert row.help == row.help.strip().rstrip(".")
    assert row.gaps.keys() <= set(DOORS)
    assert all(row.gaps.values()), "every gap has a reason"
    assert row.doors, "a verb is offered somewhere"
    assert row.examples or "cli" not in row.doors
    assert all(example.startswith("otolith ") or "| otolith " in example for example in row.examples)
    assert not (row.reads and row.destroys)


@pytest.mark.parametrize(("row", "param"), PARAMS)
def test_a_parameter_is_whole(row: Verb, param: Param) -> None:
    assert param.type in get_args(Type)
    assert param.help, "every parameter says what it is"
    assert param.doors
    assert set(param.doors) <= set(DOORS)
    assert all(isinstance(word, str) for word in choices_of(param))
    assert not param.shape or issubclass(in_model(param.shape), Shape)
    assert param.type != "call" or param.doors == ("python",)
    if param.choices and isinstance(param.default, str):
        assert param.default in choices_of(param) or param.default == ""


def test_the_filters_are_those_of_the_model() -> None:
    assert {param.name for param in FILTERS} == set(FILTER_NAMES)


def test_lists_that_live_above_the_table_are_the_same_there() -> None:
    agents, formats = (next(param for param in TABLE[name].params if param.name == of)
                       for name, of in (("install", "agent_name"), ("import", "format")))

    assert choices_of(agents) == tuple(AGENTS)
    assert choices_of(formats) == tuple(FORMATS)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_verb_of_the_command_line_has_a_command_and_a_parser(family: str) -> None:
    commands = import_module(f"otolith.doors.cli.{family}").COMMANDS

    assert commands.keys() == {name for name in FAMILIES[family] if "cli" in TABLE[name].doors}
    for name in commands:
        assert make_parser(TABLE[name]).format_help()


def test_the_manual_of_the_command_line_is_that_of_the_table() -> None:
    page = Path(__file__).parents[2] / "docs/CLI.md"

    assert page.read_text(encoding="utf-8") == manual.write(), "run: make docs"


def test_the_page_of_tools_is_that_of_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs/TOOLS.md").read_text(encoding="utf-8")

    assert tools_manual.tools_table() in page
    assert page == tools_manual.replace_table(page), "run: make docs"


def test_the_openapi_document_has_a_path_for_every_verb_of_rest() -> None:
    from otolith.doors.web.routes import describe

    paths = describe()["paths"]

    for row in TABLE.values():
        operations = paths.get(f"/api/{row.name}", {})
        method = "get" if row.only_reads("rest") else "post"
        assert operations.keys() == ({method} if "rest" in row.doors else set()), row.name
