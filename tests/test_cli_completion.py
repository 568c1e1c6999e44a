"""Tab completion: what the shells ask, and a real bash that asks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ran
from otolith.memory import Memory
from otolith.model.kinds import KINDS, NOTE_TYPES
from otolith.verbs.table import table

Run = Callable[..., Ran]


def offered(run: Run, *words: str) -> list[str]:
    """The words that completion offers for the last one."""
    asked = run("complete", "--", *words)
    assert (asked.code, asked.err) == (0, "")
    return [line.split("\t")[0] for line in asked.out.splitlines() if line]


def test_the_first_word_is_a_verb(run: Run) -> None:
    assert offered(run, "") == [row.name for row in table().values() if "cli" in row.doors]
    assert offered(run, "un") == ["unlink", "unpin", "undo", "uninstall"]
    assert offered(run, "--home", "/tmp", "reca") == ["recall"]


def test_options_are_those_of_the_verb_and_of_every_command(run: Run) -> None:
    assert offered(run, "recall", "tea", "--s") == ["--since", "--successes", "--session"]
    assert offered(run, "trace", "--c") == ["--causes"]
    assert offered(run, "stats", "-") == ["--delivery", "--home", "--json", "--help", "--project", "--agent", "--session"]


def test_a_value_is_one_of_the_words_that_its_option_takes(run: Run) -> None:
    assert offered(run, "list", "--kind", "") == list(KINDS)
    assert offered(run, "note", "Tea", "--type", "") == list(NOTE_TYPES)
    assert offered(run, "review", "--topic", "") == []
    assert offered(run, "completion", "") == ["bash", "zsh", "fish"]
    assert offered(run, "link", "a", "SOL") == ["SOLVES"]


def test_titles_ids_tags_and_topics_come_from_the_index(run: Run, mem: Memory) -> None:
    tea = mem.note("Tea: how long", "Steep for three minutes.", tags=["drinks"])
    mem.note("Coffee", "Grind it.", tags=["drinks", "morning"])
    mem.log([{"role": "user", "content": "I live in Bremen."}], topic="home-town")

    assert offered(run, "get", "te") == ["Tea: how long"]
    assert offered(run, "get", tea.id[:8]) == [tea.id]
    assert {"Coffee", "Tea: how long"} <= set(offered(run, "pin", ""))
    assert offered(run, "list", "--tag", "") == ["drinks", "morning"]
    assert offered(run, "recall", "x", "--topic", "h") == ["home-town"]
    assert offered(run, "get", "Tea: how long", "") == []


def test_files_are_left_to_the_shell(run: Run) -> None:
    assert offered(run, "log", "") == []
    assert offered(run, "recall", "x", "--home", "") == []
    assert offered(run, "nonsense", "") == []


def test_completing_makes_no_home_and_takes_nothing_in(run: Run, home: Path, mem: Memory) -> None:
    assert offered(run, "get", "") == []
    assert not home.exists()
    mem.note("Tea", "Steep.")
    (home / "graph/general/by-hand.md").write_text("---\ntitle: By hand\n---\nText.\n")

    assert offered(run, "get", "") == ["Tea"]


@pytest.fixture
def bash(home: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """What a real bash makes of the words, the last of which is being typed."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    script = tmp_path / "completion.bash"
    env = {**os.environ, "OTOLITH_HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script.write_bytes(subprocess.run([sys.executable, "-m", "otolith", "completion", "bash"], env=env, check=True,
                                      capture_output=True).stdout)

    def complete(*words: str) -> list[str]:
        asked = (f'source {script}; complete -p otolith >/dev/null || exit 1; COMP_WORDS=("$@"); '
                 'COMP_CWORD=$(($# - 1)); _otolith; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", asked, "bash", *words], env=env, check=True,
                              capture_output=True, text=True)
        return [line for line in done.stdout.splitlines() if line]

    return complete


def test_bash_completes_verbs_options_kinds_and_tags(bash: Callable[..., list[str]], mem: Memory) -> None:
    mem.note("Tea", "Steep.", tags=["drinks"])

    assert bash("otolith", "rec") == ["record", "recall"]
    assert bash("otolith", "note", "T", "--imp") == ["--importance"]
    assert bash("otolith", "list", "--kind", "cha") == ["chapter"]
    assert bash("otolith", "list", "--tag", "d") == ["drinks"]


