"""Law: every setting is a row of the table of settings, and docs/SETTINGS.md names every row and every variable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otolith.config import Config
from otolith.model.settings import SETTINGS, read_value, setting

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/SETTINGS.md").read_text(encoding="utf-8")
NOT_SET = {"home_id", "settings", "flaws"}  # written once, or not a setting of its own
NOT_VARIABLES = {"OTOLITH_MERGE"}  # a file's name


def test_every_field_of_the_configuration_has_a_row() -> None:
    assert set(Config._fields) - NOT_SET == {row.field for row in SETTINGS.values() if row.field}


@pytest.mark.parametrize("row", SETTINGS.values(), ids=lambda row: row.name)
def test_the_page_names_every_setting(row: object) -> None:
    names = [getattr(row, name) for name in ("key", "variable") if getattr(row, name)]
    assert names
    assert all(f"`{name}`" in PAGE for name in names)
    assert setting(row.name) is row  # type: ignore[attr-defined]


def test_the_page_names_every_variable_that_the_code_reads() -> None:
    read = {name for path in (ROOT / "src").rglob("*.py")
            for name in re.findall(r"\bOTOLITH_[A-Z_]+[A-Z]\b", path.read_text(encoding="utf-8"))} - NOT_VARIABLES
    assert [name for name in sorted(read) if f"`{name}" not in PAGE and name != "OTOLITH_MODEL"] == []


@pytest.mark.parametrize("row", [row for row in SETTINGS.values() if row.whose != "environment" and row.choices],
                         ids=lambda row: row.name)
def test_a_setting_takes_its_words_and_no_others(row: object) -> None:
    from otolith.errors import Invalid

    assert all(read_value(row, word) is not None for word in row.choices)  # type: ignore[attr-defined,arg-type]
    with pytest.raises(Invalid, match="unknown"):
        read_value(row, "surely not")  # type: ignore[arg-type]
