"""Memo: one concept in one descriptively named Markdown file with a short header (seed 001), and its name.

A name is 3 to 10 lowercase words joined by underscores, at most 45 characters without `.md`, and says what
the memo is about. Letters and digits of any script are words; nothing else is, so a name is always safe as a
file name. `name_from` promises a name that `check_name` takes, whatever it is given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import ClassVar

from otolith.errors import Invalid
from otolith.model.ids import check_id
from otolith.model.kinds import MEMO_CATEGORIES
from otolith.model.record import Card, Link, Origin, Record
from otolith.model.shape import choice, number, part, strings, text
from otolith.model.text import first_sentence

MIN_WORDS, MAX_WORDS, MAX_LENGTH = 3, 10, 45
FILLERS = ("notes", "memo", "saved")
_EMPTY = frozenset(
    """memory memories note notes memo memos stuff thing things misc miscellaneous file files data info text
    information temp tmp test new old untitled random general various other everything something""".split()
)
_TURNING = frozenset(("not", "no", "never", "over", "without", "before", "after"))  # they turn the meaning
_MARK = r"(?m)^DEPRECATED: See valid [^\n]*(?:\n+|\Z)"
_HINT = "use 3-10 descriptive words, as in user_prefers_structured_output"


class Memo(Record):
    """A named memory file; its id is the file's stem."""

    kind: ClassVar[str] = "memo"

    id: str = text()
    title: str = text()
    created_at: str = text()
    category: str = choice(MEMO_CATEGORIES, default="past")
    tags: tuple[str, ...] = strings(default=())
    supersedes: tuple[str, ...] = strings(default=())
    deprecated_by: str | None = text(default=None, sparse=True)
    says: str | None = text(default=None, sparse=True)  # what was said to an agent: rule, decision …
    confidence: float | None = number(0, 1, default=None, sparse=True)
    said: tuple[str, ...] | None = strings(default=None, sparse=True)  # time, session, turn; the latest five
    times: int | None = number(1, default=None, sparse=True)  # how often, if that is more
    origin: Origin | None = part(Origin, default=None, sparse=True)
    text: str = text(default="")  # last, since the name hides the field maker of the lines above

    def check(self) -> None:
        check_id(self.id)
        if "/" in self.id or "\\" in self.id or self.id.startswith("."):
            raise Invalid(f"{self.id!r} is not a memo name")

    @property
    def name(self) -> str:
        return self.id

    @property
    def type(self) -> str:
        return self.category

    def unmarked(self) -> Memo:
        """The memo without the line that says it is superseded."""
        return self.replace(text=re.sub(_MARK, "", self.text, count=1), deprecated_by=None)

    def without_links(self, gone: Collection[str]) -> Memo:
        """The memo without what it says of superseding these, or of being superseded by one of them."""
        memo = self.unmarked() if self.deprecated_by in gone else self
        return memo.replace(supersedes=tuple(name for name in memo.supersedes if name not in gone))

    @property
    def sentence(self) -> str:
        """What was said, where the memo keeps something that somebody said; else its text."""
        return self.text.split("\n", 1)[0] if self.says else self.text

    def card(self) -> Card:
        links = [Link(source=self.id, type="supersedes", target=old, created=self.created)
                 for old in self.supersedes]
        title = self.title or first_sentence(self.text)
        return self.make_card(self.text, title=title, tags=self.tags, names=(self.id.replace("_", " "),),
                              importance=0.5, confidence=self.confidence, links=links,
                              sunk=self.deprecated_by is not None)


def check_name(name: str) -> str:
    """The name without `.md` if it keeps the rule, else `Invalid` with the reason."""
    stem = name.removesuffix(".md")
    parts = stem.split("_")
    if stem != unicodedata.normalize("NFC", stem) or not all(map(_is_word, parts)):
        raise Invalid(f"memo name {name!r} may hold only letters and digits joined by single underscores",
                      _HINT)
    if stem != stem.lower():
        raise Invalid(f"memo name {name!r} is not all lowercase", f"try {stem.lower()}")
    if len(stem) > MAX_LENGTH or len(parts) > MAX_WORDS:
        raise Invalid(f"memo name {name!r} is too long ({len(parts)} words, {len(stem)} characters)",
                      f"at most {MAX_WORDS} words and {MAX_LENGTH} characters")
    if all(_says_nothing(part) for part in parts):
        numbered = any(map(str.isdigit, stem))
        raise Invalid(f"memo name {name!r} is {'not descriptive' if numbered else 'too vague'}", _HINT)
    if len(parts) < MIN_WORDS:
        raise Invalid(f"memo name {name!r} is too short ({len(parts)} of at least {MIN_WORDS} words)", _HINT)
    return stem


def name_from(text: str, taken: Collection[str] = ()) -> str:
    """A descriptive name for a sentence that is not among the taken ones."""
    from otolith.model.words import STOP, words

    spoken = words(text)
    telling = [word for word in map(_plain, (w for w in spoken if w not in STOP or w in _TURNING)) if word]
    telling = telling or [word for word in map(_plain, spoken) if word]
    fitting = _fit(dict.fromkeys(word for word in telling
                                 if word.isdigit() or word in _TURNING or not _says_nothing(word)))
    if all(map(_says_nothing, fitting)):
        fitting = _fit([*dict.fromkeys(telling), "untold"]) if telling else ["untold"]
        fitting = fitting if not all(map(_says_nothing, fitting)) else ["untold", *fitting[:2]]
    for filler in FILLERS:
        if len(fitting) < MIN_WORDS and filler not in fitting:
            fitting = _fit([*fitting, filler], room=MAX_LENGTH)
    return make_free("_".join(fitting), taken)


def master_name(topic: str) -> str:
    """`<topic>_master`; a one-word topic gets a filler: python_notes_master."""
    from otolith.model.words import words

    spoken = [word for word in map(_plain, words(topic.replace("_", " "))) if word]
    parts = _fit(spoken or ["general"], room=30)
    return "_".join([*parts, "notes", "master"] if len(parts) < 2 else [*parts, "master"])


def make_free(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the first number from 2 that makes it new; words make room for the number."""
    names = {other.removesuffix(".md") for other in taken}
    number, free = 1, name
    while free in names:
        number += 1
        parts = name.split("_")[: MAX_WORDS - 1]
        while len("_".join(parts)) + 1 + len(str(number)) > MAX_LENGTH:
            parts = parts[:-1] if len(parts) > MIN_WORDS else [part[: max(1, len(part) - 3)]
                                                               for part in parts]
        free = "_".join([*parts, str(number)])
    return free


def _fit(parts: Iterable[str], room: int = 40) -> list[str]:
    """As many words as make a readable name: at most six, and no more than `room` characters."""
    chosen: list[str] = []
    for word in parts:
        word = word[:20].rstrip("\u200d") if len(word) > 20 else word
        if len("_".join([*chosen, word])) > room or len(chosen) == 6:
            break
        chosen.append(word)
    return chosen


def _plain(word: str) -> str:
    """A word as it may stand in a name: no apostrophe, lowercase, composed."""
    kept = unicodedata.normalize("NFC", word.removesuffix("'s").replace("'", "").lower())
    return kept if _is_word(kept) and kept == kept.lower() else ""


def _is_word(part: str) -> bool:
    from otolith.model.words import MARKS

    return re.fullmatch(rf"(?:[^\W_]|[{MARKS}])+", part) is not None


def _says_nothing(word: str) -> bool:
    from otolith.model.words import STOP

    return word in STOP or word.rstrip("0123456789") in _EMPTY or word.isdigit()
