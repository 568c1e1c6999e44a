"""Secrets in text, found by named patterns and replaced by `[secret:kind]`.

`redact` is run before a hook or an import writes anything. What secrets look like stands in `secret_forms`;
here is how they are looked for, and what is none: commit hashes, uuids, checksums, identifiers, code and
placeholders stay unless a name such as `api_key=` stands before them. It prefers a missed exotic key to a
maimed sentence. Time grows with the length of the text and with nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from otolith.model import secret_forms as forms

MARK = "[secret:"
Match = re.Match[str]


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


def holds_secret(*texts: str | None) -> bool:
    """Whether a secret stands in one of the texts, or stood there before it was replaced."""
    return any(text and (MARK in text or redact(text)[1]) for text in texts)


def redact_value(value: Any, name: str = "") -> tuple[Any, dict[str, int]]:
    """Plain data without secrets, wherever in it they are; `name` is the key that it stands under."""
    counts: Counter[str] = Counter()
    return _clean(value, name, counts), dict(counts)


def _clean(value: Any, name: str, counts: Counter[str]) -> Any:
    if isinstance(value, str):
        clean, kinds = redact(value)
        if name and not kinds and "\n" not in value:
            kinds = redact(f'{name}: "{value.replace(chr(34), chr(39))}"')[1]
            clean = f"{MARK}{next(iter(kinds))}]" if kinds else value
        counts.update(kinds)
        return clean
    if isinstance(value, Mapping):
        return {_clean(key, "", counts) if isinstance(key, str) else key: _clean(inner, str(key), counts)
                for key, inner in value.items()}
    return [_clean(item, name, counts) for item in value] if isinstance(value, list | tuple) else value


def redact(text: str) -> tuple[str, dict[str, int]]:
    """The text with its secrets replaced, and how many of each kind were."""
    counts: Counter[str] = Counter()
    text = _redact_private_keys(text, counts)
    runs = "\n".join(dict.fromkeys(_compiled(_RUN).findall(text)))
    for prefix in forms.PREFIXES:
        if any(map(runs.__contains__, prefix.prefixes.split())):
            text = _redact_run(forms.Form(prefix.kind, "", _pattern_of(prefix), "drawn"), runs, text, counts)
    for form in forms.FORMS:
        if any(map(runs.__contains__, form.clues.split())):
            text = _redact_run(form, runs, text, counts)
    low = _lowered(text)
    for form in forms.PLACES:
        if spans := _lines_with(form.clues.split(), low):
            new = _redact_lines(form, spans, text, counts)
            text, low = (text, low) if new == text else (new, _lowered(new))
    if "cookie" in low:
        text = _compiled(forms.COOKIES).sub(lambda header: _redact_form(forms.COOKIE, header[0], counts), text)
    return _redact_named(text, counts), dict(counts)


_RUN = r"[\w.~+/=%:$@?&-]{15,}"  # a token is no shorter; looked for in these, which are few


def _redact_run(form: forms.Form, runs: str, text: str, counts: Counter[str]) -> str:
    return _redact_form(form, text, counts) if _compiled(form.pattern).search(runs) else text


def _lowered(text: str) -> str:
    """In small letters, sign for sign: there are letters whose small form is longer."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(sign if len(sign.lower()) > 1 else sign.lower() for sign in text)


