"""What is left of coding sessions: is it covered, short, clean, and does it know the files?

    python -m bench.capture                the project's own sessions; with OTOLITH_BENCH also the shared ones
    python -m bench.capture --write        the same, and bench/CAPTURE.md
    python -m bench.capture --sheet FILE   everything that is kept, with its session, for somebody to label

Sessions go through the hooks as an agent would call them: SessionStart, Stop after every answer, SessionEnd; then
upkeep runs once. Own sessions are made up (tests/fixtures/sessions, see session_scripts.py), with what should be kept,
what must not be, and secrets; those whose names begin with `blind` were written before the rules and never looked at
while the rules were changed. The shared ones are real and are measured by their own scorer in a process of its own.
What people judge by reading stands below its heading in CAPTURE.md and is kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from bench.session_scripts import Script, edited, feed, read_scripts, read_shared, settle

import otolith

HERE = Path(__file__).resolve().parent
PAGE = HERE / "CAPTURE.md"
KINDS = ("fact", "memo", "note", "work", "chapter", "episode", "chunk", "wisdom")
LONGEST = {"work": 250, "chapter": 250}  # words; of anything else 90
ASSISTANT = re.compile(r"^(?:the )?(?:assistant|agent|ai|model)\b", re.I)
READ = "## Read line by line"
EMPTY = f"""{READ}

200 kept things drawn at random, each with a label (right or wrong; worth keeping or not) and a reason, go here.
"""
GOALS = {"covered": "≥ 60 %", "things a session": "≤ 15", "too long": "0", "junk kept": "≤ 1", "secrets kept": "0",
         "edited files known to check-file": "all", "assistant is the subject": "0"}


def measure(scripts: list[Script]) -> dict[str, str]:
    """The rows for sessions of the project's own."""
    with tempfile.TemporaryDirectory(prefix="capture-") as scratch:
        base = Path(scratch).resolve()
        kept = [thing for things in keep(base, scripts).values() for thing in things]
        with otolith.open(base / "memory") as mem:
            files = sorted({(script.project, path) for script in scripts for path in edited(script)})
            knows = sum(mem.check_file(path, again=True, project=project).known > 0 for project, path in files)
        left = b"\n".join(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                          for root in ("memory", "cache") for path in (base / root).rglob("*") if path.is_file())
    texts = [(thing.project, thing.whole) for thing in kept if len(thing.whole.split()) <= LONGEST.get(thing.kind, 90)]
    wanted = [(script.project, row[0]) for script in scripts for row in script.wanted]
    covered = sum(any(project == own and re.search(pattern, text, re.I | re.S) for own, text in texts)
                  for project, pattern in wanted)
    junk = [(script.project, text) for script in scripts for text in script.junk]
    bad = sum(any(project == own and _bare(text) in _bare(kept_text) for own, kept_text in texts) for project, text in junk)
    secrets = [secret for script in scripts for secret in script.secrets]
    said = [thing for thing in kept if thing.kind in ("fact", "memo")]
    return {"covered": f"{covered} of {len(wanted)}", "things a session": f"{len(kept) / len(scripts):.1f}",
            "too long": str(len(kept) - len(texts)), "junk kept": f"{bad} of {len(junk)}",
            "secrets kept": f"{sum(secret.encode() in left for secret in secrets)} of {len(secrets)}",
            "edited files known to check-file": f"{knows} of {len(files)}",
            "assistant is the subject": f"{sum(bool(ASSISTANT.match(thing.title)) for thing in said)} of {len(said)}"}


def _bare(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


class Thing(NamedTuple):
    """Something that a session left behind."""

    kind: str
    title: str
    text: str
    project: str | None

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}"


def keep(base: Path, scripts: list[Script]) -> dict[str, list[Thing]]:
    """Feed the sessions and run upkeep; what each left behind, as it stands in the end."""
    home, known, of = settle(base), set[str](), dict[str, list[str]]()
    for script in [*scripts, None]:
        if script:
            feed(base, script)
        with otolith.open(home) as mem:
            if script is None:
                mem.upkeep()
            new = [item["id"] for kind in KINDS for item in mem.list(limit=None, kind=kind)[0] if item["id"] not in known]
        known.update(new)
        of[script.name if script else "(upkeep)"] = new
    with otolith.open(home) as mem:
        items = {item["id"]: item for kind in KINDS for item in mem.list(limit=None, kind=kind)[0]}
        return {name: [Thing(items[id]["kind"], items[id]["title"], mem.get(id).text, items[id]["project"])
                       for id in ids if id in items] for name, ids in of.items()}


# For somebody who reads

SHEET = """# What sessions left behind, to be labelled

For each numbered thing: **right** (y/n: is it true of the session, with the right subject, outcome and reason?),
**worth** (y/n: would you want it kept for next time: durable, specific, understandable without the session, and not said
better by another one here?), **leniently** (y/n: of some use), and a reason in a few words. Judge by the session that
stands before the things; a call is shortened to one line, a long answer to its beginning and end.

Write the labels as lines `number | right | worth | leniently | reason`.
"""


