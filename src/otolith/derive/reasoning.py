"""Reasoning over chunks with no language model: synthesis, comparison, pattern, gap.

Everything said is a sentence of a chunk or a count, and carries the chunk's id. Contradictions are found by the explicit
`contradicts` links and, between chunks that share a tag, by rule; they are proposed for review and change nothing. The
same chunks give the same text. Knows no files, no index and no model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from otolith.derive.contradiction import Cell, Claim, cells, find_claims, find_contradiction
from otolith.errors import Invalid
from otolith.model.text import counted, sentences, shorten
from otolith.model.words import is_question, key_words, stem, stems, word_set

LINE = 240  # signs of a sentence that is cited
KINDS = ("synthesis", "comparison", "pattern", "gap")
_HEADINGS = {"decision": "Decisions", "preference": "Preferences", "pattern": "Patterns", "fact": "Facts", "note": "Notes"}
# Tags that say what a chunk is, not what it is about: sharing one makes no common subject.
_BROAD = word_set(
    "preference preferences decision decisions fact facts note notes pattern patterns user general misc memory project "
    "work personal todo important"
)
_VERSUS = re.compile(r"\s+(?:vs\.?|versus|compared\s(?:to|with)|against|or|and|with|to)\s+", re.IGNORECASE)
_OPENING = re.compile(
    r"^\W*(?:please\s+)?(?:compare|contrast|(?:what(?:['’]s|\sis)\s+)?the\s+differences?\s+between|difference\s+between|between"
    r"|how\s+do(?:es)?|which\s+is\s+better,?)\s+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A chunk as reasoning sees it; `created` in seconds, `links` by type."""

    id: str
    text: str
    type: str = "note"
    tags: tuple[str, ...] = ()
    created: float = 0.0
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """Two chunks to be looked at; `found_by` is `link` or `rule`. Proposed, never acted on."""

    older: str
    newer: str
    reason: str
    found_by: str


@dataclass(frozen=True, kw_only=True)
class Reasoning:
    """What came out: readable Markdown, the ids it rests on, and what a person should review."""

    kind: str
    text: str
    citations: tuple[str, ...]
    proposals: tuple[Contradiction, ...] = ()

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        return {"kind": self.kind, "text": self.text, "citations": list(self.citations),
                "proposals": [vars(proposal) for proposal in self.proposals]}


def reason(kind: str, sources: Iterable[Source], question: str = "", terms: Sequence[str] = ()) -> Reasoning:
    """Reason over the sources in one of the four ways; `terms` are the two sides of a comparison, if not in the question."""
    ways: dict[str, Callable[[list[Source], str, Sequence[str]], list[str]]] = {
        "synthesis": _synthesis, "comparison": _comparison, "pattern": _pattern, "gap": _gap,
    }
    if kind not in ways:
        raise Invalid(f"no way of reasoning called {kind!r}", f"use one of {', '.join(KINDS)}")
    ordered = sorted(sources, key=lambda s: (s.created, s.id))
    proposals = find_contradictions(ordered)
    lines = ways[kind](ordered, question, terms) if ordered or kind == "gap" else ["Nothing is known about this."]
    if proposals:
        lines += ["", "## To review", ""]
        lines += [f"- [{p.older}] and [{p.newer}]: {p.reason}" for p in proposals]
    text = "\n".join(lines).strip() + "\n"
    cited = tuple(source.id for source in ordered if f"[{source.id}]" in text)
    return Reasoning(kind=kind, text=text, citations=cited, proposals=tuple(proposals))