def _lines_with(clues: list[str], low: str) -> list[tuple[int, int]]:
    """The lines in which a clue stands, each with the two after it, in order and apart from each other."""
    spans = []
    for clue in clues:
        position = low.find(clue)
        while position >= 0:
            start, end = low.rfind("\n", 0, position) + 1, position
            for _ in range(3):
                end = low.find("\n", end + 1) if end >= 0 else end
            end = len(low) if end < 0 else end
            spans.append((start, end))
            position = low.find(clue, end)
    if len(spans) < 2:
        return spans
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _redact_lines(form: forms.Form, spans: list[tuple[int, int]], text: str, counts: Counter[str]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces += text[position:start], _redact_form(form, text[start:end], counts)
        position = end
    return "".join((*pieces, text[position:]))


@lru_cache(maxsize=400)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _pattern_of(prefix: forms.Prefix) -> str:
    marks = "|".join(map(re.escape, prefix.prefixes.split()))
    return (rf"(?<![A-Za-z0-9_])(?:{marks}){prefix.alphabet}{{{prefix.least},{prefix.most}}}"
            r"(?![A-Za-z0-9])")


def _redact_form(form: forms.Form, text: str, counts: Counter[str]) -> str:
    """The text without what has a form: its last named group, else its only one, else all of the match."""
    passes = TESTS[form.test]

    def replace(match: Match) -> str:
        group = match.lastgroup or match.re.groups
        value = _value(match, group)
        if not passes(match, value):
            return match[0]
        return _replaced(match, group, value, form.kind, counts)

    return _compiled(form.pattern).sub(replace, text)


def _value(match: Match, group: str | int) -> str:
    """What stands there; the sign that ends a sentence is none of it."""
    value = match[group] or ""
    return value.rstrip(".,:;!?*)") if group == "bare" else value


def _replaced(match: Match, group: str | int, value: str, kind: str, counts: Counter[str]) -> str:
    counts[kind] += 1
    start = match.start(group) - match.start()
    return f"{match[0][:start]}{MARK}{kind}]{match[0][start + len(value):]}"


# Private keys

_KEY_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_BODY = r"(?:(?:\\[nr]|[\s\"',>|+-]){0,20}[A-Za-z0-9+/=]{24,}+)*"
_LONGEST_KEY = 20_000
_MOST_SPACES = 60  # in a key's headers; more are a text in which two keys' lines are quoted


def _redact_private_keys(text: str, counts: Counter[str]) -> str:
    if "BEGIN" not in text:
        return text
    kept: list[str] = []
    unclosed: set[str] = set()  # a closing line is looked for in vain once, or the time would be quadratic
    position = 0
    for begin in _compiled(_KEY_BEGIN).finditer(text):
        if begin.start() < position:
            continue
        end = _end_of_key(text, begin, unclosed)
        if end > begin.end():
            kept += text[position : begin.start()], f"{MARK}private-key]"
            counts["private-key"] += 1
            position = end
    return "".join((*kept, text[position:]))


def _end_of_key(text: str, begin: Match, unclosed: set[str]) -> int:
    """Where a private key ends; where it begins, if only its first line is spoken of."""
    closing = begin[0].replace("BEGIN", "END")
    last = begin.end() + _LONGEST_KEY
    end = -1 if closing in unclosed else text.find(closing, begin.end(), last)
    if end < 0 and last >= len(text):
        unclosed.add(closing)
    inner = text[begin.end() : end] if end >= 0 else ""
    if inner.count(" ") < _MOST_SPACES and _compiled(r"[A-Za-z0-9+/=]{16}").search(inner):
        return end + len(closing)
    body = _compiled(_KEY_BODY).match(text, begin.end())  # cut off: what looks like a key goes, the rest stays
    return body.end() if body else begin.end()


# A value behind a name: password: x, "api_key" => "x", config["token"] = 'x', token: str = "x", | password | x |

_SUFFIX = r"s?(?:[_-]?(?:base|prod|production|dev|staging|stage|test|live|value|\d{1,2}))?"
_EQUALS = (r"(?:\\{0,3}[\"'`\])]){0,3}(?:[ \t]{0,3}:[ \t]{0,2}(?:Optional\[)?[A-Za-z_]\w{1,20}\]?(?: ?\| ?None)?"
           r"[ \t]{0,3}=|[ \t]{0,8}(?::=|=>|->|={1,3}|[:：→])(?:[*_]{2})?"
           r"|,\s{0,40}[\"']?[Vv]alue[\"']?\s?[:=]|\s{1,40}[Vv]alue\s?[:=])\s{0,8}")
_QUOTED = (r"\\{1,3}\"(?P<escaped>[^\"\\\n]{4,400})\\|\"(?P<double>[^\"\n]{4,400})\""
           r"|'(?P<single>[^'\n]{4,400})'|`(?P<tick>[^`\n]{4,400})`|[“„«](?P<curly>[^“”„»\n]{4,400})[“”»]")
_BARE = r"(?P<bare>(?:[^\s\"'`,;<>()\[\]{}|\\&]|&(?!\w{1,30}=)){4,400}+)(?![(\[{])"
_ASSIGNED = f"{_SUFFIX}{_EQUALS}(?:{_QUOTED}|{_BARE})"
_CELL = rf"[ \t*`]{{0,30}}\|[ \t]{{0,30}}(?:{_QUOTED}|{_BARE})"
_WORD = r"(?P<bare>[^\s\"'`<>“”„«»|]{4,400})"
_FLAG = rf"{_SUFFIX}(?: {{1,2}}|=)(?:{_QUOTED}|{_WORD})"


def _any_of(words: str) -> str:
    return "|".join(words.split())


_OF = rf"(?:[ \t]+(?:{_any_of(forms.OF)})(?:[ \t]+[^\s.;:!?]{{1,40}}){{1,6}}?)?"
_SAID = (rf"s?{_OF}(?:[ \t]+(?:{_any_of(forms.VERBS)})(?:[ \t]+(?:{_any_of(forms.NOW)}))?[ \t]*:?\s{{1,2}}"
         rf"|[ \t]?[是为は는은][ \t]?)(?:{_QUOTED}|{_WORD})")
_CHANGED = rf"{_OF}[ \t]+(?:to|auf|zu|en|à|a|por|con|in)[ \t]*:?[ \t]+(?:{_QUOTED}|{_WORD})"
_CHANGING = r"(?i)\b(?:set|chang|reset|updat|rotat|änder|geänder|setz|gesetz|cambi|restablec|modif)\w{0,8}\b[^.\n]{0,30}$"
_BESIDE = rf"[ \t]+(?:{_QUOTED}|{_WORD})"
_BEFORE = (r"(?P<bare>[^\s\"'`<>]{6,120})[\"'`]?[ \t]+(?:as|is|als|ist|comme|est|como|es|come|è)[ \t]+(?:(?:the|my|our|your"
           r"|a|its|das|mein|unser|le|la|el|il)[ \t]+)?(?:[a-z]{2,12}[ \t]+){0,2}$")
_PAIR = (r"s?(?:[ \t]+(?:is|are|sind|sont|son|sono))?[ \t]*[:=]?[ \t]*[\"'`]?[\w.@+-]{2,60}[\"'`]?[ \t]*[/:|][ \t]*"
         r"[\"'`]?(?P<bare>[^\s\"'`<>,;]{6,100})")
_KEY_OF = rf"(?i)(?:{_any_of(forms.KEYS)})[ _-]?$"
_ANCHORS = "|".join([*sorted(forms.PASSWORDS, key=len, reverse=True), "mot de passe", *forms.TOKENS.split(),
                     *forms.LOGINS.split(), "pass", "pwd", "pw", "key", "auth"])
_REACH = 160  # characters before a name that may say something of it


class _Name(NamedTuple):
    """A name that a secret may stand behind, and how a value behind it is looked at."""

    kind: str
    test: str
    start: int
    end: int


def _redact_named(text: str, counts: Counter[str]) -> str:
    kept: list[str] = []
    position = 0
    for anchor in _compiled(_ANCHORS).finditer(_lowered(text)):
        if anchor.start() < position or not (name := _name(text, anchor)):
            continue
        if span := _behind(text, name) or _before(text, name, position):
            kept += text[position : span[0]], f"{MARK}{name.kind}]"
            counts[name.kind] += 1
            position = span[1]
    return "".join((*kept, text[position:]))


def _name(text: str, anchor: Match) -> _Name | None:
    """What a word that may be a name of secrets is here."""
    word, start, end = anchor[0], anchor.start(), anchor.end()
    before = text[max(0, start - 1) : start]
    inside = before.isalpha() and not (before.islower() and text[start].isupper())
    if word == "key":
        return _Name("api-key", "token", start, end) if _compiled(_KEY_OF).search(text, max(0, start - 20), start) else None
    if word == "auth":
        return _Name("authorization", "basic", start, end) if before in ("_", '"', "'") else None
    if word in forms.TOKENS.split():
        return _Name(word.rstrip("s"), "token", start, end)
    if word in forms.LOGINS.split():
        return None if inside else _Name("password", "pair", start, end)
    if word == "pass" and not (before in ("_", "-", '"', "'") or (before.islower() and text[start] == "P")
                               or (not inside and text[start:end].islower() and text[end : end + 1] in ("=", ":"))):
        return None
    if inside and not word.startswith("pass") and word[0].isascii():
        return None
    return _Name("password", "password", start, end)


def _behind(text: str, name: _Name) -> tuple[int, int] | None:
    """Where the secret is that stands after its name: assigned, as an option, or said in words."""
    if name.test == "pair":
        return _span(_compiled(_PAIR).match(text, name.end), "strong")
    before = text[max(0, name.start - 40) : name.start]
    patterns = [(_ASSIGNED, name.test), *([(_PAIR, "strong")] if name.kind == "credential" else [])]
    if before.rstrip(" \t*`").endswith("|"):
        patterns.append((_CELL, name.test))
    if re.search(r"(?:^|\s)--?[a-z-]{0,30}$", before):
        patterns.append((_FLAG, name.test))
    patterns.append((_SAID, name.test))
    if name.test == "password":
        patterns.append((_BESIDE, "strong"))
    if re.search(_CHANGING, before):
        patterns.append((_CHANGED, name.test))
    for pattern, test in patterns:
        if span := _span(_compiled("(?i)" + pattern).match(text, name.end), test):
            return span
    return None


def _before(text: str, name: _Name, position: int) -> tuple[int, int] | None:
    """Where the secret is that stands before its name: "use x as the password"."""
    if name.test not in ("password", "token") or text[name.start - 1 : name.start] not in (" ", "\t"):
        return None
    start = max(position, name.start - _REACH)
    match = _compiled(_BEFORE).search(text[start : name.start])
    span = _span(match, "strong" if name.test == "password" else name.test)
    return (span[0] + start, span[1] + start) if span else None


def _span(match: Match | None, test: str) -> tuple[int, int] | None:
    if match is None or not (group := match.lastgroup):
        return None
    value = _value(match, group)
    if not TESTS[test](match, value):
        return None
    return match.start(group), match.start(group) + len(value)


# What is no secret, and what is one

_PLACEHOLDER = (
    r"(?is)[*x.•_#?0-]+|[$\[{<%@:].*|.*(?:\$\{|\$\(|\{\{|\$[a-z_]{3,}|%\(|<[a-z]).*"
    r"|.*(?:your|example|change[_-]?(?:me|it)|placeholder|redacted|dummy|insert|\.\.\.|…|xxxx|\*\*\*|replace|here$"
    r"|environ|getenv|process\.env|1password|lastpass|keepass|bitwarden|secrets?manager).*"
    r"|(?:my|the|some|new|old|a|user|db|root|admin|test|super|top|app|default|no|any|current|wrong|bad|good|fake"
    r"|client|access|raw|correct|hashed|plain|temp|[_-])*(?:none|null|nil|true|false|undefined|unset|empty"
    r"|required|passw?(?:or)?[dt]|pass|pwd|pw|passphrase|secret|token|key|credentials?|string|str|value|user"
    r"|username|admin|root|test|testing|guest|postgres|hidden|todo|n/a|foo|bar|baz|foobar|letmein)s?[_-]?\d?"
    r"|(?:arn|vault|env|kms|ssm|md5|sha\d+):.*|(?:op|ref\+\w+)://.*|enc\[.*|projects/.*|sha\d+-.*")
_CODE = (r"[$%@&].*|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+[!?]?|[A-Z][A-Z0-9_]*|[a-z_]+|_\w*"
         r"|(?i:[a-z_]*(?:password|passwd|token|secret|key|pass|pwd)_?\d?)")
_PLAIN = (
    r"(?i)(?:https?|file|ftp|s3|gs|git|ssh)://.*|\d{1,5}|\d+(?:\.\d+)+|v?\d+(?:\.\d+)+[\w.+-]*|\d{4}-\d\d-\d\d.*"
    r"|\d+[a-z]{1,3}|[\w.@-]{1,60}\.(?:py|[jt]sx?|json|ya?ml|toml|txt|md|go|rs|java|rb|sh|env|pem|key|crt|cfg|ini"
    r"|conf|html|com|org|net|io)|(?:sha|md|oauth|base|utf|argon|bcrypt|pbkdf|scrypt|hs|rs|es|aes|rsa|http|ipv|web"
    r"|k8s|ed|ecdsa|tls|ssl|s3|ec2|sso|mfa|2fa|totp|oidc|saml)[\W_]?\d*(?:id|gcm|cbc)?(?:[\W_][a-z]{2,12}){0,3}"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PATH = r"(?:~|\.{1,2})/[\w./-]+|/(?:[\w.-]{1,40}/)*[\w.-]{1,60}|[A-Za-z]:[\\/].*|[\w.-]+/[\w.-]+/[\w./-]*"
_SPECIAL = frozenset("!@#$%^&*+?~§°")
_LITTLE = frozenset("a an and are be by can do enter for from have here if in is it must my no not of on or please"
                    " should that the this to use was when which will with you your".split())
_SHORTEST_HUMP = 2.6


def _full(pattern: str, value: str) -> bool:
    return _compiled(pattern).fullmatch(value) is not None


def _is_word(part: str) -> bool:
    """Whether letters read like words, also joined in one: `accessToken2`, not `ePCdVnHNyg`."""
    letters = part.rstrip("0123456789")
    if len(part) - len(letters) > 4 or not letters.isalpha():
        return part.isdigit() and len(part) <= 4
    humps = _compiled(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+").findall(letters)
    if any(map(_compiled(r"(?i)[bcdfghjklmnpqrstvwxz]{6}|[A-Z]?[bcdfghjklmnpqrstvwxz]{5}").match, humps)):
        return False
    return len(letters) <= 2 or len(letters) / max(1, len(humps)) >= _SHORTEST_HUMP


def _is_wordy(value: str) -> bool:
    return all(map(_is_word, filter(None, _compiled(r"[\W_]+").split(value))))


def _is_counted(value: str) -> bool:
    """123456, abcdef: every sign follows the one before it."""
    steps = sum(ord(after) - ord(sign) in (0, 1) for sign, after in zip(value, value[1:], strict=False))
    return steps >= 0.6 * (len(value) - 1)


def _is_nothing(value: str, *, bare: bool) -> bool:
    """A placeholder, a path, a name in code, a number, a version: whatever is there instead of a secret."""
    return (_full(_PLACEHOLDER, value) or _full(_PLAIN, value) or _is_path(value) or _is_counted(value)
            or (bare and _full(_CODE, value)))


def _is_path(value: str) -> bool:
    """base64 has slashes, too; but no folder is called ZuLZucPuu6jl6."""
    return _full(_PATH, value) and not any(
        len(part) >= 8 and _mixed_case(part) and not _is_wordy(part) for part in value.split("/"))


def _mixed_case(value: str) -> bool:
    return any(map(str.islower, value)) and any(map(str.isupper, value[1:]))


def _password(match: Match, value: str) -> bool:
    """What somebody chose: with a digit or a special sign in it, or drawn letters."""
    if " " in value.strip():
        return _words(match, value)
    if len(value) < 6 or _is_nothing(value, bare=match.lastgroup == "bare"):
        return False
    return any(sign.isdigit() or sign in _SPECIAL for sign in value) or (len(value) >= 8 and not _is_wordy(value))


def _strong(match: Match, value: str) -> bool:
    """A password that shows itself: of several kinds of signs."""
    kinds = {"digit" if sign.isdigit() else "upper" if sign.isupper() else "lower" if sign.islower()
             else "special" if sign in _SPECIAL else "" for sign in value} - {""}
    return (len(value) >= 8 and "digit" in kinds and len(kinds) >= 3 and _password(match, value)
            and not _is_word(value))


def _token(match: Match, value: str) -> bool:
    """What a machine drew: long, of many signs, and no words."""
    if len(value) < 12 or " " in value or value.isdigit() or len(set(value)) < 7:
        return False
    return not _is_nothing(value, bare=match.lastgroup == "bare") and not _is_wordy(value)


def _anything(_match: Match, value: str) -> bool:
    """Where a password must stand: everything but a placeholder."""
    named = _is_wordy(value) and _compiled(r"(?i)pass|pwd|secret|token|key").search(value)
    return len(value) >= 3 and not named and not _full(_PLACEHOLDER, value) and not value.startswith(("-", "$"))


def _option(match: Match, value: str) -> bool:
    """After an option that may also mean a port or a path."""
    return _password(match, value) or (len(value) >= 6 and not _is_wordy(value) and not _is_nothing(value, bare=True))


def _url(match: Match, value: str) -> bool:
    return (match["user"] != value and value[:1] not in "$[{<%*" and not _full(_PLACEHOLDER, value)
            and not (match["user"] == "" and value.isdigit()))


def _basic(_match: Match, value: str) -> bool:
    """base64 of name:password."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(value.encode() + b"=" * (-len(value) % 4))
    except (Error, ValueError):
        return False
    return len(value) >= 8 and _compiled(r"[\x20-\x7e]{1,200}:[\x20-\x7e]{1,200}").fullmatch(
        plain.decode("latin-1")) is not None


def _header(match: Match, value: str) -> bool:
    return not _full(_PLACEHOLDER, value) and (_token(match, value) or _basic(match, value))


def _words(_match: Match, value: str) -> bool:
    """A phrase of drawn words: four at least, none of which only holds a sentence together."""
    words = value.replace(",", " ").split()
    return (4 <= len(words) <= 24 and all(word.isalpha() and word.islower() and 3 <= len(word) <= 9 for word in words)
            and _LITTLE.isdisjoint(words) and len(set(words)) > 2 * len(words) // 3)


def _varied(_match: Match, value: str) -> bool:
    """No row of x."""
    return len(set(value[-16:])) >= 5


def _drawn(match: Match, value: str) -> bool:
    return _varied(match, value) and not _is_wordy(value)


def _mixed(_match: Match, value: str) -> bool:
    return all(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit)) and len(set(value)) >= 12


def _digits(_match: Match, value: str) -> bool:
    return not _is_counted(value) and len(set(value)) > 2


TESTS: dict[str, Callable[[Match, str], bool]] = {
    "varied": _varied, "drawn": _drawn, "mixed": _mixed, "any": _anything, "password": _password, "strong": _strong, "token": _token,
    "flag": _option, "url": _url, "basic": _basic, "header": _header, "words": _words, "digits": _digits,
}
