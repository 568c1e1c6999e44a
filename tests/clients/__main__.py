"""`make clients`: real coding agents, driven headless through a scripted model on loopback.

    python -m tests.clients [--folder FOLDER] [--keep FOLDER] [--runs 20] [--write] [CLIENT…]

Each check is one line of docs/CLIENTS.md (`--write`). Both cores are kept busy while it is counted how often the
tools are in the first request. `--keep` takes a copy of the transcripts that the clients wrote.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.clients.agents import CLIENTS, Client, Place, install_clients
from tests.clients.endpoint import Call, Endpoint

PAGE = Path(__file__).parents[2] / "docs/CLIENTS.md"
BEGIN, END = "<!-- made by make clients -->", "<!-- end -->"
NOTE = "Releases of the kestrel service go out on Tuesdays only, never on a Friday."
LESSON = "the constant is read at import time, so tests that patch it later see the old value"
SHELL_LESSON = "the shell test greps this line, so its spacing must stay"
BRIEF = "otolith brief: what is remembered"
RESUMES = 5


class Story:
    """One client, its checks and what came of them."""

    def __init__(self, client: Client, programs: Path, folder: Path, keep: Path | None) -> None:
        self.client, self.programs, self.folder, self.keep = client, programs, folder, keep
        self.results: dict[str, str] = {}
        self._places = 0

    def check(self, name: str, passed: bool, detail: str = "") -> None:
        self.results[name] = ("yes" if passed else "**no**") + (f" ({detail})" if detail else "")
        print(f"  {self.client.name}: {name}: {self.results[name]}", flush=True)

    @contextmanager
    def place(self, install: bool = True) -> Iterator[Place]:
        self._places += 1
        with Endpoint() as endpoint:
            place = Place(self.folder / f"{self.client.name}-{self._places}", self.programs, endpoint)
            self.client.configure(place)
            if install:
                place.otolith("install", self.client.name)
            try:
                yield place
            finally:
                if self.keep and (place.root / self.client.transcripts).exists():
                    shutil.copytree(place.root / self.client.transcripts,
                                    self.keep / self.client.name / f"run-{os.getpid()}-{self._places}", dirs_exist_ok=True)

    def ask(self, place: Place, prompt: str, *steps: Any, session: str = "") -> tuple[Any, str]:
        """(the requests of this run, the session's id)."""
        before = len(place.endpoint.main)
        place.endpoint.say(*steps, "That is done.")
        done = place.run(self.client.command(prompt, session))
        assert done.returncode == 0, f"{self.client.name} ended with {done.returncode}: {done.stderr[-600:]}{done.stdout[-600:]}"
        found = re.search(r'"(?:session_id|thread_id|sessionID)"\s*:\s*"([^"]+)"', done.stdout)
        return place.endpoint.main[before:], found[1] if found else session

    def visible(self, asked: Any) -> bool:
        """Whether the model was offered our tools, at once or through the client's own search for tools."""
        head = self.client.tool.format("").rstrip("/")
        return any(tool.startswith(head) for tool in asked.tools) or f"- {head}:" in asked.text

    # The checks

    def settings(self) -> None:
        with self.place(install=False) as place:
            before = place.files()
            place.otolith("install", self.client.name)
            place.otolith("uninstall", self.client.name)
            self.check("uninstall gives the settings back byte for byte", place.files() == before)

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
            if self.client.warns:
                self.check("the session begins with the brief", asked[0].text.count(BRIEF) == 1)
                self._resumes(place, session)
                self._captured(place, session)
                self._next_session(place)

    def _resumes(self, place: Place, session: str) -> None:
        for number in range(RESUMES):
            asked, _ = self.ask(place, f"Go on, step {number}.", session=session)
        copies = asked[-1].text.count(BRIEF)
        self.check(f"one copy of the brief after {RESUMES} resumes", copies == 1, f"{copies}")

    def _captured(self, place: Place, session: str) -> None:
        raw = [page.read_text() for page in (place.root / ".local/share/otolith/topics").rglob("raw.md")]
        turns = [sum(page.count(said) for page in raw) for said in ("called falcon-two. Then set x", "step 0", "step 4")]
        memos = json.dumps(place.otolith("recall", "kestrel staging database", "--kind", "memo"))
        self.check("the session is captured, every turn once", turns == [1, 1, 1] and "falcon-two" in memos,
                   f"{turns} in {len(raw)} entries")

    def _next_session(self, place: Place) -> None:
        asked, _ = self.ask(place, "Good morning. Let us look at something else, the colours of the page.")
        self.check("the next session knows it", "falcon-two" in asked[0].text)

    def prompt(self) -> None:
        if not self.client.warns:
            return
        with self.place() as place:
            for number in range(40):
                place.otolith("note", f"Ledger {number}", "--text", f"The ledger of shop {number} closes in month {number % 12 + 1}.")
            place.otolith("remember", "The osprey importer needs the flag --skip-bom for files that come from the Lisbon office.")
            asked, _ = self.ask(place, "The osprey importer chokes on the files from the Lisbon office, what was the flag?")
            told = re.search(r'from=\\?"otolith recall: from earlier sessions.*?</otolith-memory', asked[0].text, re.DOTALL)
            self.check("a prompt brings the record", bool(told) and "--skip-bom" in (told[0] if told else ""))

    def edits(self) -> None:
        """What went wrong is recorded after the brief, so that only the hook can tell it."""
        if not self.client.warns:
            return
        with self.place() as place:
            (place.project / "b.py").write_text("x = 1\n")
            place.otolith("note", "Release day", "--text", NOTE)
            _, session = self.ask(place, "Say hello.")
            for name, lesson in (("a.py", LESSON), ("b.py", SHELL_LESSON)):
                work = {"intent": {"goal": f"Change {name}", "task_type": "bug_fix"}, "files": [name],
                        "outcome": {"success": False, "summary": "Tests failed", "failure_reason": lesson}}
                (place.root / "work.json").write_text(json.dumps(work))
                place.otolith("record", str(place.root / "work.json"))
            asked, _ = self.ask(place, "Go on.", *self.client.edit(place.project / "a.py"),
                                self.client.shell("sed -i 's/x = 1/x = 3/' b.py"), session=session)
            told = " ".join(re.findall(r"otolith check_file: .*?</otolith-memory", asked[-1].text, re.DOTALL))
            self.check("an edit brings the file's warning", LESSON in told)
            self.check("so does an edit through the shell", SHELL_LESSON in told)

    def busy(self, runs: int) -> None:
        """How often the tools are in the first request while both cores have other things to do."""
        stop = multiprocessing.Event()
        burners = [multiprocessing.Process(target=_burn, args=(stop,), daemon=True) for _ in range(os.cpu_count() or 2)]
        for burner in burners:
            burner.start()
        try:
            with self.place() as place:
                seen = 0
                for _ in range(runs):
                    asked, _ = self.ask(place, "Say hello.")
                    seen += self.visible(asked[0])
        finally:
            stop.set()
            for burner in burners:
                burner.join(5)
        self.check("tools in the first request, all cores busy", seen == runs, f"{seen} of {runs}")

    def without_us(self) -> None:
        """A client whose entry leads nowhere starts all the same."""
        with self.place() as place:
            for name, data in place.files().items():
                (place.root / name).write_bytes(data.replace(b"/otolith", b"/no-such-otolith"))
            asked, _ = self.ask(place, "Say hello.")
            self.check("it starts without us", bool(asked))


def _burn(stop: Any) -> None:
    while not stop.is_set():
        sum(range(100_000))


def report(stories: list[tuple[str, Story]]) -> str:
    names = list(dict.fromkeys(name for _, story in stories for name in story.results))
    lines = ["| | " + " | ".join(f"{story.client.name} {version}" for version, story in stories) + " |",
             "|---" * (len(stories) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(story.results.get(name, "–") for _, story in stories) + " |" for name in names]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", default=[])
    parser.add_argument("--folder", type=Path, default=Path(".clients"))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", help="one check by the name of its method")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    chosen = [client for client in CLIENTS if not args.clients or client.name in args.clients]
    versions = install_clients(args.folder, [client.name for client in chosen])
    stories: list[tuple[str, Story]] = []
    with tempfile.TemporaryDirectory(prefix="otolith-clients-", ignore_cleanup_errors=True) as folder:
        for client in chosen:
            if client.name not in versions:
                continue
            story = Story(client, (args.folder / "node_modules/.bin").absolute(), Path(folder), args.keep)
            stories.append((versions[client.name], story))
            checks: list[Callable[[], None]] = [story.settings, story.first_session, story.prompt, story.edits,
                                                story.without_us, lambda story=story: story.busy(args.runs)]
            for check in checks:
                name = getattr(check, "__name__", "busy").replace("<lambda>", "busy")
                if args.only and name != args.only:
                    continue
                try:
                    check()
                except Exception as error:
                    story.check(name, False, " ".join(str(error).split())[:300])
    table = report(stories)
    print(table)
    if args.write:
        page = PAGE.read_text()
        PAGE.write_text(re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{table}\n{END}", page,
                               flags=re.DOTALL))
    return int("**no**" in table)


if __name__ == "__main__":
    sys.exit(main())
