"""Markdown records: notes and edges (front matter), memos (header lines), episodes (a day's diary).

Reading is lenient where people write by hand and exact where meaning could change; new files follow the seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from otolith.errors import Damaged, Invalid
from otolith.files import front
from otolith.model.ids import derived_uuid, episode_ids
from otolith.model.kinds import KINDS, PROCEDURE_LISTS
from otolith.model.memo import Memo
from otolith.model.note import DIRECTIONS, Episode
from otolith.model.times import offset

_MERGE = r"(?ms)^<{7} [^\n]*\n(?P<ours>.*?)^={7}\r?$(?P<theirs>.*?)^>{7} "
_FENCED = r"(?ms)^(`{3,}|~{3,})[^\n]*\n.*?(?:^\1|\Z)"
_HEADER = r"(?m)^\*\*(?P<key>[^*:\n]{1,40}):\*\*[ \t]*(?P<value>[^\r\n]*?)[ \t]*\r?$"
_RULE = r"(?m)^---[ \t]*\r?$"
_EPISODE = r"(?m)^## (?P<time>\d\d:\d\d) - (?P<heading>[^\r\n]*)"
_LINE = r"(?m)^- \*\*(?P<key>Type|Tags|Memory|Summary):\*\*[ \t]*(?P<value>[^\r\n]*)"
_DEPRECATED = r"(?m)^DEPRECATED: See valid [^\n]*? in \[?(?P<name>[^\]\s]+?)(?:\.md)?\]?\.?[ \t]*\r?$"
_LISTED = ("tags", "aliases", *PROCEDURE_LISTS)
_OWN = {"id", "created_at"}
_TOLD = {"id", "type", "title", "importance", "created_at"}  # with these there is nothing to guess
_RENAMED = {"created": "created_at", "updated": "updated_at"}
_NAMES = {inner: outer for outer, inner in _RENAMED.items()}


def text_of(data: bytes) -> str:
    """The file as text; bad bytes and NULs are damage with a line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Damaged("not UTF-8 text", "save the file as UTF-8", flaw="encoding", line=line) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise Damaged("holds a NUL byte", "remove it", flaw="nul", line=line)
    if "<<<<<<< " in text and (merge := re.search(_MERGE, re.sub(_FENCED, _blanked, text))):
        line = text.count("\n", 0, merge.start()) + 1
        ours, theirs = (" ".join(merge[side].split())[:200] for side in ("ours", "theirs"))
        raise Damaged(f"both sides changed it: here {ours!r}, there {theirs!r}",
                      "keep what is right, remove the marker lines", flaw="merge-markers", line=line)
    return text


def _blanked(fenced: re.Match[str]) -> str:
    """Fenced code may show merge markers; its characters become spaces, their number kept."""
    return re.sub(r"[^\n]", " ", fenced[0])


def read_front(kind: str, path: str, data: bytes, modified: Callable[[], float]) -> Any:
    """A record with front matter. What a file of another tool leaves out is told by its place, heading and
    time, where the class can guess it.
    """
    shape = KINDS[kind].shape
    text, guess = text_of(data), getattr(shape, "guess", None)
    taken = front.split(text)
    if taken is None and guess is None:
        needed = [name for name in shape._fields if name in shape._needed - {*_OWN, "updated_at"}]
        raise Damaged(f"{KINDS[kind].named} needs front matter with {', '.join(needed)}", flaw="front-matter",
                      line=1)
    fields = _keys(taken.yaml) if taken else {}
    body = taken.body if taken else text.removeprefix("\ufeff")
    if not fields.keys() >= (_TOLD if guess else _OWN):
        fields = {"id": derived_uuid("file", path), "created_at": offset(modified()),
                  **(guess(path, _heading(body)) if guess else {}), **fields}
    fields.setdefault("updated_at", fields["created_at"])
    for key in _LISTED:
        if key in fields and key in shape._fields:
            fields[key] = _strings(fields[key], split_words=key == "tags")
    if "relations" in fields and "relations" in shape._fields:
        fields["relations"] = _relations(fields["relations"])
    if "pinned" in shape._fields:
        fields["pinned"] = path.startswith("vault/")
    fields["text"] = body.strip("\r\n").replace("\r\n", "\n")
    return shape.from_dict(fields)


def _keys(yaml: str) -> dict[str, Any]:
    fields = front.parse(yaml)
    if None in fields.values() or {*map(type, fields)} - {str}:
        fields = {str(key): value for key, value in fields.items() if value is not None}
    for outer, inner in _RENAMED.items():
        if outer in fields:
            fields[inner] = fields.pop(outer)
    for key in ("created_at", "updated_at", "title", "from_title", "to_title"):
        if key in fields and not isinstance(fields[key], str):
            fields[key] = str(fields[key])  # title: 2024 is a title
    return fields


