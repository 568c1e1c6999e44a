"""Memos: one concept in one named file; what a dialog asks to keep; and the garden in which old memos make
way for new.

Gardening proposes, a person applies, and what was applied can be taken back: a run is an act in the undo
journal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from otolith.errors import Conflict, Damaged, Invalid, NeedsConfirmation, NotFound
from otolith.files import codec
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.memo import Memo, check_name
from otolith.model.shape import Value, read_strings, read_tags
from otolith.model.text import counted
from otolith.model.times import minute
from otolith.verbs import undo as journal
from otolith.verbs.editing import forget
from otolith.verbs.links import supersede
from otolith.verbs.steps import check_text, diary_of, each, kept_before

if TYPE_CHECKING:
    from otolith.derive.protocol import Proposal
    from otolith.derive.triggers import MemoDraft
    from otolith.model.dialog import Turn

def memo(
    home: Home, name: str, text: str, *, category: str = "past", tags: Sequence[str] = (),
    title: str | None = None,
    supersedes: Sequence[str] = (), agent: str | None = None, project: str | None = None,
    session: str | None = None, created: Any = None, in_diary: bool = True) -> Memo:
    """Keep a memo under a descriptive name; the same text under the same name again is the same memo."""
    stem = check_name(check_text(name, "name"))
    if not check_text(text, "text").strip():
        raise Invalid("the memo's text is empty", "say what to keep under the name")
    for tag in read_tags(tags):
        if any(sign in tag for sign in ",[]\r\n"):
            raise Invalid(f"tag {tag!r} cannot stand in a memo's list of tags",
                          "leave commas, brackets and line ends out")
    heading = " ".join(check_text(title or stem.replace("_", " ").capitalize(), "title").split())
    when = minute(home.moment(created))
    made = Memo(id=stem, title=heading, created_at=when, category=category, tags=read_tags(tags),
                text=text.strip("\n"), supersedes=read_strings(supersedes, "supersedes"),
                origin=home.origin(agent=agent, project=project, session=session))
    with home.writing():  # of several who say the same at once the first keeps it, the others find it
        if row := kept_before(home, made):
            same: Memo = home.load(row.id).record
            if (same.text, same.category, same.tags) == (made.text, made.category, made.tags):
                return same
            raise Conflict(f"there is a memo {stem!r} that says something else",
                           f"change it with: otolith edit {stem}, or choose another name")
        path = home.create(made, verb="memo", origin=made.origin)
        if in_diary:
            diary_of(home, made, path, made.text)
    return made


# What a dialog asks to keep

def draft_memos(home: Home, turns: Sequence[Turn]) -> list[MemoDraft]:
    """The memos that a dialog's user turns ask for, named so that none takes the place of another;
    kept ones are left out, and so is what a secret stands or stood in.
    """
    from otolith.derive.triggers import find_triggers, memo_from
    from otolith.model.secrets import holds_secret

    drafts: list[MemoDraft] = []
    for trigger in find_triggers(turns):
        taken = {draft.name for draft in drafts}
        draft = memo_from(trigger, taken)
        if holds_secret(draft.title, draft.body):
            continue
        while kept := home.index.cards.find(draft.name):
            if home.load(kept.id).record.text == draft.body.strip("\n"):
                break
            taken.add(draft.name)
            draft = memo_from(trigger, taken)
        else:
            drafts.append(draft)
    return drafts


# The garden

class Garden(Value):
    """What the garden needs, what was done to it, what was taken back."""

    proposals: Sequence[Proposal] = ()
    applied: Sequence[Proposal] = ()
    undone: Sequence[str] = ()
    to_forget: Sequence[tuple[str, int]] = ()  # what a dialog asks to have forgotten, how many are about it

    @property
    def text(self) -> str:
        """One line each, as a person reads it."""
        lines = [f"applied {line(proposal)}" for proposal in self.applied]
        lines += [f"took back {target}" for target in self.undone]
        lines += [f"proposal: {line(proposal)}" for proposal in self.proposals]
        lines += [f"proposal: {forget_line(*asked)}" for asked in self.to_forget]
        return "\n".join(lines) or "the garden is tidy"

    def to_dict(self) -> dict[str, Any]:
        return {"proposals": [vars(one) for one in self.proposals],
                "applied": [vars(one) for one in self.applied], "undone": list(self.undone),
                "to_forget": [{"about": thing, "records": count} for thing, count in self.to_forget]}


def line(proposal: Proposal) -> str:
    return f"{proposal.kind} {', '.join(proposal.names)} → {proposal.target}: {proposal.reason}"


def forget_line(thing: str, count: int) -> str:
    return (f"forget {counted(count, 'record')} about {thing!r}: a dialog asks for it; "
            f"do it with: otolith forget --about {thing!r}")


def propose(home: Home) -> list[Proposal]:
    """What to supersede and what to consolidate, among memos that people and agents wrote."""
    from otolith.derive.protocol import find_proposals

    return find_proposals([memo for _, memo in each(home, home.index.notes.own_memos())])


def garden_rung(home: Home, _providers: Any = None) -> list[str]:
    """The garden's part in the nightly round."""
    from otolith.verbs.about import to_be_forgotten

    lines = [line(proposal) for proposal in propose(home)]
    return lines + [forget_line(*asked) for asked in to_be_forgotten(home)]


