"""What the session protocol shows and proposes: the LiveHud, the [MEMORY_CANDIDATES] block, gardening among
memos.

The LiveHud is four gauges: 🧠 Past, 👁️ Present, 🔮 Future in 3 to 9 words each, and 📂 Memory. The candidates
block is what an agent prints when the home cannot be written, and reads back later. Gardening proposes to
supersede what a newer memo contradicts and to consolidate more than five on one topic; a person applies,
after which nothing is proposed any more. Knows no home, no clock and no recall.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from otolith.errors import Invalid
from otolith.model.kinds import MEMO_CATEGORIES
from otolith.model.memo import Memo, check_name, master_name
from otolith.model.shape import Value
from otolith.model.text import UNSPACED, fold, sentences
from otolith.model.times import day, zulu

MIN_WORDS, MAX_WORDS = 3, 9
MORE_THAN = 5  # memos on one topic make a master
OPENING = "[MEMORY_CANDIDATES]"
PERSONAL = "default"
_GAUGES = (
    ("🧠 Past", "Last known:", "Nothing retrieved from memory yet"),
    ("👁️ Present", "Working on", "No active task named yet"),
    ("🔮 Future", "Next up:", "No next action named yet"),
)
_PER_WORD = 2  # characters of a script without spaces that count as a word

_DASH = r"[ \t]+(?:—|–|--?)[ \t]+"
_FIRST_LINE = re.compile(
    rf"(?P<number>\d+)\.[ \t]+(?P<name>\S+?)\.md{_DASH}category:[ \t]*(?P<category>\w+)"
    rf"(?:{_DASH}tags:[ \t]*\[(?P<tags>.*)\])?[ \t]*\r?"
)
_OPENING_LINE = re.compile(r"\[MEMORY_CANDIDATES\][ \t]*\r?")
_TAG = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,"]*)\s*(?:,|\Z)')


class MemoCandidate(Value):
    """A memo that could not be written."""

    name: str
    category: str
    tags: tuple[str, ...]
    content: str

    def check(self) -> None:
        check_name(self.name)
        if self.category not in MEMO_CATEGORIES:
            raise Invalid(f"category {self.category!r} is not one of {', '.join(MEMO_CATEGORIES)}")


def render_hud(past: str = "", present: str = "", future: str = "", memory: str | None = None) -> str:
    """The four lines; `memory` is what there is to say of the memory, None that there is no access to it."""
    lines = [f"{label}: {_fit(phrase, lead, empty)}"
             for (label, lead, empty), phrase in zip(_GAUGES, (past, present, future), strict=True)]
    held = " ".join(memory.split()) if memory else "No tool access"
    return "\n".join([*lines, f"📂 Memory: {held}"]) + "\n"


def _fit(phrase: str, lead: str, empty: str) -> str:
    """The phrase in 3 to 9 words: its first sentence, cut with … or led in by two words."""
    first = next(iter(sentences(phrase)), "")
    if not any(character.isalnum() for character in first):
        return empty
    words = first.rstrip(" .,;:").split()
    kept: list[str] = []
    room = MAX_WORDS
    for word in words:
        unspaced = len(re.findall(f"[{UNSPACED}]", word))
        length = max(1, -(-unspaced // _PER_WORD))
        if length > room:
            if not kept:  # one long run of a script without spaces
                kept.append(word[: room * _PER_WORD])
            break
        kept.append(word)
        room -= length
    cut = kept != words
    text = " ".join(kept).rstrip(",;:") + ("…" if cut else "")
    return text if MAX_WORDS - room >= MIN_WORDS or cut else f"{lead} {text}"


def render_notes(candidates: Iterable[MemoCandidate]) -> str:
    """What follows the LiveHud when nothing can be written."""
    return f"System Notes\n\n{render_candidates(candidates)}"


def render_candidates(candidates: Iterable[MemoCandidate]) -> str:
    """The block, from its first line to the end of the last content.

    A content line that would itself look like a candidate's first line, or like the block's, is written with
    a backslash before it and read without; a tag with a comma, bracket or quote is written as a JSON string.
    """
    lines = [OPENING]
    for number, candidate in enumerate(candidates, 1):
        tags = ", ".join(map(_write_tag, candidate.tags))
        name = candidate.name.removesuffix(".md")
        lines += [f"{number}. {name}.md — category: {candidate.category} — tags: [{tags}]", "---"]
        lines += [_escape(line) for line in candidate.content.split("\n")]
    return "\n".join(lines) + "\n"


def parse_candidates(text: str) -> list[MemoCandidate]:
    """The candidates of the first block in a text; `Invalid` if there is none or a name breaks the rule."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _OPENING_LINE.fullmatch(line)), None)
    if start is None:
        raise Invalid(f"no line {OPENING}", "paste the whole block, from that line to its end")
    if lines[-1] == "":
        lines.pop()  # the newline that ends the block
    candidates: list[MemoCandidate] = []
    at = start + 1
    while at < len(lines):
        first = _FIRST_LINE.fullmatch(lines[at])
        stop = next((i for i in range(at + 1, len(lines)) if _FIRST_LINE.fullmatch(lines[i])), len(lines))
        if first:
            below = lines[at + 1 : stop]
            below = below[1:] if below and below[0].rstrip() == "---" else below
            candidates.append(MemoCandidate(
                name=first["name"], category=first["category"].lower(), tags=_read_tags(first["tags"] or ""),
                content="\n".join(map(_unescape, below))))
        elif lines[at].strip():
            raise Invalid(f"line {at + 1} is not a candidate: {lines[at][:60]!r}",
                          "expected: 1. some_descriptive_name.md — category: past — tags: [a, b]")
        at = stop
    return candidates


