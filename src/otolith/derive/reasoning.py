"""Reasoning over chunks with no language model: synthesis, comparison, pattern, gap.

Every line is a sentence of a chunk or a count, and carries the chunk's id. Contradictions are found by the
explicit `contradicts` links and, between chunks that share a tag, by the rule for claims; they are proposed
for review and change nothing. The same chunks give the same text. Knows no files, no index and no model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from otolith.derive.claims import find_opposed
from otolith.errors import Invalid
from otolith.model.kinds import CHUNK_TYPES
from otolith.model.text import counted, sentences, shorten
from otolith.model.times import zulu
from otolith.model.words import is_question, key_words, stem, stems, word_set

LINE = 240  # characters of a sentence that is cited
ORDER = ("decision", "preference", "pattern", "fact", "note")  # of types in a text
_ASKING = word_set("know known tell say said thing things need find explain describe list much many")
_VERSUS = re.compile(r"\s+(?:vs\.?|versus|compared\s(?:to|with)|against|or|and|with|to)\s+", re.IGNORECASE)
_OPENING = re.compile(
    r"^\W*(?:please\s+)?(?:compare|contrast|(?:what(?:['’]s|\sis)\s+)?the\s+differences?\s+between"
    r"|difference\s+between|between|how\s+do(?:es)?|which\s+is\s+better,?)\s+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A chunk as reasoning sees it; `created` in seconds, `links` by type."""

    id: str
    text: str
    type: str = "note"
    tags: tuple[str, ...] = ()
    created: float = 0.0
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def names(self, term: str) -> bool:
        """Whether its text or tags hold all words of a term."""
        return stems(term) <= stems(self.text) | stems(" ".join(self.tags))


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """Two chunks to be looked at; `found_by` is `link` or `rule`. Proposed, never acted on."""

    older: str
    newer: str
    reason: str
    found_by: str


@dataclass(frozen=True, kw_only=True)
class Conclusion:
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


def reason(way: str, sources: Iterable[Source], question: str = "", terms: Sequence[str] = ()) -> Conclusion:
    """Reason in one of the four ways; `terms` are the sides of a comparison, if not in the question."""
    if way not in WAYS:
        raise Invalid(f"unknown way of reasoning {way!r}", f"use one of {', '.join(WAYS)}")
    ordered = sorted(sources, key=_by_time)
    proposals = find_contradictions(ordered)
    lines = ["Nothing is known about this."]
    if ordered or way == "gap":
        lines = WAYS[way](ordered, question, terms)
    lines += _section("To review", [f"- {_cite([pair.older])} and {_cite([pair.newer])}: {pair.reason}"
                                    for pair in proposals])
    text = "\n".join(lines).strip() + "\n"
    cited = tuple(source.id for source in ordered if f"[{source.id}]" in text)
    return Conclusion(kind=way, text=text, citations=cited, proposals=tuple(proposals))


def _by_time(source: Source) -> tuple[float, str]:
    return source.created, source.id


def _cite(ids: Iterable[str]) -> str:
    return "".join(f"[{id}]" for id in dict.fromkeys(ids))


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    """Lines under a heading; nothing if there are none."""
    return ["", f"## {heading}", "", *lines] if lines else []


def find_contradictions(sources: Sequence[Source]) -> list[Contradiction]:
    """Explicit ones first, then those found by rule within a shared tag, each pair once, in order of time."""
    by_id = {source.id: source for source in sources}
    pairs: dict[tuple[str, str], Contradiction] = {}

    def propose(ids: Iterable[str], reason: str, found_by: str) -> None:
        older, newer = (source.id for source in sorted((by_id[id] for id in ids), key=_by_time))
        pairs.setdefault((older, newer), Contradiction(older=older, newer=newer, reason=reason,
                                                       found_by=found_by))

    for source in sources:
        for target in source.links.get("contradicts", ()):
            if target in by_id and target != source.id:
                propose((source.id, target), "linked as contradicting", "link")
    tags = {source.id: {tag.casefold() for tag in source.tags} for source in sources}
    for pair in find_opposed((source.id, zulu(source.created), source.text) for source in sources):
        if tags[pair.older] & tags[pair.newer]:
            propose((pair.older, pair.newer), pair.reason, "rule")
    return sorted(pairs.values(),
                  key=lambda pair: (pair.found_by, by_id[pair.newer].created, pair.older, pair.newer))


# The four ways


def _synthesis(sources: list[Source], question: str, _: Sequence[str]) -> list[str]:
    say = "says" if len(sources) == 1 else "say"
    lines = [f"# What {counted(len(sources), 'chunk')} {say} about {question.strip(' ?') or 'this'}"]
    about = stems(question)
    supported = {target: source.id for source in sources for target in source.links.get("supports", ())}
    for type in ORDER:
        statements: dict[str, tuple[str, list[str]]] = {}
        for source in sources:
            for sentence in _telling(source.text, about) if source.type == type else ():
                statements.setdefault(" ".join(key_words(sentence)) or sentence,
                                      (sentence, []))[1].append(source.id)
        bullets = []
        for sentence, ids in statements.values():
            backing = next((supported[id] for id in ids if id in supported), None)
            bullets.append(f"- {sentence} {_cite(ids)}" + (f" (supported by [{backing}])" if backing else ""))
        lines += _section(CHUNK_TYPES[type], bullets)
    return lines


