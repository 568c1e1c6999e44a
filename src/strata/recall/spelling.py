"""Mistyped words: `pytesst` finds pytest.

Only for a word the memory does not know at all, and only where one slip (two in long words) leads to one it does know.
Words with digits are names of things and are left alone. Pure: the known words come in.
"""

from __future__ import annotations

from collections.abc import Iterable

from strata.model.words import stem

SHORTEST = 4
LONG = 8


def mistyped(word: str) -> bool:
    """Is it a word that could be a slip at all?"""
    return SHORTEST <= len(word) <= 40 and word.isalpha()


def closest(word: str, known: Iterable[tuple[str, int]]) -> str | None:
    """The known word that was probably meant; `known` are (stem, in how many passages). The commoner one wins a tie."""
    if not mistyped(word):
        return None
    allowed = 2 if len(word) >= LONG else 1
    forms = {word, stem(word)}
    found: tuple[int, int, str] | None = None
    for term, count in known:
        if len(term) < SHORTEST - 1 or all(abs(len(form) - len(term)) > allowed for form in forms):
            continue
        slips = min(distance(form, term, allowed) for form in forms)
        if slips <= allowed and (found is None or (slips, -count, term) < found):
            found = (slips, -count, term)
    return found[2] if found else None


def distance(a: str, b: str, most: int) -> int:
    """Letters to add, drop, change or swap with the next to make b of a; more than `most` is told as `most` + 1."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    older: list[int] = []
    old = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        older, old = old, row
    return min(old[-1], most + 1)
