"""Secrets in text, found by named patterns and replaced by `[secret:kind]`.

`redact` is run before a hook or an import writes anything. Every pattern is a fixed prefix or a bounded run,
so the time grows with the length of the text and with nothing else. It prefers a missed exotic key to a
maimed sentence: commit hashes, uuids, checksums, identifiers and placeholders are left alone unless a name
such as `api_key=` stands before them. Patterns are compiled when one of their clues is there: every command
that writes loads this module.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple


class _Pattern(NamedTuple):
    """A pattern is compiled when one of its clues is in the text, which is ten times cheaper to find out.

    Group 1, where there is one, is the secret; otherwise the whole match.
    """

    kind: str
    clues: str
    pattern: str


_END = r"(?![A-Za-z0-9_-])"
_PATTERNS = (
    _Pattern("aws-key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    _Pattern("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    _Pattern("github-token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    _Pattern("gitlab-token", "glpat- glrt- gldt-", r"\bgl(?:pat|rt|dt)-[A-Za-z0-9_-]{20,64}" + _END),
    _Pattern("anthropic-key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,200}" + _END),
    _Pattern("openai-key", "sk-proj- sk-svcac sk-adm",
             r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,250}" + _END),
    _Pattern("openai-key", "sk-", r"\bsk-(?:or-v1-)?(?=[A-Za-z]{0,80}[0-9])[A-Za-z0-9]{32,80}" + _END),
    _Pattern("slack-token", "xox xapp-",
             r"\b(?:xox[abeoprs]|xapp)-(?=[A-Za-z-]{0,20}[0-9])[A-Za-z0-9-]{10,250}"),
    _Pattern("slack-webhook", "hooks.slack.com",
             r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,120}"),
    _Pattern("stripe-key", "k_live_ k_test_", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{16,250}\b"),
    _Pattern("google-key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}" + _END),
    _Pattern("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{30,60}\b"),
    _Pattern("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    _Pattern("pypi-token", "pypi-AgE", r"\bpypi-AgE[A-Za-z0-9_-]{50,500}"),
    _Pattern("sendgrid-key", "SG.", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _Pattern("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}"),
    _Pattern("authorization", "earer asic oken",
             r"\b(?:[Bb]earer|[Bb]asic|[Tt]oken) {1,2}(?=[A-Za-z+/._~-]{0,80}[0-9])"
             r"([A-Za-z0-9+/._~-]{20,4000}={0,2})"),
)
_URL_PASSWORD = r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,100}:([^\s/@\"'<>]{1,200})@"
_KEY_BEGIN = r"-----BEGIN ([A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
_KEY_BODY = r"(?:(?:\\[nr]|[\s\"',>|]){0,20}[A-Za-z0-9+/=]{24,}+)*"

_ASSIGNED = (
    r"(?i)(?P<name>pass(?:word|wd|phrase)|\bpwd|secret|token"
    r"|(?:api|access|auth|private|secret|signing|encryption)[_-]?key"
    r"|credentials?)[\"'`]?\s{0,3}(?::=|=>|[:=])\s{0,3}"
    r"(?:\"(?P<double>[^\"\n]{6,400})\"|'(?P<single>[^'\n]{6,400})'"
    r"|(?P<bare>[^\s\"'`,;<>()\[\]{}|]{6,400}+(?![(\[{])))"
)
_PLACEHOLDER = (r"(?i)[*x.•_-]+|.*(?:your|example|change[_-]?me|placeholder|redacted|dummy|insert|\.\.\.).*"
                r"|none|null|true|false|undefined|password|passwd|pass|[$\[{<%].*")
_CODE = r"[$%@&].*|[A-Za-z_]\w*(?:[.:]{1,2}[A-Za-z_]\w*)+|[A-Z][A-Z0-9_]*|[a-z_]+|https?://.*|\d+(?:\.\d+)*"
_PATH = r"(?:~|\.{1,2})/[\w./-]+|/(?:[\w.-]{1,40}/)+[\w.-]{1,60}|[A-Za-z]:\\.+"


def kinds_in(value: Any) -> list[str]:
    """The kinds of secrets anywhere in a value: a text, or a record as plain data."""
    return sorted(redact("\n".join(_lines(value)))[1])


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from (f"{key}: {item}",) if isinstance(item, str) else _lines(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _lines(item)
    elif isinstance(value, str):
        yield value


def redact(text: str) -> tuple[str, dict[str, int]]:
    """The text with its secrets replaced, and how many of each kind were."""
    counts: Counter[str] = Counter()
    text = _redact_private_keys(text, counts)
    for kind, clues, pattern in _PATTERNS:
        if any(map(text.__contains__, clues.split())):
            text = re.sub(pattern, partial(_replace, kind, counts), text)
    if "://" in text:
        text = re.sub(_URL_PASSWORD, lambda match: match[0] if _is_placeholder(match[1])
                      else _replace("url-password", counts, match), text)
    lowered = text.casefold()
    if any(clue in lowered for clue in ("pass", "pwd", "secret", "token", "key", "credential")):
        text = re.sub(_ASSIGNED, partial(_replace_assigned, counts), text)
    return text, dict(counts)


def _replace(kind: str, counts: Counter[str], match: re.Match[str], group: int | str | None = None) -> str:
    """The match with its secret replaced: the named group, else its only one, else all of it."""
    counts[kind] += 1
    group = match.re.groups if group is None else group
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return f"{match[0][:start]}[secret:{kind}]{match[0][end:]}"


def _redact_private_keys(text: str, counts: Counter[str]) -> str:
    if "-----BEGIN" not in text:
        return text
    kept: list[str] = []
    unclosed: set[str] = set()  # a closing line is looked for in vain once, or the time would be quadratic
    position = 0
    while begin := re.compile(_KEY_BEGIN).search(text, position):
        kept += text[position : begin.start()], "[secret:private-key]"
        counts["private-key"] += 1
        closing = f"-----END {begin[1]}-----"
        end = -1 if closing in unclosed else text.find(closing, begin.end())
        if end >= 0:
            position = end + len(closing)
        else:  # cut off: what looks like key material goes, whatever follows stays
            unclosed.add(closing)
            body = re.compile(_KEY_BODY).match(text, begin.end())
            position = body.end() if body else begin.end()
    kept.append(text[position:])
    return "".join(kept)


def _replace_assigned(counts: Counter[str], match: re.Match[str]) -> str:
    name, group = match["name"].casefold(), match.lastgroup or "bare"
    password = name.startswith(("pass", "pwd"))
    if not _is_secret(match[group], password=password, quoted=group != "bare"):
        return match[0]
    kind = "password" if password else "api-key" if name.endswith("key") else name.rstrip("s")
    return _replace(kind, counts, match, group)


def _is_secret(value: str, *, password: bool, quoted: bool) -> bool:
    """Whether an assigned value looks drawn by chance rather than written as a word, a name or code."""
    prose = " " in value.strip() if quoted else re.fullmatch(_CODE, value)
    if prose or _is_placeholder(value) or re.fullmatch(_PATH, value):
        return False
    lower, upper, digit = (any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
    mixed = digit or (lower and upper and not value.istitle())
    if password:
        return mixed or any(not character.isalnum() and character not in "_-. " for character in value)
    return len(value) >= 12 and mixed and _entropy(value) >= (3.0 if len(value) < 16 else 2.7)


def _is_placeholder(value: str) -> bool:
    return re.fullmatch(_PLACEHOLDER, value) is not None


def _entropy(value: str) -> float:
    """Shannon bits a character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())
