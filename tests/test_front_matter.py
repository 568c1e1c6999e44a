"""Front matter: what is read, what is refused, and that an edit leaves every other byte alone."""

from __future__ import annotations

import io
import math
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from otolith.errors import Damaged, Invalid
from otolith.files import front

# Reading


@pytest.mark.parametrize(("said", "meant"), [
    ("no", "no"), ("yes", "yes"), ("on", "on"), ("off", "off"), ("y", "y"), ("12:30", "12:30"), ("12:30:45", "12:30:45"),
    ("0o17", 15), ("017", 17), ("0x1F", 31), ("1e3", 1000.0), ("+5", 5), ("-0.5", -0.5), (".inf", math.inf),
    ("true", True), ("False", False), ("null", None), ("~", None), ("", None), ("2025-12-06", "2025-12-06"),
    ("2025-12-06T16:25:58+00:00", "2025-12-06T16:25:58+00:00"), ("2025-12-06 16:25:58", "2025-12-06 16:25:58"),
    ("1.2.3", "1.2.3"), ("nan", "nan"), ("a1b2c3d4-e5f6-7890-abcd-ef1234567890", "a1b2c3d4-e5f6-7890-abcd-ef1234567890"),
    ("'it''s'", "it's"), ('"a\\tb\\u00e9"', "a\tbé"), ("[a, 'b', 3]", ["a", "b", 3]), ("{a: 1, b: [x]}", {"a": 1, "b": ["x"]}),
    ("a # comment", "a"), ("a#b", "a#b"), ("=", "="), ("<<", "<<"), ("!x y", "y"),
])
def test_a_value_means_what_yaml_1_2_says(said: str, meant: Any) -> None:
    assert front.parse(f"key: {said}\n") == {"key": meant}


CASES = [
    "a: 1\nb: two\nc: [x, y]\n", "a:\n  - x\n  - y: 1\n    z: 2\n", "a: |\n  one\n  two\n", "a: >-\n  one\n  two\n\n  three\n",
    "a: >\n  folded\n  text\nb: 'single\n  line'\n", "# only a comment\n", "a: &x [1, 2]\nb: *x\n", "a:\n- x\n- y\n",
    "? complex\n: value\n", "a: {b: {c: [d, {e: f}]}}\n", "a: \"quoted: colon\"\n", "'a b': 1\n\"c d\": 2\n",
    "a: 'no'\nb: no\n", "a: 1.0\nb: 1\nc: 1.50\n", "über: straße\n東京: 京都\n", "a:   spaced   \n", "a:\n\n\n  b: 1\n",
    "a: 0b11\n", "a: 1_000\n", "a: 0o8\n", "a: .5\n", "a: 1.\n", "a: 1e400\n", "a: '#x'\n", "a: x:y\n", "a: [x:y]\n",
    "a: \"\\x41\\u263a\"\n", "a: |2\n    x\n", "a: !!str 12\n", "a: \"multi\n  line\"\n", "a: [1,\n  2]\n", "a: b\n...\n",
]


@pytest.mark.parametrize("yaml", CASES)
def test_what_is_read_is_what_the_reference_reader_reads(yaml: str) -> None:
    assert _ours(yaml) == _reference(yaml)


REFUSED = ["a: 1\na: 2\n", "a: {b: 1, b: 2}\n", "a:\n  - b: 1\n    b: 2\n", "a: [1, 2\n", "a: 'open\n", "a: b: c\n",
           "a: - not a list\n", "a: -\n",
           "a: *nowhere\n", "a: @x\n", "a: `x`\n", "a: %x\n", "- a\nb: c\n", "a: \"\\q\"\n"]


@pytest.mark.parametrize("yaml", REFUSED)
def test_what_the_reference_reader_refuses_is_refused(yaml: str) -> None:
    with pytest.raises(YAMLError):
        _reference(yaml)
    with pytest.raises(Damaged):
        front.parse(yaml)


def _reference(yaml: str) -> Any:
    reader = YAML(typ="safe", pure=True)
    reader.version = "1.2"
    return _plain(reader.load(io.StringIO(yaml)) or {})


def _ours(yaml: str) -> Any:
    return _plain(front.parse(yaml))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def test_a_duplicate_key_is_named_with_its_line() -> None:
    with pytest.raises(Damaged) as told:
        front.parse("id: x\ntitle: one\ntags: []\ntitle: two\n")

    assert (told.value.flaw, told.value.line) == ("duplicate-key", 5)
    assert "title" in told.value.message


