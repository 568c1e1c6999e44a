"""What a model proposes to remember of a session, and whether it may be.

Each proposal is judged alone: it has the shape that was asked for, cites what is there, is about something
other than the assistant, holds no secret and no instruction, says with the words of what it cites what that
says, and gives the user no words but their own. A refused one says why; the others stay. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from otolith.derive import evidence
from otolith.derive.evidence import SourceText, Word, share, words
from otolith.errors import Invalid
from otolith.model.dialog import TIME_SPANS, Fact
from otolith.model.kinds import FACT_TYPES
from otolith.model.pasted import split_parts
from otolith.model.secrets import holds_secret
from otolith.model.text import check_whole, fold, sentences, shorten
from otolith.model.words import word_set

LONGEST = 400  # characters of a subject, relation or object
CITED = 0.25  # the share of an object's words that the cited turns hold themselves
MOST = 60  # proposals of one session
_NOBODY = word_set("""assistant agent ai claude codex gemini cursor copilot aider opencode chatgpt gpt model
    llm bot you i we they he she it this that these those there memory otolith system subagent chatbot""")
_ABOUT_US = re.compile(r"(?:the |an? |your |our |my )*(?:system prompts?|future sessions?|(?:coding |ai )?"
                       r"(?:assistants?|agents?|models?)|claude code|memory)", re.IGNORECASE)
_THE_USER = re.compile(r"(?:the )?(?:user|person|human|developer|speaker|owner)", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruct|prompt|rules?\b|guideline|checks?\b|"
    r"previous|above|earlier|everything)|\b(?:curl|wget)\b[^|]*\|\s*(?:ba|z)?sh\b|do whatever\b",
    re.IGNORECASE)
_SECRET_MARK = re.compile(r"\[secret:")
_SECRET_WORD = re.compile(r"password|passphrase|token|api.?key|secret|credential", re.IGNORECASE)
_FINITE = re.compile(r"\b(?:is|are|was|were|would|will|does|do|did|doesn't|don't|isn't|has|had|can|must|may|"
                     r"it's)\b", re.IGNORECASE)
_GENERIC = word_set("project repo repository codebase app application tool team work plan code product")
_REASON = re.compile(r"[:;]|,|\s[—–-]\s|\b(?:because|since|so)\b")


class Cited(NamedTuple):
    """What a proposal may cite: a turn by its number, or a deed of the session (d1, d2, …)."""

    name: str
    role: str  # user, assistant, other; deed
    speaker: str
    text: str


class Refused(NamedTuple):
    """A proposal that is not kept, and why."""

    why: str
    title: str


class Evidence:
    """What proposals about one session are compared with; texts are taken apart once."""

    def __init__(self, cited: Sequence[Cited], entry_ts: str = "", project: str = "") -> None:
        self.cited = {place.name: place for place in cited}
        self.entry_ts, self.project = entry_ts, project
        self._sources: dict[tuple[str, bool], SourceText] = {}
        self._whole: SourceText | None = None

    def source(self, name: str, *, own: bool = False) -> SourceText:
        """A cited text without sentences that give orders to a memory; `own`: what the person typed."""
        if (name, own) not in self._sources:
            text = self.cited[name].text
            if own:
                text = "\n\n".join(part.text for part in split_parts(text) if not part.pasted)
            self._sources[name, own] = SourceText(_without_orders(text))
        return self._sources[name, own]

    def after(self, names: Sequence[str]) -> list[str]:
        """What follows what is cited: an answer often names what the question only points at."""
        order = list(self.cited)
        return [order[at + 1] for at, name in enumerate(order[:-1]) if name in names]

    @property
    def whole(self) -> SourceText:
        if self._whole is None:
            self._whole = SourceText(_without_orders("\n".join(
                f"{place.speaker}\n{place.text}" for place in self.cited.values()) + f"\n{self.project}"))
        return self._whole


def _without_orders(text: str) -> str:
    return "\n".join(" ".join(sentence for sentence in sentences(line) if not _ORDER.search(sentence))
                     for line in text.splitlines())


def judge(item: Any, session: Evidence) -> Fact | Refused:
    """A proposal as a fact, or why it is none."""
    try:
        proposal, names = _shaped(item, session)
    except Invalid as error:
        return Refused(f"shape: {error.message}", _title(item))
    why = _about(proposal) or _held(proposal, names, session) or _supported(proposal, names, session)
    return Refused(why, proposal.title) if why else _sourced(proposal, names, session)


def checked_summary(summary: str, session: Evidence) -> str:
    """A model's summary, sentence by sentence: what holds an order, a secret or other words goes."""
    return " ".join(sentence for sentence in sentences(" ".join(summary.split()))
                    if not _ORDER.search(sentence) and not _SECRET_MARK.search(sentence)
                    and not holds_secret(sentence)
                    and share(words(sentence), [session.whole]) >= evidence.SUPPORTED)


