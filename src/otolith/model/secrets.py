"""Secrets in text, found by named patterns and replaced by `[secret:kind]`.

`redact` is run before a hook or an import writes anything. What secrets look like stands in `secret_forms`;
here is how they are looked for, and what is none: commit hashes, uuids, checksums, identifiers, code and
placeholders stay unless a name such as `api_key=` stands before them. It prefers a missed exotic key to a
maimed sentence. Time grows with the length of the text and with nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from otolith.model import secret_forms as forms
from otolith.model.secret_values import TESTS, Match, compiled

MARK = "[secret:"


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
    words = dict.fromkeys(text.split())  # a third of the text; a clue that is in none of them is nowhere
    text = _redact_tokens(text, words, counts)
    low, vocabulary = _lowered(text), _lowered("\n".join(words))
    for form in forms.PLACES:
        clues = [clue for clue in form.clues.split() if clue in vocabulary]
        if clues and (spans := _lines_with(clues, low)):
            new = _redact_lines(form, spans, text, counts)
            text, low = (text, low) if new == text else (new, _lowered(new))
    if "cookie" in low:
        text = compiled(forms.COOKIES).sub(lambda header: _redact_form(forms.COOKIE, header[0], counts), text)
        low = _lowered(text)
    return _redact_named(text, low, vocabulary, counts), dict(counts)


_SHORTEST = 15  # no token is shorter; patterns are tried on longer runs first, which are few
_RUN = rf"[\w.~+/=%:$@?&-]{{{_SHORTEST},}}"
_ESCAPED = r"\\[nrt]"  # the end of a line in JSON
_START = rf"(?:(?<![A-Za-z0-9_])|(?<={_ESCAPED}))"
_END = r"(?![A-Za-z0-9])"


def _redact_tokens(text: str, words: Iterable[str], counts: Counter[str]) -> str:
    """The text without what is known by its own form."""
    plain = "\n".join([word for word in words if len(word) >= _SHORTEST])
    plain = compiled(_ESCAPED).sub("\n", plain) if "\\" in plain else plain
    runs = "\n".join(dict.fromkeys(compiled(_RUN).findall(plain)))
    for prefix in forms.PREFIXES:
        if any(map(runs.__contains__, prefix.prefixes.split())):
            marks = "|".join(map(re.escape, prefix.prefixes.split()))
            pattern = f"(?:{marks}){prefix.alphabet}{{{prefix.least},{prefix.most}}}"
            text = _redact_run(forms.Form(prefix.kind, "", pattern, "drawn"), runs, text, counts)
    for form in forms.FORMS:
        if any(map(runs.__contains__, form.clues.split())):
            text = _redact_run(form, runs, text, counts)
    return text


def _redact_run(form: forms.Form, runs: str, text: str, counts: Counter[str]) -> str:
    pattern = f"{_START}{form.pattern}{_END}"
    if not compiled(pattern).search(runs):
        return text
    return _redact_form(form._replace(pattern=pattern), text, counts)


def _lowered(text: str) -> str:
    """In small letters, sign for sign: there are letters whose small form is longer."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(sign if len(sign.lower()) > 1 else sign.lower() for sign in text)


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


def _redact_form(form: forms.Form, text: str, counts: Counter[str]) -> str:
    """The text without what has a form: its last named group, else its only one, else all of the match."""
    passes = TESTS[form.test]

    def replace(match: Match) -> str:
        group = match.lastgroup or match.re.groups
        value = _value(match, group)
        if not value or not passes(match, value):
            return match[0]
        return _replaced(match, group, value, form.kind, counts)

    return compiled(form.pattern).sub(replace, text)


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
    for begin in compiled(_KEY_BEGIN).finditer(text):
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
    if inner.count(" ") < _MOST_SPACES and compiled(r"[A-Za-z0-9+/=]{16}").search(inner):
        return end + len(closing)
    body = compiled(_KEY_BODY).match(text, begin.end())  # cut off: what looks like a key goes, the rest stays
    return body.end() if body else begin.end()


# A value and its name: password: x, "api_key" => "x", config["token"] = 'x', token: str = "x", --token x,
# | password | x |, the password for y is x, use x as the password

_SUFFIX = r"s?(?:[_-]?(?:base|prod|production|dev|staging|stage|test|live|value|\d{1,2}))?"
_EQUALS = (r"(?:\\{0,3}[\"'`\])]){0,3}(?:[ \t]{0,3}:[ \t]{0,2}(?:Optional\[)?[A-Za-z_]\w{1,20}\]?"
           r"(?: ?\| ?None)?[ \t]{0,3}=|[ \t]{0,8}(?::=|=>|->|={1,3}|[:：→])(?:[*_]{2})?"
           r"|,\s{0,40}[\"']?[Vv]alue[\"']?\s?[:=]|\s{1,40}[Vv]alue\s?[:=])\s{0,8}")
