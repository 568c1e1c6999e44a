"""Words that lean on what was said before them: a value in answer to a question, "Dmitri is" after a denial.

A question is turned round into the statement that its answer completes: "Which city do you live in?" –
"Antwerp" states that the speaker lives in Antwerp. Only short answers without a verb of their own are read
so; all others speak for themselves. English patterns, bounded, like those of `wordings.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from otolith.derive.english import Language
from otolith.derive.grammar import Speech
from otolith.derive.phrases import Said
from otolith.derive.sentences import Sentence

MOST_WORDS = 6  # of an answer
_ADDED = (
    r"(?:[, ]+(?:now|currently|right now|at the moment|these days|again|today|then|please|by the way"
    r"|btw|still|actually|though))*"
)
_ASKED_OF = r"(?P<s>you|we|they|(?:the|our|your|this|my) [\w' -]{2,40}?|[A-Z][\w-]+|[a-z]\w*[_.-]\w+)"
_QUESTION = re.compile(r"\b(?:what|which|who|where|when|how|is|are|do|does|still|on|at|in)\b", re.I)
_OPENING = re.compile(
    r"^\W*(?:(?:no|nope|nah|yes|yep|well|hm+|oh|ah|eh|uh|um|now|actually|it['’]s|it is|that['’]s|they['’]re"
    r"|these days|currently|just|sure|ok|sorry|still|not any ?more|make it|i think)\b[\s,.:;—–-]*)*",
    re.I,
)
_DENIES = re.compile(r"^\W*(?:no|nope|nah|not any ?more|not any longer|no longer|not really)\b", re.I)
_CEASED = re.compile(r"\b(?:any ?more|any longer|no longer|stopped|quit|gave (?:it|that) up)\b", re.I)
_HAS_VERB = re.compile(
    r"\b(?:i|we|you|he|she|they|it|there|is|are|am|was|were|have|has|had|do|does|did|will"
    r"|would|can|could|should|let|don['’]t|thanks|thank|later|sure|why|what|how|never"
    r"|maybe|perhaps|probably|depends|idea|none|nothing|both|either|neither|same|see"
    r"|whatever|any|yes|no)\b|['’](?:m|re|ve|ll|d)\b",
    re.I,
)
_TIME = re.compile(r"^(?:\d{1,2}[:.]\d\d|\d{1,2} ?(?:am|pm)|noon|midnight|half )", re.I)
_DATE = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?\b|[A-Z][a-z]+day|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
    r"|Dec)",
    re.I,
)
_PLACED = re.compile(r"^(?:in|at|on|near|with|for|to|from|by|under|over)\s", re.I)
_HAVING = frozenset("have wear own ride get".split())
_ON = frozenset("host deploy run chat".split())
_AT = frozenset("work study train teach bank shop".split())

Turned = Callable[[re.Match[str], str, Speech, Language], Said | None]


def answers(asked: str, reply: Sentence, speech: Speech, lang: Language) -> Iterator[Said]:
    """What a reply states, given the last question before it."""
    question = _last_question(asked)
    if not question or reply.asked or not _QUESTION.search(question):
        return
    value = _OPENING.sub("", reply.text).strip(" ,.;:!")
    value = re.split(r",|\s[—–-]\s|\s(?:since|because|but|now|these days|for now|at the moment)\b", value)[
        0
    ].strip()
    short = 0 < len(value.split()) <= MOST_WORDS and not _HAS_VERB.search(value)
    for pattern, turn in _TURNS:
        match = pattern.match(question)
        if match is None:
            continue
        denial = turn in (_still, _habit)
        statement = turn(match, reply.text if denial else value, speech, lang) if denial or short else None
        if statement is not None:
            yield statement
            return


def _last_question(text: str) -> str:
    """The last question of what was said, without greeting and name."""
    pieces = re.split(r"(?<=[.!?…])\s+|\n+|:\s+", text[-600:])
    asked = next((piece for piece in reversed(pieces) if piece.rstrip().endswith("?")), "")
    asked = re.sub(
        r"^\W*(?:(?:hey|hi|sure|ok|okay|so|and|but|well|of course|btw|by the way|great|quick"
        r" question|just to be sure|remind me|tell me|one more thing)\b[\s,.:!—–-]*)*",
        "",
        asked,
        flags=re.I,
    )
    asked = re.sub(r"(\w)['’]s\b(?= (?:your|the|our|my)\b)", r"\1 is", asked)
    parts = re.split(r",\s+", asked.rstrip("? "))
    asked = next(
        (
            part
            for part in parts
            if re.match(
                r"(?:what|which|who|where|when|how|is|are|do|does|still)"
                r"\b",
                part,
                re.I,
            )
        ),
        asked.rstrip("? "),
    )
    return re.sub(_ADDED + r"\W*$", "", asked)


def _subject(match: re.Match[str], speech: Speech) -> str:
    named = match["s"].strip()
    if named.casefold() in ("you", "we", "they"):
        return speech.speaker
    return re.sub(r"^(?:your|our|my)\b", f"{speech.speaker}'s", named, flags=re.I)


def _is(match: re.Match[str], value: str, speech: Speech, lang: Language) -> Said | None:
    """ "What is your number?", "Who is the owner of the importer?"."""
    subject = _subject(match, speech)
    favourite = re.match(rf"{re.escape(speech.speaker)}'s (?:favou?rite|preferred) (.+)", subject, re.I)
    if favourite:
        return Said(speech.speaker, lang.favourite_relation.format(favourite[1]), value, "preference")
    return Said(subject, "is", value, "identity")


def _does(match: re.Match[str], value: str, speech: Speech, lang: Language) -> Said | None:
    """ "Which city do you live in?", "Where do you work?", "How much tea do you drink?"."""
    verb, how = match["verb"].casefold(), match["how"].casefold()
    rest = (match["rest"] or "").strip()
    verbs = lang.after_name(lang.bases(verb, "progressive")[0] if lang.bases(verb, "progressive") else verb)
    noun = (match["noun"] or "").strip()
    subject = _subject(match, speech)
    if how.startswith("how"):
        filled = f"{value} of {noun}" if how == "how much" and noun else f"{value} {noun}".strip()
        filled = value if noun and noun.casefold() in value.casefold() else filled
        return Said(subject, verbs, f"{filled} {rest}".strip(), "trait")
    if noun and verb in _HAVING and how in ("which", "what"):
        return Said(f"{subject}'s {noun}", "is", value, "trait")
    if how in ("where", "when") and not _PLACED.match(value):
        place = _preposition(how, verb, value)
        rest = rest if rest.endswith(f" {place}") or rest == place else f"{rest} {place}".strip()
    return Said(subject, f"{verbs} {rest}".strip(), value, "trait")


def _preposition(how: str, verb: str, value: str) -> str:
    if verb in _AT or _TIME.match(value):
        return "at"
    return "on" if how == "when" or verb in _ON else "in"


def _be_at(match: re.Match[str], value: str, speech: Speech, _lang: Language) -> Said | None:
    """ "Where is the API hosted?", "When is the demo?", "Which team are you on?"."""
    rest, how = (match["rest"] or "").strip(), match["how"].casefold()
    verb = f"is {rest}".strip()
    if (
        not _PLACED.match(value)
        and not rest.endswith((" on", " in", " at", " with"))
        and rest not in ("on", "in", "at", "with")
    ):
        place = "at" if _TIME.match(value) else "on" if how == "when" and _DATE.search(value) else "in"
        verb = f"{verb} {place}" if how in ("where", "when") else verb
    return Said(_subject(match, speech), verb, value, "trait")


def _still(match: re.Match[str], reply: str, speech: Speech, _lang: Language) -> Said | None:
    """ "Is the team still on Slack?" – "no, Zulip"."""
    value = _OPENING.sub("", reply).strip(" ,.;:!")
    if not _DENIES.match(reply) or len(value.split()) > MOST_WORDS:
        return None
    if not value or _HAS_VERB.search(value):
        return Said(speech.speaker, "says to forget", match["rest"], "constraint")
    return Said(speech.speaker, "corrects to", f"{value}, not {match['rest']}", "trait")


def _habit(match: re.Match[str], reply: str, speech: Speech, lang: Language) -> Said | None:
    """ "Do you still smoke?" – "no"; "Do you eat meat?" – "not any more"."""
    verb, rest = match["verb"].casefold(), re.sub(r"^(?:at all|any)\b", "", match["rest"] or "").strip()
    if not _DENIES.match(reply) or not (match["still"] or _CEASED.search(reply)):
        return None
    value = _OPENING.sub("", reply).strip(" ,.;:!")
    if match["still"] and value and len(value.split()) <= 3 and not _HAS_VERB.search(value) and rest:
        return Said(
            speech.speaker,
            "corrects to",
            f"{value}, not {re.sub(r'^(?:in|at|on|with|for|to) ', '', rest)}",
            "trait",
        )
    subject = _subject(match, speech)
    return (
        Said(subject, f"no longer {lang.after_name(verb)}", rest, "trait")
        if rest
        else Said(subject, "no longer", verb, "trait")
    )


_TURNS: tuple[tuple[re.Pattern[str], Turned], ...] = tuple(
    (re.compile(pattern, re.I), turn)
    for pattern, turn in (
        (
            rf"(?:is|are|still)(?: {_ASKED_OF})? ?(?:still )?(?:living |working |using |based |going )?"
            r"(?:in|at|on|with|for|using|to|called|by) (?P<rest>[^?]{2,40})$",
            _still,
        ),
        (rf"(?:is|are) {_ASKED_OF} still (?P<rest>[^?]{{2,40}})$", _still),
        (rf"(?:do|does) {_ASKED_OF} (?P<still>still )?(?P<verb>[a-z]+)(?: (?P<rest>[^?]{{2,40}}))?$", _habit),
        (
            rf"(?P<how>where|when|how (?:much|many)|how often|which|what|who)(?: (?P<noun>"
            rf"(?!do\b|does\b|are\b|is\b)[\w' -]{{2,30}}?))? (?:do|does|are) {_ASKED_OF} (?P<verb>"
            r"(?!on\b|in\b|at\b|with\b|from\b)[a-z]+)"
            r"(?: (?P<rest>[\w' -]{1,30}))?$",
            _does,
        ),
        (
            r"(?P<how>where|when|which(?: [\w' -]{2,30}?)?|what [\w' -]{2,30}?) (?:is|are) "
            rf"{_ASKED_OF}"
            r"(?P<rest> (?:hosted|kept|stored|deployed|based|held|due|scheduled|on|in|at|running on"
            r"|built with|written in)(?: on| in| at| to| with)?)?$",
            _be_at,
        ),
        (
            rf"(?:what|who|which|how (?:old|tall|big|high|long|heavy|far|expensive)) (?:is|are) {_ASKED_OF}$",
            _is,
        ),
    )
)


# After a denial

_NOT_MINE = re.compile(
    r"^\W*(?P<old>[A-Z][\w’'-]+(?: [A-Z][\w-]+)?) (?:isn['’]t|is not|is no longer"
    r"|wasn['’]t"
    r"|was not) (?P<whose>my|our|the) (?P<role>[\w -]{3,40}?)(?: any ?more| any longer)?"
    r"(?=[,.;]|\s+(?:since|because|he|she|and|but|after)\b|$)"
)
_ANOTHER = re.compile(
    r"^\W*(?:now |but |and |instead,? )*(?P<new>[A-Z][\w’'-]+(?: [A-Z][\w-]+)?) is(?: now)?"
    r"(?=[,.;]|\s+(?:since|from|now|instead)\b|$)"
)


def roles(sentence: Sentence, before: Sentence | None, speech: Speech) -> Iterator[Said]:
    """ "Charlotte isn't my manager any longer. Dmitri is."."""
    if sentence.asked:
        return
    denied = _NOT_MINE.match(sentence.text)
    if denied:
        yield Said(_role(denied, speech), "is no longer", denied["old"], "identity")
        rest = re.search(r"[,;:—–]\s*(?:but |and )?(.+)$", sentence.text[denied.end() :])
        sentence, before = Sentence(rest[1] if rest else "", False), sentence
    another = _ANOTHER.match(sentence.text)
    known = _NOT_MINE.match(before.text) if before is not None and not before.asked else None
    if another and known:
        yield Said(_role(known, speech), "is", another["new"], "identity")


def _role(match: re.Match[str], speech: Speech) -> str:
    owner = f"{speech.speaker}'s" if match["whose"].casefold() in ("my", "our") else "the"
    return f"{owner} {match['role']}"
