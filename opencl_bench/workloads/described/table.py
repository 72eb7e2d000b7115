"""Tables of TOML files: every mistake in one that is read names the file and the key. Tables that are written."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard, TypeVar

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.errors import InvalidInputError

T = TypeVar("T")

LARGEST_TOLERANCE = 1e300


@dataclass(frozen=True, slots=True)
class Table:
    """A table and where it stands; `key` is empty for the file's outermost one."""

    path: Path
    key: str
    values: Mapping[str, object]

    def key_of(self, name: str) -> str:
        """The full key of an entry."""
        return f"{self.key}.{name}" if self.key else name

    def error(self, name: str, message: str) -> InvalidInputError:
        """The error to raise for an entry; without a name, for the table."""
        key = self.key_of(name) if name else self.key
        return InvalidInputError(f"{self.path}: {key}: {message}")

    def check_names(self, *known: str) -> None:
        """Raise InvalidInputError for a key that isn't known."""
        for name in self.values:
            if name not in known:
                raise self.error(name, f"no such key{did_you_mean(name, known)}; there are {', '.join(known)}")

    def has(self, name: str) -> bool:
        """Return True if there is such an entry."""
        return name in self.values

    def required(self, name: str) -> object:
        """An entry that must be there."""
        if name not in self.values:
            raise self.error(name, "it is missing")
        return self.values[name]

    def text(self, name: str) -> str:
        """A text that must be there and not be empty."""
        value = self.required(name)
        if not isinstance(value, str) or not value.strip():
            raise self.error(name, f"it must be a text, not {value!r}")
        return value

    def texts(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """An array of texts."""
        value = self.array(name, list(default))
        if not all(isinstance(entry, str) for entry in value):
            raise self.error(name, f"it must be an array of texts, not {value!r}")
        return tuple(map(str, value))

    def array(self, name: str, default: list[str] | None = None) -> list[object]:
        """An array; it must be there unless there is a default."""
        value = self.required(name) if default is None else self.values.get(name, default)
        if not isinstance(value, list):
            raise self.error(name, f"it must be an array, not {value!r}")
        return value

    def tolerance(self, name: str) -> float | None:
        """Return a number that is finite and not negative; None where there is none."""
        if not self.has(name):
            return None
        value = self.values[name]
        if not is_number(value) or not 0 <= value <= LARGEST_TOLERANCE:
            raise self.error(name, f"it must be a number of at least 0, not {value!r}")
        return float(value)

    def table(self, name: str) -> Table:
        """A table within, empty where there is none."""
        return self.as_table(name, self.values.get(name, {}))

    def tables(self, name: str) -> list[Table]:
        """An array of tables."""
        return [self.as_table(f"{name}[{index}]", value) for index, value in enumerate(self.array(name))]

    def as_table(self, name: str, value: object) -> Table:
        """A value that must be a table."""
        if not isinstance(value, dict):
            raise self.error(name, f"it must be a table, not {value!r}")
        return Table(self.path, self.key_of(name), value)

    def parse(self, name: str, parser: Callable[[str], T], default: str | None = None) -> T:
        """Return an entry written in a small language of its own; whole numbers stand for their text."""
        value = self.required(name) if default is None else self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self.error(name, f"it must be a text or a whole number, not {value!r}")
        return self.parse_text(name, parser, str(value))

    def parse_texts(self, name: str, parser: Callable[[str], T]) -> tuple[T, ...]:
        """Parse an array of texts, or one text alone; nothing where there is none."""
        alone = self.values.get(name)
        texts = (self.text(name),) if isinstance(alone, str) else self.texts(name)
        return tuple(self.parse_text(name, parser, text) for text in texts)

    def expressions(self, name: str, least: int, most: int, of: str = "dimensions") -> tuple[Expression, ...]:
        """Return an array of expressions, of at least and at most so many."""
        entries = self.array(name)
        if not least <= len(entries) <= most:
            each = f"each of the {most}" if least == most else f"each of {least} to {most}"
            raise self.error(name, f"it must have an entry for {each} {of}, not {len(entries)}")
        for entry in entries:
            if isinstance(entry, bool) or not isinstance(entry, str | int):
                raise self.error(name, f"it must hold whole numbers or expressions, not {entry!r}")
        return tuple(self.parse_text(name, parse_expression, str(entry)) for entry in entries)

    def choice(self, name: str, known: Collection[str]) -> str:
        """Return a text that must be one of those that are known."""
        value = self.text(name)
        if value not in known:
            raise self.error(
                name, f"there is no '{value}'{did_you_mean(value, known)}; there are {', '.join(known)}"
            )
        return value

    def whole(self, name: str, default: int) -> int:
        """Return a whole number that is not negative."""
        value = self.values.get(name, default)
        if type(value) is not int or value < 0:
            raise self.error(name, f"it must be a whole number of at least 0, not {value!r}")
        return value

    def parse_text(self, name: str, parser: Callable[[str], T], text: str) -> T:
        """Parse a text, and say where it stands if that fails."""
        try:
            return parser(text)
        except InvalidInputError as error:
            raise self.error(name, str(error)) from None


def is_number(value: object) -> TypeGuard[int | float]:
    """Return True if a TOML value is a number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def toml(value: object) -> str:
    """Return a value as TOML has it: text, number, flag, or a sequence of these, in one line."""
    match value:
        case str():
            # JSON's strings are TOML's, as long as no character is written as two halves.
            return json.dumps(value, ensure_ascii=False)
        case bool():
            return str(value).lower()
        case float():
            # Every finite float is written exactly.
            return "nan" if math.isnan(value) else repr(value)
        case Sequence():
            return f"[{', '.join(map(toml, value))}]"
    return str(value)