_QUOTED = (r"\\{1,3}\"(?P<escaped>[^\"\\\n]{4,400})\\|\"(?P<double>[^\"\n]{4,400})\""
           r"|'(?P<single>[^'\n]{4,400})'|`(?P<tick>[^`\n]{4,400})`|[“„«](?P<curly>[^“”„»\n]{4,400})[“”»]")
_BARE = r"(?P<bare>(?:[^\s\"'`,;<>()\[\]{}|\\&]|&(?!\w{1,30}=)){4,400}+)(?![(\[{])"
_ASSIGNED = f"{_SUFFIX}{_EQUALS}(?:{_QUOTED}|{_BARE})"
_CELL = rf"[ \t*`]{{0,30}}\|[ \t]{{0,30}}(?:{_QUOTED}|{_BARE})"
_WORD = r"(?P<bare>[^\s\"'`<>“”„«»|]{4,400})"
_FLAG = rf"{_SUFFIX}(?: {{1,2}}|=)(?:{_QUOTED}|{_WORD})"


_OF_IT = rf"(?:[ \t]+(?:{'|'.join(forms.OF)})(?:[ \t]+[^\s.;:!?]{{1,40}}){{1,6}}?)"
_OF = f"{_OF_IT}?"
_SAID = (rf"s?{_OF}(?:[ \t]+(?:{'|'.join(forms.VERBS)})(?:[ \t]+(?:{'|'.join(forms.NOW)}))?[ \t]*:?\s{{1,2}}"
         rf"|[ \t]?[是为は는은][ \t]?)(?:{_QUOTED}|{_WORD})")
_FOR = (rf"s?(?:{_OF_IT}|[ \t]+(?:wi-?fi|wlan|root|admin|sudo|ssh|vpn|db))[ \t]?[:=][ \t]+"
        rf"(?:{_QUOTED}|{_WORD})")
_WAS_CHANGED = (rf"{_OF}[ \t]+(?:is|was|were|got|been|has[ \t]been|wurde|ist)[ \t]+(?:now[ \t]+)?"
                rf"(?:re)?(?:set|changed|updated|rotated)[ \t]+to[ \t]*:?[ \t]+(?:{_QUOTED}|{_WORD})")
_CHANGED = rf"{_OF}[ \t]+(?:to|auf|zu|en|à|a|por|con|in)[ \t]*:?[ \t]+(?:{_QUOTED}|{_WORD})"
_CHANGING = (r"(?i)\b(?:set|chang|reset|updat|rotat|änder|geänder|setz|gesetz|cambi|restablec|modif)\w{0,8}\b"
             r"[^.\n]{0,30}$")
_BESIDE = rf"[ \t]+(?:{_QUOTED}|{_WORD})"
_BEFORE = (r"(?P<bare>[^\s\"'`<>]{6,120})[\"'`]?[ \t]+(?:as|is|als|ist|comme|est|como|es|come|è)[ \t]+"
           r"(?:(?:the|my|our|your|a|its|das|mein|unser|le|la|el|il)[ \t]+)?(?:[a-z]{2,12}[ \t]+){0,2}$")
_PAIR = (r"s?(?:[ \t]+(?:is|are|sind|sont|son|sono)\b|[ \t]*[:=])[ \t]*[\"'`]?[\w.@+-]{2,60}[\"'`]?"
         r"[ \t]*[/:|][ \t]*[\"'`]?(?P<bare>[^\s\"'`<>,;]{6,100})")
_KEY_OF = rf"(?i)(?:{'|'.join(forms.KEYS)})[ ._-]?$"
_CHOSEN = rf"(?i)(?:{'|'.join(forms.KEYS)})[_-]?$"  # before "secret": people choose those themselves, too
_USED = r"(?i)\b(?:use|enter|type|try|set|nimm|verwende|utilise|usa)[ \t]+[\"'`]?$"
_OF_PASSWORDS = r"(?i)s?[ \t]*(?:hash|field|encod|algorithm|manager|policy|provider|store|function|column)"
_ANCHORS = (*sorted(forms.PASSWORDS, key=len, reverse=True), "mot de passe", *forms.TOKENS, *forms.LOGINS,
            "pass", "pwd", "pw", "key", "auth")
_NO_NAME = r"(?i)public[ _-]?(?:key)?[ _-]?$|\[secret:[a-z-]*$"  # what stands before it; a mark
_REACH = 160  # characters before a name that may say something of it


class _Name(NamedTuple):
    """A name that a secret may stand behind, and how a value behind it is looked at."""

    kind: str
    test: str
    start: int
    end: int


