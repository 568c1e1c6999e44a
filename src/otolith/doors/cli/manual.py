"""docs/CLI.md, written from the table of verbs: python -m otolith.doors.cli.manual > docs/CLI.md"""

from __future__ import annotations

from otolith.doors.cli.command import explain, metavar_of, option_of, own_params, repeats
from otolith.errors import OtolithError
from otolith.verbs.table import ANSWERS, DOORS, Param, Verb, grouped, table

INTRODUCTION = """# The command line

This page is written from the table of verbs (`src/otolith/verbs/table/`) by `make docs`; change it there.

`otolith VERB …` acts on one home: `--home FOLDER`, else the variable `OTOLITH_HOME`, else the folder
`otolith` among the user's data. Every command takes `--json` and `--help`, and `--project`, `--agent` and
`--session`, which say as whom to write, or what to look for. Answers go to stdout, everything else to stderr.
A failed command prints one line that says what to do, and exits with a code of its own:
{codes}, 130 interrupted, 1 a bug.

A record is named by its id, the beginning of one (four signs or more), its title or a part of its title;
where several could be meant, a terminal asks. On a terminal lists have a line for each record and long
answers go through `PAGER`; in a pipe lists are tab-separated, with whole ids.

`otolith completion bash`, `zsh` or `fish` prints a script that completes verbs, options, kinds, types, tags,
ids and titles.
"""
DOOR_NAMES = {"python": "Python", "cli": "the command line", "mcp": "MCP", "rest": "REST"}


def write() -> str:
    """The whole page."""
    rows = table()
    codes = ", ".join(dict.fromkeys(f"{error.exit_code} {error.code.replace('_', ' ')}"
                                    for error in OtolithError.__subclasses__()))
    parts = [INTRODUCTION.format(codes=codes)]
    for group, names in grouped().items():
        parts.append(f"## {group}\n")
        parts += [_describe(rows[name]) for name in names]
    parts.append("## Every verb at every door\n\nA dash says why a verb is not offered there.\n\n")
    lines = [f"| verb | {' | '.join(DOOR_NAMES[door] for door in DOORS)} |", f"|---{'|---' * len(DOORS)}|"]
    lines += [f"| `{row.name}` | {' | '.join(_offered(row, door) for door in DOORS)} |"
              for row in rows.values()]
    return "\n".join(parts) + "\n".join(lines) + "\n"


def _offered(row: Verb, door: str) -> str:
    if door in row.gaps:
        return f"– {row.gaps[door]}"  # type: ignore[index]
    return {"python": f"`{row.python}`", "mcp": f"`{row.name.replace('-', '_')}`"}.get(door, "yes")


def _describe(row: Verb) -> str:
    params = own_params(row)
    places = [option_of(param) for param in params if not option_of(param).startswith("--")]
    usage = " ".join(["otolith", row.name, *places])
    lines = [f"### {row.name}\n", f"{row.help[:1].upper()}{row.help[1:]}. {_effect(row)}\n", f"    {usage}\n"]
    lines += [f"- `{_spelling(param)}`: {explain(param)}" for param in params]
    if params:
        lines.append("")
    if row.examples:
        lines += ["```sh", *row.examples, "```\n"]
    return "\n".join(lines)


def _effect(row: Verb) -> str:
    answer = f"Answers {ANSWERS[row.gives]}."
    person = " Only a person may do it; agents propose." if row.person else ""
    return ("Only reads. " if row.only_reads("cli") else "") + answer + person


def _spelling(param: Param) -> str:
    option = option_of(param)
    if not option.startswith("--") or param.type == "flag" or "|" in option:
        return option
    return f"{option} {metavar_of(param)}{' …' if repeats(param) else ''}"


if __name__ == "__main__":
    print(write(), end="")
