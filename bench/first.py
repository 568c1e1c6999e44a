"""Is what comes first a record that says it? A home with every ladder built over it, asked what its turns and notes answer.

    python bench/first.py DATA.json [--dialogs N]

Each dialog is logged under three topics in turn, with facts drawn and topics, global memory, chapters and wisdom built by
`upkeep`; every third session also has a note of its opening turns, linked to the one before by an edge without a text. Then its
questions are asked, and those are counted whose first hit is an aggregate or an edge while a turn that
answers is among the first ten.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from locomo import Dialog, Names, open_memory, places, read_dialogs

from otolith.memory import Memory
from otolith.model.kinds import KINDS

TOPICS = 3


def fill(mem: Memory, dialog: Dialog) -> Names:
    names: Names = {}
    before = None
    for at, session in enumerate(dict.fromkeys(turn.session for turn in dialog.turns)):
        here = [place for place, turn in enumerate(dialog.turns) if turn.session == session]
        messages = [{"role": dialog.turns[place].speaker, "content": dialog.turns[place].text} for place in here]
        entry = mem.log(messages, topic=f"{dialog.name}-{at % TOPICS}", created=dialog.turns[here[0]].said)
        names |= {(entry.id, number): place for number, place in enumerate(here, 1)}
        if at % TOPICS == 0:
            text = "\n".join(dialog.turns[place].spoken for place in here[:4])
            note = mem.note(f"Session {session}", text, created=dialog.turns[here[0]].said)
            if before is not None:
                mem.link(before.id, "RELATED_TO", note.id)
            before = note
    mem.upkeep()
    return names


def measure(dialogs: Sequence[Dialog]) -> Iterator[str]:
    asked = first = answered = kinds = 0
    for dialog in dialogs:
        with open_memory() as mem:
            names = fill(mem, dialog)
            kinds += sum(count for kind, count in mem.stats()["kinds"].items() if KINDS[kind].echo)
            for question in dialog.asked:
                if question.category == 5:
                    continue
                with mem.home.uncounted():
                    recalled = mem.recall(question.text)
                asked += 1
                if recalled.hits and question.evidence.intersection(places(recalled, names)):
                    answered += 1
                    first += KINDS[recalled.hits[0].kind].echo
    yield f"| {asked} questions, {kinds} aggregates and edges beside the records | answered by a record among ten: {answered} | an aggregate or edge first: {first} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--dialogs", type=int, default=1, help="only so many")
    given = parser.parse_args()
    for line in measure(read_dialogs(given.data)[: given.dialogs]):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