def _looks_like_ours(line: str) -> bool:
    return bool(_FIRST_LINE.fullmatch(line) or _OPENING_LINE.fullmatch(line))


def _escape(line: str) -> str:
    return f"\\{line}" if _looks_like_ours(line.lstrip("\\")) else line


def _unescape(line: str) -> str:
    return line[1:] if line.startswith("\\") and _looks_like_ours(line.lstrip("\\")) else line


def _write_tag(tag: str) -> str:
    plain = tag and tag == tag.strip() and tag != "..." and not re.search(r"[,\[\]\"\\\r\n\x00-\x1f]", tag)
    return tag if plain else json.dumps(tag, ensure_ascii=False)


def _read_tags(text: str) -> tuple[str, ...]:
    tags: list[str] = []
    for match in _TAG.finditer(text):
        written = match[1].strip()
        if written.startswith('"'):
            try:
                tags.append(str(json.loads(written)))
            except json.JSONDecodeError:
                tags.append(written.strip('"'))
        elif written and written != "...":
            tags.append(written)
    return tuple(tags)


# The garden

_DEPRECATED = re.compile(r"^\W*DEPRECATED\b", re.MULTILINE)
_HEADING = re.compile(r"^(#+)(?= )", re.MULTILINE)
_ABOUT_IT = re.compile(r"^(?:Reason|About|In answer to|Source): .*$|^User changed mind .*$", re.MULTILINE)


class Proposal(Value):
    """Retire `names` in favour of `target`, which then reads `text`; `note` is added to each retired memo."""

    kind: str  # "supersede" or "consolidate"
    names: tuple[str, ...]
    target: str
    reason: str
    title: str
    text: str
    note: str
    category: str = "past"
    tags: tuple[str, ...] = ()
    project: str = PERSONAL


def find_proposals(memos: Iterable[Memo]) -> list[Proposal]:
    """All proposals, supersessions first, since what is superseded no longer counts towards a topic.

    Only memos of one project are compared, what is personal only with what is personal.
    """
    alive = [memo for memo in memos if memo.deprecated_by is None and not _DEPRECATED.search(memo.text)]
    alive.sort(key=lambda memo: (memo.created, memo.name))
    supersessions: list[Proposal] = []
    consolidations: list[Proposal] = []
    for project in sorted({_project(memo) for memo in alive}):
        own = [memo for memo in alive if _project(memo) == project]
        supersessions += [proposal.replace(project=project) for proposal in _find_supersessions(own)]
        retired = {name for proposal in supersessions for name in proposal.names}
        others = {memo.name for memo in alive} - {memo.name for memo in own}
        others |= {proposal.target for proposal in consolidations}
        left = [memo for memo in own if memo.name not in retired]
        consolidations += [proposal.replace(project=project)
                           for proposal in _find_consolidations(left, project, others)]
    return supersessions + consolidations


def _project(memo: Memo) -> str:
    return (memo.origin.project if memo.origin else "") or PERSONAL


def own_words(memo: Memo) -> str:
    """What people say in a memo: the sentence where it keeps one, else its text without the lines that only
    say where it comes from.
    """
    return memo.sentence if memo.says else f"{memo.title}.\n\n{_ABOUT_IT.sub('', memo.text)}"


def deprecation_note(new_name: str) -> str:
    """The line the old memo gets."""
    return f"DEPRECATED: See valid architecture in {new_name}.md"


def _find_supersessions(memos: Sequence[Memo]) -> list[Proposal]:
    """Newest wins: every older memo on the same topic that the newest of its opponents contradicts."""
    from otolith.derive.claims import find_opposed

    topics = {memo.name: set(_topics(memo)) for memo in memos}
    created = {memo.name: memo.created for memo in memos}
    opposed: dict[str, dict[str, str]] = {}
    for pair in find_opposed((memo.name, zulu(memo.created), own_words(memo)) for memo in memos):
        # Of two memos of one minute nobody can say which is the newer.
        if created[pair.older] < created[pair.newer] and topics[pair.older] & topics[pair.newer]:
            opposed.setdefault(pair.newer, {})[pair.older] = pair.reason
    gone: set[str] = set()
    proposals: list[Proposal] = []
    for newer in reversed(memos):
        losing = {name: why for name, why in opposed.get(newer.name, {}).items() if name not in gone}
        if losing and newer.name not in gone:
            gone |= losing.keys()
            proposals.append(_supersession(newer, losing))
    return sorted(proposals, key=lambda proposal: proposal.target)