def test_bash_quotes_a_title_unless_it_is_being_quoted(bash: Callable[..., list[str]], mem: Memory) -> None:
    mem.note("Redis drops idle connections", "Set socket_keepalive.")

    assert bash("otolith", "get", "Red") == [r"Redis\ drops\ idle\ connections"]
    assert bash("otolith", "get", r"Redis\ dr") == [r"Redis\ drops\ idle\ connections"]
    assert bash("otolith", "get", "'Redis dr") == ["Redis drops idle connections"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_asks_otolith(run: Run, shell: str) -> None:
    script = run("completion", shell)

    assert script.code == 0
    assert "otolith complete -- " in script.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script.out, text=True, check=True)


# The other shells as they are: fish tells what it would offer, zsh is typed at on a terminal


def script_for(shell: str, home: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """The shell's script in a file, and the world to use it in; where there is no such shell, it is said and left out."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    env = {**os.environ, "OTOLITH_HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    made = subprocess.run([sys.executable, "-m", "otolith", "completion", shell], env=env, check=True, capture_output=True)
    script = folder / f"completion.{shell}"
    script.write_bytes(made.stdout)
    return script, env


def test_fish_completes_verbs_options_kinds_tags_and_titles(home: Path, tmp_path: Path, mem: Memory) -> None:
    mem.note("Redis: drops idle connections", "Set socket_keepalive.", tags=["drinks"])
    script, env = script_for("fish", home, tmp_path)

    def fish(line: str) -> list[str]:
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], env=env, check=True,
                              capture_output=True, text=True, timeout=120)
        return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

    assert set(fish("otolith rec")) == {"record", "recall"}
    assert fish("otolith note T --imp") == ["--importance"]
    assert fish("otolith list --kind cha") == ["chapter"]
    assert fish("otolith list --tag d") == ["drinks"]
    assert [offer.replace("\\", "") for offer in fish("otolith get Red")] == ["Redis: drops idle connections"]
    assert fish(f"otolith import {tmp_path}/completion") == [str(script)]  # a file, where nothing else fits


def typed_at_zsh(script: Path, env: dict[str, str], lines: list[str]) -> list[list[str]]:
    """The words into which a real zsh makes each line when Tab is pressed at its end."""
    import pty

    pid, wire = pty.fork()
    if pid == 0:  # pragma: no cover (the shell's own process)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**env, "TERM": "dumb", "ZDOTDIR": str(script.parent)})

    def read_until(mark: str) -> str:
        text = ""
        while mark not in text:
            text += os.read(wire, 65_536).decode("utf-8", "replace")
        return text

    try:
        os.write(wire, f"PS1= PS2= RPS1=; unsetopt zle_bracketed_paste prompt_sp; autoload -Uz compinit; compinit -u -D; "
                       f"source {script}; echo REA''DY\n".encode())
        read_until("READY")
        words = []
        for line in lines:  # Tab, then to the beginning of the line, and what it has become is printed
            os.write(wire, f"{line}\t".encode() + b"\x01print -rl -- BEG''IN \x05 E''ND\n")
            shown = read_until("\nEND").rpartition("BEGIN")[2].partition("\nEND")[0]
            words.append([word.strip() for word in shown.splitlines() if word.strip()][1:])
        return words
    finally:
        os.write(wire, b"exit\n")
        os.close(wire)
        os.waitpid(pid, 0)


def test_zsh_completes_verbs_options_kinds_tags_and_titles(home: Path, tmp_path: Path, mem: Memory) -> None:
    mem.note("Redis: drops idle connections", "Set socket_keepalive.", tags=["drinks"])
    script, env = script_for("zsh", home, tmp_path)

    typed = ["otolith recal", "otolith note T --imp", "otolith list --kind cha", "otolith list --tag d", "otolith get Red"]

    assert typed_at_zsh(script, env, typed) == [
        ["recall"], ["note", "T", "--importance"], ["list", "--kind", "chapter"], ["list", "--tag", "drinks"],
        ["get", "Redis: drops idle connections"]]
