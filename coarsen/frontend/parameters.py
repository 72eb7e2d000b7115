"""Parameters of a kernel, `-D` macros with the values worth trying: one grammar for all that declares them.

    erange 64,512,2             64, 128, 256, 512: each the step times the one before
    range 1,8,1                 1, 2, … 8: each the step more than the one before
    values 1,3,7                these
    unroll 1,8,2                how far a loop is unrolled: as erange, 1 for no hint
    select rows,lanes,even      implementations: whole numbers, or words that the source defines as such

A pragma has the name beside it (`annotations.py`), a description has it as the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError

MOST_VALUES = 1024
LARGEST_VALUE = 2**31 - 1
_WHOLE = re.compile(r"-?[0-9]{1,10}")
_CONDITION = re.compile(r"\s*#\s*(?:el)?if\b")
# What a macro or a constant of an enumeration must be for a word to be its value.
_NUMBER = re.compile(r"\(?\s*(-?(?:0[xX][0-9a-fA-F]+|[0-9]+))[uUlL]*\s*\)?")
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
        labels: the words for implementations, each with the number that the source gives it.
    """

    name: str
    kind: Kind
    values: tuple[str, ...]
    place: str
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def default(self) -> str:
        """The value that is used unless another is asked for."""
        return self.values[0]

    def with_default(self, value: str) -> Parameter:
        """Return the parameter with another of its values as the default; a select takes labels, too.

        Raises:
            InvalidInputError: the value is none of its.
        """
        wanted = dict(self.labels).get(value, value)
        if wanted not in self.values:
            raise InvalidInputError(
                f"{self.place}: {self.name} is {value} in the source, which is none of {self._choices}"
            )
        others = (each for each in self.values if each != wanted)
        return replace(self, values=(wanted, *others))

    @property
    def _choices(self) -> str:
        return ", ".join(word for word, _ in self.labels) or ", ".join(self.values)

    def numbered(self, condition: str) -> str:
        """Return a condition of a description with numbers in the place of the words for implementations.

        Raises:
            InvalidInputError: the parameter is compared with another name.
        """
        numbers = dict(self.labels)
        places = {match.span("label"): match["label"] for match in self._comparisons(condition, is_condition=True)}
        for (start, end), word in sorted(places.items(), reverse=True):
            self._check_word(word)
            condition = condition[:start] + numbers[word] + condition[end:]
        return condition

    def check_comparisons(self, code: str, macros: Mapping[str, int], line: int) -> None:
        """Check that a line compares the parameter with words alone that are defined there.

        To a compiler, a name that isn't defined is 0 in a condition of the preprocessor.

        Args:
            code: one line to the preprocessor, without comments.
            macros: the numbers of the lines that define macros.
            line: the number of this one.

        Raises:
            InvalidInputError: it is compared with another name, or with a word that is no macro there.
        """
        is_condition = _CONDITION.match(code) is not None
        for match in self._comparisons(code, is_condition):
            word = match["label"]
            self._check_word(word)
            if is_condition and not macros.get(word, line) < line:
                raise InvalidInputError(
                    f"{word} is 0 to the preprocessor here, whatever it is elsewhere: "
                    f"define it as a macro above this line, #define {word} {dict(self.labels)[word]}"
                )

    def _comparisons(self, text: str, is_condition: bool) -> Iterator[re.Match[str]]:
        """Yield the comparisons with names; outside of conditions what stands on the left may be a variable."""
        words = dict(self.labels)
        for pattern, is_word in ((_LEFT, True), (_RIGHT, is_condition)):
            for match in re.finditer(pattern.format(name=self.name), text):
                if match["label"] in words or (is_word and match["sign"] in _EQUALITIES):
                    yield match

    def _check_word(self, word: str) -> None:
        if word not in dict(self.labels):
            raise InvalidInputError(f"{self.name} is compared with {word}, which is none of {self._choices}")

    def value_of(self, value: str) -> str:
        """Write a value for people: the word for an implementation."""
        return {number: word for word, number in self.labels}.get(value, value)


def parse_parameter(name: str, text: str, place: str, defined: Mapping[str, str] | None = None) -> Parameter:
    """Read a parameter from its name and what is said of it.

    Args:
        name: of the macro.
        text: a word of the grammar, and its values.
        place: where that stands.
        defined: what the source defines: the texts of macros and of constants of enumerations, by name.

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
            return _select(name, rest, place, defined or {})
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
        values = tuple(dict.fromkeys(_entries(text)))
        if len(values) > MOST_VALUES:
            raise InvalidInputError(f"it has {len(values)} values, and at most {MOST_VALUES} are tried")
        return values
    first, last, step = _bounds(word, text)
    return _powers(first, last, step) if word == "erange" else _multiples(first, last, step)


def check_name(name: str) -> None:
    """Raise InvalidInputError for what is no name of a macro."""
    if not name.isascii() or not name.isidentifier():
        raise InvalidInputError(f"'{name}' is no name: it has letters, digits and _ only")


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


def _select(name: str, text: str, place: str, defined: Mapping[str, str]) -> Parameter:
    entries = _entries(text)
    if len(entries) < 2 or len(set(entries)) < len(entries):
        raise InvalidInputError(f"'select' needs two names or more, each once, not '{text.strip()}'")
    if all(_WHOLE.fullmatch(entry) for entry in entries):
        return Parameter(name, Kind.SELECT, tuple(str(int(entry)) for entry in entries), place)
    for entry in entries:
        check_name(entry)
    labels = tuple((word, _number_of(word, defined)) for word in entries)
    for index, (word, number) in enumerate(labels):
        for other, same in labels[:index]:
            if same == number:
                raise InvalidInputError(
                    f"{other} and {word} are both {number} in the source: give each its own number"
                )
    return Parameter(name, Kind.SELECT, tuple(number for _, number in labels), place, labels)


def _number_of(word: str, defined: Mapping[str, str]) -> str:
    """Return the number that the source gives a word.

    Without one, every compiler takes the word for 0 in `#if IMPL == rows`, and builds what nobody asked for.
    """
    if word not in defined:
        raise InvalidInputError(
            f"'{word}' is defined nowhere in the source, so that other compilers take it for 0: "
            f"define each word as a number of its own, such as #define {word} 0"
        )
    match = _NUMBER.fullmatch(defined[word].strip())
    try:
        number = None if match is None else int(match[1], 0)
    except ValueError:  # 010, which is 8 in C
        number = None
    if number is None:
        raise InvalidInputError(f"'{word}' is '{defined[word][:60]}' in the source: it must be a whole number")
    return str(number)


_WORDS = ("erange", "range", "values", "unroll", "select")
_EXAMPLES = {"erange": "64,512,2", "range": "1,8,1", "unroll": "1,8,2"}
