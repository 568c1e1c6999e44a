"""What an agent stated plainly in its answers: the cause, the choice, what was done, what is left, what it
proposed.

An agent's answer is mostly narration ("let me look", "I see the issue"). Only whole sentences that state
something are taken, word for word; what is supposed, asked or announced is not, and nothing is put together
from pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from otolith.derive.judge import codes
from otolith.model.text import sentences, without_code
from otolith.model.words import key_words

LONGEST = 45  # words of a sentence that is kept
SHARED = 8  # words in a row that make a sentence somebody else's
_MARKUP = re.compile(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|^#{1,6}\s+|^>\s+|[✅❌⚠️✔✓🎉]+\s*")
_ITEM = re.compile(r"^\s*(?:[-*•+]\s+|(\d{1,2}|[A-Z])[.)]\s+)")
_NARRATION = re.compile(
    r"""^(?:(?:now|next|first|then|ok(?:ay)?|good|great|perfect|excellent|alright|right|so|hmm|wait|actually|
    also)[,!:.\s—–-]+)*
    (?:let\ me|let's|i'll|i\ will|i'm\ (?:going|about)|i\ (?:need|want|should|have|now|see|can\ see|think|
    notice|understand|apologi)|i've\ (?:read|got|seen)|we\ (?:need|should)|
    now\ (?:i|let|update|add|fix|run|the|check|replace)|looking\ at|checking|reading|
    you'?re\ (?:right|absolutely)|sorry|my\ apolog|todos\ have\ been|api\ error|no\ response|
    here(?:'s|\ is|\ are)\b|
    (?:tests?|builds?|lint\w*)\ (?:first|next))""", re.IGNORECASE | re.VERBOSE)
_DOUBT = re.compile(r"\b(?:likely|probably|perhaps|maybe|might|may be|could be|seems?|appears?|suspect|guess|"
                    r"if )\b", re.IGNORECASE)
_THING = r"(?:root\ cause|cause|problem|issue|bug|culprit|reason|error|failure|mistake)"
_CAUSE = re.compile(
    rf"""^(?:so\ |and\ |but\ )?(?:
    the\ (?:(?:real|actual|root|underlying)\ )*{_THING}\b[^.?]{{0,60}}?\b(?:was|is|were|came|comes|lies)\b|
    root\ cause\s*[:—–-]|(?:it\ )?turns\ out\b)|\bcaused\ by\b|\bthe\ root\ cause\b|
    \b(?:fail\w*|brok?e\w*|crash\w*|hang\w*|err\w*|slow|fast|\w+n't|not|never|cannot)\b[^.?]*\bbecause\b|
    ^(?:it|this|that|they)\ (?:fail\w*|broke|crash\w*|hung)\b[^.?]*\b(?:because|since|when)\b""",
    re.IGNORECASE | re.VERBOSE)
_SEEN = re.compile(rf"""^(?:i\ (?:can\ )?see|found|here's|that's|there's|there\ is|identified)\s+
                   (?:the\ |a\ )?{_THING}\s*(?:in\ \S+\s*)?[-—–:]+\s*(.+)""", re.IGNORECASE | re.VERBOSE)
_FIX = re.compile(r"\b(?:fixed|solved|resolved|corrected|works now)\b[^.?]*\b(?:by|with|in|after|once)\b|"
                  r"^(?:the )?(?:fix|solution|workaround)\b[^.?]{0,40}\b(?:was|is|:)", re.IGNORECASE)
_CHOICE = re.compile(
    r"""\b(?:i'll|i\ will|we'll|i'd|i|we)\ (?:use|go\ with|went\ with|chose|choose|pick(?:ed)?|kept|keep|
    recommend|used|prefer(?:red)?)\b[^?]*\b(?:because|since|so\ that|instead\ of|rather\ than|as\ it|
    to\ avoid)\b|
    ^(?:chose|using|used|kept|went\ with)\b[^?]*\b(?:because|instead\ of|rather\ than)\b""",
    re.IGNORECASE | re.VERBOSE)
_LEFT = re.compile(
    r"""\b(?:you(?:'ll|\ will)?\ (?:still\ )?need\ to|still\ (?:needs?|to\ do|missing|open|fails?)|
    remains?\ to\ be|left\ to\ do|not\ yet\ (?:done|implemented|tested|wired|covered)|
    out\ of\ scope\ for\ now|follow-?up:)""", re.IGNORECASE | re.VERBOSE)
_LEFT_HEAD = re.compile(r"^(?:next steps?|remaining(?: work| items)?|still to do|to-?dos?|follow-?ups?|"
                        r"what's left)\s*:?$", re.IGNORECASE)
_OFFER = re.compile(
    r"""^(?:(?:so|ok|okay|and|or)[,\ ]+)?(?:shall\ i|should\ i|want\ me\ to|would\ you\ like\ me\ to|
    do\ you\ want\ me\ to|may\ i|can\ i|ready\ for\ me\ to|shall\ we|should\ we)\s+
    (?:go\ ahead\ and\ |proceed\ (?:with|to)\ |now\ )*(.+?)\?*$""", re.IGNORECASE | re.VERBOSE)
_ADVICE = re.compile(
    r"""\b(?:i(?:'d|\ would)?\ (?:recommend|suggest|propose)|my\ (?:recommendation|proposal|suggestion)|
    recommendation:|the\ (?:simplest|right|cleanest|better|best)\ (?:correct\ )?(?:fix|approach|option|way)|
    the\ fix\ (?:is|would)|simplest\ (?:fix|approach))""", re.IGNORECASE | re.VERBOSE)
_STATUS = re.compile(  # that checks passed stands in how it was verified
    r"""(?:all|both|the|everything|lint\w*|builds?|tests?|it|code|compiles)\b[^`]{0,50}
    \b(?:pass(?:es|ed|ing)?|
    clean|succeed(?:s|ed)|green|done|compiles|0\ issues)\b[^`]{0,60}$""", re.IGNORECASE | re.VERBOSE)
_FIRST_PERSON = re.compile(r"^I(?:'ve| have)? (?=\w+ed\b)", re.IGNORECASE)
_DONE = re.compile(
    r"""^(?:i(?:'ve|\ have)?\ )?(?:now\ )?(?:(?:add|remov|replac|updat|renam|mov|chang|fix|implement|delet|
    creat|extract|switch|drop|convert|simplifi|refactor|wir|disabl|enabl|document|extend|captur|configur|
    install|correct|restor|revert|merg|rework)ed|wrote|built|made|rewrote)\b|
    \b(?:has|have|is|are)\ (?:now\ |all\ |both\ |been\ |fully\ )+\w+(?:ed|en|ne|lt|it)\b|
    \b(?:now|no\ longer)\ \w+s\b""", re.IGNORECASE | re.VERBOSE)
POINTED = re.compile(r"(?:#|\bno\.\s*|\bnumber\s+|\b(?:[Oo]ption|item|point|step|phase)\s+)(\d{1,2}|[A-Z])\b")


def statements(text: str) -> list[str]:
    """The sentences and items of an answer, without markup, code and tables, in order."""
    out: list[str] = []
    for line in without_code(text).splitlines():
        line = _ITEM.sub("", _MARKUP.sub("", line.strip())).strip()
        if line and not line.startswith(("|", "```", "---", "===")):
            out += [" ".join(sentence.split()) for sentence in sentences(line)]
    return out


def _stated(sentence: str, least: int = 5) -> bool:
    """A whole statement of a sensible length, neither asked nor announced."""
    count = len(sentence.split())
    return least <= count <= LONGEST and not sentence.endswith(("?", ":")) and not _NARRATION.match(sentence)


def causes(text: str) -> list[str]:
    """What an answer plainly names as the cause or the fix of something."""
    kept = []
    for sentence in statements(text):
        seen = _SEEN.match(sentence)
        if seen and len(seen[1].split()) >= 5 and not sentence.endswith(("?", ":")):
            kept.append(seen[1])
        elif (_CAUSE.search(sentence) or _FIX.search(sentence)) and _stated(sentence, 6) \
                and not _DOUBT.search(sentence):
            kept.append(sentence)
    return kept


def choice(text: str) -> str:
    """The way that was chosen and why, if an answer says both."""
    return next((sentence for sentence in statements(text)
                 if _CHOICE.search(sentence) and 6 <= len(sentence.split()) <= LONGEST
                 and not sentence.endswith(("?", ":")) and not _DOUBT.search(sentence)), "")


def summary(text: str, most: int = 40, checks: bool = False) -> str:
    """What an answer says was done: its first plain statements, up to `most` words; that checks passed only
    if it is asked for.
    """
    kept: list[str] = []
    for sentence in statements(text):
        if _STATUS.match(sentence) and not checks:
            continue
        count = sum(len(piece.split()) for piece in kept)
        if not _stated(sentence, 4) or (len(key_words(sentence)) < 3 and not kept):
            continue
        if kept and count + len(sentence.split()) > most:
            break
        kept.append(sentence if sentence[-1] in ".!…" else f"{sentence}.")
        if count + len(sentence.split()) >= most // 2:
            break
    return " ".join(kept)


def done(text: str) -> str:
    """The first sentence of an answer that says what was done; empty if none does."""
    return next((sentence for sentence in statements(text) if _stated(_FIRST_PERSON.sub("", sentence))
                 and _DONE.search(sentence) and not _DOUBT.search(sentence)), "")


def state(text: str) -> str:
    """The first whole sentence of an answer that says how something named now is; empty if none does."""
    return next((sentence for sentence in statements(text) if _stated(sentence, 7) and codes(sentence)
                 and not _STATUS.match(sentence) and not _DOUBT.search(sentence)), "")


def left_to_do(text: str, most: int = 2) -> list[str]:
    """The steps that an answer says are still to be taken."""
    kept, heading = [], False
    for line in without_code(text).splitlines():
        bare = _MARKUP.sub("", line.strip())
        item = bool(_ITEM.match(bare))
        step = " ".join(_ITEM.sub("", bare).split())
        if not item and step:
            heading = bool(_LEFT_HEAD.match(step.rstrip(":")))
        if (item and heading and len(step.split()) >= 3) or (_LEFT.search(step) and _stated(step)):
            kept.append(step)
    return [step for step in dict.fromkeys(kept) if len(step.split()) <= LONGEST][:most]


def proposal(text: str) -> str:
    """What an answer offered to do next: its last offer, else what it advises."""
    stated = statements(text)
    for sentence in reversed(stated):
        if (offer := _OFFER.match(sentence)) and len(key_words(offer[1])) >= 2:
            return offer[1][:1].upper() + offer[1][1:]
    return next((sentence for sentence in reversed(stated)
                 if _ADVICE.search(sentence) and _stated(re.sub(r"^I(?:'d| would)? ", "", sentence))), "")


def pointed_item(words: str, answers: Iterable[str]) -> str:
    """The item that words point to ("address #2", "option B") in the nearest answer that has one."""
    pointer = POINTED.search(words)
    if not pointer:
        return ""
    mark = re.escape(pointer[1])
    item = re.compile(rf"^\s*(?:[-*•]\s*)?(?:#+\s*)?(?:\*\*)?(?:option|phase|step|item)?\s*\(?{mark}[.):]"
                      r"\)?\s*(.+)$", re.IGNORECASE | re.MULTILINE)
    for answer in answers:
        for match in item.finditer(without_code(answer)):
            wording = " ".join(statements(match[1])[:2])
            if len(wording.split()) >= 3:
                return wording
    return ""


def grams(text: str) -> set[tuple[str, ...]]:
    """Every run of eight words, for telling whose words a sentence is."""
    row = re.findall(r"\w+", text.casefold())
    return {tuple(row[at : at + SHARED]) for at in range(len(row) - SHARED + 1)}
