"""Which files a shell command is about to change: patches, `sed -i`, `tee`, redirections.

What cannot be told from the words alone (variables, patterns, scripts) is left out: a missed file costs a
warning, a wrong one puts another file's past before the agent.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from posixpath import join

MOST = 20_000  # characters of a command that are read
PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,400})$|^\*\*\* Move to: (.{1,400})$",
                     re.MULTILINE)
_HEREDOC = re.compile(r"(<<-?\s*(['\"]?)(\w+)\2[^\n]*\n).*?^\s*\3\s*$", re.DOTALL | re.MULTILINE)
_SIGNS = re.compile(r">|\btee\b|\bsed\b|\*\*\* \w+ File: ")
_UNSURE = re.compile(r"[$*?`{}<>|&;()]|^/dev/|^-$|^$")
_BEFORE = ("sudo", "env", "command", "nice", "time")


def patched_files(text: str) -> list[str]:
    """The files that a patch names."""
    return [(update or moved).strip() for update, moved in PATCHED.findall(text)]


def edited_files(command: str) -> list[str]:
    """The files that a command names as those it writes to, each once, in its order."""
    command = command[:MOST]
    if not _SIGNS.search(command):
        return []
    named = [*patched_files(command), *_written(_HEREDOC.sub(r"\1", command))]
    return list(dict.fromkeys(path for path in named if not _UNSURE.search(path)))


def _written(command: str) -> Iterator[str]:
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=False, punctuation_chars=";&|<>()")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # a quote that does not end
        return
    folder, simple = "", list[str]()
    for at, word in enumerate([*words, ";"]):
        if word in (">", ">>", ">|", "&>", "&>>") and at + 1 < len(words):
            yield join(folder, _bare(words[at + 1]))
        elif word and set(word) <= set(";&|()"):
            if simple[:1] == ["cd"] and len(simple) == 2:
                folder = join(folder, simple[1])
            yield from (join(folder, path) for path in _arguments(simple))
            simple = []
        else:
            simple.append(_bare(word) if not set(word) & set("<>") else word)


def _bare(word: str) -> str:
    """A word without the quotes round it; until here they tell a `>` that is text from one that is not."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def _arguments(words: list[str]) -> Iterator[str]:
    """The files among the words of one simple command, if it is one that changes its arguments."""
    while words and (words[0] in _BEFORE or "=" in words[0]):
        words = words[1:]
    if not words:
        return
    program, rest = words[0].rpartition("/")[2], words[1:]
    rest = rest[: next((at for at, word in enumerate(rest) if set(word) & set("<>")), len(rest))]
    if program == "tee":
        yield from (word for word in rest if not word.startswith("-"))
    elif program in ("sed", "gsed") and any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in rest):
        scripts = any(re.match(r"-[a-zA-Z]*[ef]$|--(expression|file)", word) for word in rest)
        plain = [word for at, word in enumerate(rest) if word and not word.startswith("-")
                 and not (at and re.match(r"-[a-zA-Z]*[ef]$", rest[at - 1]))]
        yield from plain if scripts else plain[1:]  # without -e the first is the script
