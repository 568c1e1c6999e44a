"""Whether a value that stands where secrets stand is one, or a placeholder, a path, code, a version, a word.

Each test takes the match and the value in it; the tables of `secret_forms` name them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

Match = re.Match[str]


@lru_cache(maxsize=500)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when it is first wanted: every command that writes loads these modules."""
    return re.compile(pattern)


_PLACEHOLDER = (
    r"(?is)[*x.•_#?0-]+|[$\[{<%@:].*|.*(?:\$\{|\$\(|\{\{|%\(|<[a-z]).*"
    r"|.*(?-i:\$(?:[a-z_]{3,}|[A-Z_]{3,})(?![A-Za-z0-9])).*"
    r"|.*(?:your|example|change[_-]?(?:me|it)|placeholder|redacted|dummy|insert|\.\.\.|…|xxxx|\*\*\*|replace"
    r"|here$|environ|getenv|process\.env|1password|lastpass|keepass|bitwarden|secrets?manager).*"
    r"|(?:my|the|some|new|old|a|user|db|root|admin|test|super|top|app|default|no|any|current|wrong|bad|good"
    r"|fake|client|access|raw|correct|hashed|plain|temp|[_-])*(?:none|null|nil|true|false|undefined|unset"
    r"|empty|required|passw?(?:or)?[dt]|pass|pwd|pw|passphrase|secret|token|key|credentials?|string|str|value"
    r"|user|username|admin|root|test|testing|guest|postgres|hidden|todo|n/a|foo|bar|baz|foobar"
    r"|letmein)s?[_-]?\d?"
    r"|(?:arn|vault|env|kms|ssm|md5|sha\d+):.*|(?:op|ref\+\w+)://.*|enc\[.*|projects/.*|sha\d+-.*")
_CODE = (r"[$%@&].*|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+[!?]?|[a-z_]+|_\w*"
         r"|(?i:[a-z_]*(?:password|passwd|token|secret|key|pass|pwd)_?\d?)")