def _supersession(newer: Memo, losing: Mapping[str, str]) -> Proposal:
    note = f"User changed mind {day(newer.created)}."
    text = newer.text if note in newer.text else f"{newer.text.rstrip()}\n\n{note}\n"
    reasons = "; ".join(f"{name}: {why}" for name, why in sorted(losing.items()))
    return Proposal(
        kind="supersede", names=tuple(sorted(losing)), target=newer.name, title=newer.title, text=text,
        reason=f"{newer.name} is newer and contradicts {reasons}", note=deprecation_note(newer.name),
        category=newer.category, tags=newer.tags)


def _find_consolidations(memos: Sequence[Memo], project: str, others: Collection[str]) -> list[Proposal]:
    """Topics with more than five memos, the largest first; a memo goes to the first that takes it. A master
    whose name is another project's has its own project's before it.
    """
    by_topic: dict[tuple[str, str], list[Memo]] = {}
    for memo in memos:
        for key in _topics(memo):
            by_topic.setdefault(key, []).append(memo)
    # Among equals the two words of the name come first: they already make a good name for the master.
    order = sorted(by_topic.items(), key=lambda item: (-len(item[1]), item[0][0] != "name", item[0]))
    by_name = {memo.name: memo for memo in memos}
    taken: set[str] = set()
    proposals: list[Proposal] = []
    for (how, topic), members in order:
        target = master_name(topic)
        target = target if target not in others else master_name(f"{project} {topic}")
        merging = [memo for memo in members if memo.name not in taken and not memo.name.endswith("_master")]
        master = by_name.get(target) if target not in taken else None
        if len(merging) + (master is not None) > MORE_THAN:
            taken.update((target, *(memo.name for memo in merging)))
            proposals.append(_consolidation(how, topic, target, merging, master))
    return sorted(proposals, key=lambda proposal: proposal.target)


def _topics(memo: Memo) -> list[tuple[str, str]]:
    """What a memo is filed under: each tag, and the first two words of its name unless somebody just said
    them.
    """
    first = [] if memo.says else [("name", "_".join(memo.name.split("_")[:2]))]
    return [*first, *dict.fromkeys(("tag", fold(tag)) for tag in memo.tags if fold(tag))]


def section(memo: Memo) -> str:
    """A memo as a part of its master; its headings go two levels down, so that none looks like a part."""
    return f"## {memo.title}\n\n" + _HEADING.sub(r"##\1", memo.text.strip())


def without_section(text: str, own: str) -> tuple[str, bool]:
    """A master's text without a part that was gathered into it, and whether something stays that others
    wrote.

    The part's own lines go, wherever under its heading they stand; what people wrote among them stays, under
    a heading that names nothing.
    """
    heading, *below = own.split("\n")
    lines = {line.strip() for line in below} - {""}
    parts = re.split(r"(?m)^(?=## )", text)
    matches = []
    for at, part in enumerate(parts):
        first, *more = part.rstrip().split("\n")
        rest = [line for line in more if line.strip() not in lines]
        if first.rstrip() == heading.rstrip() and (len(rest) < len(more) or not lines):
            matches.append((len(rest) - len(more), len(rest), at, "\n".join(rest).strip("\n")))
    if not matches:
        body = "\n".join(below).strip()
        if body and body in text:
            return text.replace(body, "", 1), False
        return text, any(line in text for line in lines)
    _, _, at, left = min(matches)
    parts[at] = f"## (purged)\n\n{left}\n\n" if left else ""
    return "".join(parts), bool(left)


def _consolidation(how: str, topic: str, target: str, merging: Sequence[Memo], master: Memo | None
                   ) -> Proposal:
    texts = [master.text.strip()] if master else []
    tags = dict.fromkeys(tag for memo in ([master] if master else []) + list(merging) for tag in memo.tags)
    shared = f"the tag {topic}" if how == "tag" else f"the words {topic.replace('_', ' ')}"
    return Proposal(
        kind="consolidate", names=tuple(memo.name for memo in merging), target=target,
        reason=f"{len(merging)} memos share {shared}" + (f", beside {target}" if master else ""),
        title=master.title if master else topic.replace("_", " ").capitalize(),
        text="\n\n".join([*texts, *map(section, merging)]) + "\n", note=deprecation_note(target),
        category=merging[-1].category, tags=tuple(tags))
