"""What a person sent to an agent, taken apart: their own words, and what they pasted.

Pasted are quotes, fenced code, terminal lines with what they printed, a Markdown document with headings, and
three lines or more that look like a log, a trace, a table, a diff, code or mail. A mail goes on below its
head, up to its close. Lists that a person writes stay their own. Lines are judged one by one; a stretch of
lines is pasted as soon as enough of them agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from otolith.model.events import Part

FEWEST = 3  # lines that look alike before they count as pasted
LONGEST_LINE = 2_000  # of a longer line only the beginning is judged
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)\s*([\w+-]*)")
_HEADING = re.compile(r"^#{1,6} +\S")
_ITEM = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)]|[a-z][.)]|\(\w{1,3}\))\s+\S")
_QUOTE = re.compile(r"^\s{0,3}>")
_PROMPT = re.compile(
    r"^\s*(?:[$%❯➜] \S|>>> \S|PS [A-Z]:\\|[\w.-]+@[\w.-]+[: ][^$#%]{0,80}[$#%] |"
    r"\[[^\]\n]{3,160}[ :]~?/[^\]\n]{0,120}\] ?\S|[~/][\w./-]{0,80} [$%❯] )")
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple((form, re.compile(pattern)) for form, pattern in (
    ("trace", r"^\s*(?:Traceback \(most|File \"[^\"]+\", line \d|at [\w$.<>/ ]+[(:].*\d+\)?$|Caused by: |"
              r"goroutine \d+ \[|\.{3} \d+ more|panic: |thread '.*' panicked|stack backtrace|"
              r"\d+: 0x[0-9a-f]+ - )"),
    ("diff", r"^(?:diff --git |index [0-9a-f]{6,}|@@ |\+\+\+ |--- [ab]/|[-+](?=\S)(?![-+]*$)\S*[\s(){};=])"),
    ("table", r"^\s*(?:[│┃|].*[│┃|]|[├└┌╔╚╠─═━┄+|-]*[├┤┼┬┴└┌─═━│]{2,}.*|\+-{2,}.*\+)\s*$"),
    ("mail", r"^(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Message-ID|Von|An|Betreff|Gesendet): \S|"
             r"^On .{5,120} wrote:$|^-{3,} ?(?:Original|Forwarded|Ursprüngliche)"),
    ("log", r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d{1,2}:\d\d:\d\d|\d{1,2}:\d\d[AP]M |"
            r"\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|INF|WRN|ERR|DBG)\b[\]:| ]|"
            r"(?:error|warning|note|fatal|hint)(?:\[\w+\])?: |npm (?:ERR!|WARN|error|warn) |"
            r"[=-]{3} (?:RUN|FAIL|PASS)|"
            r"(?:FAIL|PASS|FAILED|PASSED|ok|✓|✗|✖|✔|×|●|○|⏺|⎿|└)\s+\S|[\w./\\-]+\.\w{1,5}:\d+(?::\d+)?[: ]|"
            r"\w[\w.-]{0,20}: (?:[\w-]+\.)?[\w-]+/[\w./-]+[ :]|"
            r"(?:[\w.]+[.:])?[A-Z]\w*(?:Error|Exception|Warning)\b: |"
            r"[│┃╷╵]\s*(?:\S|$))"),
    ("code", r"^\s*(?:def |class |import |from \S+ import |func |fn |function\b|return\b.*[;)]|const |"
             r"let \w+ =|var \w+ ?=|public |private |package \w+$|use \w+::|#include|"
             r"type \w+ (?:struct|interface|=)|if ?\(.*\{|for ?\(.*\{|"
             r"\} ?else|else\s*[:{]|try\s*[:{]|@\w+\(?|</?[A-Za-z][^>]{0,200}>|"
             r"//|/\*|\*/|"
             r"[\w.\]\[\"']+ ?(?::=|[-+*/|&]?=) ?[\w\"'\[{(].*|[\"'][\w $.@/-]+[\"'] ?: ?.+|[\]})]+[;,)]*$|"
             r"[\w.]+\([^)]{0,200}\)[;{,]?$)|[;{]\s*$|^\s*[\w-]+: ?[|>\[{&]?$"),
))
_CLOSE = re.compile(r"^\s*(?:best|kind|warm|many thanks|thanks|thank you|cheers|regards|sincerely|yours|br|"
                    r"vg|greetings|mfg|viele grüße|liebe grüße|cordialement|saludos|--)(?: \w+){0,2}[,!.]?"
                    r"(?: \w+)?\s*$", re.IGNORECASE)
_NAMED = {"diff": "diff", "patch": "diff", "log": "log", "text": "log", "console": "log", "output": "log",
          "markdown": "document", "md": "document"}


def split_parts(text: str) -> tuple[Part, ...]:
    """The stretches of a message in order; together they hold every line that is not blank."""
    parts: list[Part] = []
    for form, lines in _stretches(text.replace("\r\n", "\n").split("\n")):
        body = "\n".join(lines).strip("\n")
        if not body.strip():
            continue
        if parts and parts[-1].pasted == form:
            parts[-1] = Part(f"{parts[-1].text}\n\n{body}", form)
        else:
            parts.append(Part(body, form))
    return tuple(parts)


def _stretches(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Fenced blocks and quotes first, then a document, then what is left is judged line by line."""
    start = at = 0
    while at < len(lines):
        if fence := _FENCE.match(lines[at]):
            closings = (later for later in range(at + 1, len(lines))
                        if lines[later].strip().startswith(fence[1]) and not lines[later].strip(" `~"))
            end = next(closings, len(lines))
            yield from _plain(lines[start:at])
            yield _NAMED.get(fence[2].lower(), "code"), lines[at : end + 1]
            start = at = end + 1
        elif _begins_document(lines, at):
            yield from _plain(lines[start:at])
            yield "document", lines[at:]
            return
        else:
            at += 1
    yield from _plain(lines[start:])


