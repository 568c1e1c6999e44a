"""docs/TOOLS.md, made from the table of verbs: `python -m otolith.doors.mcp.manual docs/TOOLS.md`.

Only what stands between the two marks is replaced; the prose round it is a person's.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from otolith.doors import calls

BEGIN, END = "<!-- tools: made from the table of verbs -->", "<!-- end of tools -->"


def tools_table() -> str:
    """One line a tool; a star marks what must be given."""
    lines = ["| tool | what it does | takes |", "|---|---|---|"]
    for row in calls.offered("mcp"):
        needed = calls.needs(row, "mcp")
        takes = ", ".join(f"`{name}`" + "*" * (name in needed) for name in calls.takes(row, "mcp"))
        lines.append(f"| `{calls.call_name(row)}` | {calls.description(row)} | {takes} |")
    reads = ", ".join(f"`{calls.call_name(row)}`" for row in calls.offered("mcp") if row.only_reads("mcp"))
    core = ", ".join(f"`{calls.call_name(row)}`" for row in calls.offered("mcp", "core"))
    return "\n".join([*lines, "", f"Only reading: {reads}.", "", f"The core (`--tools core`): {core}."])


def replace_table(page: str) -> str:
    """The page with the table as it is now."""
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{tools_table()}\n{END}", page,
                  flags=re.DOTALL)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(replace_table(Path(name).read_text()))
