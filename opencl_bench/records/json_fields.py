"""Reading the fields of a JSON object strictly: every field has to be there, of its type, and no other may be.

fields = JsonFields(value, "subject")
subject = Subject(benchmark=fields.text("benchmark"), …)
fields.end()
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import TypeVar

from coarsen.errors import InvalidInputError

Choice = TypeVar("Choice", bound=enum.StrEnum)
# Databases and Parquet hold whole numbers in 64 bits.
WHOLE_NUMBERS = range(-(2**63), 2**63)


class JsonFields:
    """The fields of one JSON object, taken one after the other.

    Args:
        value: what JSON was decoded to.
        where: what the object is called in errors.

    Raises:
        InvalidInputError: the value is no object. All methods raise it for a field that is missing or malformed.
    """

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            raise InvalidInputError(f"{where} is not a JSON object")
        self._where = where
        self._left: dict[str, object] = dict(value)

    def take(self, name: str) -> object:
        """The value of a field, whatever it is."""
        if name not in self._left:
            raise InvalidInputError(f"{self._where} has no field {name!r}")
        return self._left.pop(name)

    def end(self) -> None:
        """Raises InvalidInputError if a field was not taken."""
        if self._left:
            raise InvalidInputError(f"{self._where} has an unknown field {min(map(str, self._left))!r}")

    def text(self, name: str) -> str:
        """A field that holds text."""
        return self._text(name, self.take(name))

    def flag(self, name: str) -> bool:
        """A field that holds true or false."""
        value = self.take(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def whole(self, name: str) -> int:
        """A field that holds a whole number of at most 64 bits."""
        return self._whole(name, self.take(name))

    def number(self, name: str) -> float:
        """A field that holds a finite number."""
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self._wrong(name, "a number", value)
        return float(value)

    def choice(self, name: str, choices: type[Choice]) -> Choice:
        """A field that holds one of an enumeration's values."""
        value = self.take(name)
        if not isinstance(value, str) or value not in [choice.value for choice in choices]:
            raise self._wrong(name, f"one of {', '.join(choices)}", value)
        return choices(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A field that holds a list of texts."""
        return tuple(self._text(name, value) for value in self._list(name, self.take(name)))

    def wholes(self, name: str) -> tuple[int, ...]:
        """A field that holds a list of whole numbers."""
        return tuple(self._whole(name, value) for value in self._list(name, self.take(name)))

    def named_texts(self, name: str) -> tuple[tuple[str, str], ...]:
        """A field that holds a list of pairs of a name and a text."""
        return tuple((key, self._text(name, value)) for key, value in self._pairs(name))

    def named_wholes(self, name: str) -> tuple[tuple[str, int], ...]:
        """A field that holds a list of pairs of a name and a whole number."""
        return tuple((key, self._whole(name, value)) for key, value in self._pairs(name))

    def _pairs(self, name: str) -> list[tuple[str, object]]:
        pairs = [self._list(name, pair) for pair in self._list(name, self.take(name))]
        if not all(len(pair) == 2 for pair in pairs):
            raise self._wrong(name, "a list of pairs", pairs)
        return [(self._text(name, key), value) for key, value in pairs]

    def _list(self, name: str, value: object) -> list[object]:
        if not isinstance(value, list | tuple):
            raise self._wrong(name, "a list", value)
        return list(value)

    def _whole(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value not in WHOLE_NUMBERS:
            raise self._wrong(name, "a whole number of at most 64 bits", value)
        return value

    def _text(self, name: str, value: object) -> str:
        # PostgreSQL takes no NUL, and no database takes half of a surrogate pair.
        if not isinstance(value, str) or "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise self._wrong(name, "text", value)
        return str(value)

    def _wrong(self, name: str, expected: str, value: object) -> InvalidInputError:
        given = ascii(value)
        shortened = given if len(given) <= 60 else f"{given[:57]}..."
        return InvalidInputError(f"the field {name!r} of {self._where} must be {expected}, not {shortened}")