def _begins_document(lines: Sequence[str], at: int) -> bool:
    """A heading with another below it, or one that opens a text of some length."""
    if not _HEADING.match(lines[at]):
        return False
    below = [line for line in lines[at + 1 :] if line.strip()]
    return len(below) >= FEWEST - 1 and (any(map(_HEADING.match, below)) or len(below) >= 6)


def _plain(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Own words and pasted runs of lines outside of fences."""
    forms = [_form(line) for line in lines]
    _mark_alike(lines, forms)
    _mark_mail(lines, forms)
    for below in range(1, len(lines)):  # what is indented below such a line belongs to it
        if not forms[below] and lines[below].startswith((" ", "\t")) and lines[below].strip():
            forms[below] = "" if _ITEM.match(lines[below]) else forms[below - 1].replace("prompt", "log")
    at = start = 0
    while at < len(lines):
        end = _run_end(lines, forms, at) if forms[at] else at
        if end > at:
            yield "", lines[start:at]
            yield _name(forms[at:end]), lines[at:end]
            start = at = end
        else:
            at += 1
    yield "", lines[start:]


def _form(line: str) -> str:
    """What a line looks like; empty for words."""
    line = line[:LONGEST_LINE]
    if not line.strip():
        return ""
    if _QUOTE.match(line):
        return "quote"
    if _PROMPT.match(line):
        return "prompt"
    for form, pattern in _SHAPES:
        if form in ("code", "log", "mail") and _ITEM.match(line):
            continue
        if pattern.search(line):
            return form if form != "code" or not _reads_as_words(line) else ""
    signs = sum(not (sign.isalnum() or sign.isspace() or sign in ".,'’?!-\"“”") for sign in line)
    return "log" if len(line.strip()) > 8 and signs > len(line.strip()) / 4 and not _ITEM.match(line) else ""


def _reads_as_words(line: str) -> bool:
    """A sentence that only ends like code: "let me know if that works;"."""
    signs = sum(sign in "{}()[];=<>\"" for sign in line)
    return len(re.findall(r"[^\W\d_]{2,}", line)) >= 5 and signs <= 2 and not line.startswith((" ", "\t"))


def _mark_alike(lines: Sequence[str], forms: list[str]) -> None:
    """Three lines in a row that differ in their numbers only were printed by a program."""
    skeletons = [re.sub(r"[0-9a-f]*\d[0-9a-f]*", "0", line[:200]) for line in lines]
    for at in range(len(lines) - FEWEST + 1):
        group = skeletons[at : at + FEWEST]
        if "0" in group[0] and len(group[0].split()) > 2 and len(set(group)) == 1:
            forms[at : at + FEWEST] = [form or "log" for form in forms[at : at + FEWEST]]


def _mark_mail(lines: Sequence[str], forms: list[str]) -> None:
    """Below a mail's head all is the mail's, up to its close; a question at the very end is asked here."""
    heads = [at for at, form in enumerate(forms) if form == "mail" and (at + 1 < len(forms))]
    first = next((at for at, below in pairwise(heads) if below <= at + 2), None)
    if first is None:
        return
    close = next((at for at in range(first, len(lines)) if _CLOSE.match(lines[at])), None)
    end = len(lines) if close is None else min(close + 2, len(lines))
    last = max((at for at in range(first, end) if not lines[at].strip()), default=first)
    if close is None and lines[-1].rstrip().endswith("?") and last > max(heads) + 1:
        end = last
    forms[first:end] = ["mail" if line.strip() else "" for line in lines[first:end]]


def _run_end(lines: Sequence[str], forms: Sequence[str], at: int) -> int:
    """Where a pasted run that begins here ends; `at` itself if it is too short to be one."""
    if forms[at] == "quote":
        return next((later for later in range(at, len(lines)) if forms[later] != "quote"), len(lines))
    end, printed = at, forms[at] == "prompt"
    for later in range(at, len(lines)):
        if forms[later] and forms[later] != "quote":
            end = later + 1
            printed = printed or forms[later] == "prompt"
        elif lines[later].strip() and (not printed or _speaks(lines, later)):
            break
        elif lines[later].strip():
            end = later + 1
    shaped = [form for form in forms[at:end] if form]
    return end if printed or len(shaped) >= FEWEST or shaped.count("table") > 1 else at


def _speaks(lines: Sequence[str], at: int) -> bool:
    """Whether below a terminal's lines a person goes on: a paragraph of words after a blank line."""
    return not lines[at - 1].strip() and not lines[at].startswith((" ", "\t")) and bool(
        re.match(r"[^\W\d_][\w'’,.…-]*(?: |$|[?!])", lines[at]))


def _name(forms: Sequence[str]) -> str:
    counts = Counter("log" if form == "prompt" else form for form in forms if form)
    return counts.most_common(1)[0][0]
