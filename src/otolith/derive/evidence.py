"""Whether a text says what somebody claims that it says: the same words, in the same sense.

For statements that a model makes about a session. Words are compared by their stems; numbers and names of
code must stand there as they are. Each word of a sentence is said, denied, or open (asked, complained of,
condemned by the next sentence). A statement is opposed when the sentence that is most like it denies what it
says or says what it denies. English; pure. It finds words turned round, not lies well told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from otolith.model.text import sentences
from otolith.model.words import DENIALS, STOP, stem, word_set

SUPPORTED = 0.5  # the share of a statement's words that must stand in its source
LIKE_BEST = 0.8  # of the best sentence's shared words: what is as near decides with it
SHORT_START = 3  # words before a dot that may only shorten the last of them
SHORT_ECHO = 4  # words of a question that only repeats something: "lexical strings?"
_NUMBERS = {word: str(value) for value, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty".split())} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
_SHORT = dict.fromkeys(("uses", "used", "using"), "use")  # too short for `stem`
_REFUSING = word_set("""avoid avoids avoided avoiding forbid forbids forbidden refuse refuses refused reject
    rejects rejected ban bans banned disallow disallows disallowed exclude excludes excluded dislike dislikes
    hate hates unwanted undesired isnt dont doesnt cant wont shouldnt ain't can't won't mustn't needn't""")
_DENYING = DENIALS | _REFUSING
_TOKEN = re.compile(r"\.{3}|[^\W\d_]+'[^\W\d_]+|[.~]{0,2}/?[^\W_][\w./@+:×=-]*[^\W]|[^\W_]|-{1,2}\w[\w-]*")
_PART = re.compile(r"[^\W\d_]+|\d[\d.]*[^\W\d_]*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CLAUSE = re.compile(
    r"[.;:!?]+(?=\s|$)|,|\n|\s[—–-]+\s|[()]|(?<![\w-])(?:but|only|except|because|since|so|then|and)(?![\w-])")
_INSTEAD = re.compile(r"\b(?:rather than|instead of|as opposed to)\b", re.IGNORECASE)
_HARMLESS = re.compile(
    r"\b(?:not only|not just|not sure|no (?:bueno|good|problem|worries|doubt|matter|idea|man))\b|"
    r",?\s*(?:no|yeah|yes|right|ok)\s*\?\s*$", re.IGNORECASE)
_CONDEMNED = re.compile(
    r"^\W*(?:that'?s|this is|it'?s|that is)\s+(?:no (?:good|bueno)|bad|wrong|unacceptable|"
    r"not (?:ok|okay|good|acceptable|right))", re.IGNORECASE)
_DOUBTED = re.compile(r"^(?:\W*\w+\W+){0,2}why\b.*\b(?:need|want|keep|bother|have to)\b", re.IGNORECASE)
_JOINED = re.compile(r"\b(?:and|or|but|whereas|while)\b|,", re.IGNORECASE)
_CONTRAST = re.compile(r"\b(?:but|whereas|while)\b", re.IGNORECASE)
_COMPARED = re.compile(
    r"\b(?:\w+er|worse|better|more|less|rather|prefers?|preferred)\b(.*?)\b(?:than|over|to)\b", re.IGNORECASE)
_EMPTY = STOP | word_set("be being been via per etc one's whatever at all")


class Word(NamedTuple):
    """A word of a sentence that says something; `denied` is None where nobody can tell."""

    stem: str
    denied: bool | None
    exact: bool  # a number, or a name as programs are written