def _strings(value: Any, *, split_words: bool) -> Any:
    """A list of strings from what people write: a list, one word, `a, b`, or a JSON list in a string."""
    if isinstance(value, str):
        inner = value.strip()
        if inner.startswith("[") and inner.endswith("]"):
            inner = inner[1:-1]
        items = re.split(r"[,\n]", inner) if split_words else [value]
        return [item.strip().strip("\"'").lstrip("#") for item in items if item.strip()]
    if isinstance(value, list):
        return [str(item).lstrip("#") if split_words else str(item) for item in value if item is not None]
    return value


def _relations(value: Any) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Invalid("relations must be a list of objects")
    return [{"direction": DIRECTIONS[0], **{key: part for key, part in item.items() if part is not None}}
            for item in value]


def _heading(body: str) -> str:
    heading = re.search(r"^# +([^\r\n]+)", body, re.MULTILINE)
    return heading[1].strip() if heading else ""


def front_fields(record: Any) -> dict[str, Any]:
    """A record's front matter, key by key, in the seed's order."""
    fields = record.to_dict()
    for key in ("pinned", "text"):
        if key in record._fields:
            fields.pop(key)
    if "relations" in record._fields and not record.relations:
        fields.pop("relations")
    return {_NAMES.get(key, key): value for key, value in fields.items()}


def write_front(record: Any) -> bytes:
    return f"{front.emit(front_fields(record))}\n{record.text}\n".encode()


def amend(data: bytes, before: dict[str, Any], after: dict[str, Any], old_text: str, new_text: str) -> bytes:
    """A note's or edge's file with only what changed rewritten."""
    text = data.decode("utf-8")
    changes = {key: value for key, value in after.items() if key not in before or before[key] != value}
    changes |= {key: None for key in before if key not in after}
    taken = front.split(text)
    if taken is None:  # a file of another tool gets its front matter when Otolith first writes it
        body = new_text if new_text != old_text else text.removeprefix(chr(0xFEFF))
        return f"{front.emit(after)}\n{body}".encode()
    written = front.parse(taken.yaml)  # an id and a date that came from its place and time are written down
    changes |= {key: after[key] for key in ("id", "created") if key in after and written.get(key) is None}
    if written.get("type") is None and after.get("type") not in (None, "general"):  # so is its folder's type
        changes["type"] = after["type"]
    return front.amend(text, changes, None if new_text == old_text else new_text, written=written).encode()


def read_memo(path: str, data: bytes, modified: Callable[[], float]) -> Memo:
    """A memo; its id is the file's stem."""
    head, _, body = _part_memo(text_of(data).removeprefix("\ufeff"))
    header = {line["key"].strip().casefold(): line["value"] for line in re.finditer(_HEADER, head)}
    note = re.search(_DEPRECATED, body)
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    own = ("created", "category", "tags", "supersedes", "origin", "confidence", "times", "said")
    fields: dict[str, Any] = {
        **{key: value for key, value in header.items() if key not in own},
        "id": stem, "title": _heading(head or body) or stem.replace("_", " "),
        "text": body.strip("\r\n").replace("\r\n", "\n"),
        "created_at": header.get("created") or offset(modified()),
        "category": (header.get("category") or "past").strip("[]").lower(),
        "tags": _strings(header.get("tags", ""), split_words=True),
        "supersedes": _strings(header.get("supersedes", ""), split_words=True),
        "deprecated_by": note["name"] if note else None,
    }
    if header.get("said"):
        fields["said"] = [line["value"] for line in re.finditer(_HEADER, head) if line["key"] == "Said"]
    for key, form in (("confidence", r"[01](?:\.\d+)?"), ("times", r"[1-9]\d{0,6}")):
        if re.fullmatch(form, header.get(key, "")):
            fields[key] = float(header[key]) if "." in header[key] else int(header[key])
    if header.get("origin"):
        fields["origin"] = dict(part.split("=", 1) for part in header["origin"].split() if "=" in part)
    return Memo.from_dict(fields)


def _part_memo(text: str) -> tuple[str, str, str]:
    """A memo's header, the line that ends it, and its body; a file without header lines is all body."""
    rule = re.search(_RULE, text)
    if rule is None or not re.search(_HEADER, text[: rule.start()]):
        return "", "", text
    return text[: rule.start()], rule[0], text[rule.end() :]


