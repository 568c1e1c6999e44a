"""The table of kinds: every row agrees with its class, its files and the words around it."""

from __future__ import annotations

import json
import re

import pytest

from otolith.doors.web.serving import Assets
from otolith.errors import Invalid
from otolith.files.paths import kind_of
from otolith.model import kinds
from otolith.model.kinds import KINDS, LINK_TYPES, NOTE_TYPES, Kind

ROWS = list(KINDS.values())
EXAMPLES = {"*": "x", "**": "x/y", "DATE": "2026-02-10"}


def example(pattern: str) -> str:
    return re.sub(r"\*\*|\*|DATE", lambda found: EXAMPLES[found[0]], pattern)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_and_its_class_name_the_same_kind(row: Kind) -> None:
    assert row.shape.kind == row.name
    assert hasattr(row.shape, "card")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_fields_a_page_may_change_are_fields_of_the_class(row: Kind) -> None:
    fields = {*row.shape._fields, *dir(row.shape)}

    assert {*row.editable, *([row.members] if row.members else [])} <= fields
    assert not (row.editable and row.not_edited)


@pytest.mark.parametrize(("row", "pattern"), [(row, pattern) for row in ROWS for pattern in row.files],
                         ids=lambda value: value.name if isinstance(value, Kind) else value)
def test_a_file_of_a_kind_is_known_by_its_path(row: Kind, pattern: str) -> None:
    assert kind_of(example(pattern)) == row.name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_words_a_kind_uses_are_known(row: Kind) -> None:
    assert set(row.link_words) <= LINK_TYPES.keys()
    assert row.built_from == "" or row.built_from in KINDS
    assert all(row.not_forgotten) == (row.forget == "")


def test_a_type_of_note_proposes_links_to_types_and_by_words_that_exist() -> None:
    for row in NOTE_TYPES.values():
        assert row.relates.keys() <= NOTE_TYPES.keys()
        assert set(row.relates.values()) <= set(kinds.NOTE_LINKS)
        assert row.section in ("", *kinds.CORE_SECTIONS)


def test_an_unknown_kind_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(Invalid, match=r"unknown kind 'poem'.*note.*page"):
        kinds.kind("poem")


def test_a_page_gets_all_kinds_and_types_as_json() -> None:
    told = json.loads(json.dumps(kinds.as_json()))

    assert [row["name"] for row in told["kinds"]] == list(KINDS)
    assert {row["name"] for row in told["note_types"]} == set(NOTE_TYPES)
    assert {row["name"] for row in told["link_types"]} == set(LINK_TYPES)


def test_a_kind_is_named_with_its_article() -> None:
    assert (KINDS["entry"].named, KINDS["note"].named) == ("an entry", "a note")


def test_the_page_is_served_the_table_and_a_colour_for_every_kind() -> None:
    files = {path.rsplit("/", 1)[-1]: data.decode() for path, (data, _) in Assets().files.items()}

    assert json.loads(files["kinds.js"].removeprefix("export default ").rstrip(";\n"))["kinds"][0]["name"] == "note"
    for row in ROWS:
        assert f"--{row.name}: {row.colour};" in files["kinds.css"]
        assert f"--{row.name}: {row.dark};" in files["kinds.css"]
    assert not any(re.search(r"\.k-(?:note|memo)\b", text) for name, text in files.items() if name != "kinds.css")
