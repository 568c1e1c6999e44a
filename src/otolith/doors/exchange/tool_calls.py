"""Tool calls of coding agents in one form, whatever the program calls its tools and their arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.items import words
from otolith.model.events import Call

RESULT_CHARACTERS = 4_000
_OPERATIONS = {name: operation for operation, names in (
    ("read", "read readfile readmanyfiles notebookread viewimage view openfile"),
    ("edit", "edit multiedit notebookedit replace searchreplace editfile strreplace applypatch patch "
             "applydiff"),
    ("create", "write writefile createfile"),
    ("delete", "deletefile delete"),
    ("run", "bash shell localshell localshellcall exec execcommand runshellcommand runterminalcmd "
            "commandexecution containerexec powershell"),
    ("search", "grep glob ls list listdirectory searchfilecontent websearch webfetch googlewebsearch "
               "toolsearch codebasesearch grepsearch filesearch listdir"),
) for name in names.split()}
_FILES = ("file_path", "filePath", "notebook_path", "absolute_path", "target_file", "path", "filename")
_OLD, _NEW = ("old_string", "oldString", "old_str"), ("new_string", "newString", "new_str", "new_source")
_PATCHED = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.{1,400})$|^\*\*\* Move to: (.{1,400})$",
                      re.MULTILINE)
_EXIT = re.compile(r"(?:Exit code:?|exited with code|exit code:?) (-?\d+)", re.IGNORECASE)
_FAILED = re.compile(r"\s*(?:Error\b|error:|fatal:)|^<tool_use_error>", re.MULTILINE)


def describe(tool: str, given: Any) -> Call:
    """A call before anything is known of its result."""
    given = given if isinstance(given, Mapping) else {"input": given}
    name = re.sub(r"[^a-z]", "", tool.lower().rpartition("__")[2])
    operation = _OPERATIONS.get(name, "other")
    command = _command(given)
    texts = [words(given.get(key)) for key in ("input", "patch", "patchText", "diff")]
    if patch := next((text for text in (*texts, command) if _PATCHED.search(text)), ""):
        edits = tuple(_patched(patch))
        verbs = tuple({verb for verb, _, _ in _PATCHED.findall(patch) if verb})
        return Call(tool, {("Add",): "create", ("Delete",): "delete"}.get(verbs, "edit"),
                    tuple(dict.fromkeys(path for path, _, _ in edits)), edits=edits)
    files = () if operation in ("run", "search") else _files(given)
    edits = tuple(_edits(files[0], given)) if files and operation in ("edit", "create") else ()
    return Call(tool, operation, files, command if operation == "run" else "", edits)


def _files(given: Mapping[str, Any]) -> tuple[str, ...]:
    several = given.get("paths")
    paths = [words(given.get(key)).strip() for key in _FILES]
    paths += [words(path).strip() for path in several] if isinstance(several, list) else []
    return tuple(dict.fromkeys(path for path in paths if path))


def _command(given: Mapping[str, Any]) -> str:
    for key in ("command", "cmd", "input", "script"):
        value = given.get(key)
        if isinstance(value, list):
            parts = [words(part) for part in value]
            return parts[2] if len(parts) == 3 and parts[1] in ("-lc", "-c") else " ".join(parts)
        if isinstance(value, str) and value.strip():
            return words(value)
    action = given.get("action")
    return _command(action) if isinstance(action, Mapping) else ""


def _edits(path: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    several = given.get("edits")
    for each in several if isinstance(several, list) else [given]:
        if isinstance(each, Mapping):
            old = next((words(each[key]) for key in _OLD if key in each), "")
            new = next((words(each[key]) for key in (*_NEW, "content") if key in each), "")
            if old or new:
                yield path, old, new


def _patched(patch: str) -> Iterator[tuple[str, str, str]]:
    """Every file of a patch in the form of apply_patch, with the lines that went and that came."""
    heads = list(_PATCHED.finditer(patch))
    for head, stop in zip(heads, [*(later.start() for later in heads[1:]), len(patch)], strict=True):
        lines = patch[head.end() : stop].splitlines()
        old = "\n".join(line[1:] for line in lines if line.startswith("-"))
        new = "\n".join(line[1:] for line in lines if line.startswith("+"))
        yield (head[2] or head[3]).strip(), old, new


def resolve(call: Call, result: Any, failed: bool | None = None) -> Call:
    """The call with what the tool answered; `failed` is what the program itself says of it."""
    text = _text(result).strip()
    code = _exit_code(result, text)
    if failed is None:
        failed = code != 0 if code is not None else bool(_FAILED.match(text))
    return call._replace(ok=not failed, result=clip(text))


def _exit_code(result: Any, text: str) -> int | None:
    """Codex wraps a result into JSON with its exit code; others write it into the first line."""
    if isinstance(result, Mapping):
        for holder in (result, result.get("metadata")):
            if isinstance(holder, Mapping) and isinstance(holder.get("exit_code"), int):
                return int(holder["exit_code"])
    code = _EXIT.search(text[:200])
    return int(code[1]) if code else None


def _text(result: Any) -> str:
    if isinstance(result, str):
        return words(result)
    if isinstance(result, list):
        return "\n".join(filter(None, map(_text, result)))
    if isinstance(result, Mapping):
        for key in ("output", "text", "content", "stdout", "llmContent", "error"):
            if result.get(key):
                return _text(result[key])
    return ""


def unwrap(result: Any) -> Any:
    """A result that is JSON in a text, as Codex writes shell results, as the object it is."""
    if isinstance(result, str) and result.startswith('{"'):
        try:
            value = json.loads(result)
        except (ValueError, RecursionError):
            return result
        return value if isinstance(value, dict) and {"output", "metadata"} & value.keys() else result
    return result


def clip(text: str) -> str:
    """A long result by its first and last lines: what failed is said at either end."""
    if len(text) <= RESULT_CHARACTERS:
        return text
    half = RESULT_CHARACTERS // 2
    head, tail = text[:half], text[-half:]
    return f"{head.rpartition(chr(10))[0] or head}\n[…]\n{tail.partition(chr(10))[2] or tail}"
