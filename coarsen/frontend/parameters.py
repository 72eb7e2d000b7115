"""Parameters of a kernel, `-D` macros with the values worth trying: one grammar for all that declares them.

    erange 64,512,2             64, 128, 256, 512: each the step times the one before
    range 1,8,1                 1, 2, … 8: each the step more than the one before
    values 1,3,7                these
    unroll 1,8,2                how far a loop is unrolled: as erange, 1 for no hint
    select rows,lanes,even      implementations, numbered 0, 1, 2

A pragma has the name beside it (`annotations.py`), a description has it as the key.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean

MOST_VALUES = 1024
LARGEST_VALUE = 2**31 - 1
_WHOLE = re.compile(r"-?[0-9]{1,10}")
_CONDITION = re.compile(r"\s*#\s*(?:el)?if\b")
# A comparison of a macro with a name, on its right or on its left. Blanks may be a line's end after a backslash.
_BLANK = r"(?:\s|\\\s)*"
_SIGN = rf"{_BLANK}(?P<sign>==|!=|<=|>=|<(?!<)|>(?!>)){_BLANK}"
_LABEL = r"(?P<label>[A-Za-z_]\w*)\b(?!\s*\()"
_LEFT = rf"\b{{name}}\b(?:{_BLANK}\))*{_SIGN}(?:\({_BLANK})*{_LABEL}"
_RIGHT = rf"\b{_LABEL}(?:{_BLANK}\))*{_SIGN}(?:\({_BLANK})*\b{{name}}\b"
_EQUALITIES = ("==", "!=")


class Kind(StrEnum):
    """The kinds of parameters."""

    MACRO = "macro"
    UNROLL = "unroll"
    SELECT = "select"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A macro and the values worth trying.

    Args:
        name: of the macro.
        kind: what it stands for.
        values: as `-D` takes them, the default first.
        place: where it is declared, as messages say it: `mv.cl:12`.
        labels: of implementations, in the order of their numbers.
    """

    name: str
    kind: Kind
    values: tuple[str, ...]
    place: str
    labels: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """The value that is used unless another is asked for."""
        return self.values[0]

    def with_default(self, value: str) -> Parameter:
        """Return the parameter with another of its values as the default; a select takes labels, too.

        Raises:
            InvalidInputError: the value is none of its.
        """
        wanted = str(self.labels.index(value)) if value in self.labels else value
        if wanted not in self.values:
            known = self.labels or self.values
            raise InvalidInputError(
                f"{self.place}: {self.name} is {value} in the source, which is none of {', '.join(known)}"
            )
        others = (each for each in self.values if each != wanted)
        return replace(self, values=(wanted, *others))

    def numbered(self, text: str, code: str = "") -> str:
        """Return a text in which the implementations that a select is compared with have their numbers.

        They may stand on either side of the sign, in parentheses, and on the next line after a backslash.

        Args:
            text: part of a source, or a condition.
            code: the same with blanks in the place of comments; the text itself where it has none.

        Raises:
            InvalidInputError: it is compared with another name, which the preprocessor would take for 0.
        """
        code = code or text
        # Elsewhere what stands on the left may be a variable, which is compared with the number.
        is_condition = _CONDITION.match(code) is not None
        places: dict[tuple[int, int], str] = {}
        for pattern, is_label in ((_LEFT, True), (_RIGHT, is_condition)):
            for match in re.finditer(pattern.format(name=self.name), code):
                label = match["label"]
                if label in self.labels:
                    places[match.span("label")] = str(self.labels.index(label))
                elif is_label and match["sign"] in _EQUALITIES:
                    raise InvalidInputError(
                        f"{self.name} is compared with {label}, which is none of {', '.join(self.labels)}"
                    )
        # From the right, so that what is left of it keeps its columns.
        for (start, end), number in sorted(places.items(), reverse=True):
            text = text[:start] + number + text[end:]
        return text

    def value_of(self, value: str) -> str:
        """Write a value for people: the label of an implementation."""
        return self.labels[int(value)] if self.labels else value