def test_a_mistake_is_named_with_the_line_of_the_file() -> None:
    with pytest.raises(Damaged) as told:
        front.parse("id: x\ntitle: [one\ntags: x\n")

    assert told.value.line in (3, 4)
    assert "\n" not in told.value.message


@pytest.mark.parametrize("yaml", ["- a\n- b\n", "just text\n", "12\n"])
def test_front_matter_that_is_no_list_of_keys_is_refused(yaml: str) -> None:
    with pytest.raises(Damaged):
        front.parse(yaml)


@pytest.mark.parametrize("yaml", [
    "a: " + "[" * 20_000, "a: " + "[" * 20_000 + "]" * 20_000, "a: " + "{a: " * 20_000, "- " * 20_000, "a:\n  " + "- " * 20_000,
    "? " * 20_000, "".join(" " * at + "a:\n" for at in range(1_400)), "a: " + "!x " * 20_000 + "y", "'" * 20_001])
def test_deep_nesting_is_refused_and_kills_nobody(yaml: str) -> None:
    with pytest.raises(Damaged):
        front.parse(yaml)


def test_aliases_do_not_multiply_without_end() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 12))
    with pytest.raises(Damaged):
        front.parse(bomb)


def test_front_matter_of_three_megabytes_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(Damaged, match="larger") as told:
        front.split("---\na: " + "x" * 3_000_000 + "\n---\ntext\n")
    assert told.value.flaw == "too-large"


def test_front_matter_that_never_ends_is_named() -> None:
    with pytest.raises(Damaged, match="not closed"):
        front.split("---\ntitle: x\n\nThe text.\n")


@pytest.mark.parametrize("text", ["no front matter\n---\n", "", "\n---\na: 1\n---\n", "----\na: 1\n----\n", "text --- text"])
def test_a_file_without_front_matter_is_told_apart(text: str) -> None:
    assert front.split(text) is None


def test_the_body_may_hold_rules_of_its_own() -> None:
    taken = front.split("---\na: 1\n---\nabove\n\n---\n\nbelow\n")

    assert taken is not None
    assert (taken.yaml, taken.body) == ("a: 1\n", "above\n\n---\n\nbelow\n")


# Writing

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.dictionaries(words, words, max_size=6))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_back_sign_for_sign(fields: dict[str, str]) -> None:
    assert front.parse(front.emit(fields)[4:-4]) == fields


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8)


@given(st.sampled_from(["tags", "title", "steps", "relations", "origin", "odd key: #"]), values)
@settings(max_examples=300, deadline=None)
def test_any_value_is_read_back_as_it_was(key: str, value: Any) -> None:
    assert front.parse(front.emit_key(key, value)) == {key: value}


def test_new_front_matter_has_the_seeds_form() -> None:
    told = front.emit({
        "id": "a1b2c3d4-e5f6-7890-abcd-ef1234567890", "title": "Fixed Redis", "tags": ["redis", "a b"], "importance": 0.8,
        "steps": ["Run tests"], "created": "2025-12-06T16:25:58+00:00",
        "relations": [{"target": "def789ab", "type": "SOLVES", "context": "why"}]})

    assert told == ('---\nid: a1b2c3d4-e5f6-7890-abcd-ef1234567890\ntitle: "Fixed Redis"\ntags: [redis, a b]\nimportance: 0.8\n'
                    'steps:\n  - "Run tests"\ncreated: 2025-12-06T16:25:58+00:00\nrelations:\n  - target: def789ab\n'
                    '    type: SOLVES\n    context: "why"\n---\n')


# Amending: every other byte stays

names = st.text(string.ascii_lowercase + "_-", min_size=1, max_size=8).filter(
    lambda name: name[0] != "-" and name not in ("true", "false", "null"))
VALUES = ["plain text", '"quoted # not a comment"', "'single'", "[a, b]", "0.5", "no", "12:30", "{x: 1}",
          "|\n  block\n\n  text", ">-\n  folded\n  text", "\n  - one\n  - two", "\n- flush\n- left", "\n  - a: 1\n    b: 2", "",
          "text # with a comment", '"multi\n  line"', "[a,\n  b]"]
