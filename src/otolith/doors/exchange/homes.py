"""Homes of the systems Otolith grew out of, and homes of Otolith itself: same layout, so their files are
taken over.

RLM-MEM keeps `chunks/` and `allmemories/` (often under `brain/memory/`), local-memory `topics/` (often under
`data/`), cognitive-memory `graph/`, `vault/` and `episodes/`. Only what people and agents wrote is listed;
what is built from it comes back by itself. Nothing outside these names is ever read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import FileItem, Finding, Found
from otolith.errors import Invalid

SOURCE = "home"
_ROOTS = ("", "brain/memory/", "memory/", "data/")
_MAX_RECORD = 10 << 20
WRITTEN = {
    "rlm-mem": (r"chunks/\d{4}-\d\d/chunk-[\w-]+\.json", r"archive/chunk-[\w-]+\.json",
                r"allmemories/[^/]+\.md"),
    "local-memory": (r"topics/[^/]+/[^/]+/(?:raw\.md|meta\.json|summary\.json)",
                     r"topics/[^/]+/curation\.jsonl"),
    "cognitive-memory": (r"graph/[a-z-]+/[^/]+\.md", r"vault/(?:[^/]+/)?[^/]+\.md",
                         r"episodes/\d{4}-\d\d-\d\d\.md"),
    "otolith": (
        r"work/\d{4}-\d\d/mem_[\w-]+\.json",
        r"work/(?:agents|chapters|wisdom)/[\w.-]+\.json",
        r"work/cold/\d{4}-\d\d/mem_[\w-]+\.json\.gz",
        r"memories/.+",
        r"links\.jsonl",
    ),
}
# What tells a home from any folder that happens to have a `vault/` or a `memories/` in it.
_WITNESSES = {
    "rlm-mem": (r"chunks/\d{4}-\d\d/chunk-[\w-]+\.json", r"allmemories/[^/]+\.md"),
    "local-memory": (r"topics/[^/]+/[^/]+/(?:raw\.md|summary\.json)",),
    "cognitive-memory": (
        r"graph/(?:solutions|fixes|decisions|configurations|problems|workflows|code-patterns)/[^/]+\.md",
        r"graph/(?:errors|general|procedures|insights|edges)/[^/]+\.md",
        r"_index\.json",
        r"CORE\.md",
    ),
    "otolith": (r"otolith\.toml", r"work/\d{4}-\d\d/mem_[\w-]+\.json"),
}
_PATTERNS = {name: re.compile("|".join(patterns)) for name, patterns in WRITTEN.items()}
_SIGNS = {name: re.compile("|".join(patterns)) for name, patterns in _WITNESSES.items()}


def fits(bundle: Bundle) -> bool:
    """Whether records lie where one of the homes keeps them."""
    return bool(kinds(bundle))


def kinds(bundle: Bundle) -> list[str]:
    """Which systems' records it holds."""
    root = _root(bundle)
    if root is None:
        return []
    inner = [name.removeprefix(root) for name in bundle.names if name.startswith(root)]
    return [kind for kind, sign in _SIGNS.items() if any(map(sign.fullmatch, inner))]


def read(bundle: Bundle) -> Iterator[Found]:
    root = _root(bundle)
    if root is None:
        raise Invalid(f"{bundle.path.name} holds no records of a memory home")
    present = kinds(bundle)
    source = present[0] if len(present) == 1 else "otolith"
    for name in bundle.names:
        path = name.removeprefix(root)
        if not name.startswith(root) or not any(_PATTERNS[kind].fullmatch(path) for kind in present):
            continue
        try:
            data = bundle.read(name, _MAX_RECORD)
        except Invalid as error:
            yield Finding(where=name, message=error.message)
            continue
        yield FileItem(key=f"{source}:{path}", source=source, path=path, data=data)


def _root(bundle: Bundle) -> str | None:
    """Where in the bundle the home begins: at its top, in a place the originals use, or in a zip's only
    folder.
    """
    tops = {name.partition("/")[0] for name in bundle.names}
    wrapped = f"{next(iter(tops))}/" if len(tops) == 1 else ""
    for root in dict.fromkeys((*_ROOTS, *(wrapped + root for root in _ROOTS))):
        inner = [name.removeprefix(root) for name in bundle.names if name.startswith(root)]
        if any(sign.fullmatch(name) for sign in _SIGNS.values() for name in inner):
            return root
    return None