def words(text: str) -> list[Word]:
    """The words of one sentence in order, each with whether it is denied."""
    open_ = _is_open(text)
    plain = _HARMLESS.sub(" ", text.replace("’", "'"))
    taken: list[Word] = []
    for clause, refused in _clauses(plain):
        denied = refused
        for raw in _TOKEN.findall(clause):
            low = raw.casefold().strip(".")
            if low in _DENYING:
                denied = True
            if low not in _EMPTY and low not in DENIALS and raw != "...":
                taken.append(Word(_stem(low), None if open_ is None else denied or open_, _is_exact(raw)))
    return taken


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a sentence; what stands after "rather than" is refused."""
    for clause in _CLAUSE.split(text):
        first, *rest = _INSTEAD.split(clause)
        yield first, False
        yield from ((part, True) for part in rest)


def _is_open(sentence: str) -> bool | None:
    """False for a plain sentence, True for one that doubts what it names, None where it cannot be told."""
    asked = sentence.rstrip(" \"'”’)").endswith("?")
    if asked and len(_TOKEN.findall(sentence)) <= SHORT_ECHO:
        return True
    if asked and _DOUBTED.search(sentence):
        return True
    if re.search(r"\bstill\b", sentence, re.IGNORECASE) and sentence.rstrip().endswith("!"):
        return None
    return None if asked and re.match(r"\W*(?:why|how come)", sentence, re.IGNORECASE) else False


@lru_cache(maxsize=20_000)
def _stem(low: str) -> str:
    return _NUMBERS.get(low) or _SHORT.get(low) or stem(low.removesuffix("'s"))


def _is_exact(raw: str) -> bool:
    return raw.casefold() in _NUMBERS or re.search(r"\d|[^\W\d_][./_@=][^\W\d_]|^[~.]*/", raw) is not None


class LikeSentence(NamedTuple):
    """A sentence that is like a statement, with the words both have: the statement's, and its own."""

    sentence: str
    pairs: list[tuple[Word, Word]]

    def agreements(self, statement: Sequence[Word]) -> list[bool]:
        """Of each of these words that both have, whether it is said or denied by both."""
        return [left.denied is right.denied for left, right in self.pairs
                if right.denied is not None and any(left is word for word in statement)]


class SourceText:
    """A text that statements are compared with, sentence by sentence."""

    def __init__(self, text: str) -> None:
        cut = [sentence for line in _unmarked(text).splitlines() for sentence in _joined(sentences(line))]
        self.sentences = tuple(cut)
        self._words = [words(sentence) for sentence in cut]
        for at in range(1, len(cut)):
            if _CONDEMNED.search(cut[at]):  # what stands before "that's no good" is not wanted
                self._words[at - 1] = [word._replace(denied=None) for word in self._words[at - 1]]
        self.bag = _bag(cut)

    def has(self, word: Word) -> bool:
        return _matches(word, self.bag)

    def nearest(self, statement: Sequence[Word]) -> list[LikeSentence]:
        """The sentences that share most with a statement."""
        rated = [LikeSentence(sentence, _pairs(statement, own))
                 for sentence, own in zip(self.sentences, self._words, strict=True)]
        best = max((len(near.pairs) for near in rated), default=0)
        return [near for near in rated if best and len(near.pairs) >= max(1, best * LIKE_BEST)]


def _joined(cut: Sequence[str]) -> Iterator[str]:
    """Sentences, where a dot that only shortens a word ends none: "new dep. is fine"."""
    held = ""
    for sentence in cut:
        if held and sentence[:1].islower():
            sentence, held = f"{held} {sentence}", ""
        if held:
            yield held
        held = sentence if len(sentence.split()) <= SHORT_START and sentence.endswith(".") else ""
        if not held:
            yield sentence
    if held:
        yield held


def _unmarked(text: str) -> str:
    return re.sub(r"\*\*|__|`", " ", text)