def sheet(scripts: list[Script]) -> str:
    with tempfile.TemporaryDirectory(prefix="capture-") as scratch:
        kept = keep(Path(scratch).resolve(), scripts)
    parts, number = [SHEET], 0
    for script in [*scripts, None]:
        things = kept[script.name if script else "(upkeep)"]
        parts.append(f"## {script.name} ({script.project})" if script else "## Built by upkeep from all of them")
        if script:
            parts += ["### The session", *map(_told, (line for piece in script.pieces for line in piece)), "### What was kept"]
        for thing in things:
            number += 1
            parts.append(f"**{number}. {thing.kind}: {thing.title}**\n\n```\n{thing.text}\n```")
    return "\n\n".join(filter(None, parts)) + "\n"


def _told(line: dict[str, Any]) -> str:
    """One line of a transcript as a reader wants it."""
    content = line["message"]["content"]
    if isinstance(content, str):
        return f"**USER:** {_short(content, 1500)}"
    told = []
    for block in content:
        if block.get("type") == "text":
            told.append(f"AGENT: {_short(block['text'], 900)}")
        elif block.get("type") == "tool_use":
            given = block["input"]
            target = given.get("command") or given.get("file_path") or given.get("pattern") or json.dumps(given)
            told.append(f"&nbsp;&nbsp;→ {block['name']} `{_short(str(target), 160)}`")
        elif block.get("type") == "tool_result" and (block.get("is_error") or "rror" in str(block["content"])[:400]):
            told.append(f"&nbsp;&nbsp;← {'FAILED ' if block.get('is_error') else ''}{_short(str(block['content']), 240)}")
    return "\n\n".join(told)


def _short(text: str, most: int) -> str:
    text = re.sub(r"\n{2,}", "\n", text.strip())
    return text if len(text) <= most else f"{text[: most * 2 // 3]} […] {text[-most // 3 :]}"


def shared() -> dict[str, str] | None:
    """The same rows for the shared sessions, where OTOLITH_BENCH names their folder."""
    folder = Path(os.environ.get("OTOLITH_BENCH", ""))
    if not (folder / "sessions.py").is_file():
        return None
    done = subprocess.run([sys.executable, str(folder / "sessions.py"), str(folder / "sessions"), "--json"],
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    cover, sessions = report["coverage"], len(report["sessions"]) - 1
    return {"covered": f"{cover['covered']} of {cover['items']}",
            "things a session": f"{sum(report['things'].values()) / max(1, sessions):.1f}",
            "too long": str(report["too_long"]), "junk kept": f"{report['junk']['kept']} of {report['junk']['of']}",
            "secrets kept": f"{max(report['secrets']['home_values'], report['secrets']['index_values'])} of "
                            f"{report['secrets']['planted']}",
            "edited files known to check-file": f"{report['work']['known_to_check_file']} of "
                                                f"{report['work']['edited_files']}",
            "assistant is the subject": f"{report['assistant_is_subject']['count']} of "
                                        f"{report['assistant_is_subject']['of']}"}


def table(columns: dict[str, dict[str, str] | None]) -> str:
    names = [name for name, rows in columns.items() if rows]
    head = [f"| | {' | '.join(names)} | goal |", f"|---|{'---|' * len(names)}---|"]
    return "\n".join([*head, *(f"| {row} | {' | '.join((columns[name] or {})[row] for name in names)} | {goal} |"
                               for row, goal in GOALS.items())])


def page(text: str) -> str:
    """CAPTURE.md with new figures; what people wrote below the heading stays."""
    before = PAGE.read_text("utf-8") if PAGE.is_file() else ""
    read = before[before.index(READ):] if READ in before else EMPTY
    return (f"# What sessions leave behind\n\n`make bench-capture` measures again. Own sessions are made up; the shared ones "
            f"are real and lie outside the project.\nA thing is too long above 90 words, a work or chapter above 250.\n\n"
            f"{text}\n\n{read}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write bench/CAPTURE.md")
    parser.add_argument("--sheet", type=Path, metavar="FILE", help="write everything that is kept, for a reader")
    asked = parser.parse_args()
    scripts = read_scripts()
    if asked.sheet:
        folder = Path(os.environ.get("OTOLITH_BENCH", "")) / "sessions"
        asked.sheet.write_text(sheet([*(read_shared(folder) if folder.is_dir() else ()), *scripts]), "utf-8")
        return
    blind = [script for script in scripts if script.name.startswith("blind")]
    real = shared()  # first: the others change where everything lies
    result = table({"own sessions": measure([script for script in scripts if script not in blind]),
                    "own, blind": measure(blind), "shared sessions": real})
    print(result)
    if asked.write:
        PAGE.write_text(page(result), "utf-8")


if __name__ == "__main__":
    main()