def _title(item: Any) -> str:
    parts = (item.get(key) for key in ("subject", "relation", "object")) if isinstance(item, Mapping) else ()
    return shorten(" ".join(part for part in parts if isinstance(part, str)), 120)


def _shaped(item: Any, session: Evidence) -> tuple[Fact, list[str]]:
    """The proposal as a fact without its source, and what it cites."""
    if not isinstance(item, Mapping):
        raise Invalid("it is not an object")
    check_whole(dict(item))
    texts = {key: _line(item, key) for key in ("subject", "relation", "object")}
    turns = item.get("turns", item.get("turn"))
    names = [str(name).strip(" []") for name in (turns if isinstance(turns, list) else [turns])]
    if not names or any(name not in session.cited for name in names):
        raise Invalid(f"turns {turns!r} are not in the session")
    span, date = item.get("time_span", "current"), item.get("date")
    for key, value, options in (("type", item.get("type"), FACT_TYPES), ("time_span", span, TIME_SPANS)):
        if value not in options:
            raise Invalid(f"{key} {value!r} is unknown")
    if date is not None and not (isinstance(date, str) and _is_day(date)):
        raise Invalid(f"date {date!r} is no day, month or year")
    first = next((name for name in names if name.isdigit()), None)
    return Fact.from_dict({**texts, "type": item["type"], "time_span": span, "date": date,
                           "confidence": item.get("confidence", 0.7), "entry_ts": session.entry_ts,
                           "turn": int(first) if first else None}), names


def _line(item: Mapping[str, Any], key: str) -> str:
    text = item.get(key)
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST or len(text.splitlines()) > 1:
        raise Invalid(f"{key} must be one line of words")
    return " ".join(text.split())


def _is_day(date: str) -> bool:
    match = re.fullmatch(r"\d{4}(?:-(\d\d)(?:-(\d\d))?)?", date)
    return match is not None and 1 <= int(match[1] or 1) <= 12 and 1 <= int(match[2] or 1) <= 31


def _about(proposal: Fact) -> str:
    """Why nothing of this is kept, whatever the session says: nobody, an order, a secret."""
    subject = re.sub(r"^(?:the|an?) ", "", proposal.subject.casefold())
    if subject in _NOBODY or _ABOUT_US.fullmatch(proposal.subject):
        return "subject: it is about the assistant or about nobody"
    if _ORDER.search(f"{proposal.relation} {proposal.object}"):
        return "instruction: it gives an order"
    forms = [f"{proposal.subject}{sign}{proposal.object}" for sign in (": ", " = ")]
    if _SECRET_MARK.search(proposal.title) or holds_secret(proposal.title, *forms):
        return "secret: it states one"
    return ""


