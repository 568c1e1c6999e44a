"""What a real client is seen to do, one check a line of docs/CLIENTS.md.

Whatever the model was shown, in the requests that reached the scripted endpoint, is what counts; what the
client prints is only read for the session's id.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.clients.agents import OTOLITH, Client, Place
from tests.clients.endpoint import SIDE, Asked, Call, Endpoint

NOTE = "Releases of the kestrel service go out on Tuesdays only, never on a Friday."
BRIEF = "otolith brief: what is remembered"
REQUEST = "Otolith saw something worth keeping"
SUMMARY = "SUMMARY: the user said hello, and the heron exporter was looked at."
RESUMES = 5
SHELL_EDITS = {  # how a shell changes a file, by what it is called
    "sed -i": "sed -i 's/x = 1/x = 3/' {}",
    "tee": "echo 'x = 3' | tee {}",
    "a redirection": "echo 'x = 3' > {}",
    "apply_patch": "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: {}\n@@\n-x = 1\n+x = 3\n*** End Patch\nEOF",
}
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
    {"cell_type": "code", "id": "c1", "metadata": {}, "source": ["x = 1"], "outputs": [], "execution_count": None}]}


_NUMBERS = count(1)  # of places


class Story:
    """One client, its checks and what came of them."""

    def __init__(self, client: Client, programs: Path, folder: Path, keep: Path | None) -> None:
        self.client, self.programs, self.folder, self.keep = client, programs, folder, keep
        self.results: dict[str, str] = {}

    def check(self, name: str, passed: bool, detail: str = "") -> None:
        self.results[name] = ("yes" if passed else "**no**") + (f" ({detail})" if detail else "")
        print(f"  {self.client.name}: {name}: {self.results[name]}", flush=True)

    @contextmanager
    def place(self, install: bool = True) -> Iterator[Place]:
        with Endpoint() as endpoint:
            place = Place(self.folder / f"{self.client.name}-{next(_NUMBERS)}", self.programs, endpoint)
            self.client.configure(place)
            if install:
                place.otolith("install", self.client.name)
            try:
                yield place
            finally:
                if self.keep and (place.root / self.client.transcripts).exists():
                    shutil.copytree(place.root / self.client.transcripts,
                                    self.keep / self.client.name / f"{os.getpid()}-{place.root.name}", dirs_exist_ok=True)

    def ask(self, place: Place, prompt: str, *steps: Any, session: str = "", fork: bool = False) -> tuple[list[Asked], str]:
        """(the requests of this run, the session's id)."""
        before = len(place.endpoint.main)
        place.endpoint.steps = [*steps, "That is done."]
        command = self.client.fork if fork and self.client.fork else self.client.command
        done = place.run(command(prompt, session))
        assert done.returncode == 0, f"{self.client.name} ended with {done.returncode}: {done.stderr[-600:]}{done.stdout[-600:]}"
        found = re.search(r'"(?:session_id|thread_id|sessionID)"\s*:\s*"([^"]+)"', done.stdout)
        return place.endpoint.main[before:], found[1] if found else session

    def visible(self, asked: Asked) -> bool:
        """Whether the model was offered our tools, at once or through the client's own search for tools."""
        head = self.client.tool.format("").rstrip("/")
        return any(tool.startswith(head) for tool in asked.tools) or f"- {head}:" in asked.text

    # The checks

    def settings(self) -> None:
        with self.place(install=False) as place:
            before = place.files()
            place.otolith("install", self.client.name)
            changed = place.files() != before
            place.otolith("uninstall", self.client.name)
            self.check("uninstall gives the settings back byte for byte", changed and place.files() == before)

    def first_session(self) -> None:
        with self.place() as place:
            place.otolith("note", "Release day", "--text", NOTE, "--type", "decision")
            remember = "Remember that the kestrel staging database is called falcon-two. Then set x to 2 in a.py."
            asked, session = self.ask(
                place, remember, self.client.shell("cat no-such-file"), *self.client.edit(place.project / "a.py"),
                Call(self.client.tool.format("recall"), {"query": "release of kestrel", "budget": 1000}))
            self.check("settings accepted, the session runs", bool(asked) and (place.project / "a.py").read_text() == "x = 2\n")
            self.check("tools in the first request", self.visible(asked[0]))
            recalled = asked[-1].text
            fence = re.search(r'<otolith-memory-\w+ from="otolith recall; .*?</otolith-memory-\w+>', recalled, re.DOTALL)
            self.check("a recall arrives as text, once", bool(fence) and NOTE in fence[0] and "\\n## " not in recalled
                       and recalled.count('from="otolith recall;') == 1 and '"enough"' not in recalled)
            if not self.client.hooks:
                return
            self.check("the session begins with the brief", asked[0].text.count(BRIEF) == 1)
            for number in range(RESUMES):
                asked, _ = self.ask(place, f"Go on, step {number}.", session=session)
            copies = asked[-1].text.count(BRIEF)
            self.check(f"one copy of the brief after {RESUMES} resumes", copies == 1, f"{copies}")
            self._captured(place, ("called falcon-two. Then set x", "step 0", "step 4"),
                           "the session is captured, every turn once")
            memos = json.dumps(place.otolith("recall", "kestrel staging database", "--kind", "memo"))
            asked, _ = self.ask(place, "Good morning. Let us look at something else, the colours of the page.")
            self.check("the next session knows it", "falcon-two" in memos and "falcon-two" in asked[0].text)
            looks = place.otolith("doctor", self.client.name)["agents"][self.client.name]
            bad = [look["what"] for look in looks if not look["good"]]
            told = {look["what"]: look["says"] for look in looks}
            self.check("doctor finds nothing wrong, and the capture", not bad and told.get("last capture", "")[:2] == "20",
                       ", ".join(bad))

    def _captured(self, place: Place, said: tuple[str, ...], name: str) -> None:
        raw = [page.read_text() for page in (place.root / ".local/share/otolith/topics").rglob("raw.md")]
        turns = [sum(page.count(words) for page in raw) for words in said]
        self.check(name, turns == [1] * len(said), f"{turns} in {len(raw)} entries")

    def fork(self) -> None:
        """A forked session goes on with a copy of the conversation, which is captured once."""
        if not self.client.hooks or self.client.fork is None:
            return
        with self.place() as place:
            place.otolith("note", "Release day", "--text", NOTE, "--type", "decision")
            _, session = self.ask(place, "Say hello to the heron exporter.")
            asked, forked = self.ask(place, "Now say goodbye to the heron exporter.", session=session, fork=True)
            copies = asked[-1].text.count(BRIEF)
            self.check("a fork has one copy of the brief", forked != session and copies == 1, f"{copies}")
            self._captured(place, ("Say hello to the heron", "Now say goodbye to the heron"),
                           "a fork is captured, every turn once")

    def compact(self) -> None:
        """After compacting the model has a summary instead of the conversation, and the brief once more."""
        if not self.client.hooks:
            return
        with self.place() as place:
            place.otolith("note", "Release day", "--text", NOTE, "--type", "decision")
            _, session = self.ask(place, "Say hello to the heron exporter.")
            self.ask(place, "And once more, please.", session=session)
            if self.client.compact:
                self.ask(place, self.client.compact, SUMMARY, session=session)
                asked, _ = self.ask(place, "Go on, after that.", session=session)
            else:
                place.endpoint.used = 900_000
                self.ask(place, "Look at it again, please.", session=session)
                place.endpoint.used = 100
                asked, _ = self.ask(place, "Go on, after that.", SUMMARY, SUMMARY, session=session)
            last = asked[-1].text
            copies = last.count(BRIEF)
            summed = SUMMARY in last or SIDE in last
            self.check("the brief is there once after compacting", summed and copies == 1,
                       f"{copies}" if summed else "it did not compact")
            self._captured(place, ("Say hello to the heron", "Go on, after that"), "compacting captures nothing twice")

    def prompt(self) -> None:
        if not self.client.hooks:
            return
        with self.place() as place:
            lines = [{"title": f"Ledger {n}", "text": f"The ledger of shop {n} closes in month {n % 12 + 1}."} for n in range(40)]
            for line in lines:
                place.otolith("note", line["title"], "--text", line["text"])
            place.otolith("remember", "The osprey importer needs the flag --skip-bom for files that come from the Lisbon office.")
            asked, _ = self.ask(place, "The osprey importer chokes on the files from the Lisbon office, what was the flag?",
                                "It was --skip-bom: the osprey importer needs it for files from the Lisbon office.")
            told = re.search(r'from=\\?"otolith recall: from earlier sessions.*?</otolith-memory', asked[0].text, re.DOTALL)
            self.check("a prompt brings the record", bool(told) and "--skip-bom" in (told[0] if told else ""))
            asked, _ = self.ask(place, "Write a short poem about the sea and its many fishes.")
            self.check("a prompt that wants nothing brings nothing", "otolith recall: from earlier" not in asked[0].text)
            counts = place.otolith("stats", "--delivery")["prompt"]
            self.check("what was told and used is counted", counts["used"] >= 1, json.dumps(counts)[:120])

    def edits(self) -> None:
        """What went wrong is recorded after the brief, so that only the hook can tell it."""
        if not self.client.hooks:
            return
        with self.place() as place:
            place.otolith("note", "Release day", "--text", NOTE)
            _, session = self.ask(place, "Say hello.")
            steps = {"an edit": (place.project / "a.py", self.client.edit(place.project / "a.py"))}
            for number, (name, command) in enumerate(SHELL_EDITS.items()):
                file = place.project / f"lib/shell{number}.py"
                steps[f"an edit through the shell: {name}"] = (file, [self.client.shell(command.format(f"lib/{file.name}"))])
            if self.client.notebook:
                file = place.project / "n.ipynb"
                steps["an edit of a notebook"] = (file, self.client.notebook(file))
            (place.project / "lib").mkdir()
            lessons = {}
            for number, (name, (file, _)) in enumerate(steps.items()):
                file.write_text(json.dumps(NOTEBOOK) if file.suffix == ".ipynb" else "x = 1\n")
                lessons[name] = f"constant number {number} is read at import time, so tests that patch it later see the old value"
                work = {"intent": {"goal": f"Change {file.name}", "task_type": "bug_fix"},
                        "files": [str(file.relative_to(place.project))],
                        "outcome": {"success": False, "summary": "Tests failed", "failure_reason": lessons[name]}}
                (place.root / "work.json").write_text(json.dumps(work))
                place.otolith("record", str(place.root / "work.json"))
            asked, _ = self.ask(place, "Go on.", *(call for _, calls in steps.values() for call in calls), session=session)
            told = " ".join(re.findall(r"otolith check_file: .*?</otolith-memory", asked[-1].text, re.DOTALL))
            for name, lesson in lessons.items():
                self.check(f"{name} brings the file's warning", lesson in told)

    def scribe(self) -> None:
        """`ask-agent auto`: asked once to keep what was learned, never in a loop, never again in that session."""
        if not self.client.hooks:
            return
        with self.place() as place:
            place.otolith("config", "ask-agent", "auto")
            place.otolith("note", "Release day", "--text", NOTE)
            _, session = self.ask(place, "Fix the tests of the reader.", "I dropped the rows that fail.")
            asked, _ = self.ask(place, "No, never drop rows silently, write them to rejected.csv.", "I shall.",
                                "There is nothing more to keep.", "And still nothing.", session=session)
            times = [request.text.count(REQUEST) for request in asked]
            self.check("ask-agent asks once, and not in a loop", times == [0, 1], f"{times}")
            asked, _ = self.ask(place, "No, never edit the lock file by hand.", "I shall.", session=session)
            self.check("ask-agent asks a session once", len(asked) == 1)  # it does not go on

    def without_us(self) -> None:
        """A client whose entry leads nowhere starts all the same."""
        with self.place() as place:
            for name, data in place.files().items():
                (place.root / name).write_bytes(data.replace(b"/otolith", b"/no-such-otolith"))
            asked, _ = self.ask(place, "Say hello.")
            self.check("it starts without us", bool(asked))

    def plugin(self) -> None:
        """The plugin, from this folder as a marketplace: its hooks and its tools, with nothing of ours in the settings."""
        if self.client.name != "claude-code":
            return
        with self.place(install=False) as place:
            place.env["PATH"] = f"{Path(OTOLITH).parent}:{place.env['PATH']}"
            place.otolith("note", "Release day", "--text", NOTE, "--type", "decision")
            for words in (("marketplace", "add", str(Path(__file__).parents[2])), ("install", "otolith@otolith")):
                done = place.run(["claude", "plugin", *words])
                assert done.returncode == 0, f"claude plugin {' '.join(words)}: {done.stdout[-300:]}{done.stderr[-300:]}"
            asked, _ = self.ask(place, "Say hello.")
            tools = any("otolith" in tool for tool in asked[0].tools)
            self.check("the plugin brings tools and brief", tools and asked[0].text.count(BRIEF) == 1,
                       "" if tools else "no tools")

    def busy(self, runs: int = 20) -> None:
        """How often the tools are in the first request while both cores have other things to do."""
        if not self.client.hooks:
            runs = min(runs, 3)
        stop = multiprocessing.Event()
        burners = [multiprocessing.Process(target=_burn, args=(stop,), daemon=True) for _ in range(os.cpu_count() or 2)]
        for burner in burners:
            burner.start()
        try:
            with self.place() as place:
                seen = sum(self.visible(self.ask(place, "Say hello.")[0][0]) for _ in range(runs))
        finally:
            stop.set()
            for burner in burners:
                burner.join(5)
        self.check("tools in the first request, all cores busy", seen == runs, f"{seen} of {runs}")


CHECKS = ("settings", "first_session", "prompt", "edits", "fork", "compact", "scribe", "without_us", "plugin", "busy")


def _burn(stop: Any) -> None:
    while not stop.is_set():
        sum(range(100_000))