_PLAIN = (
    r"(?i)(?:https?|file|ftp|s3|gs|git|ssh)://.*|\d{1,5}|\d+(?:\.\d+)+|v?\d+(?:\.\d+)+[\w.+-]*"
    r"|\d{4}-\d\d-\d\d.*|\d+[a-z]{1,3}|[\w.@-]{1,60}\.(?:py|[jt]sx?|json|ya?ml|toml|txt|md|go|rs|java|rb|sh"
    r"|env|pem|key|crt|cfg|ini|conf|html|com|org|net|io)|(?:sha|md|oauth|base|utf|argon|bcrypt|pbkdf|scrypt"
    r"|hs|rs|es|aes|rsa|http|ipv|web|k8s|ed|ecdsa|tls|ssl|s3|ec2|sso|mfa"
    r"|2fa|totp|oidc|saml)[\W_]?\d*(?:id|gcm|cbc)?"
    r"(?:[\W_][a-z]{2,12}){0,3}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PATH = r"(?:~|\.{1,2})/[\w./-]+|/(?:[\w.-]{1,40}/)*[\w.-]{1,60}|[A-Za-z]:[\\/].*|[\w.-]+/[\w.-]+/[\w./-]*"
_SPECIAL = frozenset("!@#$%^&*+?~§°")
_LITTLE = frozenset("a an and are be by can do enter for from have here if in is it must my no not of on or"
                    " please should that the this to use was when which will with you your".split())
_SHORTEST_LETTERS = 2.8  # of words in which there is no digit at all
_SHORTEST_WORD = 3.5  # on the mean; drawn letters change case and give way to digits more often


def _full(pattern: str, value: str) -> bool:
    return compiled(pattern).fullmatch(value) is not None


def _is_wordy(value: str) -> bool:
    """Whether it reads like words and numbers, also joined in one: `accessToken2`, not `ePCdVnHNyg`."""
    pieces = compiled(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+").findall(value)
    words = [piece for piece in pieces if not piece[0].isdigit()]
    numbers = [piece for piece in pieces if piece[0].isdigit()]
    if not numbers and (value.islower() or value.isupper()):
        return True
    shortest = _SHORTEST_WORD if numbers else _SHORTEST_LETTERS
    return (sum(map(len, words)) >= shortest * len(words) > 0 and 2 * len(numbers) <= max(2, len(words))
            and all(len(number) <= 5 for number in numbers)
            and not any(map(compiled(r"(?i).?[bcdfghjklmnpqrstvwxz]{5}").match, words)))


def _is_counted(value: str) -> bool:
    """123456, abcdef: every sign follows the one before it."""
    steps = sum(ord(after) - ord(sign) in (0, 1) for sign, after in pairwise(value))
    return steps >= 0.8 * (len(value) - 1)


def _is_nothing(value: str, *, bare: bool) -> bool:
    """A placeholder, a path, a name in code, a number, a version: whatever is there instead of a secret."""
    return (_full(_PLACEHOLDER, value.strip("?!*")) or _full(_PLAIN, value) or _is_path(value)
            or _is_counted(value) or (bare and _is_code(value)))


def _is_code(value: str) -> bool:
    """A variable, a constant, an attribute of something."""
    if value.isupper():
        return _is_wordy(value)
    return _full(_CODE, value) and all(len(part) < 12 or _is_wordy(part) for part in value.split("."))


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
    chosen = any(sign.isdigit() or sign in _SPECIAL for sign in value)
    return chosen or (len(value) >= 8 and not _is_wordy(value))


def _strong(match: Match, value: str) -> bool:
    """A password that shows itself: of several kinds of signs."""
    kinds = {"digit" if sign.isdigit() else "upper" if sign.isupper() else "lower" if sign.islower()
             else "special" if sign in _SPECIAL else "" for sign in value} - {""}
    return (len(value) >= 8 and "digit" in kinds and len(kinds) >= 3 and _password(match, value)
            and ("special" in kinds or not _is_wordy(value)))


def _token(match: Match, value: str) -> bool:
    """What a machine drew: long, of many signs, and no words."""
    if len(value) < 12 or " " in value or value.isdigit() or len(set(value)) < 7:
        return False
    return not _is_nothing(value, bare=match.lastgroup == "bare") and not _is_wordy(value)


def _chosen(match: Match, value: str) -> bool:
    """What a machine drew, or a person instead of it."""
    return _token(match, value) or (len(value) >= 12 and " " not in value and _password(match, value))


def _anything(_match: Match, value: str) -> bool:
    """Where a password must stand: everything but a placeholder."""
    return len(value) >= 3 and not _is_named(value) and not value.startswith("-")


def _is_named(value: str) -> bool:
    """A placeholder, or words that say what should stand there."""
    return _full(_PLACEHOLDER, value) or (
        _is_wordy(value) and compiled(r"(?i)pass|pwd|secret|token|key").search(value) is not None)


def _option(match: Match, value: str) -> bool:
    """After an option that may also mean a port or a path."""
    drawn = len(value) >= 6 and not _is_wordy(value) and not _is_nothing(value, bare=True)
    return drawn or _password(match, value)


def _url(match: Match, value: str) -> bool:
    return match["user"] != value and not _is_named(value)


def _basic(_match: Match, value: str) -> bool:
    """base64 of name:password."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(value.encode() + b"=" * (-len(value) % 4))
    except (Error, ValueError):
        return False
    return len(value) >= 8 and compiled(r"[\x20-\x7e]{1,200}:[\x20-\x7e]{1,200}").fullmatch(
        plain.decode("latin-1")) is not None


def _header(match: Match, value: str) -> bool:
    return not _full(_PLACEHOLDER, value) and (_token(match, value) or _basic(match, value))


def _words(_match: Match, value: str) -> bool:
    """A phrase of drawn words: four at least, none of which only holds a sentence together."""
    words = value.replace(",", " ").split()
    return (4 <= len(words) <= 24 and all(_full(r"[a-z]{3,9}", word) for word in words)
            and _LITTLE.isdisjoint(words) and len(set(words)) > 2 * len(words) // 3)


def _varied(_match: Match, value: str) -> bool:
    """No row of x."""
    return len(set(value[-16:])) >= 5


def _drawn(match: Match, value: str) -> bool:
    """Behind a vendor's prefix: a long run with digits or of both cases, or at least no words."""
    run = max(compiled(r"[A-Za-z0-9]+").findall(value), key=len)
    drawn = any(map(str.isdigit, run)) or _mixed_case(run) if len(run) >= 20 else not _is_wordy(value)
    return drawn and _varied(match, value)


def _mixed(_match: Match, value: str) -> bool:
    return _mixed_case(value) and any(map(str.isdigit, value)) and len(set(value)) >= 12


def _numbered(_match: Match, value: str) -> bool:
    """A code in groups: digits in most of them."""
    groups = compiled(r"[A-Za-z0-9]+").findall(value)
    return 2 * sum(any(map(str.isdigit, group)) for group in groups) > len(groups) and len(set(value)) > 5


def _digits(_match: Match, value: str) -> bool:
    return not _is_counted(value) and len(set(value)) > 2


TESTS: dict[str, Callable[[Match, str], bool]] = {
    "varied": _varied, "drawn": _drawn, "mixed": _mixed, "any": _anything, "password": _password,
    "strong": _strong, "chosen": _chosen, "token": _token, "option": _option, "url": _url, "basic": _basic,
    "header": _header, "words": _words, "digits": _digits, "numbered": _numbered,
}