between = st.sampled_from(["", "", "", "# a comment\n", "\n", "# one\n\n# two\n"])


@st.composite
def files(draw: st.DrawFn) -> tuple[list[tuple[str, str]], str]:
    """(key, its lines) in order with what stands between, and the whole file."""
    keys = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    parts, text = [], draw(between)
    for key in keys:
        value = draw(st.sampled_from(VALUES))
        spelled = draw(st.sampled_from([key, f'"{key}"', f"'{key}'"]))
        lines = f"{spelled}: {value}\n" if not value.startswith("\n") else f"{spelled}:{value}\n"
        parts.append((key, lines.replace("\n", newline)))
        text += lines + draw(between)
    body = draw(st.sampled_from(["", "\nThe text.\n", "no blank line\n\n---\nmore", "\n\n\n"]))
    whole = draw(st.sampled_from(["", "\ufeff"])) + "---\n" + text + draw(st.sampled_from(["---\n", "--- \n"])) + body
    return parts, whole.replace("\n", newline)


@given(files(), st.data())
@settings(max_examples=400, deadline=None)
def test_changing_a_key_leaves_every_other_byte_alone(made: tuple[list[tuple[str, str]], str], data: st.DataObject) -> None:
    parts, whole = made
    key, lines = data.draw(st.sampled_from(parts))
    newline = "\r\n" if "\r\n" in whole else "\n"

    changed = front.amend(whole, {key: "other"})

    comment = " # with a comment" if " # with a comment" in lines else ""  # beside the value: it stays as well
    assert changed == whole.replace(lines, front.emit_key(key, "other").replace("\n", comment + newline), 1)


@given(files(), st.data())
@settings(max_examples=200, deadline=None)
def test_removing_a_key_removes_its_lines_and_no_more(made: tuple[list[tuple[str, str]], str], data: st.DataObject) -> None:
    parts, whole = made
    key, lines = data.draw(st.sampled_from(parts))

    assert front.amend(whole, {key: None}) == whole.replace(lines, "", 1)


@given(files(), words)
@settings(max_examples=200, deadline=None)
def test_a_new_key_comes_last_and_nothing_else_moves(made: tuple[list[tuple[str, str]], str], value: str) -> None:
    _, whole = made
    taken = front.split(whole)
    assert taken is not None

    changed = front.amend(whole, {"Brand-new": value})

    assert changed.startswith(whole[: taken.stop])
    assert changed.endswith(whole[taken.stop :])
    again = front.split(changed)
    assert again is not None
    assert front.parse(again.yaml)["Brand-new"] == value


@given(files())
@settings(max_examples=100, deadline=None)
def test_changing_nothing_changes_no_byte(made: tuple[list[tuple[str, str]], str]) -> None:
    assert front.amend(made[1], {}) == made[1]


def test_another_body_leaves_the_front_matter_alone() -> None:
    before = "---\r\n# mine\r\ntitle: x\r\n---\r\n\r\nold\r\n"

    assert front.amend(before, {}, "new\nlines") == "---\r\n# mine\r\ntitle: x\r\n---\r\n\r\nnew\r\nlines\r\n"


def test_a_front_matter_that_cannot_be_changed_in_place_is_left_alone() -> None:
    with pytest.raises(Invalid, match="by hand"):
        front.amend("---\na: &x 1\nb: *x\n---\n", {"a": 2})


def test_a_comment_behind_the_last_key_stays_behind_it() -> None:
    before = "---\ntitle: x\nimportance: 0.5\n# keep me\n---\ntext\n"

    assert front.amend(before, {"importance": 0.9}) == "---\ntitle: x\nimportance: 0.9\n# keep me\n---\ntext\n"


@pytest.mark.parametrize(("line", "kept"), [
    ("tags: [one, two]  # why", "tags: [new]  # why"),
    ("tags:  # why\n  - one", "tags: [new]  # why"),
    ("tags: ['#one', two] # a # b", "tags: [new] # a # b"),
    ("tags: ['one # two']", "tags: [new]"),
])
def test_a_comment_beside_a_value_stays_when_the_value_changes(line: str, kept: str) -> None:
    text = f"---\ntitle: x # its name\n{line}\ntype: general\n---\n\nBody\n"

    assert front.amend(text, {"tags": ["new"]}) == f"---\ntitle: x # its name\n{kept}\ntype: general\n---\n\nBody\n"