def _bag(texts: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Stems of all words and of their parts, by their first three letters."""
    stems: dict[str, set[str]] = {}
    for text in texts:
        for raw in _TOKEN.findall(text.replace("’", "'")):
            for piece in (raw, *_parts(raw)):
                root = _stem(piece.casefold().strip("."))
                stems.setdefault(root[:3], set()).add(root)
    return {start: frozenset(group) for start, group in stems.items()}


def _parts(raw: str) -> list[str]:
    """The words in a name of code: WatchAgents, go_mod, ai-provenance-lib, 5-minute."""
    return _PART.findall(_CAMEL.sub(" ", raw))


def _matches(word: Word, bag: Mapping[str, frozenset[str]]) -> bool:
    if word.stem in bag.get(word.stem[:3], ()):
        return True
    parts = [_stem(part.casefold()) for part in _parts(word.stem)]
    if word.exact:
        plain = not re.search(r"\d", word.stem) and not word.stem.startswith(("/", "~", "."))
        return plain and len(parts) > 1 and all(part in bag.get(part[:3], ()) for part in parts)
    if len(parts) > 1:
        return all(part in bag.get(part[:3], ()) for part in parts)
    return any(_alike(word.stem, other) for other in bag.get(word.stem[:3], ()))


def _alike(left: str, right: str) -> bool:
    """Forms of one word that have no stem in common: reinit, reinitialize; compatible, compatibly."""
    short, long = sorted((left, right), key=len)
    shared = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), len(short))
    return len(short) >= 5 and (shared == len(short) or (shared >= 5 and shared * 10 >= len(long) * 6))


def _pairs(statement: Sequence[Word], sentence: Sequence[Word]) -> list[tuple[Word, Word]]:
    """Each word of a statement with its like in a sentence, rather one of the same sense than another."""
    pairs = []
    for word in statement:
        likes = [own for own in sentence if own.stem == word.stem or _matches(word, _bag([own.stem]))]
        if likes:
            pairs.append((word, next((own for own in likes if own.denied is word.denied), likes[0])))
    return pairs


def share(statement: Sequence[Word], sources: Sequence[SourceText]) -> float:
    """Which share of a statement's words stands in one of these texts."""
    held = sum(any(source.has(word) for source in sources) for word in statement)
    return held / len(statement) if statement else 0.0


def opposed(subject: str, relation: str, stated: str, sources: Sequence[SourceText]) -> bool:
    """Whether the sentences nearest to a statement say the opposite of it; of two that are as near and of two
    minds the later one counts. What shares less than half of its words says nothing about it.
    """
    main = words(f"{relation} {stated}")  # one list: a denial in the relation is one of what is stated
    about, behind = words(subject), words(stated)
    objects = main[len(main) - len(behind) :] if behind else main
    candidates = [near for source in sources for near in source.nearest([*about, *main])]
    best = max((len(near.pairs) for near in candidates), default=0)
    verdict, statement = False, f"{subject} {relation} {stated}"
    for near in candidates:
        if len(near.pairs) < best * LIKE_BEST or len(near.pairs) * 2 < len(about) + len(main):
            continue
        if own := near.agreements(objects) or near.agreements(main):
            verdict = (own.count(False) * 2 > len(own) or _turned(statement, near.sentence)
                       or _crossed(stated, near.sentence))
    return verdict


def _crossed(stated: str, sentence: str) -> bool:
    """Whether words that belong together in a statement stand on both sides of a "but"."""
    sides = [{word.stem for word in words(side)} for side in _CONTRAST.split(sentence)]
    own = {word.stem for word in words(stated)}
    if len(sides) < 2 or _JOINED.search(stated):
        return False
    held = own & set().union(*sides)
    return len(held) > 1 and max(len(held & side) for side in sides) * 4 < len(held) * 3


def is_refused(sentence: str) -> bool:
    """Whether a sentence denies, asks or doubts anything at all."""
    return _is_open(sentence) is not False or sentence.rstrip().endswith("?") or any(
        word.denied for word in words(sentence))


def _turned(statement: str, sentence: str) -> bool:
    """Whether the two sides of a comparison changed places."""
    ours, theirs = _sides(statement), _sides(sentence)
    if ours is None or theirs is None:
        return False
    straight = len(ours[0] & theirs[0]) + len(ours[1] & theirs[1])
    return len(ours[0] & theirs[1]) + len(ours[1] & theirs[0]) > straight


def _sides(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    match = _COMPARED.search(text)
    if not match:
        return None
    left, right = text[: match.start()] + match[1], text[match.end() :]
    return frozenset(word.stem for word in words(left)), frozenset(word.stem for word in words(right))
