"""Records as JSON, and back, strictly: every field has to be there, of its type, and no other may be.

    encoded(Subject("sgemm", …))                        {"benchmark": "sgemm", …}
    decoded(Subject, {"benchmark": "sgemm", …}, "the subject")

The types that fields may have: texts and classes of such, whole numbers of 64 bits, finite numbers, flags,
enumerations, literals, tuples, dictionaries with texts as keys, `None` beside one of these, and records of such
fields. A record is a dataclass or a named tuple.
"""

from __future__ import annotations

import enum
import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from coarsen.errors import InvalidInputError

T = TypeVar("T")
# Databases and Parquet hold whole numbers in 64 bits.
WHOLE_NUMBERS = range(-(2**63), 2**63)
# What no database takes: NUL, and half of a surrogate pair.
_NOT_STORED = "[\0\ud800-\udfff]"
# By the type that a field is annotated with.
Coders = Mapping[Any, Callable[[Any], Any]]
_NONE: Coders = types.MappingProxyType({})


def encoded(value: object, encoders: Coders = _NONE) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a value as dictionaries, lists, texts, numbers, flags and None.

    Args:
        value: a record, or what a field of one may hold.
        encoders: for types that have a form of their own.
    """
    if type(value) in encoders:
        return encoders[type(value)](value)
    if _is_record(value):
        return {name: encoded(getattr(value, name), encoders) for name in _names(type(value))}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [encoded(entry, encoders) for entry in value]
    if isinstance(value, Mapping):
        return {name: encoded(entry, encoders) for name, entry in value.items()}
    return value


def decoded(
    kind: type[T], value: object, where: str, decoders: Coders = _NONE, *, has_defaults: bool = False
) -> T:
    """Return the record that `encoded` made a value of.

    Args:
        kind: its class.
        value: what JSON was decoded to.
        where: what the value is called in errors: `the plan`.
        decoders: for types that have a form of their own; they raise InvalidInputError.
        has_defaults: whether a field that is not there has its default, where there is one.

    Raises:
        InvalidInputError: a field is missing, unknown or malformed.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{where} is not a JSON object")
    hints: dict[str, Any] = _hints(cast("Any", kind))
    for name in hints:
        if name not in value and not (has_defaults and _has_default(kind, name)):
            raise InvalidInputError(f"{where} has no field {name!r}")
    unknown = sorted(str(name) for name in value if name not in hints)
    if unknown:
        raise InvalidInputError(f"{where} has an unknown field {unknown[0]!a}")
    reader = _Reader(where, decoders, has_defaults)
    return kind(**{name: reader.read(name, hint, value[name]) for name, hint in hints.items() if name in value})


def _has_default(kind: Any, name: str) -> bool:  # noqa: ANN401 (as above)
    if not is_dataclass(kind):
        return name in kind._field_defaults
    field = kind.__dataclass_fields__[name]
    return field.default is not MISSING or field.default_factory is not MISSING


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 (mypy takes no generic class for hashable)
    """The types of a record's fields, in their order."""
    found = get_type_hints(kind)
    return {name: found[name] for name in _names(kind)}


def _names(kind: Any) -> tuple[str, ...]:  # noqa: ANN401
    """The names of a record's fields, in their order."""
    return kind._fields if hasattr(kind, "_fields") else tuple(field.name for field in fields(kind))


def _is_record(value: object) -> bool:
    return is_dataclass(value) or hasattr(value, "_fields")


@cache
def _form(hint: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401
    """Return how values of a type are read, and the types or values that it has parts of; None for a plain one.

    To ask a type for its form takes longer than to read a value.
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (kind,) = (entry for entry in parts if entry is not type(None))
        return Union, (kind,)
    if origin in (tuple, dict, Literal):
        return origin, parts
    if origin is Mapping:
        return dict, parts
    if _is_record(hint):
        return is_dataclass, ()
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return enum.Enum, tuple(entry.value for entry in hint)
    return None, ()


class _Reader:
    """Reads the fields of one record; errors name the field."""

    def __init__(self, where: str, decoders: Coders, has_defaults: bool) -> None:
        self._where = where
        self._decoders = decoders
        self._has_defaults = has_defaults

    def read(self, name: str, hint: Any, value: object) -> Any:  # noqa: ANN401 (any type, any value)
        if hint in self._decoders:
            return self._decoders[hint](value)
        form, parts = _form(hint)
        if form is None:
            return self._plain(name, hint, value)
        if form is Union:
            return None if value is None else self.read(name, parts[0], value)
        if form is tuple:
            return self._tuple(name, parts, value)
        if form is dict:
            return self._dictionary(name, parts[1], value)
        if form is Literal:
            return self._one_of(name, parts, value)
        if form is enum.Enum:
            return hint(self._one_of(name, parts, value))
        where = f"{self._where}'s {name}"
        return decoded(cast("type[Any]", hint), value, where, self._decoders, has_defaults=self._has_defaults)

    def _tuple(self, name: str, kinds: tuple[Any, ...], value: object) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise self._wrong(name, "a list", value)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            return tuple(self.read(name, kinds[0], entry) for entry in value)
        if len(value) != len(kinds):
            wanted = "a list of pairs" if len(kinds) == 2 else f"a list of {len(kinds)} values"
            raise self._wrong(name, wanted, value)
        return tuple(self.read(name, kind, entry) for kind, entry in zip(kinds, value, strict=True))

    def _dictionary(self, name: str, kind: Any, value: object) -> dict[str, Any]:  # noqa: ANN401
        if not isinstance(value, Mapping):
            raise self._wrong(name, "an object", value)
        return {self._text(name, key): self.read(name, kind, entry) for key, entry in value.items()}

    def _one_of(self, name: str, choices: tuple[Any, ...], value: object) -> Any:  # noqa: ANN401
        if not isinstance(value, str) or value not in choices:
            raise self._wrong(name, f"one of {', '.join(map(str, choices))}", value)
        return value

    def _plain(self, name: str, hint: Any, value: object) -> Any:  # noqa: ANN401
        if hint is str:
            return self._text(name, value)
        if hint is bool:
            if not isinstance(value, bool):
                raise self._wrong(name, "true or false", value)
            return value
        if hint is int:
            if isinstance(value, bool) or not isinstance(value, int) or value not in WHOLE_NUMBERS:
                raise self._wrong(name, "a whole number of at most 64 bits", value)
            return value
        if isinstance(hint, type) and issubclass(hint, str):
            return hint(self._text(name, value))
        if hint is not float:
            raise TypeError(f"the field {name!r} of {self._where} has a type that has no JSON form: {hint}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self._wrong(name, "a number", value)
        return float(value)

    def _text(self, name: str, value: object) -> str:
        if not isinstance(value, str) or re.search(_NOT_STORED, value):
            raise self._wrong(name, "text", value)
        return str(value)

    def _wrong(self, name: str, expected: str, value: object) -> InvalidInputError:
        given = ascii(value)
        shown = given if len(given) <= 60 else f"{given[:57]}..."
        return InvalidInputError(f"the field {name!r} of {self._where} must be {expected}, not {shown}")
