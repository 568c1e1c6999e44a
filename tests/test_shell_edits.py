"""Files that a shell command changes are seen before it runs, and no others."""

from __future__ import annotations

import pytest

from otolith.doors.agents.shell_edits import edited_files

PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a/b.py\n@@\n-x > 1\n+y\n*** End Patch\nEOF"


@pytest.mark.parametrize(("command", "files"), [
    ("sed -i 's/a/b/' a.py b.py", ["a.py", "b.py"]),
    ("sed -i.bak -e s/a/b/ x.ts && cat y", ["x.ts"]),
    ("sed -i '' 's/a/b/' mac.py", ["mac.py"]),
    ("cat > src/x.py <<'EOF'\nif a > b: tee z\nEOF", ["src/x.py"]),
    ("echo hi | tee -a log.txt > /dev/null", ["log.txt"]),
    (PATCH, ["a/b.py"]),
    ("cd sub && echo 1 >> 'q r.txt'", ["sub/q r.txt"]),
    ("cd /x/y; FOO=1 sudo tee conf", ["/x/y/conf"]),
    ("ls 2>&1 > $OUT", []),
    ("grep '>' a.py", []),
    ("sed -n 1,5p a.py", []),
    ("awk '{print > 5}' f", []),
    ("git commit -m 'a > b'", []),
    ("echo 'it does not end > x", []),
    ("python -m pytest", []),
])  # fmt: skip
def test_a_command_names_the_files_it_writes_to(command: str, files: list[str]) -> None:
    assert edited_files(command) == files
