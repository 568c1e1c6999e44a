"""Answers laid out for eyes: a line a record, a hit in two lines; styles and a pager on a terminal.

Nothing here knows a home. Widths are columns, not characters: a Chinese character takes two. What came from
outside is made visible before any style is put around it, so that no record can act on the terminal. Loaded
only when there is something to lay out.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from otolith.config import variable
from otolith.model.text import sentences, visible_line

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
GAP = "  "
NARROW = 8  # columns that a cut cell keeps
CUT = ("title", "text", "message", "summary", "sentence", "context", "from_title", "to_title", "tags", "path",
       "was", "why", "until", "model", "name")  # columns that give way, and those that are not here never do
IDS = ("id", "record", "source", "target", "parent_id", "memory")


def width() -> int:
    """How many columns the terminal has."""
    try:
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns or 80)
    except OSError:
        return 80


def styled(text: str, style: str) -> str:
    """The text in a style, where the terminal has one; it has to be made visible before."""
    dumb = variable("TERM") == "dumb" or variable("NO_COLOR")
    return text if dumb or not text or not sys.stdout.isatty() else f"{style}{text}{PLAIN}"


def columns(text: str) -> int:
    """How wide a text is."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def cut(text: str, room: int) -> str:
    """A text on one line, cut with … where it is wider than there is room."""
    line = visible_line(" ".join(text.split()))
    if columns(line) <= room:
        return line
    end = min(len(line), room)
    while columns(line[:end]) > room - 1:
        end -= 1
    return line[:end].rstrip() + "…"


def age(then: float, now: float) -> str:
    """How long ago, in few signs: 5m, 3h, 2d, 6w, 4mo, 2y."""
    seconds = max(0.0, now - then)
    steps = ((60, 1, "s"), (3600, 60, "m"), (86_400, 3600, "h"), (14 * 86_400, 86_400, "d"),
             (70 * 86_400, 7 * 86_400, "w"), (730 * 86_400, 30.44 * 86_400, "mo"))
    for below, unit, name in steps:
        if seconds < below:
            return f"{int(seconds // unit)}{name}"
    return f"{int(seconds // (365.25 * 86_400))}y"


# Ids


def short_ids(ids: Sequence[str]) -> list[str]:
    """Ids by the few signs that still mean one record among these: the random part of an id, cut; a name
    whole.
    """
    for length in (6, 8, 12, 16):
        shown = [_short(id, length) for id in ids]
        if len(set(shown)) == len(set(ids)):
            return shown
    return list(ids)


def _short(id: str, length: int) -> str:
    random = re.fullmatch(r"(?:[a-z]+_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22})|fact_([0-9a-f]{16})"
                          r"|claim_([0-9a-f]{16})|chunk-[\d-]{11}([0-9a-f]{8})|entry_\w{16}_([0-9a-f]{8})"
                          r"|episode:[\d-]{10}#(\d{4}-\w+)", id)
    part = next((part for part in random.groups() if part), "") if random else ""
    return part[: max(length, 11) if ":" in id else length] if part else id


# Tables


def table(rows: Sequence[Mapping[str, Any]], names: Sequence[str], room: int) -> list[str]:
    """Rows as lines that fit: what may be cut is cut until the rest has its room."""
    cells = {name: [_cell(row.get(name)) for row in rows] for name in names}
    names = [name for name in names if any(cells[name])]  # what is empty everywhere is left out
    names = names[: max(1, room // (NARROW + len(GAP)))]  # and what could not even be cut
    for name in names:
        if name in IDS:
            cells[name] = short_ids(cells[name])
    widths = {name: max(columns(name), *(columns(visible_line(cell)) for cell in cells[name]))
              for name in names}
    _fit(widths, room - len(GAP) * (len(names) - 1))
    head = GAP.join(_padded(name, widths[name]) for name in names).rstrip()
    lines = [styled(cut(head, room), BOLD)]
    for place in range(len(rows)):
        parts = [_padded(cut(cells[name][place], widths[name]), widths[name]) for name in names]
        parts = [styled(part, DIM) if name in IDS else part for name, part in zip(names, parts, strict=True)]
        lines.append(GAP.join(parts).rstrip())
    return lines


def _fit(widths: dict[str, int], room: int) -> None:
    """Take from the widest column that may be cut, until all fit; at last from any."""
    for may_shrink in (CUT, tuple(widths)):
        while (over := sum(widths.values()) - room) > 0:
            wide = max((name for name in widths if name in may_shrink), key=widths.__getitem__, default="")
            if not wide or widths[wide] <= NARROW:
                break
            others = max((widths[name] for name in widths if name in may_shrink and name != wide), default=0)
            widths[wide] -= min(over, max(1, widths[wide] - max(others, NARROW)))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)", value):
        return value[:10]
    return f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())


def record_lines(items: Sequence[Mapping[str, Any]], now: float, room: int) -> list[str]:
    """Records of a list, a line each: short id, kind, age, project if there are several, title."""
    from otolith.model.times import parse_time

    several = len({item.get("project") or "" for item in items}) > 1
    rows = [{**item, "age": age(parse_time(item["created"]), now) if item.get("created") else "",
             "title": item["title"] or item["id"]} for item in items]
    return table(rows, ("id", "kind", "age", *(("project",) if several else ()), "title"), room)


# Hits


