"""Values, and values that check themselves: the one mechanism behind every record.

There are three styles of values and no others. A Value is frozen and made by keywords: answers and settings.
(A standard dataclass does the same, but importing it costs a command a third of its start.) A Shape is one
whose fields say what they accept, for what files and callers give: making one checks every field, `from_dict`
takes what a file holds, `to_dict` gives it back; keys that no field claims are kept in `extra`, so a newer or
foreign file survives a rewrite. A NamedTuple is a small row, made by the thousands and not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

from otolith.errors import Invalid

Check = Callable[[Any, str], Any]
S = TypeVar("S", bound="Shape")
V = TypeVar("V", bound="Value")
LARGEST = 9e18  # what every index can hold as a whole number
NOTHING: Mapping[str, Any] = MappingProxyType({})
_NUMBERS, _ROWS = (int, float), (list, tuple)  # a union is made anew each time it is named
_LISTS = (*_ROWS, set, frozenset)
_TYPE_NAMES = {str: "text", bool: "true or false", int: "a number", float: "a number", dict: "an object",
               list: "a list", type(None): "nothing"}
_BARE = frozenset((str, int, float, bool, type(None)))  # JSON has them as they are
_MISSING: Any = type("Missing", (), {"__repr__": lambda _: "MISSING"})()


def _kind(value: object) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


class Field(NamedTuple):
    """What a class says about one of its fields. Where the default is None, None is taken and not checked."""

    check: Check | None
    default: Any
    sparse: bool
    form: Any = None  # JSON's name of its type, its words, [that of its items], or the shape inside it

    @property
    def required(self) -> bool:
        return self.default is _MISSING


    def read(self, value: Any, where: str) -> Any:
        """The value as the field keeps it; `Invalid` says what is wrong with it."""
        if self.check is None or (value is None and self.default is None):
            return value
        return self.check(value, where)


def text(*, default: Any = _MISSING, sparse: bool = False, filled: bool = False) -> Any:
    """A string; `filled` refuses white space only, `sparse` leaves the key out of files while it is None."""

    def check(value: Any, where: str) -> Any:
        if not isinstance(value, str):
            raise Invalid(f"{where} must be text, not {_kind(value)}")
        if filled and not value.strip():
            raise Invalid(f"{where} must not be empty")
        return value

    return Field(check, default, sparse, "string")


def choice(options: Iterable[str], *, default: Any = _MISSING, sparse: bool = False) -> Any:
    """One of a few words."""
    allowed = tuple(options)

    def check(value: Any, where: str) -> Any:
        if not isinstance(value, str) or value not in allowed:
            raise Invalid(f"{where} must be one of {', '.join(allowed)}; got {value!r}")
        return value

    return Field(check, default, sparse, allowed)


def number(low: float | None = None, high: float | None = None, *, default: Any = _MISSING,
           sparse: bool = False) -> Any:
    """A finite number within bounds; what was an integer stays one, so that files keep their bytes."""

    def check(value: Any, where: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, _NUMBERS):
            raise Invalid(f"{where} must be a number, not {_kind(value)}")
        if not -LARGEST <= value <= LARGEST:  # infinities and what is not a number among them
            raise Invalid(f"{where} must be a finite number")
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"at least {low}" if low is None or high is None else f"from {low:g} to {high:g}"
            raise Invalid(f"{where} must be {bounds}; got {value:g}")
        return value

    return Field(check, default, sparse, "number")


def integer(low: int | None = None, high: int | None = None, *, default: Any = _MISSING,
            sparse: bool = False) -> Any:
    """A whole number; 3.0 is taken as 3."""

    def check(value: Any, where: str) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Invalid(f"{where} must be a whole number, not {_kind(value)}")
        if not (-LARGEST if low is None else low) <= value <= (LARGEST if high is None else high):
            size = f": {value:.3g}" if -LARGEST <= value <= LARGEST else ""  # not thousands of digits
            raise Invalid(f"{where} is out of range{size}")
        return value

    return Field(check, default, sparse, "integer")


def _read_flag(value: Any, where: str) -> Any:
    if not isinstance(value, bool):
        raise Invalid(f"{where} must be true or false, not {_kind(value)}")
    return value


def flag(*, default: Any = _MISSING, sparse: bool = False) -> Any:
    """True or false, and nothing that merely looks like it."""
    return Field(_read_flag, default, sparse, "boolean")


def read_strings(value: Any, where: str) -> tuple[str, ...]:
    """A list of strings; a single string is refused: nearly always brackets were forgotten."""
    if isinstance(value, str):
        raise Invalid(f'{where} must be a list of words, not the text {value!r}; write ["{value}"]')
    if not isinstance(value, _LISTS):
        raise Invalid(f"{where} must be a list of words, not {_kind(value)}")
    items = value if isinstance(value, _ROWS) else sorted(value)
    for item in items:
        if not isinstance(item, str):
            raise Invalid(f"{where} must hold only text; got {item!r}")
    return tuple(items)


def read_tags(value: Any) -> tuple[str, ...]:
    """The tags of a record that is written now; a blank one tags nothing."""
    tags = read_strings(value, "tags")
    if not all(tag.strip() for tag in tags):
        raise Invalid("a tag must not be empty", "leave it out")
    return tags


def strings(*, default: Any = _MISSING, sparse: bool = False) -> Any:
    """A list of strings."""
    return Field(read_strings, default, sparse, ["string"])


def one_or_many(*, default: None = None) -> Any:
    """One string, or several where a file holds several; absent while None."""

    def check(value: Any, where: str) -> Any:
        if value is None or isinstance(value, str):
            return value
        words = read_strings(value, where)
        return words[0] if len(words) == 1 else words or None

    return Field(check, default, True)


def part(shape: type[S], *, default: Any = _MISSING, sparse: bool = False) -> Any:
    """Another shape inside this one."""

    def check(value: Any, where: str) -> Any:
        if value is None and default is not _MISSING:
            return shape.from_dict({}, where)
        return value if isinstance(value, shape) else shape.from_dict(value, where)

    return Field(check, default, sparse, shape)


def parts(shape: type[S], *, default: Any = _MISSING, sparse: bool = False) -> Any:
    """A list of shapes."""

    def check(value: Any, where: str) -> Any:
        if not isinstance(value, _ROWS):
            raise Invalid(f"{where} must be a list, not {_kind(value)}")
        return tuple(item if isinstance(item, shape) else shape.from_dict(item, f"{where}[{at}]")
                     for at, item in enumerate(value))

    return Field(check, default, sparse, [shape])


def anything(*, default: Any = _MISSING, sparse: bool = False) -> Any:
    """Whatever it is, it is kept."""
    return Field(None, default, sparse)


def _read_mapping(value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise Invalid(f"{where} must be an object, not {_kind(value)}")
    return value


def mapping(*, default: Any = _MISSING, sparse: bool = False) -> Any:
    """An object of any keys."""
    return Field(_read_mapping, default, sparse, "object")


def _hashable(value: Any) -> Any:
    """Something to hash a value by: equal values give equal ones, whatever they are made of."""
    if isinstance(value, Mapping):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, _ROWS):
        return tuple(map(_hashable, value))
    return value if getattr(value, "__hash__", None) else None


def plain(value: Any) -> Any:
    """The value as JSON knows it: shapes and mappings become dicts, tuples become lists."""
    if type(value) in _BARE:
        return value
    if isinstance(value, Shape):
        return value.to_dict()
    if isinstance(value, _ROWS):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


def _stands(name: str, field: Field) -> bool:
    """Whether a field that is left out has its default just as it is written down."""
    if field.default is _MISSING:
        return False
    try:
        return field.read(field.default, name) is field.default
    except Invalid:
        return False


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(
    text, choice, number, integer, flag, strings, one_or_many, part, parts, anything, mapping))
class Value:
    """A frozen value made by keywords. Change means a new one."""

    _fields: ClassVar[dict[str, Field]] = {}
    _ready: ClassVar[dict[str, Any]] = {}
    _checks: ClassVar[dict[str, Check]] = {}
    _needed: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        fields = dict(cls._fields)
        for name, annotation in cls.__dict__.get("__annotations__", {}).items():  # noqa: RUF063 (no inspect)
            if str(annotation).startswith("ClassVar"):
                continue
            given = cls.__dict__.get(name, _MISSING)
            fields[name] = given if isinstance(given, Field) else Field(None, given, False)
            if isinstance(given, Field) and given.default is not _MISSING:
                setattr(cls, name, given.default)
            elif isinstance(given, Field):
                delattr(cls, name)
        cls._fields = fields
        cls._ready = {name: field.default for name, field in fields.items() if _stands(name, field)}
        cls._checks = {name: field.check for name, field in fields.items() if field.check is not None}
        cls._needed = frozenset(name for name, field in fields.items() if field.default is _MISSING)

    def __init__(self, /, **given: Any) -> None:
        own, fields = self.__dict__, self._fields
        own.update(self._ready)  # what a default's own check would leave as it is
        own.update(given)
        checks = self._checks
        if checks:
            for name, value in given.items():
                check = checks.get(name)
                if check is not None and (value is not None or fields[name].default is not None):
                    own[name] = check(value, name)
        if len(own) != len(fields) or not given.keys() <= fields.keys():
            for name in own.keys() - fields.keys():
                raise TypeError(f"{type(self).__name__} has no {name}")
            for name in fields.keys() - own.keys():
                field = fields[name]
                if field.default is _MISSING:
                    raise TypeError(f"{type(self).__name__} needs {name}")
                own[name] = field.read(field.default, name)
        self.check()

    def check(self) -> None:
        """Rules between fields; a subclass overrides it."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; make a new one with replace({name}=…)")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *(_hashable(self.__dict__[name]) for name in self._fields)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._fields)
        return f"{type(self).__name__}({fields})"

    def replace(self: V, /, **changes: Any) -> V:
        """The same value with some fields changed; these are checked, and the rules between fields."""
        unknown = [name for name in changes if name not in self._fields]
        if unknown:
            names = ", ".join(sorted(name for name in self._fields if name != "extra"))
            raise Invalid(f"{type(self).__name__.lower()} has no field {unknown[0]!r}", f"it has {names}")
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__.update({name: self._fields[name].read(value, name) for name, value in changes.items()})
        made.check()
        return made


