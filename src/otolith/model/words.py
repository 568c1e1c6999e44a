"""Words of any script, their stems, and the cue words that say how a sentence is meant.

For rules that compare what texts are about: names, patterns, contradictions. `stem` only has to send the
forms of one English word to one string, not to a word; other languages pass through it unharmed. The cues are
English: what denies, what only supposes or doubts. Whoever needs more of them adds to these tables by name.
Knows no records.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from otolith.model.text import UNSPACED

# Python's \w leaves out the vowel signs of Indic and South-East Asian scripts and the points of Semitic ones,
# which would cut their words apart.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e8\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7"
    "\u0a01-\u0a51\u0a81-\u0ae3\u0b01-\u0b57\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0ce3\u0d00-\u0d63"
    "\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u102b-\u103e"
    "\u1056-\u1059\u17b4-\u17d3\u200d\u3099\u309a"
)
WORD = re.compile(rf"[^\W_][^\W_{MARKS}]*(?:[{MARKS}]+[^\W_]*)*(?:['’][^\W\d_]+)?")


def word_set(text: str) -> frozenset[str]:
    """A table of words, written as one text."""
    return frozenset(text.split())


STOP = word_set(
    """a an the this that these those it its he him his she her hers they them their we us our you your i me
    my mine and or but nor so yet if then than as of to in on at by for from with without into onto over under
    about after before between through during up down out off again further here there when where why how what
    which who whom whose all any both each few more most other some such only own same too very just also is
    are was were be been being am do does did doing have has had having will would shall should can could may
    might must ought let us i'm i've i'd i'll we're we've we'll you're it's that's there's let's he's she's
    they're is't not no don't doesn't didn't isn't aren't wasn't weren't won't can't cannot couldn't shouldn't
    wouldn't please ok okay yes hey hi hello really actually quite rather now"""
)
"""English words that say nothing of what a text is about."""


def words(text: str) -> list[str]:
    """The words, casefolded; a run of a script without spaces is read in pairs, 深色模式 → 深色 模式."""
    tokens: list[str] = []
    for match in WORD.finditer(unicodedata.normalize("NFC", text)):
        word = match[0].casefold().replace("’", "'")
        if not word.isascii() and re.search(f"[{UNSPACED}]{{3}}", word):
            tokens += [word[at : at + 2] for at in range(0, len(word), 2)]
        else:
            tokens.append(word)
    return tokens


def key_words(text: str) -> list[str]:
    """The words that carry the meaning, in order, possessives without their ending."""
    return [word for word in (w.removesuffix("'s") for w in words(text)) if word and word not in STOP]


_ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A form that inflections of an English word share: prefers, preferred, preferring → prefer."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, put in _ENDINGS:
        root = word.removesuffix(ending)
        if root == word or len(root) < 3 or not re.search("[aeiouy]", root):
            continue
        if (ending == "s" and root[-1] in "sui") or (
                ending == "es" and not root.endswith(("s", "x", "z", "ch", "sh", "o"))):
            continue
        if ending in ("ing", "ed") and len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
            root = root[:-1]
        return (root + put).removesuffix("e")
    return word.removesuffix("e")


def stems(text: str) -> frozenset[str]:
    """The set of stems of the key words."""
    return frozenset(map(stem, key_words(text)))


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared stems over all stems; two lines without any stem are not alike."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


# Cues: a sentence is asked, supposed, doubted or denied, and then it states nothing

DENIALS = word_set("""not no never neither nor nothing nobody none without stopped don't doesn't didn't isn't
    aren't wasn't weren't won't can't cannot couldn't hasn't haven't shouldn't wouldn't""")
SUPPOSING = word_set("if unless suppose supposing imagine assuming hypothetically")
DOUBTING = word_set("""maybe perhaps probably possibly apparently supposedly presumably allegedly might could
    may potentially theoretically hopefully almost nearly somewhat seemingly seems seem guess doubt unsure""")
HEDGES = (  # of a pattern: what makes the words behind them unsure
    r"maybe|perhaps|probably|possibly|might|(?-i:may)|could|would|if|unless|whether|suppose|imagine"
    r"|consider(?:ing|ed)?|think(?:ing)? (?:about|of)|thought about|tempted|toying|want(?:s|ed)? to"
    r"|hop(?:e|es|ing) to|intend(?:s|ing)? to|about to|like to|love to|almost|nearly|rumou?rs?|apparently"
    r"|allegedly|supposedly|in case|should (?:I|we)|not (?:sure|decided|yet)|someday|some day|one day"
    r"|eventually|as soon as|in the (?:novel|book|film|movie|story|dream)|discuss(?:ing|ed)?|debat(?:e|ing)"
    r"|propos(?:e|ed|ing)|suggest(?:ed|s|ing)?")
RELAYED = (  # a pattern: what makes them somebody else's
    r"\b(?:he|she|they|someone|somebody|people|everyone|who|(?!I\b)[A-Z][a-z]+|docs?|readme"
    r"|article|post|blog|book|manual|website|page|ticket|email|mail|letter|poster) (?:says?|said"
    r"|thinks?|thought|claims?|claimed|wrote|writes"
    r"|believes?|believed|told|tells|assumes?|assumed|heard|swears?|insists?|reckons?|states?"
    r"|stated|keeps? saying|puts? it)\b|\baccording to\b|\bquote\b|\bI (?:was told|heard|read)"
    r" (?:that)?\b")
_SUPPOSED = rf"(?i)^\W*(?:{'|'.join(sorted(SUPPOSING))}|maybe|perhaps|what\sif|would\sit|in\scase)\b"
_ASKED = r"[?？؟][.!?…]*[\"'”’»)\]\s]*\Z"


def is_question(sentence: str) -> bool:
    """Whether the sentence ends as a question does, quotation marks left aside."""
    return re.search(_ASKED, sentence[-20:]) is not None


def is_supposed(sentence: str) -> bool:
    """Whether the sentence opens as a supposition or a doubt."""
    return re.search(_SUPPOSED, sentence) is not None
