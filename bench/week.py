"""A person who only ran `otolith install`: seven days of sessions in two projects through real hooks, and day eight.

    python -m bench.week [--show]

Each session is a transcript as Claude Code writes it; SessionStart, UserPromptSubmit, PreToolUse, Stop and SessionEnd
run as processes. On day eight the briefs, eleven prompts and four edits are looked at: what must be told, what must
not. `--show` prints all that an agent would see.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

DAY = 86_400
PROJECTS = ("harbor", "ledger")


class Did(NamedTuple):
    """A call of a tool, and what it answered."""

    tool: str
    given: dict[str, Any]
    result: str
    failed: bool = False


def ran(command: str, result: str, failed: bool = False) -> Did:
    return Did("Bash", {"command": command}, result, failed)


def edited(file: str, old: str, new: str) -> Did:
    return Did("Edit", {"file_path": file, "old_string": old, "new_string": new}, f"The file {file} has been updated.")


# (day, project): requests, each what the person says, what the agent does, what it answers
WEEK: list[tuple[int, str, list[tuple[str, list[Did], str]]]] = [
    (1, "harbor", [
        ("Hi, set up the berth list page. I prefer short answers, no bullet lists please.",
         [edited("src/pages/berths.tsx", "", "export function Berths() {}"), ran("npm test", "12 passed")],
         "The berth list page is there and the tests pass."),
        ("We use pnpm here, not npm. Always run `pnpm check` before you say you are done.",
         [ran("pnpm check", "ok")], "Understood, pnpm it is; the check passes.")]),
    (1, "ledger", [
        ("Booking dates are stored in UTC, never in local time. Fix the importer, it uses localtime.",
         [edited("ledger/importer.py", "localtime()", "utcnow()"), ran("pytest -q", "1 failed: test_midnight", True),
          edited("ledger/importer.py", "utcnow()", "now(UTC)"), ran("pytest -q", "31 passed")],
         "utcnow() gave naive dates, so test_midnight failed; now(UTC) fixes it. All 31 tests pass.")]),
    (2, "harbor", [
        ("The map flickers when you zoom. Find out why.",
         [ran("grep -rn useEffect src/map", "src/map/View.tsx:40"),
          edited("src/map/View.tsx", "[zoom]", "[]")],
         "The effect ran on every zoom and recreated the map; it runs once now."),
        ("No, that breaks the scale bar. Keep the zoom dependency and memoise the layer instead.",
         [edited("src/map/View.tsx", "[]", "[zoom]"), edited("src/map/layers.ts", "makeLayer()", "useMemo(makeLayer)"),
          ran("pnpm check", "ok")], "The layer is memoised and the dependency is back; no flicker, and the scale bar works."),
        ("Great, that works. Thanks!", [], "You are welcome.")]),
    (3, "ledger", [
        ("Let's decide on the money type: we go with integer cents, not Decimal, because the export needs it.",
         [edited("ledger/money.py", "Decimal", "int")], "Money is integer cents now."),
        ("Add VAT rounding for Portugal.",
         [edited("ledger/vat.py", "", "def vat_pt(): ..."), ran("pytest -q tests/test_vat.py", "2 failed: rounding half up", True)],
         "Two rounding tests still fail; I ran out of ideas for the half-up case and left it there.")]),
    (4, "harbor", [
        ("Deploys go out on Thursdays from the release branch.", [], "Noted."),
        ("What time is it in Lisbon?", [], "I cannot know the time."),
        ("Rename the berth status 'free' to 'available' everywhere.",
         [edited("src/pages/berths.tsx", "free", "available"), ran("pnpm check", "ok")], "Renamed, the check passes.")]),
    (5, "ledger", [
        ("The staging database moved, it listens on port 6544 now, not 5432.",
         [edited("ledger/settings.py", "5432", "6544")], "The settings point to 6544."),
        ("ok go on", [ran("pytest -q", "33 passed")], "All 33 tests pass.")]),
    (6, "harbor", [
        ("From now on we deploy on Tuesdays, no longer on Thursdays.", [], "Tuesdays, then."),
        ("The build fails on CI with 'Cannot find module sharp'. Fix it.",
         [ran("pnpm build", "Error: Cannot find module 'sharp'", True), ran("pnpm add sharp", "added"),
          ran("pnpm build", "Error: sharp: wrong platform", True),
          edited("package.json", '"sharp"', '"sharp": {"supportedArchitectures"}'), ran("pnpm build", "done")],
         "sharp was installed for the wrong platform; supportedArchitectures in package.json fixes the CI build.")]),
    (7, "harbor", [
        ("TODO for next time: the harbour master wants an export of the berth list as CSV.", [], "Kept in mind."),
        ("Tidy the imports.", [edited("src/map/View.tsx", "import a", "import b"), ran("pnpm check", "ok")], "Tidied.")]),
]
BRIEFS = {  # what must and must not be said at the start
    "harbor": ([r"pnpm", r"Tuesday", r"short answers", r"sharp|supportedArchitectures", r"CSV", r"memois"],
               [r"deploy on Thursdays?\b(?!.*no longer)|go out on Thursdays", r"UTC", r"6544", r"cents", r"Lisbon", r"ok go on", r"Thanks"]),
    "ledger": ([r"UTC", r"cents", r"6544", r"short answers", r"VAT|vat"],
               [r"pnpm", r"Tuesday", r"on port 5432", r"berth", r"ok go on"])}
PROMPTS = [  # (project, prompt, what must be told, or "" for nothing)
    ("harbor", "When do we deploy this week? I want to announce the new berth page.", "Tuesday"),
    ("harbor", "The map flickers again after my last change to the layers, can you look?", "memoi|scale bar|effect"),
    ("harbor", "CI says Cannot find module sharp again", "supportedArchitectures|wrong platform"),
    ("harbor", "thanks, looks good", ""),
    ("harbor", "Write a haiku about gulls.", ""),
    ("harbor", "Which port does the staging database listen on?", ""),
    ("ledger", "Which port does the staging database listen on?", "6544"),
    ("ledger", "How do we represent amounts of money in the new invoice table?", "cents"),
    ("ledger", "Finish the VAT rounding for Portugal.", "round|fail"),
    ("ledger", "Store the booking date of an imported row with its time.", "UTC"),
    ("ledger", "yes", "")]
EDITS = [("harbor", "src/map/View.tsx", "scale bar|memois|flicker"), ("ledger", "ledger/vat.py", "round|half"),
         ("ledger", "ledger/importer.py", "utcnow|naive|midnight"), ("ledger", "README.md", "")]


class Person:
    def __init__(self, root: Path) -> None:
        self.root, self.home = root, root / "home"
        self.env = {"HOME": str(root), "OTOLITH_HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                    "XDG_RUNTIME_DIR": str(root), "OTOLITH_UPKEEP": "off"}
        for name in PROJECTS:
            (root / name / ".git").mkdir(parents=True)

    def fire(self, event: str, project: str, session: str, **more: Any) -> str:
        given = {"session_id": session, "cwd": str(self.root / project), "hook_event_name": event,
                 "transcript_path": str(self.path(project, session)), **more}
        done = subprocess.run([sys.executable, "-m", "otolith", "hook", event], input=json.dumps(given), text=True,
                              cwd=self.root / project, env=self.env, capture_output=True, check=True)
        return str(json.loads(done.stdout).get("hookSpecificOutput", {}).get("additionalContext", "")) if done.stdout.strip() else ""

    def path(self, project: str, session: str) -> Path:
        return self.root / ".claude/projects" / project / f"{session}.jsonl"

    def work(self, number: int, day: int, project: str, requests: list[tuple[str, list[Did], str]]) -> None:
        session, at = f"{number:08d}-aaaa-4bbb-8ccc-000000000000", time.time() - (8 - day) * DAY
        path = self.path(project, session)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.fire("SessionStart", project, session, source="startup")
        lines = 0

        def write(role: str, content: Any) -> None:
            nonlocal lines
            lines += 1
            message = {"role": role, "content": content, **({"id": f"m{lines}"} if role == "assistant" else {})}
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at + 60 * lines))
            with path.open("a") as file:
                file.write(json.dumps({"type": role, "uuid": f"{session}-{lines}", "parentUuid": None, "sessionId": session,
                                       "cwd": str(self.root / project), "isSidechain": False, "timestamp": stamp, "message": message}) + "\n")

        for said, deeds, answered in requests:
            self.fire("UserPromptSubmit", project, session, prompt=said)
            write("user", said)
            for deed in deeds:
                given = {key: str(self.root / project / value) if key == "file_path" else value for key, value in deed.given.items()}
                write("assistant", [{"type": "tool_use", "id": f"t{lines}", "name": deed.tool, "input": given}])
                write("user", [{"type": "tool_result", "tool_use_id": f"t{lines - 1}", "content": deed.result, "is_error": deed.failed}])
            write("assistant", answered)
            self.fire("Stop", project, session)
        self.fire("SessionEnd", project, session, reason="exit")


def look(person: Person, show: bool, when: str) -> list[str]:
    """What is wrong on day eight, a line each; no session is told anything twice, so each has its own name."""
    wrong: list[str] = []
    for project, (wanted, never) in BRIEFS.items():
        text = person.fire("SessionStart", project, f"{when}-{project}", source="startup")
        if show:
            print(f"\n#### brief of {project}\n{text}")
        wrong += [f"{project}: the brief does not say {sign}" for sign in wanted if not re.search(sign, text, re.IGNORECASE)]
        wrong += [f"{project}: the brief says {sign}" for sign in never if re.search(sign, text)]
    for number, (project, prompt, sign) in enumerate(PROMPTS):
        text = person.fire("UserPromptSubmit", project, f"{when}-ask-{number}", prompt=prompt)
        if show:
            print(f"\n#### {project}: {prompt}\n{text}")
        if bool(sign) != bool(text and re.search(sign, text, re.IGNORECASE)) or (text and not sign):
            wrong.append(f"{project}: “{prompt}” brings {'nothing of ' + sign if sign else 'something'}")
    for number, (project, file, sign) in enumerate(EDITS):
        given = {"file_path": str(person.root / project / file), "old_string": "a", "new_string": "b"}
        text = person.fire("PreToolUse", project, f"{when}-edit-{number}", tool_name="Edit", tool_input=given)
        if show:
            print(f"\n#### {project}: edit of {file}\n{text}")
        if bool(sign) != bool(text and re.search(sign, text, re.IGNORECASE)):
            wrong.append(f"{project}: an edit of {file} brings {'nothing of ' + sign if sign else 'something'}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="week-") as folder:
        person = Person(Path(folder))
        for number, (day, project, requests) in enumerate(WEEK, 1):
            person.work(number, day, project, requests)
        wrong = look(person, args.show, "before")
        subprocess.run([sys.executable, "-m", "otolith", "upkeep"], env=person.env, capture_output=True, check=True)
        after = look(person, False, "after")
    looks = sum(len(wanted) + len(never) for wanted, never in BRIEFS.values()) + len(PROMPTS) + len(EDITS)
    for when, lines in (("before upkeep", wrong), ("after upkeep", after)):
        print(f"{when}: {looks - len(lines)} of {looks} as they should be")
        print("".join(f"  {line}\n" for line in lines), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