def find_contradictions(sources: Sequence[Source]) -> list[Contradiction]:
    """Explicit ones first, then those found by rule within a shared tag, each pair once, in order of time."""
    known = {source.id: source for source in sources}
    found: dict[frozenset[str], Contradiction] = {}
    for source in sources:
        for target in source.links.get("contradicts", ()):
            if target in known and target != source.id:
                older, newer = _in_order(source, known[target])
                found.setdefault(frozenset((source.id, target)), Contradiction(
                    older=older.id, newer=newer.id, reason="linked as contradicting", found_by="link"))
    claims = {source.id: find_claims(source.text) for source in sources}
    for pair, narrow in _sharing_a_tag(sources, claims).items():
        if frozenset(pair) in found:
            continue
        older, newer = _in_order(known[pair[0]], known[pair[1]])
        why = find_contradiction(claims[older.id], claims[newer.id], one_subject=narrow)
        if why:
            found[frozenset(pair)] = Contradiction(older=older.id, newer=newer.id, reason=why, found_by="rule")
    return sorted(found.values(), key=lambda c: (c.found_by, known[c.newer].created, c.older, c.newer))


def _sharing_a_tag(sources: Sequence[Source], claims: Mapping[str, list[Claim]]) -> dict[tuple[str, str], bool]:
    """Pairs of ids with a tag and a subject in common → whether that tag names a subject rather than a sort of text."""
    sharing: dict[tuple[str, Cell], dict[str, None]] = {}
    for source in sources:
        about = {cell for claim in claims[source.id] for cell in cells(claim)}
        for tag in {tag.casefold() for tag in source.tags}:
            for cell in about:
                sharing.setdefault((tag, cell), {})[source.id] = None
    pairs: dict[tuple[str, str], bool] = {}
    for (tag, _), ids in sharing.items():
        for pair in combinations(ids, 2):
            pairs[pair] = pairs.get(pair, False) or tag not in _BROAD
    return pairs


def _in_order(one: Source, other: Source) -> tuple[Source, Source]:
    return (one, other) if (one.created, one.id) <= (other.created, other.id) else (other, one)


def _synthesis(sources: list[Source], question: str, _: Sequence[str]) -> list[str]:
    lines = [f"# What {counted(len(sources), 'chunk')} say{'s' if len(sources) == 1 else ''} about {question.strip(' ?') or 'this'}"]
    asked = stems(question)
    supported = {target: source.id for source in sources for target in source.links.get("supports", ())}
    for kind, heading in _HEADINGS.items():
        said: dict[str, tuple[str, list[str]]] = {}
        for source in (s for s in sources if s.type == kind):
            for sentence in _telling(source.text, asked):
                said.setdefault(" ".join(key_words(sentence)) or sentence, (sentence, []))[1].append(source.id)
        if said:
            lines += ["", f"## {heading}", ""]
        for sentence, ids in said.values():
            marks = "".join(f"[{i}]" for i in dict.fromkeys(ids))
            backing = [supported[i] for i in dict.fromkeys(ids) if i in supported]
            lines.append(f"- {sentence} {marks}" + (f" (supported by [{backing[0]}])" if backing else ""))
    return lines


def _telling(text: str, asked: frozenset[str], most: int = 2) -> list[str]:
    """The sentences that bear on the question, or the opening ones, in the order of the text."""
    parts = sentences(text)
    ranked = sorted(range(len(parts)), key=lambda i: (-len(asked & stems(parts[i])), i))[:most]
    return [shorten(parts[i], LINE) for i in sorted(ranked)]


def _comparison(sources: list[Source], question: str, terms: Sequence[str]) -> list[str]:
    left, right = _two_terms(question, terms)
    sides = [[s for s in sources if stems(term) and stems(term) <= _about(s)] for term in (left, right)]
    lines = [f"# {left} – {right}", "", f"| | {_cell(left)} | {_cell(right)} |", "|---|---|---|"]
    for kind, heading in _HEADINGS.items():
        cells = [_side([s for s in side if s.type == kind], term) for side, term in zip(sides, (left, right), strict=True)]
        if any(cells):
            lines.append(f"| {heading} | {cells[0] or '–'} | {cells[1] or '–'} |")
    lines.append(f"| Chunks | {len(sides[0])} | {len(sides[1])} |")
    both = [s.id for s in sides[0] if s in sides[1]]
    if both:
        lines += ["", "Named together in " + " ".join(f"[{i}]" for i in both)]
    words = [{stem(w): w for s in side for w in key_words(s.text)} for side in sides]
    shared = sorted(words[0][w] for w in words[0].keys() & words[1].keys() - stems(left) - stems(right))
    if shared:
        lines += ["", "In common: " + ", ".join(shared[:12])]
    for term, side in ((left, sides[0]), (right, sides[1])):
        if not side:
            lines += ["", f"Nothing is known about {term}."]
    return lines