def write_memo(memo: Memo) -> bytes:
    """A memo in the seed's template; further lines stand between Tags and the rule."""
    lines = [f"# {memo.title}", f"**Created:** {memo.created_at}", f"**Category:** {memo.category}",
             f"**Tags:** [{', '.join(memo.tags)}]"]
    if memo.supersedes:
        lines.append(f"**Supersedes:** {', '.join(memo.supersedes)}")
    lines += _told(memo)
    if memo.origin:
        lines.append(f"**Origin:** {_memo_origin(memo)}")
    return ("\n".join(lines) + f"\n---\n{memo.text}\n").encode()


def _told(memo: Memo) -> list[str]:
    """The header lines of what was said to an agent: what it is, for which project, how sure, when."""
    project = memo.origin.project if memo.says and memo.origin else "default"
    pairs = (("Says", memo.says), ("Project", None if project == "default" else project),
             ("Confidence", memo.confidence), *(("Said", said) for said in memo.said or ()),
             ("Times", memo.times))
    return [f"**{key}:** {value}" for key, value in pairs if value is not None]


def _memo_origin(memo: Memo) -> str:
    fields = memo.origin.to_dict() if memo.origin else {}
    return " ".join(f"{key}={str(value).replace(' ', '_')}" for key, value in fields.items() if value != "")


def amend_memo(data: bytes, old: Memo, new: Memo) -> bytes:
    """A memo's file with only the changed header lines and, if it changed, the body rewritten."""
    head, rule, body = _part_memo(data.decode("utf-8"))
    if not rule:
        return write_memo(new)
    newline = "\r\n" if "\r\n" in head else "\n"
    if new.title != old.title:
        head, count = re.subn(r"^# +[^\r\n]*", lambda _: f"# {new.title}", head, count=1, flags=re.MULTILINE)
        head = head if count else f"# {new.title}{newline}{head}"
    for key, was, now in (("Category", old.category, new.category), ("Tags", old.tags, new.tags),
                          ("Supersedes", old.supersedes, new.supersedes),
                          ("Origin", _memo_origin(old), _memo_origin(new))):
        if was == now:
            continue
        if key == "Supersedes" and not now:
            head = re.sub(r"^\*\*Supersedes:\*\*[^\n]*\n", "", head, count=1, flags=re.MULTILINE)
            continue
        value = f"[{', '.join(now)}]" if key == "Tags" else ", ".join(now) if isinstance(now, tuple) else now
        line = f"**{key}:** {value}"
        head, count = re.subn(rf"^\*\*{key}:\*\*[^\r\n]*", line.replace("\\", r"\\"),
                              head, count=1, flags=re.MULTILINE)
        if not count:
            head += f"**{key}:** {value}{newline}"
    if _told(new) != _told(old):
        head = re.sub(r"(?m)^\*\*(?:Says|Project|Confidence|Said|Times):\*\*[^\n]*\n", "", head)
        head += "".join(f"{line}{newline}" for line in _told(new))
    if new.text != old.text:
        body = "\n" + new.text.replace("\n", newline) + newline
    return (head + rule + body).encode()


def read_episodes(path: str, data: bytes) -> list[Episode]:
    """The blocks of a day's file, each named by its heading line.

    A power cut may leave NULs in place of lines that were not synced; they say nothing and hide nothing.
    """
    text = text_of(re.sub(rb"\0+(?=\n|\Z)", b"", data)).replace("\r\n", "\n")
    date = path.rsplit("/", 1)[-1].removesuffix(".md")
    heads, blocks = list(re.finditer(_EPISODE, text)), []
    ids = episode_ids(date, [head[0] for head in heads])
    for at, (head, (block_id, former)) in enumerate(zip(heads, ids, strict=True)):
        block = text[head.end() : heads[at + 1].start() if at + 1 < len(heads) else len(text)]
        lines = {line["key"].casefold(): line["value"] for line in re.finditer(_LINE, block)}
        blocks.append(Episode(
            id=block_id, former=former, date=date, time=head["time"], heading=head["heading"].strip(),
            type=lines.get("type", "diary"), tags=tuple(_strings(lines.get("tags", ""), split_words=True)),
            memory=lines.get("memory"), summary=lines.get("summary", ""),
            text=f"{head['heading'].strip()}\n{block.strip()}"))
    return blocks


def write_episode(time: str, heading: str, *, kind: str, tags: tuple[str, ...], memory: str | None,
                  summary: str) -> str:
    """One block of the diary."""
    lines = [f"## {time} - {heading}", f"- **Type:** {kind}", f"- **Tags:** {', '.join(tags)}"]
    if memory:
        lines.append(f"- **Memory:** {memory}")
    return "\n".join(" ".join(line.split()) for line in [*lines, f"- **Summary:** {summary}"]) + "\n\n"