class Shape(Value):
    """The base of all checked values."""

    extra: Mapping[str, Any] = mapping(default=NOTHING)

    @classmethod
    def from_dict(cls: type[S], data: Any, where: str = "") -> S:
        """Make the value from what a file or a caller gave; a wrong part is named by its path."""
        if type(data) is not dict and not isinstance(data, Mapping):
            raise Invalid(f"{where or cls.__name__.lower()} must be an object, not {_kind(data)}")
        fields: Any = data
        if not fields.keys() <= cls._fields.keys() or "extra" in fields:
            fields = dict(data)
            foreign = [key for key in data if key not in cls._fields or key == "extra"]
            fields["extra"] = {key: fields.pop(key) for key in foreign}
        if not fields.keys() >= cls._needed:
            missing = next(name for name in cls._fields if name in cls._needed and name not in fields)
            raise Invalid(f"{where + '.' if where else ''}{missing} is missing")
        try:
            return cls(**fields)
        except Invalid as error:
            raise Invalid(f"{where}.{error.message}" if where else error.message, error.hint) from None

    @classmethod
    def salvage(cls: type[S], data: Any, where: str = "") -> tuple[S | None, list[Invalid]]:
        """What can be taken of a value, and what is wrong with the rest; an invalid field is left out."""
        wrong: list[Invalid] = []
        fields = dict(data) if isinstance(data, Mapping) else data
        for name in [] if fields is data else [key for key in data if key in cls._fields and key != "extra"]:
            try:
                cls._fields[name].read(fields[name], name)
            except Invalid as error:
                wrong.append(Invalid(f"{where}.{error.message}" if where else error.message, error.hint))
                del fields[name]
        try:
            return cls.from_dict(fields, where), wrong
        except Invalid as error:
            return None, wrong or [error]

    def to_dict(self) -> dict[str, Any]:
        """The value in its canonical key order; sparse fields that are None stay out."""
        result: dict[str, Any] = {}
        for name, field in self._fields.items():
            value = self.__dict__[name]
            if name != "extra" and not (value is None and field.sparse):
                result[name] = value if type(value) in _BARE else plain(value)
        for key, value in self.extra.items():
            result.setdefault(key, plain(value))
        return result