def _redact_named(text: str, low: str, vocabulary: str, counts: Counter[str]) -> str:
    kept: list[str] = []
    position = 0
    for word, start in _anchors(low, vocabulary):
        if start < position or not (name := _name(text, word, start)):
            continue
        if span := _behind(text, name) or _before(text, name, position):
            kept += text[position : span[0]], f"{MARK}{name.kind}]"
            counts[name.kind] += 1
            position = span[1]
    return "".join((*kept, text[position:]))


def _anchors(low: str, vocabulary: str) -> Iterator[tuple[str, int]]:
    """Each word that may be a name of secrets and where it stands, apart from each other; of two that begin
    together, the first in the list. Word by word, for that is twice as fast as all in one pattern.
    """
    places: list[tuple[int, int]] = []
    for order, word in enumerate(_ANCHORS):
        position = low.find(word) if word in vocabulary or " " in word else -1
        while position >= 0:
            places.append((position, order))
            position = low.find(word, position + len(word))
    end = 0
    for start, order in sorted(places):
        if start >= end:
            end = start + len(_ANCHORS[order])
            yield _ANCHORS[order], start


def _name(text: str, word: str, start: int) -> _Name | None:
    """What a word that may be a name of secrets is here."""
    end = start + len(word)
    before = text[max(0, start - 1) : start]
    if compiled(_NO_NAME).search(text, max(0, start - 40), start):
        return None
    inside = before.isalpha() and not (before.islower() and text[start].isupper())
    if word == "key":
        qualified = compiled(_KEY_OF).search(text, max(0, start - 20), start)
        return _Name("api-key", "token", start, end) if qualified else None
    if word == "auth":
        return _Name("authorization", "basic", start, end) if before in ("_", '"', "'") else None
    if word in forms.LOGINS:
        return None if inside else _Name("password", "pair", start, end)
    if word in forms.TOKENS:
        chosen = word == "secret" and compiled(_CHOSEN).search(text, max(0, start - 20), start)
        return None if before == ":" else _Name(word, "chosen" if chosen else "token", start, end)
    if word == "pass":
        named = _is_pass(text, start, end, inside)
    else:
        named = not inside or word.startswith("pass") or not word[0].isascii()
    return _Name("password", "password", start, end) if named else None


def _is_pass(text: str, start: int, end: int, inside: bool) -> bool:
    """Whether "pass" is a name here: DB_PASS, "pass", smtpPass, pass=; also a verb, and what tests do."""
    before = text[max(0, start - 1) : start]
    if before in ("_", "-", '"', "'") or (before.islower() and not inside):
        return True
    return not inside and text[start:end].islower() and text[end : end + 1] in ("=", ":")


def _behind(text: str, name: _Name) -> tuple[int, int] | None:
    """Where the secret is that stands after its name: assigned, as an option, or said in words."""
    if name.test == "pair":
        assigned = _span(compiled("(?i)" + _ASSIGNED).match(text, name.end), "token")
        return assigned or _span(compiled(_PAIR).match(text, name.end), "strong")
    before = text[max(0, name.start - 40) : name.start]
    patterns, test = [(_ASSIGNED, name.test)], "token" if name.test == "chosen" else name.test
    if before.rstrip(" \t*`").endswith("|"):
        patterns.append((_CELL, test))
    if compiled(r"(?:^|\s)--?[a-z-]{0,30}$").search(before):
        patterns.append((_FLAG, test))
    patterns += (_SAID, test), (_FOR, test), (_WAS_CHANGED, test)
    if name.test == "password":
        patterns.append((_BESIDE, "strong"))
    if compiled(_CHANGING).search(before):
        patterns.append((_CHANGED, test))
    for pattern, test in patterns:
        if span := _span(compiled("(?i)" + pattern).match(text, name.end), test):
            return span
    return None


def _before(text: str, name: _Name, position: int) -> tuple[int, int] | None:
    """Where the secret is that stands before its name: "use x as the password"."""
    if name.test in ("pair", "basic") or text[name.start - 1 : name.start] not in (" ", "\t"):
        return None
    start = max(position, name.start - _REACH)
    match = compiled(_BEFORE).search(text[start : name.start])
    test = "strong" if name.test == "password" else "token"
    if match and name.test == "password" and compiled(_USED).search(text, start, start + match.start()):
        test = "strong" if compiled(_OF_PASSWORDS).match(text, name.end) else "password"
    span = _span(match, test)
    return (span[0] + start, span[1] + start) if span else None


def _span(match: Match | None, test: str) -> tuple[int, int] | None:
    if match is None or not (group := match.lastgroup):
        return None
    value = _value(match, group)
    if not TESTS[test](match, value):
        return None
    return match.start(group), match.start(group) + len(value)