def _two_terms(question: str, terms: Sequence[str]) -> tuple[str, str]:
    if len(terms) == 2:
        return terms[0], terms[1]
    parts = [part.strip(" ?.,\"'") for part in _VERSUS.split(_OPENING.sub("", question.strip()), maxsplit=1)]
    if len(parts) != 2 or not all(parts):
        raise Invalid("a comparison needs two sides", 'give two terms, or ask "Postgres vs Redis"')
    return parts[0], parts[1]


def _side(sources: Sequence[Source], term: str) -> str:
    said = (f"{_cell(_telling(s.text, stems(term), most=1)[0])} [{s.id}]" for s in sources if s.text.strip())
    return "<br>".join(said)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _about(source: Source) -> frozenset[str]:
    return stems(source.text) | stems(" ".join(source.tags))


def _pattern(sources: list[Source], question: str, _: Sequence[str]) -> list[str]:
    lines = [f"# What recurs in {counted(len(sources), 'chunk')}" + (f" about {question.strip(' ?')}" if question.strip(" ?") else "")]
    tags: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for source in sources:
        for tag in dict.fromkeys(source.tags):
            tags.setdefault(tag, []).append(source.id)
        for word in dict.fromkeys(key_words(source.text)):
            if len(word) > 1 and not word.isdigit():
                named.setdefault(stem(word), []).append(source.id)
                spelled.setdefault(stem(word), word)
    for heading, found in (("Tags", tags), ("Words", {spelled[root]: ids for root, ids in named.items()})):
        often = {word: list(dict.fromkeys(ids)) for word, ids in found.items()}
        rows = sorted(((w, ids) for w, ids in often.items() if len(ids) > 1), key=lambda row: (-len(row[1]), row[0]))[:15]
        if rows:
            lines += ["", f"## {heading}", ""]
            lines += [f"- {word}: {len(ids)} of {len(sources)} " + "".join(f"[{i}]" for i in ids) for word, ids in rows]
    return lines if len(lines) > 1 else [*lines, "", "Nothing recurs."]


def _gap(sources: list[Source], question: str, terms: Sequence[str]) -> list[str]:
    asked = list(terms) or list(dict.fromkeys(word for word in key_words(question) if word not in _ASKING))
    if not asked:
        raise Invalid("a gap is a gap in something", "say what the memory should cover")
    lines = [f"# What is missing: {question.strip(' ?') or ', '.join(asked)}"]
    covering = {term: [s.id for s in sources if stems(term) <= _about(s)] for term in asked}
    missing = [term for term, ids in covering.items() if not ids]
    lines += ["", "## Not covered", ""] + ([f"- {term}" for term in missing] or ["Everything asked for is covered."])
    covered = [f"- {term}: " + "".join(f"[{i}]" for i in ids) for term, ids in covering.items() if ids]
    if covered:
        lines += ["", "## Covered", "", *covered]
    open_questions = [
        f"- {shorten(sentence, LINE)} [{s.id}]"
        for s in sources for sentence in sentences(s.text) if is_question(sentence)
    ]
    if open_questions:
        lines += ["", "## Questions in the memory", "", *open_questions]
    return lines


_ASKING = word_set("know known tell say said thing things need find explain describe list much many")