def hit_lines(hit: Mapping[str, Any], words: Iterable[str], now: float, room: int | None) -> str:
    """A hit in two lines: its title with what it is, and the sentence that answers best, with why.

    Without a width, in a pipe, nothing is cut and the id is whole.
    """
    from otolith.model.times import parse_time

    project = (hit.get("origin") or {}).get("project") or ""
    id = short_ids([hit["id"]])[0] if room else hit["id"]
    facts = [hit["kind"], id, age(parse_time(hit["created"]), now),
             *([project] if project not in ("", "default") else [])]
    tail, place = visible_line(" ".join(facts)), f"{hit['place']}. "
    why = visible_line(few_words(hit["why"]))
    more = f" (+{hit['more']} more of this dialog)" if hit.get("more") else ""
    best = best_sentence(hit["text"], words, hit["title"])
    wide = room or 10_000
    title = cut(hit["title"] or hit["id"], max(NARROW, wide - len(place) - columns(tail) - 2 - len(GAP)))
    rest = wide - 3 - (columns(why) + 3 if why else 0) - len(more)
    sentence = mark(around(best, words, max(NARROW, rest)), words)
    second = " ".join(part for part in (sentence, styled(f"({why})", DIM) if why else "") if part)
    return f"{place}{styled(title, BOLD)}{GAP}{styled(f'({tail})', DIM)}\n   {second}{more}"


def few_words(reasons: Sequence[str]) -> str:
    """Why a hit is there, without the figures and at most three of its words."""
    kept = []
    for reason in reasons[:2]:
        name, colon, words = reason.partition(": ")
        several = words.split(", ")
        kept.append(f"{name}{colon}{', '.join(several[:3])}{', …' if len(several) > 3 else ''}" if colon
                    else re.sub(r" [\d.]+$", "", name))
    return "; ".join(dict.fromkeys(kept))


def best_sentence(text: str, words: Iterable[str], title: str = "") -> str:
    """The sentence of a text that has most of the words, the first of those; not the title again, if
    there is another one.
    """
    stems = set(words)
    pieces = [" ".join(piece.split()) for piece in sentences(text[:20_000])]
    others = [piece for piece in pieces if piece.rstrip(".") != title.rstrip(".…")] or pieces
    return max(others, key=lambda piece: len(stems & _stems(piece)), default="")


def around(sentence: str, words: Iterable[str], room: int) -> str:
    """As much of a long sentence as there is room for, with the first of the words in it."""
    line = visible_line(sentence)
    if columns(line) <= room:
        return line
    first = next((match.start() for match in _words(line) if _stem(match[0]) in set(words)), 0)
    if columns(line[:first]) < room * 2 // 3:
        return cut(line, room)
    start = line.find(" ", max(0, first - room // 3)) + 1
    return "…" + cut(line[start:], room - 1)


def mark(text: str, words: Iterable[str]) -> str:
    """The text with the words that were asked for in bold."""
    stems, parts, last = set(words), [], 0
    for match in _words(text):
        if _stem(match[0]) in stems:
            parts += [text[last : match.start()], styled(match[0], BOLD)]
            last = match.end()
    return "".join([*parts, text[last:]])


def asked_words(question: str) -> set[str]:
    """The stems of a question's words but for those that every question has."""
    from otolith.model.words import STOP

    return {_stem(match[0]) for match in _words(question) if match[0].casefold() not in STOP}


def _words(text: str) -> Iterable[re.Match[str]]:
    return re.finditer(r"[^\W_]+(?:['’][^\W_]+)?", text)


def _stem(word: str) -> str:
    from otolith.model.words import stem

    return stem(word.casefold().replace("’", "'").removesuffix("'s"))


def _stems(text: str) -> set[str]:
    return {_stem(match[0]) for match in _words(text)}


# Out


def show(text: str) -> None:
    """Print a text; through the pager where it is longer than the terminal."""
    if len(text.splitlines()) < _height() or not sys.stdin.isatty() or not page(text):
        print(text)


def page(text: str) -> bool:
    """Whether a pager showed the text: PAGER, else less."""
    import shlex
    import shutil
    import subprocess

    pager = shlex.split(variable("PAGER") or "less -FRX")
    if not pager or pager == ["cat"] or shutil.which(pager[0]) is None:
        return False
    if os.path.basename(pager[0]) == "less" and len(pager) == 1:
        pager.append("-FRX")
    sys.stdout.flush()
    enough = suppress(BrokenPipeError, KeyboardInterrupt)  # whoever leaves the pager has seen it
    with subprocess.Popen(pager, stdin=subprocess.PIPE) as process, enough:
        process.communicate(f"{text}\n".encode(errors="backslashreplace"))
    return True


def _height() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or 24
    except OSError:
        return 24


def ask_which(what: str, choices: Sequence[str], read: Callable[[], str] = sys.stdin.readline) -> int | None:
    """Have a person choose by number; None where nothing is chosen."""
    print(f"{what} could be:", file=sys.stderr)
    for place, choice in enumerate(choices, 1):
        print(f"  {place}  {choice}", file=sys.stderr)
    print("Which one? (number, Enter for none) ", end="", file=sys.stderr, flush=True)
    reply = read()
    if not reply.endswith("\n"):
        print(file=sys.stderr)
    reply = reply.strip()
    return int(reply) - 1 if reply.isdigit() and 0 < int(reply) <= len(choices) else None
