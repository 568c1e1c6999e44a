"""How a memo may be called, and a good name for a sentence.

A name is 3 to 10 lowercase words joined by underscores, at most 45 characters without `.md`, and says what the memo is
about. Letters and digits of any script are words; nothing else is, so a name is always safe as a file name. `name_from`
promises a name that `check_name` takes, whatever it is given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from strata.errors import Invalid
from strata.model.words import MARKS, STOP, word_set, words

MIN_WORDS, MAX_WORDS, MAX_SIGNS = 3, 10, 45
FILLERS = ("notes", "memo", "saved")
_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])+")
_EMPTY = word_set(
    """memory memories note notes memo memos stuff thing things misc miscellaneous file files data info information
    text temp tmp test new old untitled random general various other everything something"""
)
_TURNING = frozenset(("not", "no", "never", "over", "without", "before", "after"))  # small words that turn the meaning
_HINT = "use 3-10 descriptive words, as in user_prefers_structured_output"


def check_name(name: str) -> str:
    """The name without `.md` if it keeps the rule, else `Invalid` with the reason."""
    stem = name.removesuffix(".md")
    parts = stem.split("_")
    if stem != unicodedata.normalize("NFC", stem) or not all(map(_WORD.fullmatch, parts)):
        raise Invalid(f"memo name {name!r} may hold only letters and digits joined by single underscores", _HINT)
    if stem != stem.lower():
        raise Invalid(f"memo name {name!r} is not all lowercase", f"try {stem.lower()}")
    if len(stem) > MAX_SIGNS or len(parts) > MAX_WORDS:
        found = f"{len(parts)} words, {len(stem)} characters"
        raise Invalid(f"memo name {name!r} is too long ({found})", f"at most {MAX_WORDS} words and {MAX_SIGNS} characters")
    if all(_says_nothing(part) for part in parts):
        numbered = any(sign.isdigit() for sign in stem)
        raise Invalid(f"memo name {name!r} is {'not descriptive' if numbered else 'too vague'}", _HINT)
    if len(parts) < MIN_WORDS:
        raise Invalid(f"memo name {name!r} is too short ({len(parts)} of at least {MIN_WORDS} words)", _HINT)
    return stem


def name_from(text: str, taken: Collection[str] = ()) -> str:
    """A descriptive name for a sentence that is not among the taken ones."""
    found = words(text)
    telling = [word for word in map(_plain, (w for w in found if w not in STOP or w in _TURNING)) if word]
    telling = telling or [word for word in map(_plain, found) if word]
    fitting = _fit(dict.fromkeys(word for word in telling if _tells(word)))
    if all(map(_says_nothing, fitting)):
        fitting = _fit([*dict.fromkeys(telling), "untold"]) if telling else ["untold"]
        fitting = fitting if not all(map(_says_nothing, fitting)) else ["untold", *fitting[:2]]
    for filler in FILLERS:
        if len(fitting) < MIN_WORDS and filler not in fitting:
            fitting = _fit([*fitting, filler], room=MAX_SIGNS)
    return make_free("_".join(fitting), taken)


def master_name(topic: str) -> str:
    """`<topic>_master`; a one-word topic gets a filler: python_notes_master."""
    parts = _fit([word for word in map(_plain, words(topic.replace("_", " "))) if word] or ["general"], room=30)
    return "_".join([*parts, "notes", "master"] if len(parts) < 2 else [*parts, "master"])


def make_free(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the first number from 2 that makes it new; words make room for the number."""
    known = {other.removesuffix(".md") for other in taken}
    number, free = 1, name
    while free in known:
        number += 1
        parts = name.split("_")[: MAX_WORDS - 1]
        while len("_".join(parts)) + 1 + len(str(number)) > MAX_SIGNS:
            parts = parts[:-1] if len(parts) > MIN_WORDS else [part[: max(1, len(part) - 3)] for part in parts]
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
    return kept if _WORD.fullmatch(kept) and kept == kept.lower() else ""


def _tells(word: str) -> bool:
    return word.isdigit() or word in _TURNING or not _says_nothing(word)


def _says_nothing(word: str) -> bool:
    return word in STOP or word.rstrip("0123456789") in _EMPTY or word.isdigit()