def parse_parameter(name: str, text: str, place: str) -> Parameter:
    """Read a parameter from its name and what is said of it.

    Args:
        name: of the macro.
        text: a word of the grammar, and its values.
        place: where that stands.

    Raises:
        InvalidInputError: a mistake, in one line that begins with the place.
    """
    word, _, rest = text.strip().partition(" ")
    try:
        check_name(name)
        if word not in _WORDS:
            raise InvalidInputError(
                f"'{word}' is no word{did_you_mean(word, _WORDS)}; there are {', '.join(_WORDS)}"
            )
        if word == Kind.SELECT:
            labels = _labels(rest)
            return Parameter(name, Kind.SELECT, tuple(map(str, range(len(labels)))), place, labels)
        if word == Kind.UNROLL:
            return Parameter(name, Kind.UNROLL, _unrollings(rest), place)
        return Parameter(name, Kind.MACRO, parse_values(word, rest), place)
    except InvalidInputError as error:
        raise InvalidInputError(f"{place}: {error}") from None


def parse_values(word: str, text: str) -> tuple[str, ...]:
    """Read the values of `erange`, `range` or `values`.

    Args:
        word: which of them.
        text: what comes after it, with commas between.

    Returns:
        The values in the order of the text, each once.

    Raises:
        InvalidInputError: they are not of this form, or too many.
    """
    if word == "values":
        return _checked_values(_entries(text))
    first, last, step = _bounds(word, text)
    return _powers(first, last, step) if word == "erange" else _multiples(first, last, step)


def check_name(name: str) -> None:
    """Raise InvalidInputError for what is no name of a macro."""
    if not name.isascii() or not name.isidentifier():
        raise InvalidInputError(f"'{name}' is no name: it has letters, digits and _ only")


def _checked_values(entries: Sequence[str]) -> tuple[str, ...]:
    values = tuple(dict.fromkeys(entries))
    if len(values) > MOST_VALUES:
        raise InvalidInputError(f"it has {len(values)} values, and at most {MOST_VALUES} are tried")
    return values


def _entries(text: str) -> list[str]:
    entries = [entry.strip() for entry in text.split(",")]
    for entry in entries:
        if not entry or any(letter.isspace() for letter in entry):
            raise InvalidInputError(f"values have commas between them and no blanks within, not '{text.strip()}'")
    return entries


def _bounds(word: str, text: str) -> tuple[int, int, int]:
    entries = [entry.strip() for entry in text.split(",")]
    if len(entries) != 3 or not all(_WHOLE.fullmatch(entry) for entry in entries):
        raise InvalidInputError(f"'{word}' takes the first value, the last and the step: {word} {_EXAMPLES[word]}")
    first, last, step = map(int, entries)
    if not first <= last <= LARGEST_VALUE:
        raise InvalidInputError(
            f"'{word} {text.strip()}' must go from a first value to a last not below it, up to {LARGEST_VALUE}"
        )
    return first, last, step


def _powers(first: int, last: int, step: int) -> tuple[str, ...]:
    if first < 1 or step < 2:
        raise InvalidInputError(
            f"'erange {first},{last},{step}' multiplies: it must begin at 1 or above, with a step of at least 2"
        )
    values = []
    while first <= last:
        values.append(str(first))
        first *= step
    return tuple(values)


def _multiples(first: int, last: int, step: int) -> tuple[str, ...]:
    if step < 1:
        raise InvalidInputError(f"'range {first},{last},{step}' needs a step of at least 1")
    count = (last - first) // step + 1
    if count > MOST_VALUES:
        raise InvalidInputError(
            f"'range {first},{last},{step}' has {count} values, and at most {MOST_VALUES} are tried"
        )
    return tuple(map(str, range(first, last + 1, step)))


def _unrollings(text: str) -> tuple[str, ...]:
    """Return the numbers of iterations, first that of no hint: the loop as it is written."""
    values = _powers(*_bounds("unroll", text))
    return tuple(dict.fromkeys(("1", *values)))


def _labels(text: str) -> tuple[str, ...]:
    labels = _entries(text)
    for label in labels:
        check_name(label)
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InvalidInputError(f"'select' needs two names or more, each once, not '{text.strip()}'")
    return tuple(labels)


_WORDS = ("erange", "range", "values", "unroll", "select")
_EXAMPLES = {"erange": "64,512,2", "range": "1,8,1", "unroll": "1,8,2"}
