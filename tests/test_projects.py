"""What a project is: the main git work tree, else the folder, else nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from otolith.config import find_project


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "me").mkdir()
    return {"HOME": str(tmp_path / "me"), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def repository(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    if remote:
        subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", remote], check=True)
    return folder


def test_a_subfolder_belongs_to_the_repository_above_it(tmp_path: Path, env: dict[str, str]) -> None:
    deep = repository(tmp_path / "tide") / "src" / "app"
    deep.mkdir(parents=True)
    assert find_project(str(deep), env) == find_project(str(tmp_path / "tide"), env) == "tide"


def test_a_linked_work_tree_belongs_to_the_main_one(tmp_path: Path, env: dict[str, str]) -> None:
    main = repository(tmp_path / "tide")
    git = ["git", "-C", str(main), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "elsewhere" / "tide-fix")], check=True)
    assert find_project(str(tmp_path / "elsewhere" / "tide-fix"), env) == "tide"


def test_a_second_repository_of_the_same_name_gets_another_and_keeps_it(tmp_path: Path, env: dict[str, str]) -> None:
    first, second = repository(tmp_path / "a" / "tide"), repository(tmp_path / "b" / "tide", "https://example.org/tide.git")
    names = [find_project(str(folder), env) for folder in (first, second, first, second)]
    assert names[0] == names[2] == "tide"
    assert names[1] == names[3] != "tide"
    assert str(names[1]).startswith("tide-")
    assert len(str(names[1])) == len("tide-") + 4


def test_a_repository_that_was_moved_keeps_its_name(tmp_path: Path, env: dict[str, str]) -> None:
    before = repository(tmp_path / "a" / "tide")
    assert find_project(str(before), env) == "tide"
    (tmp_path / "b").mkdir()
    before.rename(tmp_path / "b" / "tide")
    assert find_project(str(tmp_path / "b" / "tide"), env) == "tide"


def test_home_root_and_temporary_folders_are_no_project(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "me" / ".git").mkdir()
    loose = tmp_path / "scratch"
    loose.mkdir()
    assert find_project(env["HOME"], env) is None
    assert find_project("/", env) is None
    assert find_project(str(loose), {**env, "TMPDIR": str(tmp_path)}) is None


def test_a_plain_folder_has_its_own_name(env: dict[str, str]) -> None:
    assert find_project("/usr/share", {**env, "TMPDIR": "/nowhere"}) == "share"
