"""Every clause of the seeds is named by a test, or stands in the one table of what is still missing.

The table may only shrink: `at_most` is lowered with every clause that leaves it.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

TESTS = Path(__file__).parent.parent
CLAUSES = [clause["id"] for clause in tomllib.loads((TESTS / "clauses.toml").read_text())["clause"]]
TABLE = tomllib.loads((Path(__file__).parent / "missing.toml").read_text())
MISSING: list[str] = TABLE["missing"]


def named() -> dict[str, list[str]]:
    """Clause → the tests that name it."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.clause":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}:{node.lineno} names no clause"
                    found.setdefault(str(argument.value), []).append(f"{path.name}:{node.lineno}")
    return found


def test_every_clause_is_named_by_a_test_or_listed_as_missing() -> None:
    assert sorted(set(CLAUSES) - named().keys() - set(MISSING)) == []


def test_no_clause_is_both_proved_and_missing() -> None:
    assert sorted(named().keys() & set(MISSING)) == []


def test_no_test_names_a_clause_that_is_none() -> None:
    known = set(CLAUSES)
    assert {clause: where for clause, where in named().items() if clause not in known} == {}
    assert set(MISSING) <= known


def test_every_clause_has_one_id_of_its_own() -> None:
    assert len(CLAUSES) == len(set(CLAUSES))
    assert len(MISSING) == len(set(MISSING))


def test_the_table_of_missing_clauses_only_shrinks() -> None:
    assert len(MISSING) == TABLE["at_most"], "lower at_most; it may never rise"


if __name__ == "__main__":  # write the table anew, after clauses were proved
    proved = named()
    left = [clause for clause in CLAUSES if clause not in proved]
    lines = "".join(f'  "{clause}",\n' for clause in left)
    (Path(__file__).parent / "missing.toml").write_text(
        "# Clauses that no test proves yet; `python tests/laws/test_clauses.py` writes this table. It may only shrink.\n"
        f"at_most = {len(left)}\nmissing = [\n{lines}]\n")