def _held(proposal: Fact, names: Sequence[str], session: Evidence) -> str:
    """Why the cited turns may not be cited for this: a secret was taken out, or the user did not say it."""
    texts = [session.cited[name].text for name in names]
    if any(map(_SECRET_MARK.search, texts)) and _SECRET_WORD.search(proposal.title):
        return "secret: it speaks of one"
    roles = {session.cited[name].role for name in names}
    if _is_the_user(proposal.subject, session) and "user" not in roles:
        return "speaker: the user did not say it"
    return ""


def _is_the_user(subject: str, session: Evidence) -> bool:
    speakers = {fold(place.speaker) for place in session.cited.values() if place.role == "user"}
    return _THE_USER.fullmatch(subject) is not None or fold(subject) in speakers


def _supported(proposal: Fact, names: Sequence[str], session: Evidence) -> str:
    """Why the words of the proposal are not those of what it cites."""
    user = _is_the_user(proposal.subject, session)
    if user:
        names = [name for name in names if session.cited[name].role == "user"]
    sources = [session.source(name, own=user) for name in names]
    beside = [] if user else [session.source(name) for name in session.after(names)]
    if why := _unsaid(words(proposal.object) or words(proposal.relation), sources, beside, session):
        return why
    named = [word for word in words(proposal.subject) if word.stem not in _GENERIC]
    if not user and named and share(named, [session.whole]) < evidence.SUPPORTED:
        return "words: the session does not speak of its subject"
    about = proposal.subject if named and not user else ""
    if evidence.opposed(about, proposal.relation, _stated(proposal), sources):
        return "opposite: the cited turns say the contrary"
    return ""


def _unsaid(content: Sequence[Word], sources: Sequence[SourceText], beside: Sequence[SourceText],
            session: Evidence) -> str:
    """Why these words were not said: numbers stand in what is cited, names in the session, and of the others
    enough in what is cited and what follows it.
    """
    missing = [word for word in content if word.exact and not share([word], sources)]
    if any(re.search(r"\d", word.stem) or not session.whole.has(word) for word in missing):
        return "words: a number or a name is not in the cited turns"
    if share(content, sources) < CITED or share(content, [*sources, *beside]) < evidence.SUPPORTED:
        return "words: the cited turns do not say it"
    return ""


def _stated(proposal: Fact) -> str:
    """What of the object says the thing itself: not the reason behind it, nor a sentence of its own."""
    first = _REASON.split(proposal.object, maxsplit=1)[0]
    return "" if words(proposal.relation) and _FINITE.search(first) else first


def _sourced(proposal: Fact, names: Sequence[str], session: Evidence) -> Fact:
    """The fact with the sentence it comes from and who said that; a model's word has an agent's trust, the
    user's own words stay theirs.
    """
    whole = words(proposal.title)
    rated = [(len(near.pairs), near.sentence, name) for name in names
             for near in session.source(name).nearest(whole)]
    _, sentence, name = max(rated, default=(0, "", names[0]), key=lambda row: row[0])
    cited = session.cited[name]
    verbatim = cited.role == "user" and _is_verbatim(proposal, session.source(name, own=True), session)
    return proposal.replace(sentence=shorten(sentence, 600) or None, speaker=cited.speaker or None,
                            turn=int(name) if name.isdigit() else proposal.turn,
                            trust="user" if verbatim else "agent")


def _is_verbatim(proposal: Fact, source: SourceText, session: Evidence) -> bool:
    """Whether the person said relation and object in one breath, of themselves or of a subject they named."""
    statement = _spoken(f"{proposal.relation} {proposal.object}")
    subject = "" if _is_the_user(proposal.subject, session) else _spoken(proposal.subject)
    return any(f" {statement} " in f" {line} " and subject in line and not evidence.is_refused(sentence)
               for sentence in source.sentences for line in [_spoken(sentence)])


def _spoken(text: str) -> str:
    spoken = re.findall(r"[^\W_][\w'./-]*", text.replace("’", "'").casefold())
    return " ".join(word.rstrip(".'-/") for word in spoken)
