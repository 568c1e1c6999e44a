"""What in a dialog asks to be kept: corrections, milestones, preferences, learnings, explicit requests.

Reads user turns only, sentence by sentence; questions, suppositions, denials, quotations and code trigger
nothing. One sentence is at most one trigger and one trigger one memo, so each memo holds one concept.
          Phrases
are a table; nothing here writes, and nothing asks a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from otolith.derive.patterns import TablePattern
from otolith.model.dialog import Turn
from otolith.model.memo import name_from
from otolith.model.shape import Value
from otolith.model.text import first_sentence, sentences, without_code
from otolith.model.words import is_question, is_supposed, key_words

_LOOKED_AT = 600  # characters of a sentence: whoever wants something kept says so early
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*>.*")
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|`[^`\n]{1,200}`")
_PAYLOAD = re.compile(r"(?::\s*+|\s[–—-]\s++|\sthat\s++)(?P<what>\S.*)\Z", re.DOTALL)


def _phrase(text: str) -> TablePattern:
    return TablePattern(text, re.IGNORECASE | re.VERBOSE)


class _Row(NamedTuple):
    kind: str
    reason: str
    says: TablePattern
    denies: TablePattern


_NOT_YET = _phrase(
    r"""\b(?:if|once|when|until|before|after|as\ssoon\sas)\s(?:i|we|you|it|(?:this|that|the|these|those|all
          |my|our)(?:\s\w+){0,3})\s
        (?:say|said|is|are|gets?|have|has|do|be|were)\b
      | \b(?:would|could|might)\shave\b""")
_ROWS = (  # the first that a sentence matches counts
    _Row("request", "the user asked to save it", _phrase(
        r"""\b(?:save|store|add|put|commit|write|persist|record)\s
            (?:(?:this|that|it|these|all\s(?:of\s)?(?:this|that))\s)?
            (?:down\s)?(?:(?:in|to|into)\s(?:your\s|the\s|long[-\s]term\s)*)memory
          | \b(?:make|take)\sa\s(?:mental\s)?note\b | \bnote\s(?:this|that)\sdown\b
          | \bkeep\s(?:this|that|it)?\s?in\smind\b | \b(?:don['’]t|do\snot|never)\sforget\s(?:this|that|:)
          | \b(?:save|keep|store|note|write)\s(?:this|that|it)\s(?:down\s)?
            (?:for\s(?:later|next\stime|future)|somewhere)\b"""), _phrase(
        r"""\b(?:don['’]t|do\snot|no\sneed\sto|never|not)\s(?:\w+\s)?
            (?:save|store|add|put|write|keep|commit|persist|record)\b""")),
    _Row("correction", "the user corrected or stressed it", _phrase(
        r"""(?:^\W*|\bplease\s|\b(?:and|also|so|but)\s)remember\s(?:this|that|:|,|my|our|the|i|we|it)
          | ^\W*(?:no|nope|wait|hm+|well|sorry|oh)?\W*actually\W+(?!i\s(?:think|wonder|like|love)\b)
            (?:(?:it|that|this|he|she|they|we|i|there)
               (?:\s(?:is|are|was|were|do|does|use|have|has|meant)|['’](?:s|re|ve|m))|the|my|our|its|not)\b
          | ^\W*no\W+(?:that|this|it)(?:['’]s|\sis|\swas)\s
            (?:not\s(?:right|correct|true|it)|wrong|incorrect|false)
          | \b(?:that|this|it)(?:['’]s|\sis|\swas)\s
            (?:wrong|incorrect|not\s(?:right|correct|true|what\si\s(?:said|meant|asked)))\b
          | \byou(?:['’]re|\sare)\s(?:wrong|mistaken|confusing)\b | \b(?:i|we)\smeant\b | ^\W*correction\b
          | ^\W*no\W+(?:it|the|my|our|we|i|use|he|she|they)(?:['’]\w+)?\s
          | \bnot\s\w+,\sbut\s\w+"""), _phrase(
        r"""\b(?:don['’]t|do\snot|can['’]t|cannot)\sremember\b | \bi\sremember\b
          | ^\W*no\W+(?:i|we)\s(?:don['’]t|didn['’]t|haven['’]t)\b""")),
    _Row("preference", "a preference of the user", _phrase(
        r"""\b(?:i|we)(?:\s(?:really|much|strongly|generally|always|usually|do|would|personally|just))*
            \s(?:prefer|like|love|hate|dislike|enjoy)\s | \b(?:i|we)(?:['’]d|\swould)\s(?:much\s)?rather\b
          | \b(?:i|we)\s(?:don['’]t|do\snot|really\sdon['’]t|can['’]t|cannot)\s(?:like|enjoy|stand|want)\b
          | \bmy\s(?:\w+\s)?(?:preference|favou?rite)\b
          | \b(?:i['’]m|i\sam|we['’]re)\s(?:not\s)?(?:a\s)?(?:big\s|huge\s)?fan\sof\b
          | ^\W*(?:please\s|from\snow\son,?\s|in\s(?:the\s)?future,?\s)+(?:please\s)?
            (?:always|never|don['’]t|do\snot|use|write|answer|reply|keep|stop)\b
          | ^\W*(?:always|never)\s[a-z]+\s | \b(?:i|we)\salways\s(?:want|use)\b
          | \b(?:the\s)?user\s(?:prefers|likes|hates|dislikes)\b"""), _phrase(
        r"""\blike\sto\s(?:ask|know|see|book|order|request|start|get)\b
          | \b(?:i|we)\slike\s(?:it|that|this|how)\b | \bnever\s?mind\b""")),
    _Row("milestone", "a milestone was reached", _phrase(
        r"""\b(?:i|we|i['’]ve|we['’]ve|team|just|finally|have|has|is|are|now|been|successfully|it['’]s
              |that['’]s|all)\s(?:(?:just|finally|now|all|successfully|officially|been|also)\s)*
            (?:finished|completed|shipped|released|launched|delivered|deployed|published|merged|wrapped\sup
              |went\slive|complete)\b
          | \b(?:v\d[\w.]*|version\s\d[\w.]*|the\s\w+|project|release|migration|feature|milestone(?:\s\w+)?
              |phase\s\w+|sprint|mvp|refactor\w*|everything|it|that)(?:\s\w+)?(?:['’]s|\sis|\sare)
            \s(?:now\s|finally\s|all\s|officially\s)*(?:done|live|out|finished|complete|ready)\b
          | ^\W*(?:finished|completed|shipped|released|launched|done\swith|deployed)\s
            (?!reading|eating|by\b|in\b)
          | \b(?:reached|hit)\s(?:the|our|a)\s(?:\w+\s)?milestone\b
          | \ball\stests\s(?:now\s)?pass\b"""), _phrase(
        r"""\b(?:not|n['’]t|never|almost|nearly|half|barely|hardly|isn['’]t|yet\sto|to\sbe|will\sbe
          |should\sbe
              |needs?\sto\sbe)\s(?:\w+\s){0,2}
            (?:finished|completed?|shipped|released|launched|done|deployed|merged|live|ready|out)\b
          | \bfinished\s(?:\w+\s)?(?:reading|eating|lunch|dinner|breakfast|my\s(?:tea|coffee)|work\sfor)\b
          | \bcalled\soff\b""")),
    _Row("learning", "something was learned", _phrase(
        r"""\bturns?\sout\b | \bturned\sout\b | \b(?:root\s)?cause\s(?:was|is|turned)\b
          | ^\W*(?:til|today\si\slearn(?:ed|t))\b
          | \b(?:i|we)(?:['’]ve|\shave)?\s(?:just\s)?(?:learn(?:ed|t)|discovered|reali[sz]ed|figured\sout
              |found\sout|found\sthe\s(?:cause|bug|problem|reason)|noticed\sthat)\b
          | \b(?:lesson|takeaway)\s(?:learn(?:ed|t)|here|is|was|:)
          | \bthe\s(?:trick|fix|solution|culprit|problem|issue|bug|reason|catch|gotcha)\s(?:is|was|turned)\b
          | ^\W*gotcha\s?:"""), _phrase(
        r"""\b(?:haven['’]t|have\snot|not|didn['’]t|did\snot|never)\s(?:yet\s)?
            (?:learn(?:ed|t)?|discover(?:ed)?|figured?|f[io]u?nd)\b""")),
)
_FUTURE = _phrase(
    r"\b(?:tomorrow|next\s(?:week|month|year|step|task|time)|will|going\sto|plan(?:s|ning)?\sto|todo)\b")
_PRESENT = _phrase(r"\b(?:currently|right\snow|at\sthe\smoment|working\son|in\sprogress|these\sdays)\b")
_THIRD = {verb: f"{verb}s" for verb in "prefer like love hate dislike enjoy want use need work live".split()}
_IN_THIRD_PERSON: tuple[tuple[TablePattern, str | Callable[[re.Match[str]], str]], ...] = (
    # "I don't like X" → "user does not like X", without its lead-in
    (_phrase(r"""^\W*(?:(?:no|nope|well|oh|wait|actually|please|til|turns\sout|it\sturns\sout
          |from\snow\son)\b
                 [\s,:–—-]*)+(?:that\s)?"""), ""),
    (_phrase(r"\b(?:i|we)\s(?:don['’]t|do\snot)\s"), "user does not "),
    (_phrase(r"\b(?:i|we)(?:['’]d|\swould)\s"), "user would "),
    (_phrase(rf"\b(?:i|we)\s((?:really|much|personally|just|do)\s)*({'|'.join(_THIRD)})\b"),
     lambda verb: f"user {_THIRD[verb[2].lower()]}"),
    (_phrase(r"\b(?:my|our)\b"), "user's"),
)
# A sentence that says only "that's wrong": what is right stands in the next one.
_BARE = _phrase(r"\W*(?:no\W+)?(?:that|this|it|you)(?:['’]?(?:s|re)|\sis|\sare|\swas)\s(?:not\s)?\w+\W*")
_REMEMBER = _phrase(r"\W*(?:please\s)?remember\s(?:this|that)\b")


class Trigger(Value):
    """One thing to keep: its kind, the turn's number, what to keep, and why."""

    kind: str
    turn: int
    text: str
    reason: str


class MemoDraft(Value):
    """A memo as it would be written; the clock and the file come later."""

    name: str
    title: str
    body: str
    category: str
    tags: tuple[str, ...]


def find_triggers(turns: Sequence[Turn]) -> list[Trigger]:
    """What the user's turns ask to keep, in their order, each text once."""
    triggers: dict[str, Trigger] = {}
    before = ""
    for turn in turns:
        if turn.role != "user":
            continue
        parts = sentences(_QUOTED_LINE.sub("", without_code(turn.text)))
        for at, sentence in enumerate(parts):
            if match := _match(sentence):
                row, phrase = match
                text = _what(row.kind, parts, at, before)
                triggers.setdefault(" ".join(key_words(text)) or text, Trigger(
                    kind=row.kind, turn=turn.number, text=text, reason=f'{row.reason} ("{phrase}")'))
        before = "\n".join(parts) or before
    return list(triggers.values())


def memo_from(trigger: Trigger, taken: Collection[str] = ()) -> MemoDraft:
    """The memo a trigger becomes: named by what it says, with the reason under the text."""
    lines = trigger.text[:_LOOKED_AT].splitlines()
    plain = " ".join(" ".join([line for line in lines if not _BARE.fullmatch(line)] or lines).split())
    about = in_third_person(plain)
    title = first_sentence(about)
    # A tag says what the memo is about: that the user prefers something is in its kind.
    tags = [word for word in key_words(about)
            if len(word) > 2 and not word.isdigit() and word not in (trigger.kind, "user", *_THIRD.values())]
    return MemoDraft(
        name=name_from(about, taken), title=title[:1].upper() + title[1:].rstrip("."),
        body=f"{trigger.text.strip()}\n\nReason: {trigger.reason}, turn {trigger.turn}.",
        category="future" if _FUTURE.search(plain) else "present" if _PRESENT.search(plain) else "past",
        tags=(trigger.kind, *dict.fromkeys(tags[:3])))


def in_third_person(sentence: str) -> str:
    """ "I don't like X" → "user does not like X"."""
    about = sentence
    for pattern, wording in _IN_THIRD_PERSON:
        about = pattern.sub(wording, about)
    return about or sentence


def _match(sentence: str) -> tuple[_Row, str] | None:
    """The row of a sentence and the words that showed it."""
    plain = " ".join(_QUOTED.sub(" … ", sentence[:_LOOKED_AT]).split())
    if is_question(sentence) or is_supposed(plain) or _NOT_YET.search(plain):
        return None
    for row in _ROWS:
        match = row.says.search(plain)
        if match and not row.denies.search(plain):
            return row, match[0].strip(" ,.:;–—-")[:60]
        if match and row is _ROWS[0]:
            return None  # "don't save this" must not be kept for another reason
    return None


def _what(kind: str, parts: Sequence[str], at: int, before: str) -> str:
    """The thing meant: behind the phrase, else the rest of the turn, else what the user said before."""
    sentence = parts[at]
    if kind != "request" and not _REMEMBER.match(sentence):
        bare = kind == "correction" and _BARE.fullmatch(sentence[:_LOOKED_AT])
        return "\n".join(parts[at : at + 2]) if bare else sentence
    payload = _PAYLOAD.search(sentence)
    words = key_words(payload["what"]) if payload else []
    if payload and len(words) > 1 and "memory" not in words[:4]:
        return payload["what"].strip()
    rest = [*parts[:at], *parts[at + 1 :]]
    if rest:
        return "\n".join(parts[at + 1 :] or rest)
    return sentence if len(key_words(sentence)) > 3 or not before else before
