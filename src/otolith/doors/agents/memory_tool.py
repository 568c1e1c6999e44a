"""A backend for Anthropic's memory tool (memory_20250818) over the pages of a home, and nothing else of it.

`MemoryTool(mem).run(command)` takes a command as the model sends it and answers in the words of the SDK's own
file-system backend; a refusal is a `CommandRefused` with those words. `anthropic_tool(mem)` wraps it for the
SDK's tool runner. Deleting forgets: the page goes to the archive and can be restored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from otolith.errors import Conflict, Invalid, NotFound, OtolithError
from otolith.verbs import notes as pages

if TYPE_CHECKING:
    from otolith.home import Loaded
    from otolith.memory import Memory

ROOT = "/memories"
MAX_LINES = 999_999
WIDTH = len(str(MAX_LINES))


class CommandRefused(Invalid):
    """A command that was not carried out; the message is what the model should see."""


class MemoryTool:
    """The six commands over one home."""

    def __init__(self, mem: Memory) -> None:
        self.mem = mem

    def run(self, command: Mapping[str, Any]) -> str:
        """Carry out one command as the model sent it."""
        acts: dict[Any, Callable[..., str]] = {
            "view": self.view, "create": self.create, "str_replace": self.str_replace, "insert": self.insert,
            "delete": self.delete, "rename": self.rename}
        name = command.get("command")
        if not isinstance(name, str) or name not in acts:
            raise CommandRefused(f"Unknown command: {name}")
        given = {key: value for key, value in command.items() if key != "command"}
        for key, value in given.items():
            _check(key, value)
        try:
            return acts[name](**given)
        except TypeError as error:
            raise CommandRefused(f"The command {name} was given the wrong fields: {error}") from None

    def view(self, path: str, view_range: list[int] | None = None) -> str:
        name = _inside(path)
        page = self._page(name)
        if page is None:
            return self._folder(name, path)
        lines = page.record.text.split("\n")
        if len(lines) > MAX_LINES:
            raise CommandRefused(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first = 0
        if view_range and len(view_range) == 2:
            first = max(1, view_range[0]) - 1
            lines = lines[first : len(lines) if view_range[1] == -1 else view_range[1]]
        return f"Here's the content of {path} with line numbers:\n" + _numbered(lines, first + 1)

    def create(self, path: str, file_text: str) -> str:
        name = _inside(path)
        try:
            _kept(lambda: pages.write_page(self.mem.home, name, file_text))
        except Conflict:
            raise CommandRefused(f"File {path} already exists") from None
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str = "") -> str:
        page = self._must(path)
        text: str = page.record.text
        found = [at for at in range(len(text)) if text.startswith(old_str, at)] if old_str else []
        if not found:
            raise CommandRefused(
                f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
        if len(found) > 1:
            where = ", ".join(str(text[:at].count("\n") + 1) for at in found)
            raise CommandRefused(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: "
                f"{where}. "
                          "Please ensure it is unique")
        new = text[: found[0]] + new_str + text[found[0] + len(old_str) :]
        self._write(page, new)
        at = text[: found[0]].count("\n")
        start, lines = max(0, at - 2), new.split("\n")
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
                + _numbered(lines[start : at + 3], start + 1))

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        page = self._must(path)
        lines = page.record.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise CommandRefused(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, "
                f"{len(lines)}].")
        lines.insert(insert_line, insert_text.rstrip("\n"))
        new = "\n".join(lines)
        self._write(page, new if new.endswith("\n") else f"{new}\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        name = _inside(path)
        if not name:
            raise CommandRefused("Cannot delete the /memories directory itself")
        for below in self._all(name, path):
            pages.forget_page(self.mem.home, below)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _inside(old_path), _inside(new_path)
        if not old:
            raise CommandRefused("Cannot rename the /memories directory itself")
        if self._page(new) or not new or any(True for _ in pages.pages_below(self.mem.home, new)):
            raise CommandRefused(f"The destination {new_path} already exists")
        names = self._all(old, old_path)
        if f"{new}/".startswith(f"{old}/"):
            raise CommandRefused(f"{new_path} lies inside {old_path}")
        for below in names:
            _kept(partial(pages.move_page, self.mem.home, below, new + below[len(old) :]))
        return f"Successfully renamed {old_path} to {new_path}"

    def _page(self, name: str) -> Loaded | None:
        return _kept(lambda: pages.find_page(self.mem.home, name)) if name else None

    def _must(self, path: str) -> Loaded:
        name = _inside(path)
        page = self._page(name)
        if page is None:
            if not name or any(True for _ in pages.pages_below(self.mem.home, name)):
                raise CommandRefused(f"The path {path} is not a file.")
            raise CommandRefused(f"The path {path} does not exist. Please provide a valid path.")
        return page

    def _all(self, name: str, path: str) -> list[str]:
        """The page of that name, or the pages of that folder."""
        if self._page(name):
            return [name]
        below = [page for page, _ in pages.pages_below(self.mem.home, name)]
        if not below:
            raise CommandRefused(f"The path {path} does not exist")
        return below

    def _write(self, page: Loaded, text: str) -> None:
        _kept(lambda: pages.write_page(self.mem.home, page.record.id, text, page))

    def _folder(self, name: str, path: str) -> str:
        sizes = dict(pages.pages_below(self.mem.home, name))
        if name and not sizes:
            raise CommandRefused(f"The path {path} does not exist. Please provide a valid path.")
        shown: dict[str, int] = {}
        for page, size in sizes.items():
            parts = page[len(name) :].strip("/").split("/")
            for depth in range(1, min(len(parts), 3)):
                folder = "/".join(parts[:depth]) + "/"
                shown[folder] = shown.get(folder, 0) + size
            if len(parts) <= 2:
                shown["/".join(parts)] = size
        lines = [f"{_size(sum(sizes.values()))}\t{path}"]
        inner = sorted(shown, key=lambda item: item.rstrip("/").split("/"))
        lines += [f"{_size(shown[item])}\t{path}/{item}" for item in inner]
        header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return header + "\n" + "\n".join(lines)


def _check(key: str, value: Any) -> None:
    """Refuse a field of the wrong type; what a path is, is told where it is used."""
    if key in ("file_text", "old_str", "new_str", "insert_text") and not isinstance(value, str):
        raise CommandRefused(f"{key} must be a string, got: {value}")
    if key == "insert_line" and type(value) is not int:
        raise CommandRefused(f"{key} must be a whole number, got: {value}")
    if (key == "view_range" and not (value is None or (isinstance(value, list)
                                                       and all(type(one) is int for one in value)))):
        raise CommandRefused(f"{key} must be a list of two whole numbers, got: {value}")


def _inside(path: Any) -> str:
    """The page's name, if the path stays below /memories."""
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise CommandRefused(f"Path must start with /memories, got: {path}")
    try:
        return pages.check_page(path[len(ROOT) :])
    except Invalid:
        raise CommandRefused(f"Path {path} would escape /memories directory") from None


def _kept(act: Any) -> Any:
    """A write whose refusal the model can read; a clash is told by whoever knows what it means."""
    try:
        return act()
    except Conflict:
        raise
    except (Invalid, NotFound) as error:
        raise CommandRefused(str(error)) from None


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{str(number).rjust(WIDTH)}\t{line}" for number, line in enumerate(lines, first))


def _size(count: int) -> str:
    if count == 0:
        return "0B"
    step = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**step
    return f"{int(size)}{'BKMG'[step]}" if size == int(size) else f"{size:.1f}{'BKMG'[step]}"


def anthropic_tool(mem: Memory) -> Any:
    """The backend as a tool of Anthropic's SDK, for `client.beta.messages.tool_runner`."""
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

    backend = MemoryTool(mem)

    class OtolithMemoryTool(BetaAbstractMemoryTool):
        def execute(self, command: Any) -> str:
            fields = {name: value for name, value in command.to_dict().items() if value is not None}
            try:
                return backend.run(fields)
            except OtolithError as error:
                raise ToolError(error.message) from None

        view = create = str_replace = insert = delete = rename = execute

    return OtolithMemoryTool()
