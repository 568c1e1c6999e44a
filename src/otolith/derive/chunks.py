"""What a new chunk gets by itself: its type, and its links context_of, follows, related_to.

A sentence votes by the first row of the table that it matches; questions, suppositions and denials of the
very thing do not vote. Short texts take the strongest vote, long ones need a fifth of their sentences. What
remains is a fact if its sentences state something and a note if they do not. Links are made by small rules;
who stores the chunk decides which neighbours to look at. supports and contradicts are never made here: a
person or an agent says those.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from typing import NamedTuple

from otolith.model.chunk import Chunk
from otolith.model.text import sentences, without_code
from otolith.model.words import is_question, is_supposed

_LOOKED_AT = 600  # characters of a sentence, so that no text makes the patterns slow


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


_WHO = (r"(?:i|we|they|users?|people|everyone|everybody|customers?|clients?|developers?|my\s\w+"
        r"|the\s(?:user|team|client|customer)s?)")
_MODEST = (r"(?:\s(?:really|absolutely|also|still|just|very\smuch|personally|generally|always|usually|much|do"
           r"|does|strongly))*")
_NOT = r"(?:\s(?:do\snot|don['’]t|does\snot|doesn['’]t|never|didn['’]t|did\snot|can['’]t|cannot))?"

# (type, what says so, what denies it), tried in order
_ROWS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    (
        "decision",
        _pattern(r"""
            \b(?:decided|decides|have\sresolved|resolved\sto)\b
          | \b(?:we|they|i|user|team)(?:\s(?:have|has|finally|all|both))*\sconcluded\b
          | \b(?:final\s)?decision\s*(?:is|was|:|-|–|—)
          | \b(?:we|i|they|he|she|user|team)(?:\s(?:have|has|had|all|both|finally|eventually)|['’]ve)*
            \s(?:chose|chosen|picked|selected|settled\s(?:on|for)|opted\s(?:for|to)|agreed\s(?:to|on|that)
              |went\swith|committed\sto|approved|rejected|ruled\sout)\b
          | \b(?:going|go|gone|went|sticking|stick)\swith\s(?!me\b|us\b|him\b|her\b|them\b|you\b|whom)
          | \blet['’]?s\s(?:use|go\sfor|adopt|stick|switch|keep|drop|choose|pick)\b
          | \b(?:we|i|they)(?:['’]ll|\swill|\sshall|\sare\sgoing\sto|['’]re\sgoing\sto)
            \s(?:use|adopt|drop|keep|standardi[sz]e)\b
          | \b(?:switch(?:ed|ing)|migrat(?:ed|ing)|mov(?:ed|ing))
            \s(?:over\s)?(?:from\s\S+(?:\s\S+)?\s)?(?:over\s)?to\s
            (?=[A-Z]|the\snew|a\snew)
          | \bstandardi[sz](?:ed|e|ing)\son\b | \b(?:dropped|dropping)\s(?:support|the\splan)\b
          | \bsigned\soff\son\b | \buse[sd]?\s.{1,60}\sinstead\sof\b
        """),
        _pattern(r"""
            \b(?:not|n['’]t|never|yet\sto|un)\s?(?:yet\s|been\s|quite\s)*(?:be\s)?
            (?:decided|chosen|agreed|settled)\b
          | \b(?:has|have|had)\s(?:not|yet)\b.{0,20}\bdecid | \bto\sbe\sdecided\b
          | \b(?:goes|going\son)\swith\b
          | \b(?:moved|moving)\sto\s(?:[A-Z]\w+)(?:,|\sin\s\d{4}|\slast|\swhen|\.|\Z)
        """),
    ),
    (
        "preference",
        _pattern(rf"""
            \bprefer(?:s|red|ring|ences?|ably)?\b
          | \b{_WHO}{_MODEST}{_NOT}{_MODEST}\s(?:like|love|enjoy|hate|dislike|adore|despise|loathe|favou?r
              |detest)\b
          | \b(?!it\b|that\b|this\b|what\b|there\b)[^\W\d_]+{_MODEST}\s
            (?:likes|loves|enjoys|hates|dislikes|adores|despises|loathes|favou?rs|detests)\s(?!of\b|and\b|,)
          | \b(?:he|she|user|client|customer)\s(?:does\snot|doesn['’]t)\s(?:like|love|enjoy|want)\b
          | \bfavou?rite\b | \b(?:would|['’]d)\srather\b | \b(?:big\s|huge\s|not\sa\s)?fan\sof\b
          | \bcan(?:not|['’]?t)\sstand\b
          | \b(?:i|we)(?:\s(?:want|wish|would\slike)|['’]d\slike)\b
            (?!\sto\s(?:ask|know|see|book|order|request|thank|say)\b)
          | \b(?:user|client|customer|he|she)\swants\s(?!to\b) | \b(?:is|am|are)\s(?:fond|partial)\s(?:of
              |to)\b
          | ^\W*(?:please\s)?(?:always|never)\s
            (?:use|write|answer|reply|ask|show|give|put|keep|add|run|call|send|commit|push)\b
          | ^\W*please\s(?:do\snot|don['’]t|stop|avoid)\b
        """),
        _pattern(r"""
            \b(?:if\syou|may|might|would\syou|you\s(?:can|may|might|could)|whichever\syou)\s(?:\w+\s)?prefer
          | \bpreferred\s(?:stock|shares?|customer)\b | \blike\s(?:this|that|so|to\s(?:ask|know|see|book
              |order|request))\b
        """),
    ),
    (
        "pattern",
        _pattern(r"""
            \b(?:whenever|every\stime|each\stime|any\stime)\b
          | \b(?:usually|often|typically|generally|habitually|regularly|frequently|normally|commonly
              |repeatedly|invariably)\b
          | \btend(?:s|ed)?\sto\b | \balways\s | \bkeeps?\s\w+ing\b
          | \bevery\s(?:single\s)?(?:morning|evening|night|day|week
              |month|year|sprint|release
              |monday|tuesday|wednesday|thursday|friday|saturday|sunday|summer
              |winter|quarter)\b
          | \b(?:on|most)\s(?:mon|tues|wednes|thurs|fri|satur|sun)days\b
          | \bin\sthe\shabit\sof\b | \bmost\sof\sthe\stime\b
          | \b(?:there(?:['’]s|\sis)\sa|recurring|clear|common|same)\spattern\b | \bpattern\s?:
          | \bthe\spattern\s(?:is|was)\b
        """),
        _pattern(r"\bas\salways\b|\bgenerally\s(?:available|speaking)\b|\balways\sbeen\b"
                 r"|\bmore\soften\sthan\b\Z"),
    ),
)
_NOTE = _pattern(r"""
    ^\W*(?:todo|to\sdo|fixme|xxx|note|notes|nb|p\.?s|reminder|remember\sto|don['’]t\sforget|do\snot\sforget
       |idea|draft|follow\sup|action\sitems?)\b | \bjust\sa\s(?:\w+\s)?thought\b
  | ^[-*+]?\s?\[[\sx]\]
  | ^\W*(?:(?:please|also|then|next|first|now|just|and)[,\s]+)*(?:add|ask|book|bring|build|buy|call|change
       |check|clean|clear|compare|consider|contact|copy|create|delete|do|document|draft|email|ensure|explore
       |file|find|finish|fix|get|give|go|implement|improve|install|investigate|keep|let|look|make|merge|move
       |order|pay|pick|ping|plan|prepare|push|put|read|refactor|remind|remove|rename|renew|replace|reply
       |research|restart|return|review|revisit|rewrite|run|schedule|see|send|set|share|ship|split|start|stop
       |submit|switch|take|talk|tell|test|tidy|try|turn|update|upgrade|upload|use|verify|visit|wait|wash
       |watch|write)\s(?!is\b|are\b|was\b|were\b|has\b|have\b|will\b|can\b)
  | \b(?:need|needs|have|has|got)\sto\s(?:be\s)?\w+ | \bshould\s(?:probably|also|really)\b
""")
_STATES = _pattern(r"""
    \b(?:is|are|was|were|am|be|been|has|have|had|does|did|do|can|could|will|would|shall|may|might|must|cannot
      |isn['’]t|aren['’]t|wasn['’]t|weren['’]t|hasn['’]t|haven['’]t|doesn['’]t|don['’]t|didn['’]t|won['’]t
      |can['’]t)\b
  | \w['’](?:s|re|m|ve|ll|d)\s
  | \b(?:i|we|he|she|they|it|you|who|which)\s(?!and\b|or\b|,)[^\W\d_]{2,}
  | (?<!^)\b(?:lives?|works?|runs?|uses?|costs?|contains?|takes?|makes?|holds?|stores?|keeps?|gives?|goes
      |comes?|says?|said|means?|needs?|owns?|knows?|shows?|stands?|starts?|ends?|begins?|began|becomes?
      |became|belongs?|consists?|depends?|supports?|requires?|returns?|reads?|writes?|wrote|written|sends?
      |sent|gets?|got|went|came|saw|met|bought|sold|built|broke|brought|found|lost|left|led|made|took|gave
      |grew|held|kept|knew|learn(?:t|ed)|paid|ran|rose|fell|spent|spoke|stood|taught|thought|told|won
      |happens?|fails?|passes|listens?|expires?|serves?|provides?|includes?|leads?|moves?|opens?|closes
      |arrives?|boils?|freezes|weighs?|speaks?|sits?|lies|lay|equals?|exceeds?|remains?|seems?|appears?
      |looks?|sounds?|feels?|turns?|grows?|changes|shipped|fixes|causes|calls|loads|sets|adds|fits|drops
      |lasts|matters)\b
  | (?<=[^\W\d_]\s)[^\W\d_]{2,}ed\b
""")

def detect_type(text: str) -> str:
    """One of decision, preference, pattern, fact, note."""
    parts = sentences(without_code(text)[:20_000])
    votes = Counter(filter(None, map(_vote, parts)))
    for type, count in votes.most_common():
        if type not in ("fact", "note") and count * 5 >= len(parts):
            return type
    return "fact" if votes["fact"] > 0 and votes["fact"] >= votes["note"] else "note"


def _vote(sentence: str) -> str | None:
    if is_question(sentence):
        return None
    ends = sentence[-1:] in "。！।۔။.።"
    sentence = " ".join(sentence[:_LOOKED_AT].split())  # the patterns know one space
    if not is_supposed(sentence):
        for type, says, denies in _ROWS:
            if says.search(sentence) and not denies.search(sentence):
                return type
    if _NOTE.search(sentence):
        return "note"
    # A script the table does not know states something when it ends a sentence.
    foreign = not re.search(r"[A-Za-z]", sentence)
    states = ends if foreign else _STATES.search(sentence) is not None
    return "fact" if states else "note"


FOLLOWS_WITHIN = 300.0  # seconds, inclusive
RELATED_AT_MOST = 10


class Linkable(NamedTuple):
    """What the rules need of a chunk; `created` in seconds."""

    id: str
    conversation_id: str
    created: float
    tags: tuple[str, ...] = ()


class AutoLinks(NamedTuple):
    """The three lists as the chunk's `links` hold them."""

    context_of: tuple[str, ...]
    follows: tuple[str, ...]
    related_to: tuple[str, ...]


def auto_links(new: Linkable, candidates: Iterable[Linkable]) -> AutoLinks:
    """The new chunk's links. Among candidates of one moment the later in the sequence is the nearer."""
    others = [other for other in candidates if other.id != new.id]
    return AutoLinks(
        context_of=(new.conversation_id,) if new.conversation_id else (),
        follows=find_predecessor(new, others),
        related_to=find_related(new, others),
    )


def find_predecessor(new: Linkable, others: Iterable[Linkable]) -> tuple[str, ...]:
    """The nearest earlier chunk of the same conversation, if it is at most five minutes old."""
    near = [(other.created, at, other.id) for at, other in enumerate(others)
            if new.conversation_id and other.conversation_id == new.conversation_id
            and 0 <= new.created - other.created <= FOLLOWS_WITHIN]
    return (max(near)[2],) if near else ()


def find_related(new: Linkable, others: Iterable[Linkable]) -> tuple[str, ...]:
    """The ten with most tags in common, the newer first among equals."""
    mine = {tag.casefold() for tag in new.tags}
    if not mine:
        return ()
    shared = ((len(mine.intersection(tag.casefold() for tag in other.tags)), other.created, other.id)
              for other in others)
    return tuple(id for _, _, id in nlargest(RELATED_AT_MOST, (match for match in shared if match[0])))


def in_order(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Chunks as they were said: by time, and within one second each behind the one it follows."""
    by_id = {chunk.id: chunk for chunk in chunks}
    steps: dict[str, int] = {}
    for chunk in by_id.values():
        chain: list[str] = []
        here: Chunk | None = chunk
        while here and here.id not in steps and here.id not in chain:
            chain.append(here.id)
            before = by_id.get(here.links.follows[0]) if here.links.follows else None
            here = before if before and before.metadata.created == here.metadata.created else None
        first = steps[here.id] + 1 if here and here.id in steps else 0
        steps |= {id: first + at for at, id in enumerate(reversed(chain))}
    return sorted(by_id.values(), key=lambda chunk: (chunk.created, steps[chunk.id], chunk.id))
