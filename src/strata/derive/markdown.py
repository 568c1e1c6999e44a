"""How a title, a path and a preview look inside a Markdown line, so that no note can break the page it is listed on."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\\[\]])")
_UNSAFE = {sign: f"%{ord(sign):02X}" for sign in " ()<>%\n\r\t"}


def one_line(text: str, limit: int | None = None, ending: str = "...") -> str:
    """White space collapsed; longer than `limit` signs, cut and ended with `ending`."""
    if limit is None:
        return " ".join(text.split())
    line = " ".join(text[: limit * 20].split())  # enough for the cut, whatever the length of the text
    if len(line) <= limit:
        return line
    return line[:limit].rstrip() + ending


def link_to(title: str, path: str, limit: int = 200) -> str:
    """[title](path): brackets in the title are escaped, signs that would end the address are percent-encoded."""
    label = _SPECIAL.sub(r"\\\1", one_line(title, limit))
    return f"[{label}]({''.join(_UNSAFE.get(sign, sign) for sign in path)})"