def garden(home: Home, *, apply: bool = False, archive: bool = False, undo: bool = False) -> Garden:
    """Propose; with `apply` carry out all proposals, with `archive` put retired memos away;
    `undo` takes the last time back.
    """
    if (apply or undo) and home.trust != "user":
        raise NeedsConfirmation("a person tends the garden; agents propose",
                                "have the user run: otolith garden --apply")
    home.ensure_fresh()
    if undo:
        runs = [act for act in journal.acts(home) if act.verb == "garden"]
        if not runs:
            raise Invalid("nothing was applied that could be taken back")
        return Garden(undone=journal.undo(home, runs[-1]).act.details.get("targets", []))
    if apply:
        _carry_on(home)
    proposals = propose(home)
    if not apply:
        from otolith.verbs.about import to_be_forgotten

        return Garden(proposals=proposals, to_forget=to_be_forgotten(home))
    names = dict.fromkeys(name for proposal in proposals for name in (proposal.target, *proposal.names))
    files = [f"allmemories/{name}.md" for name in names] if proposals else []
    with home.writing(), journal.recording(home, "garden", home.new_id()[:8], files,
                                           _details(home, proposals, archive)):
        for proposal in proposals:
            _apply(home, proposal, archive)
    return Garden(applied=proposals, proposals=propose(home))


def _details(home: Home, proposals: Sequence[Proposal], archive: bool) -> dict[str, Any]:
    """What taking it back, carrying on with it and purging need to know; written down before it begins."""
    details: dict[str, Any] = {
        "targets": [proposal.target for proposal in proposals], "parts": {}, "gathered": [],
        "superseded" if not archive else "archived": [[proposal.target, name] for proposal in proposals
                                                      for name in proposal.names]}
    for proposal in proposals:
        if proposal.kind == "consolidate":
            there = home.index.cards.find(proposal.target)
            tags = home.load(proposal.target).record.tags if there else ()
            details["parts"].setdefault(proposal.target, {}).update(_parts(home, proposal, tags))
            details["gathered"] += [] if there else [f"allmemories/{proposal.target}.md"]
    return details


def _carry_on(home: Home) -> None:
    """Retire the memos that a gardening which was broken off has gathered and not retired."""
    for act in journal.broken_off(home, "garden"):
        with home.writing(), journal.recording(home, "garden", act.id, act.files, act.details):
            for archive, key in ((False, "superseded"), (True, "archived")):
                for target, name in act.details.get(key, ()):
                    gathered = journal.has_changed(home, act, f"allmemories/{target}.md")
                    if gathered and len(home.index.cards.rows_of([target, name])) == 2:
                        _retire(home, target, name, archive)


def _apply(home: Home, proposal: Proposal, archive: bool) -> None:
    if home.index.cards.find(proposal.target) is None:
        memo(home, proposal.target, proposal.text, title=proposal.title, category=proposal.category,
             tags=proposal.tags, project=proposal.project, in_diary=False)  # the diary has what it gathers
    else:
        loaded = home.load(proposal.target)
        home.change(loaded, loaded.record.replace(text=proposal.text.strip("\n"), tags=proposal.tags),
                    verb="gardened")
    for name in proposal.names:
        _retire(home, proposal.target, name, archive)


def _retire(home: Home, target: str, name: str, archive: bool) -> None:
    if archive:
        forget(home, name)
    else:
        supersede(home, target, name)


def _parts(home: Home, proposal: Proposal, tags: Sequence[str]) -> dict[str, Any]:
    """How to find again what a master has of each memo: a fingerprint, a length, and the tags that only this
    one brought.
    """
    from otolith.derive.protocol import section

    memos: list[Memo] = [home.load(name).record for name in proposal.names]
    borne = [*tags, *(tag for each_memo in memos for tag in each_memo.tags)]
    return {each_memo.id: {"text": fingerprint((own := section(each_memo)).encode()), "signs": len(own),
                           "tags": [tag for tag in each_memo.tags if borne.count(tag) == 1]}
            for each_memo in memos}


def cut_from_masters(home: Home, copies: Sequence[Memo]) -> list[str]:
    """Take a memo's text out of the masters that the garden gathered it into;
    returns those that keep people's words in it.
    """
    name = copies[0].id
    marks = [(target, parts[name]) for act in journal.acts(home) if act.verb == "garden"
             for target, parts in act.details.get("parts", {}).items() if name in parts]
    left = []
    for target, unit in home.index.notes.masters():
        try:
            (master,), files = home.read(unit)
        except (Damaged, NotFound):
            continue
        new, stays = _cut(master, copies, [part for where, part in marks if where == target])
        if stays and (new != master or any(where == target for where, _ in marks)):
            left.append(unit)
        if new.text != master.text and not new.text.strip():
            home.tree.remove(unit)
        elif new != master:
            data = files[unit][1]
            home.tree.write(unit, codec.amend(data, master, new, unit), fingerprint(data))
    return left


def _cut(master: Memo, copies: Sequence[Memo], parts: Sequence[dict[str, Any]]) -> tuple[Memo, bool]:
    """A master without what it has of a memo, as it was written or as it would be written today;
    and whether words stay.
    """
    from otolith.derive.protocol import section, without_section

    owns = [written for part in parts for found in re.finditer(r"(?m)^## ", master.text)
            if fingerprint((written := master.text[found.start() :][: part["signs"]]).encode()) == part[
                "text"]]
    text, stays = master.text, False
    for own in dict.fromkeys(owns or [section(one.unmarked()) for one in copies]):
        text, more = without_section(text, own)
        stays |= more
    brought = {tag for part in parts for tag in part["tags"]} if text != master.text else set[str]()
    return master.replace(text=text if text == master.text else text.strip("\n"),
                          tags=tuple(tag for tag in master.tags if tag not in brought),
                          supersedes=tuple(one for one in master.supersedes if one != copies[0].id)), stays
