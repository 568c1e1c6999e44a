"""`make clients`: real coding agents, driven headless through a scripted model on loopback.

    python -m tests.clients [--folder FOLDER] [--keep FOLDER] [--runs 20] [--only CHECK] [--write] [CLIENT…]

Each check is one line of docs/CLIENTS.md (`--write`). Results are kept below the folder as they come, so that a
part may be run again by itself: what was not run now stands in the table as it was last seen with the same
version. `--keep` takes a copy of the transcripts that the clients wrote.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.clients.agents import CLIENTS, install_clients
from tests.clients.story import CHECKS, Story

PAGE = Path(__file__).parents[2] / "docs/CLIENTS.md"
BEGIN, END = "<!-- made by make clients -->", "<!-- end -->"

Seen = dict[str, dict[str, dict[str, str]]]  # client and version: check: line of the table: result


def report(seen: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    lines = list(dict.fromkeys(line for check in CHECKS for found in seen.values() for line in found.get(check, ())))
    results = {client: {line: result for rows in found.values() for line, result in rows.items()}
               for client, found in seen.items()}
    return "\n".join(["| | " + " | ".join(seen) + " |", "|---" * (len(seen) + 1) + "|",
                      *(f"| {line} | " + " | ".join(rows.get(line, "–") for rows in results.values()) + " |" for line in lines)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", default=[])
    parser.add_argument("--folder", type=Path, default=Path(".clients"))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", choices=CHECKS, action="append")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    chosen = [client for client in CLIENTS if not args.clients or client.name in args.clients]
    versions = install_clients(args.folder, [client.name for client in chosen])
    file = args.folder / "seen.json"
    seen: Seen = json.loads(file.read_text()) if file.exists() else {}
    with tempfile.TemporaryDirectory(prefix="otolith-clients-", ignore_cleanup_errors=True) as folder:
        for client in [client for client in chosen if client.name in versions]:
            name = f"{client.name} {versions[client.name]}"
            seen = {other: found for other, found in seen.items() if other == name or other.split()[0] != client.name}
            for check in args.only or CHECKS:
                story = Story(client, (args.folder / "node_modules/.bin").absolute(), Path(folder), args.keep)
                try:
                    story.busy(args.runs) if check == "busy" else getattr(story, check)()
                except Exception as error:
                    story.check(check, False, " ".join(str(error).split())[:300])
                seen.setdefault(name, {})[check] = story.results
                file.write_text(json.dumps(seen, indent=1))
    order = [client.name for client in CLIENTS]
    table = report({name: seen[name] for name in sorted(seen, key=lambda name: order.index(name.split()[0]))})
    print(table)
    if args.write:
        page = PAGE.read_text()
        PAGE.write_text(re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{table}\n{END}", page,
                               flags=re.DOTALL))
    return int("**no**" in table)


if __name__ == "__main__":
    sys.exit(main())
