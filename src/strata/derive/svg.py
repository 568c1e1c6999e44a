"""SVG as text: one element, one page. Every value is escaped here, so no title can break out of its label."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def element(name: str, content: str | None = None, *inner: str, **attributes: str | float) -> str:
    """<name …>content inner</name>; an attribute's underscore is a dash, floats have one decimal."""
    pairs = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    body = escape(content or "", quote=False) + "".join(inner)
    return f"<{name}{pairs}>{body}</{name}>" if body else f"<{name}{pairs}/>"


def _value(value: str | float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else escape(str(value))


def page(title: str, shapes: Iterable[str], *, wide: int, high: int, size: int = 11) -> str:
    """A picture that stands alone: its own name, a white ground."""
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
            f'role="img" font-family="sans-serif" font-size="{size}">')
    ground = element("rect", width=wide, height=high, fill="#fff")
    return "\n".join([head, element("title", title), ground, *shapes, "</svg>"]) + "\n"
