"""What a model draws from one dialog or session: one question, and of the answer what holds.

The model reads the turns, what was done in the session, and what is known already that is near. Its proposals
are added to what the rules drew and never replace it; what is refused is counted and gone. Nothing is written
here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from otolith.derive import asking
from otolith.derive.claims import may_close
from otolith.derive.proposals import Cited, Evidence
from otolith.errors import Invalid, NotFound, Provider
from otolith.home import Home
from otolith.model.dialog import TIME_SPANS, Entry, EntrySummary, Fact
from otolith.model.kinds import FACT_TYPES
from otolith.model.record import TRUST
from otolith.model.text import shorten
from otolith.model.words import likeness, stems
from otolith.model.work import Work
from otolith.providers.chat import Ask, answer_of
from otolith.verbs.models import maker_of, prompt_of, room_of

MOST_KNOWN = 30  # things that are known and told to the model
MOST_DEEDS = 20
DEED_LENGTH = 600  # characters
SAME = 0.8  # likeness of two facts of one turn from which on the rules' stays alone
_ROLES = ("user", "other", "assistant")  # whose words may be cited; not a tool's


class Distilled(NamedTuple):
    """What a model added: facts with their maker, a summary that may be empty, and what was refused."""

    summary: str
    facts: tuple[Fact, ...]
    refused: Mapping[str, int]
    made_by: str

    def join(self, summary: EntrySummary, entry: Entry) -> EntrySummary:
        """The rules' reading with what the model added to it: of two that say the same the rules' stays."""
        facts = list(summary.facts)
        for fact in self.facts:
            own = stems(fact.title)
            if not any(old.title.casefold() == fact.title.casefold()
                       or (old.turn == fact.turn and likeness(own, stems(old.title)) >= SAME)
                       for old in facts):
                facts.append(fact.stated_by(entry.meta, entry.meta.trust_of(fact.trust)))
        return summary.replace(facts=tuple(facts), made_by=f"{summary.made_by}, {self.made_by}",
                               summary=self.summary or summary.summary)

    @property
    def told(self) -> str:
        """What came of it, in one line."""
        refused = ", ".join(f"{count} {why}" for why, count in sorted(self.refused.items()))
        return f"{len(self.facts)} facts by {self.made_by}" + (f", refused: {refused}" if refused else "")


def distil(home: Home, entry: Entry, ask: Ask) -> Distilled:
    """Ask once; Provider if there is no answer that can be read."""
    prompt, near = prompt_of("distil"), _known(home, entry)
    cited = [*_turns(entry), *_deeds(home, entry)]
    lines = "\n".join(f"K{number}: {shorten(fact.title, 200)}" for number, fact in enumerate(near, 1))
    room = room_of(home) - len(prompt.text) - len(lines)
    question = prompt.fill(home, asking.session_text(cited, room), known=lines or "nothing yet",
                           day=entry.meta.entry_ts[:10], types=", ".join(FACT_TYPES),
                           spans=", ".join(TIME_SPANS))
    session = Evidence(cited, entry.meta.entry_ts, project_of(entry))
    held: Ask = ask.shaped(asking.SESSION_SCHEMA) if hasattr(ask, "shaped") else ask
    try:
        answer = asking.read_session(answer_of(held, question), session)
    except Invalid as error:
        raise Provider(f"{maker_of(ask)} gave no usable answer: {error.message[:200]}",
                       "try it: otolith model test") from None
    replaced = {id(fact): _replaced(home, entry, fact, name, near) or None for fact, name in answer.replaces}
    maker = maker_of(ask, prompt)
    facts = tuple(fact.replace(made_by=maker, replaces=replaced.get(id(fact))) for fact in answer.facts)
    return Distilled(answer.summary, facts, Counter(why.why.split(":")[0] for why in answer.refused), maker)


def project_of(entry: Entry) -> str:
    return str(entry.meta.origin.project or "") if entry.meta.origin else ""


def _turns(entry: Entry) -> list[Cited]:
    return [Cited(str(turn.number), turn.role, turn.speaker or turn.role, turn.text) for turn in entry.turns
            if turn.role in _ROLES]


def _deeds(home: Home, entry: Entry) -> list[Cited]:
    """What was done in the session, work by work."""
    session, origin = entry.meta.conversation_id, entry.meta.origin
    if not session or origin is None or not origin.agent:
        return []
    deeds = []
    for done in reversed(home.index.work.of_session(origin.agent, session, MOST_DEEDS)):
        try:
            deeds.append(_deed(home.load(done.id).record))
        except NotFound:
            continue
    return [Cited(f"d{number}", "deed", "done", text) for number, text in enumerate(deeds, 1)]


def _deed(work: Work) -> str:
    ended = "done" if work.outcome.success else "failed"
    steps = [(action.details, action.result) for action in work.actions or ()]
    files = sorted({details.file_path for details, _ in steps if details.file_path})
    commands = [details.command if result.success
                else f"{details.command} (failed: {result.error or result.output_summary})"
                for details, result in steps if details.command]
    parts = [f"{work.intent.goal}: {ended}", work.outcome.summary or "", work.outcome.failure_reason or "",
             f"files: {', '.join(files[:10])}" if files else "",
             f"ran: {'; '.join(commands[:6])}" if commands else ""]
    return shorten(" · ".join(part for part in parts if part), DEED_LENGTH)


def _known(home: Home, entry: Entry) -> list[Fact]:
    """What the topic knows that holds and is near: it shares most words with what was said."""
    spoken = stems("\n".join(turn.text for turn in entry.turns))
    held = [fact for fact in home.index.facts.of_topic(entry.topic)
            if not fact.superseded_by and fact.user_fact_score != 0 and fact.entry_id != entry.id]
    near = [(len(spoken & stems(fact.title)), fact) for fact in held]
    return [fact for shared, fact in sorted(near, key=lambda pair: -pair[0])[:MOST_KNOWN] if shared]


def _replaced(home: Home, entry: Entry, fact: Fact, name: str, near: Sequence[Fact]) -> tuple[str, ...]:
    """The claims of what a proposal says to replace that it may close."""
    number = int(name[1:]) if name[:1] == "K" and name[1:].isdigit() else 0
    if not 1 <= number <= len(near):
        return ()
    trust = TRUST.index(entry.meta.trust_of(fact.trust))
    rows = home.index.claims.of(str(near[number - 1].id))
    return tuple(row.id for row in rows if may_close(fact, project_of(entry), trust, row.stated))

