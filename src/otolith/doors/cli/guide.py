"""`otolith setup`: one guided start. Each step says what it would do and can be skipped; `--yes` does all
that were not, for scripts. What it does is what the verbs do that it names, and each can be undone by theirs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otolith.doors.cli.command import Command
from otolith.errors import NeedsConfirmation, OtolithError
from otolith.model.text import counted

if TYPE_CHECKING:
    from otolith.doors.exchange.importing import Import

STEPS = ("home", "agents", "upkeep", "import", "question")
# agent → its program, and the folder below the user's that it keeps
SIGNS = {"claude-code": ("claude", ".claude"), "codex": ("codex", ".codex"), "cursor": ("cursor", ".cursor"),
         "vscode": ("code", ".vscode"), "gemini": ("gemini", ".gemini"),
         "opencode": ("opencode", ".config/opencode")}
# what agents and tools keep, by format, where it usually lies
SOURCES = {"claude-code": ".claude/projects", "codex": ".codex/sessions", "gemini-cli": ".gemini/tmp"}


class Guide:
    """A walk through the steps; `done` says what came of each."""

    def __init__(self, command: Command) -> None:
        self.command, self.yes = command, bool(command.args.yes)
        self.done: dict[str, Any] = {}

    def walk(self) -> dict[str, Any]:
        for at, name in enumerate(STEPS, 1):
            if name in (self.command.args.skip or ()):
                self.done[name] = "skipped"
                continue
            self.say(f"\n{at} of {len(STEPS)}: {TITLES[name]}")
            step: Callable[[], Any] = getattr(self, f"step_{name}")
            try:
                self.done[name] = step()
            except OtolithError as error:  # one step that fails does not end the walk
                self.done[name] = f"failed: {error}"
                self.say(f"  {error}")
        return self.done

    def say(self, text: str) -> None:
        if not self.command.args.json:
            self.command.print(text)

    def ask(self, question: str) -> bool:
        """Yes unless somebody says no."""
        if self.yes:
            return True
        print(f"  {question} [Y/n] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("", "y", "yes")

    def step_home(self) -> Any:
        home = self.command.mem.home.tree.name
        self.say(f"  Everything is kept in one folder of plain files: {home}")
        if self.command.mem.home.config.home_id:
            self.say("  It is there already.")
            return {"home": home, "made": False}
        if not self.ask("Make it?"):
            return "skipped"
        self.command.mem.init()
        self.say("  Made.")
        return {"home": home, "made": True}

    def step_agents(self) -> Any:
        from otolith.doors.agents import doctor

        here = Path.home()
        present = [name for name, (program, folder) in SIGNS.items()
                   if shutil.which(program) or (here / folder).is_dir()]
        if not present:
            self.say("  No coding agent was found here; later: otolith install AGENT")
            return {}
        have, outcome = doctor.installed(here, Path.cwd()), dict[str, str]()
        for name in present:
            if name in have:
                self.say(f"  {name} remembers already.")
                outcome[name] = "was installed"
            elif self.ask(f"Let {name} remember? Its settings get the server and the hooks; all else stays."):
                outcome[name] = self._install(name, here)
            else:
                outcome[name] = "skipped"
        return outcome

    def _install(self, name: str, here: Path) -> str:
        from otolith.doors.agents import install

        edits = install.plan(name, None, here, start_of(self.command))
        install.apply(edits)
        self.say("".join(f"  changed {edit.path}\n" for edit in edits).rstrip() or "  nothing to change")
        return "installed"

    def step_upkeep(self) -> Any:
        from otolith import config

        self.say("  Once a day, or after fifty writes, what was kept is boiled down in the background,\n"
                 "  with what is on this machine only.")
        on = self.ask("Let it run by itself?")
        config.change_user_settings({"upkeep.auto": on})
        return "on" if on else "off"

    def step_import(self) -> Any:
        sources = {name: Path.home() / folder for name, folder in SOURCES.items()}
        outcome: dict[str, Any] = {}
        for name, path in sources.items():
            if not path.is_dir() or not any(path.rglob("*.json*")):
                continue
            if not self.ask(f"Take over past sessions from {path}?"):
                outcome[name] = "skipped"
                continue
            with self.command.progress("importing") as progress:
                report = take_in(self.command, path, name, progress)
            outcome[name] = dict(report.kept)
            self.say(f"  kept {counted(sum(report.kept.values()), 'session')}; they are recalled, "
                     "but not told unasked")
        if not outcome:
            self.say("  Nothing was found that is usually imported; later: otolith import FILE")
        return outcome

    def step_question(self) -> Any:
        if self.yes or not sys.stdin.isatty():
            self.say("  Keep something:  otolith note 'Tea' --text 'Steep for three minutes.'\n"
                     "  and ask for it:  otolith recall 'how long to steep'")
            return "told"
        print("  Ask it something (Enter to skip): ", end="", file=sys.stderr, flush=True)
        question = sys.stdin.readline().strip()
        if not question:
            return "skipped"
        hits = self.command.mem.recall(question, limit=3).hits
        self.say("\n".join(f"  {hit.title}" for hit in hits)
                 or "  Nothing yet; it fills as you and your agents work.")
        return {"question": question, "hits": len(hits)}


TITLES = {"home": "where it is kept", "agents": "your coding agents", "upkeep": "upkeep by itself",
          "import": "what is there already", "question": "a first question"}


def set_up(command: Command) -> None:
    """Walk through the steps, or do all of them without asking."""
    if not command.args.yes and not sys.stdin.isatty():
        raise NeedsConfirmation("setup asks before each step", "run it at a terminal, or give --yes")
    guide = Guide(command)
    done = guide.walk()
    guide.say("\nDone. `otolith doctor` says whether your agents reach it, `otolith help` what there is.")
    if command.args.json:
        command.answer(done, "")


def start_of(command: Command) -> list[str]:
    """How an agent is to start this very Otolith on this very home."""
    from otolith import config
    from otolith.opening import open_home

    home = open_home(command.args.home).name  # an agent does not share this OTOLITH_HOME
    named = command.args.home or home != str(config.data_folder())
    return _own_command() + (["--home", home] if named else [])


def _own_command() -> list[str]:
    """How an agent starts this very Otolith: by its path, whatever the agent's PATH will be."""
    own = Path(sys.executable).with_name("otolith")
    return [str(own)] if own.exists() else [sys.executable, "-m", "otolith"]


def take_in(command: Command, path: Path, form: str | None, progress: Any) -> Import:
    """Import a source into the home, as coming from outside."""
    from otolith.doors.exchange.importing import Import, receiving

    with receiving(command.args.home) as mem:
        done = Import(mem).run(path, form, progress)
        for notice in mem.notices:
            command.warn(notice)
    return done
