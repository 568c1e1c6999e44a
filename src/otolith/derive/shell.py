"""Commands of a shell as deeds: which files one changes, what it checks, which commands are the same command
in another form, and which line of what it printed says why it failed.

Nothing is run and nothing is expanded: words are read as they stand, and what is not plain is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from posixpath import isabs, join, normpath

LINE = 200  # characters of an error line
FEW = 5  # lines of an output whose last line says it, if no word does
_PATCH = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.{1,400})$|^\*\*\* Move to: (.{1,400})$",
                    re.MULTILINE)
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n.*?^\s*\2\s*$", re.DOTALL | re.MULTILINE)
_REDIRECT = re.compile(r"(?<![0-9&<>=-])1?>>?\s*(\"[^\"]+\"|'[^']+'|[^\s;&|<>()\"']+)")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_STEP = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_NOISE = re.compile(r"\s*(?:\d?>&\d|\d?>>?\s*/dev/null|\|\s*(?:tail|head|tee|cat|less)\b[^|&;]*|"
                    r"\|\|\s*true\b)\s*")
_BEFORE = re.compile(r"^(?:\w+=\S*\s+|(?:sudo|time|nice|nohup|env|command|exec|npx|bunx|uvx)\s+(?:-\S+\s+)*|"
                     r"timeout\s+\S+\s+|(?:poetry|uv|pipenv|hatch|pdm)\s+run\s+|"
                     r"(?:bundle|pnpm|npm|yarn)\s+exec\s+|\S*python[\d.]*\s+-m\s+)+")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\[[0-9;]{1,15}m")
_SUBCOMMAND = re.compile(r"[a-z][a-z:_-]*")
LOOKS = frozenset(
    """ls cat head tail grep rg egrep find fd wc pwd which type file stat tree du diff echo printf test jq
    less sort uniq awk cut man sleep ps kill pkill lsof true false curl wget [ [not git cd export set source
    mkdir""".split())
# What a command checks, by the words at its start; the first row that fits.
CHECKS = tuple((name, re.compile(rf"(?<![\w-])(?:{words})(?![\w-])")) for name, words in (
    ("test", r"pytest|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|unittest|tests?|spec|e2e"),
    ("typecheck", r"tsc|mypy|pyright|typecheck|type-check|flow|vue-tsc"),
    ("lint", r"\S*lint\S*|ruff|flake8|clippy|vet|rubocop|prettier|fmt|gofmt|black|shellcheck"),
    ("build", r"build|compile|make|cmake|gradle|gradlew|mvn|xcodebuild|ninja|bundle|check|install|tidy|"
     r"validate|verify")))
_TELLS = re.compile(
    r"""\b(?:error|fatal|cannot|can't|could\ not|couldn't|undefined|unresolved|failed|failure|fail|panic|
    exception|not\ found|no\ such|denied|refused|unexpected|expected|missing|invalid|unknown|unused|not\ used|
    timed\ out|does\ not\ exist|is\ not\ (?:set|defined|installed)|abort(?:ed)?)\b|\w(?:Error|Exception)\b|
    ^E\s|✖|✗|×""", re.IGNORECASE | re.VERBOSE)
_NAMES = re.compile(r"\w+(?:Error|Exception)\b[^:]*:|\berror\b.{0,20}:|\bfatal:|\.\w+:\d+|"
                    r"\b(?:undefined|not used|unused|not found|cannot find)\b|^E\s{2,}",
                    re.IGNORECASE)  # a line that names the thing
_EMPTY = re.compile(r"^(?:Exit code \d+|Traceback .*|</?\w*error>|[-=~*#\s─━│╭╮╰╯┌┐└┘|]+|"
                    r"FAIL(?:\s+\S+\s+[\d.]+s)?|(?:=== RUN|--- PASS|PASS|ok)\b.*|.*\(\d+\.\d+s\)|"
                    r"\d+ (?:issues?|errors?):?|\[?…\]?(?: .*)?)$", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:0|no) (?:errors?|failed|failures?|issues?)\b", re.IGNORECASE)


def bare(command: str) -> str:
    """A command as it is told: without what only shapes its output, on one line."""
    return " ".join(_HEREDOC.sub(" ", _NOISE.sub(" ", command)).split())


def steps(command: str) -> list[str]:
    """The commands of a line, one after another; the texts of here-documents are no commands."""
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\0{len(held) - 1}\0"

    text = _HEREDOC.sub(lambda match: match[3] + "\n", command.strip())
    parts = _STEP.split(_QUOTED.sub(hold, text))
    whole = (re.sub(r"\0(\d+)\0", lambda match: held[int(match[1])], part).strip() for part in parts)
    return [step for step in whole if step]


def head(step: str) -> str:
    """What names a command whatever it is given: its program and subcommand, without versions and folders."""
    words = _BEFORE.sub("", step).split()
    if not words:
        return ""
    program = words[0].strip("\"'").rsplit("/", 1)[-1]
    program = re.sub(r"(?<=[a-z])[\d.]+$", "", program)
    return f"{program} {words[1]}" if len(words) > 1 and _SUBCOMMAND.fullmatch(words[1]) else program


def deeds_of(command: str) -> list[str]:
    """The steps of a line that do something, besides looking and changing folder."""
    plain = (_NOISE.sub(" ", step).strip() for step in steps(command))
    return [step for step in plain
            if head(step).partition(" ")[0] not in LOOKS and not re.fullmatch(r"\w+=\S*", step)]


def heads(command: str) -> frozenset[str]:
    return frozenset(filter(None, map(head, deeds_of(command))))


def check_of(command: str) -> str:
    """What a command checks: test, typecheck, lint, build; empty if nothing."""
    for step in reversed(deeds_of(command)):
        given = _BEFORE.sub("", step).split()[:6]
        words = " ".join([word for word in given if not re.match(r"[-/\"']|\.+(?!/)", word)][:3])
        for name, pattern in CHECKS:
            if pattern.search(re.sub(r"[_:/.]|(?<=[a-z])(?=[A-Z])", " ", words)):
                return name
    return ""


def changed_files(command: str, folder: str = "") -> list[tuple[str, str]]:
    """(path, edit|create|delete) of the files that a line plainly changes."""
    changes = [(update or moved, {"Add": "create", "Delete": "delete"}.get(verb, "edit"))
               for verb, update, moved in _PATCH.findall(command)]
    base: str | None = folder
    for step in steps(command) if not changes else ():
        if match := re.fullmatch(r"(?:cd|pushd)\s+(\"[^\"]+\"|'[^']+'|\S+)", step):
            target = match[1].strip("\"'")
            plain = not re.search(r"[$~`]", target) and (base is not None or isabs(target))
            base = normpath(join(base or "", target)) if plain else None
            continue
        for path, what in (*_redirected(step), *_by_program(step)):
            if isabs(path) or base is not None:
                changes.append((path if isabs(path) else normpath(join(base or "", path)), what))
    return [(path, what) for path, what in dict.fromkeys(changes) if _is_path(path)]


def _redirected(step: str) -> Iterator[tuple[str, str]]:
    blank = _QUOTED.sub(lambda match: match[0] if re.search(r">\s*$", step[: match.start()]) else "''", step)
    for match in _REDIRECT.finditer(blank):
        yield match[1].strip("\"'"), "edit" if ">>" in match[0] else "create"


def _by_program(step: str) -> Iterator[tuple[str, str]]:
    try:
        words = shlex.split(_BEFORE.sub("", step))
    except ValueError:
        return
    words = words[1:] if words[:1] == ["git"] else words
    program, given = (words[0].rsplit("/", 1)[-1], words[1:]) if words else ("", [])
    flags = [word for word in given if word.startswith("-")]
    plain = [word for word in given if not word.startswith("-")]
    if program in ("sed", "perl") and any(re.match(r"-(?:i|\w*pi|-in-place)", flag) for flag in flags):
        yield from ((word, "edit") for word in plain[1:])  # the first is the script, given with -e or without
    elif program == "tee":
        yield from ((word, "edit" if "-a" in flags else "create") for word in plain)
    elif program in ("rm", "unlink"):
        yield from ((word, "delete") for word in plain)
    elif program in ("mv", "cp") and len(plain) == 2:
        yield from ([(plain[0], "delete")] if program == "mv" else [])
        yield plain[1], "create"


def _is_path(word: str) -> bool:
    """A plain name of a file: no variable, pattern or device."""
    odd = re.search(r"[$*?`{}=\s]|^/dev/|^[&-]", word)
    return not odd and bool(re.search(r"\w\.\w|/\.?\w|^\.?\w+$", word))


def tell_error(result: str) -> str:
    """The line of an output that says what went wrong, on one line."""
    given = (re.sub(r"^\(eval\):\d+:\s*", "", _ANSI.sub("", line)) for line in result.splitlines())
    lines = [line for line in (line.strip(" \t│┃|>") for line in given) if line and not _EMPTY.match(line)]
    telling = [line for line in lines if _TELLS.search(line) and not _NOTHING.search(line)]
    last = lines[-1:] if len(lines) <= FEW else []
    line = next((line for line in telling if _NAMES.search(line)), (telling or last or [""])[0])
    return line if len(line) <= LINE else f"{line[: LINE - 1].rsplit(' ', 1)[0]}…"
