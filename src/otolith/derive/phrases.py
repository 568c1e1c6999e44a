"""Changes as people word them: what the grammar of plain statements does not see.

Orders ("use B, not A"), corrections ("sorry, I meant …"), words taken back ("forget what I said about …"),
endings without an object ("the job was removed"), owners, settings in lines of configuration. The patterns
are those of `wordings.py`; the words that matched are the fact's. What is asked, supposed, doubted, planned
or somebody else's word is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from otolith.derive.english import Language
from otolith.derive.grammar import Speech
from otolith.derive.sentences import QUOTED, Sentence
from otolith.derive.turnings import PHRASES
from otolith.derive.wordings import Phrase
from otolith.model.words import HEDGES, RELAYED

LONGEST = 12  # words of an object


class Said(NamedTuple):
    """A statement that a phrase makes."""

    subject: str
    relation: str
    object: str
    type: str


_HEDGED = re.compile(
    rf"\b(?:{HEDGES}|wonder(?:ing)?|plan(?:s|ned|ning)? (?:to|on)|going to|will|won['’]t|hasn['’]t|haven['’]t"
    r"|didn['’]t|never|before (?:I|we)|until (?:I|we)|once (?:I|we)|when(?:ever)? (?:I|we))\b", re.I)
_ELSEWHERE = re.compile(RELAYED, re.I)
_ASSURED = frozenset(("will be{prep}",))


def phrases(sentence: Sentence, speech: Speech, lang: Language) -> Iterator[Said]:
    """What a sentence says by one of its language's phrases."""
    text = sentence.text
    if sentence.asked or lang.elsewhere.search(text):
        return
    for phrase in PHRASES.get(lang.code, ()):
        if phrase.ordered and not speech.instructing:
            continue
        for match in phrase.pattern.finditer(text):
            if _meant(text, match, phrase):
                yield from _said(phrase, match, speech, text)


_LATER = re.compile(r"\b(?:before|until|till|once|when|unless)\b", re.I)  # "… before the week is over"
_STANDING = re.compile(
    r"\b(?:every|each|always|never|all|any|from now on|everywhere|here|in this|style|by default)\b", re.I
)


def _meant(text: str, match: re.Match[str], phrase: Phrase) -> bool:
    """Whether the words are the speaker's own and said for certain; an order to do something must be a
    standing one.
    """
    if any("{order}" in row[1] for row in phrase.says) and (
        not _STANDING.search(match.group()) or re.match(r"\W*(?:always|never)\b", match.group(), re.I)
    ):
        return False
    start = max(text.rfind(mark, 0, match.start() + 1) for mark in (";", ": ", "(", "—", " but "))
    before, own = text[max(0, start, match.start() - 80) : match.start()], match.group()
    own = (
        re.sub(r"\b(?:will|is going to|are going to) (?:now |in future )?be\b", "", own)
        if any(row[1] in _ASSURED for row in phrase.says)
        else own
    )
    before = re.sub(r"\bsecond thoughts?\b", "", before, flags=re.I)
    if any(row[1] == "corrects to" for row in phrase.says):
        own = re.sub(r"\b(?:won['’]t be|will (?:not )?be)\b|['’]ll be\b", "", own, flags=re.I)
    if _ELSEWHERE.search(before) or QUOTED in before or _HEDGED.search(before):
        return False
    if _LATER.search(f"{before[-12:]} {own}") and any("{verb}" in row[1] for row in phrase.says):
        return False
    return phrase.ordered or not _HEDGED.search(
        re.sub(r"\b(?:no longer|never ?mind|should (?:be|have been)|will replace)\b", "", own)
    )


_TAKING = {"taken over": "has taken over", "takes over": "has taken over", "take over": "has taken over",
           "taking over": "is taking over"}
_OWNING = frozenset("owns leads maintains manages handles took runs heads oversees looks".split())


def _said(phrase: Phrase, match: re.Match[str], speech: Speech, sentence: str) -> Iterator[Said]:
    groups = {name: _clean(value) for name, value in match.groupdict().items() if value}
    if groups.get("who", "").casefold() in ("i", "we") or groups.get("what") in ("it", "them", "him", "her"):
        return
    groups |= _derived(groups, match.group(), speech)
    groups["one"] = _named_in(sentence, speech) or speech.speaker
    for subject, relation, wording in phrase.says:
        if all(name in groups for name in re.findall(r"{(\w+)}", subject + relation + wording)):
            yield from _made(Said(subject.format(**groups), relation.format(**groups),
                                  wording.format(**groups), phrase.type), speech)


def _derived(groups: Mapping[str, str], text: str, speech: Speech) -> dict[str, str]:
    """What rows may name besides the groups of their patterns."""
    verb, rest = groups.get("verb", ""), groups.get("rest", "").strip()
    owning = verb if verb.split(" ")[0] in _OWNING else _TAKING.get(verb, f"is {verb}" if " " in verb
                                                                    else f"{verb}s")
    derived = {"i": speech.speaker, "owns": owning, "verbs": "studies" if verb == "study" else f"{verb}s",
               "their": f"{speech.speaker}'s" if groups.get("whose", "").casefold() in ("our", "my")
               else "the",
               "prep": groups.get("prep", ""), "order": text.strip().casefold().split(" ")[0],
               "rest": f" {rest[:1].lower()}{rest[1:]}" if rest else ""}
    if "what" in groups:
        derived["what"] = re.sub(r"^whose ", "the ", groups["what"])
    return derived


def _made(worded: Said, speech: Speech) -> Iterator[Said]:
    """The statement with its persons resolved."""
    subject = re.sub(r"^(?:my|our)\b", f"{speech.speaker}'s", worded.subject, flags=re.I)
    relation, wording = worded.relation.strip(), _WHOSE.sub(r"\1 ", worded.object)
    passive = re.match(r"(\w+(?:ed|en|wn) (?:in|on|by|to|as|with|at|from|under)) (.+)", wording)
    if relation == "is" and passive:
        relation, wording = f"is {passive[1]}", passive[2]
    if subject and len(wording.split()) <= LONGEST:
        yield Said(speech.speaker if subject == "me" else subject, relation, wording, worded.type)


def _named_in(sentence: str, speech: Speech) -> str:
    """The only one whom a sentence names besides its speaker: "we changed Mittens over, no more Whiskas"."""
    names = {match["name"] for match in _OBJECT_NAME.finditer(sentence)} - {speech.speaker}
    return names.pop() if len(names) == 1 else ""


_OBJECT_NAME = re.compile(r"\b(?:switch(?:ed)?|chang(?:e|ed)|mov(?:e|ed)|put|g(?:i|a)ve|feed|fed|got|gets?)"
                          r" (?P<name>[A-Z][a-z]+)\b(?= (?:over|to|on|off|onto|is|the|a)\b)")
_WHOSE = re.compile(r"^(short|long|brief|concise|detailed|terse|verbose|formal|informal|simple)"
                    r" (?:your|the|all|my) ")


def _clean(value: str) -> str:
    space = " " if value[:1] == " " else ""
    value = space + " ".join(value.split()).strip(" ,.;:'\"")
    return re.sub(r"^(?:the rule against )?(?:using |having )", "", value)
