"""Patterns that are tried only where they can match: the words looked for first never hide a match."""

from __future__ import annotations

from pathlib import Path

from bench import needed
from bench.needed import words_of

from otolith.derive.patterns import TablePattern

HERE = Path(__file__).parent


def test_the_words_on_file_are_those_of_the_patterns() -> None:
    assert needed.PLACE.read_text(encoding="utf-8") == needed.text(), "run: python -m bench.needed"


def test_no_sentence_that_matches_is_passed_over() -> None:
    texts = [HERE / "fixtures" / "changes.txt", HERE / "test_sayings.py", HERE / "test_triggers.py"]
    lines = {part for text in texts
             for line in text.read_text(encoding="utf-8").splitlines() for part in line.split(" | ")}
    tables = {pattern.key: pattern for pattern in needed.tables()}.values()

    matched = [(pattern, line) for pattern in tables for line in lines if pattern.compiled.search(line)]

    assert len(matched) > 1000
    assert [(pattern.source, line) for pattern, line in matched if not pattern.possible(line)] == []


def test_words_are_those_that_every_match_holds() -> None:
    assert words_of(TablePattern(r"\b(?:moved|went) to (?P<v>\w+)")) == ["moved", "went"]
    assert words_of(TablePattern(r"use (?:it )?(?=.*(?:from now on|instead))")) == ["from now on", "instead"]
    assert words_of(TablePattern(r"(?:please )?\w+ (?!never)\d*")) == []


def test_a_pattern_that_is_not_on_file_is_tried_on_everything() -> None:
    pattern = TablePattern(r"a text (?:that|which) nobody wrote down")

    assert pattern.possible("something else")
    assert pattern.search("a text which nobody wrote down")
    assert pattern.sub("-", "a text that nobody wrote down.") == "-."