def _telling(text: str, about: frozenset[str], most: int = 2) -> list[str]:
    """The sentences that bear on the question, or the opening ones, in the order of the text."""
    parts = sentences(text)
    ranked = sorted(range(len(parts)), key=lambda at: (-len(about & stems(parts[at])), at))[:most]
    return [shorten(parts[at], LINE) for at in sorted(ranked)]


def _comparison(sources: list[Source], question: str, terms: Sequence[str]) -> list[str]:
    sides = {term: [source for source in sources if stems(term) and source.names(term)]
             for term in _two_terms(question, terms)}
    (left, here), (right, there) = [*sides.items(), *sides.items()][:2]
    lines = [f"# {left} – {right}", "", f"| | {_cell(left)} | {_cell(right)} |", "|---|---|---|"]
    for type in ORDER:
        row = [_side(side, term, type) for term, side in ((left, here), (right, there))]
        if any(row):
            lines.append(f"| {CHUNK_TYPES[type]} | {row[0] or '–'} | {row[1] or '–'} |")
    lines.append(f"| Chunks | {len(here)} | {len(there)} |")
    both = [f"[{source.id}]" for source in here if source in there]
    lines += ["", f"Named together in {' '.join(both)}"] if both else []
    words = [{stem(word): word for source in side for word in key_words(source.text)}
             for side in (here, there)]
    shared = sorted(words[0][root] for root in words[0].keys() & words[1].keys() - stems(left) - stems(right))
    lines += ["", "In common: " + ", ".join(shared[:12])] if shared else []
    for term, side in ((left, here), (right, there)):
        lines += [] if side else ["", f"Nothing is known about {term}."]
    return lines


def _two_terms(question: str, terms: Sequence[str]) -> tuple[str, str]:
    if len(terms) == 2:
        return terms[0], terms[1]
    parts = [part.strip(" ?.,\"'") for part in _VERSUS.split(_OPENING.sub("", question.strip()), maxsplit=1)]
    if len(parts) != 2 or not all(parts):
        raise Invalid("a comparison needs two sides", 'give two terms, or ask "Postgres vs Redis"')
    return parts[0], parts[1]


def _side(sources: Sequence[Source], term: str, type: str) -> str:
    return "<br>".join(f"{_cell(_telling(source.text, stems(term), most=1)[0])} [{source.id}]"
                       for source in sources if source.type == type and source.text.strip())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _pattern(sources: list[Source], question: str, _: Sequence[str]) -> list[str]:
    about = f" about {question.strip(' ?')}" if question.strip(" ?") else ""
    spelled: dict[str, str] = {}
    for source in sources:
        for word in _words(source):
            spelled.setdefault(stem(word), word)
    tags = _recurring((source, source.tags) for source in sources)
    roots = _recurring((source, map(stem, _words(source))) for source in sources)
    lines = [f"# What recurs in {counted(len(sources), 'chunk')}{about}"]
    for heading, recurring in (("Tags", tags),
                               ("Words", {spelled[root]: ids for root, ids in roots.items()})):
        rows = sorted(recurring.items(), key=lambda row: (-len(row[1]), row[0]))[:15]
        lines += _section(heading, [f"- {word}: {len(ids)} of {len(sources)} {_cite(ids)}" for word,
                                    ids in rows])
    return lines if len(lines) > 1 else [*lines, "", "Nothing recurs."]


def _words(source: Source) -> Iterator[str]:
    return (word for word in dict.fromkeys(key_words(source.text)) if len(word) > 1 and not word.isdigit())


def _recurring(named: Iterable[tuple[Source, Iterable[str]]]) -> dict[str, list[str]]:
    """Each word that several sources have, with their ids."""
    ids: dict[str, list[str]] = {}
    for source, words in named:
        for word in dict.fromkeys(words):
            ids.setdefault(word, []).append(source.id)
    return {word: sources for word, sources in ids.items() if len(sources) > 1}


def _gap(sources: list[Source], question: str, terms: Sequence[str]) -> list[str]:
    asked = list(terms) or list(dict.fromkeys(word for word in key_words(question) if word not in _ASKING))
    if not asked:
        raise Invalid("a gap is a gap in something", "say what the memory should cover")
    covering = {term: [source.id for source in sources if source.names(term)] for term in asked}
    missing = [f"- {term}" for term, ids in covering.items() if not ids]
    return [f"# What is missing: {question.strip(' ?') or ', '.join(asked)}",
            *_section("Not covered", missing or ["Everything asked for is covered."]),
            *_section("Covered", [f"- {term}: {_cite(ids)}" for term, ids in covering.items() if ids]),
            *_section("Questions in the memory", [
                f"- {shorten(sentence, LINE)} [{source.id}]" for source in sources
                for sentence in sentences(source.text) if is_question(sentence)])]


WAYS: Mapping[str, Callable[[list[Source], str, Sequence[str]], list[str]]] = {
    "synthesis": _synthesis, "comparison": _comparison, "pattern": _pattern, "gap": _gap}
