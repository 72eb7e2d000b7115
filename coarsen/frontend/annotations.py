"""Pragmas of a kernel's source that declare its parameters, what must hold of them, and features of the input.

    #pragma erange 64,512,2                            above `#define BLKSZ 256`, whose value is the default
    #pragma coarsen erange|range|values …              the same
    #pragma coarsen unroll LU 1,8,2                    above a loop
    #pragma coarsen select IMPL rows,lanes             `#if IMPL == lanes` chooses, below `#define lanes 1`
    #pragma coarsen where BLKSZ % ROWS == 0
    #pragma coarsen input aspect = log2(height / width)
    #pragma coarsen input row_cv                       supplied by the caller at the launch

The first form is that of Liu, Zhang and Shen's G-ADAPT (2009). Pragmas in comments are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotated_source import (
    Define,
    Line,
    code_lines,
    define_of,
    defined_words,
    defines,
    joined,
    prepared_source,
)
from coarsen.frontend.parameters import Kind, Parameter, check_name, parse_parameter

_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(coarsen\b|erange\b)[ \t]*([^\n]*)")
_LOOP = re.compile(r"[ \t]*(?:for|while|do)\b")
_MACROS = ("erange", "range", "values")
_WORDS = (*_MACROS, "unroll", "select", "where", "input")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A `where` or an `input`: its text, and where that stands. An input's name stands before the text."""

    text: str
    place: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Annotations:
    """The declarations in the pragmas of a source.

    Args:
        parameters: in the order of the source.
        conditions: the `where`s.
        features: the `input`s; one whose text is empty is supplied by the caller.
        pragmas: the numbers of their lines, from 1.
    """

    parameters: tuple[Parameter, ...] = ()
    conditions: tuple[Declaration, ...] = ()
    features: tuple[Declaration, ...] = ()
    pragmas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Pragma:
    """A pragma: the number of its line from 1, its word, what comes after it, and its place for messages."""

    number: int
    word: str
    rest: str
    place: str


def read_annotations(source: str, file: str) -> Annotations:
    """Read the pragmas of a source.

    Args:
        source: OpenCL C.
        file: its name in messages.

    Raises:
        InvalidInputError: a mistake, in one line that begins with file and line.
    """
    lines = code_lines(source)
    pragmas = tuple(_pragmas(lines, file))
    parameters: dict[str, Parameter] = {}
    for pragma in pragmas:
        parameter = _parameter(pragma, lines)
        if parameter is not None and parameter.name in parameters:
            before = parameters[parameter.name].place
            raise InvalidInputError(f"{pragma.place}: {parameter.name} is a parameter already, at {before}")
        if parameter is not None:
            parameters[parameter.name] = parameter
    return Annotations(
        tuple(parameters.values()),
        tuple(Declaration(each.rest, each.place) for each in pragmas if each.word == "where"),
        tuple(_features(pragmas)),
        tuple(each.number for each in pragmas),
    )


def source_without_pragmas(source: str, file: str = "the source", macros: Iterable[str] = ()) -> str:
    """Return a source as it is compiled: `-D` chooses the values of its parameters.

    Args:
        source: OpenCL C. One with neither such pragmas nor `#define`s of these macros stays as it is.
        file: its name in messages.
        macros: parameters that no pragma of it declares; their `#define`s give way to `-D`, too.

    Raises:
        InvalidInputError: as `read_annotations` does; a macro is defined twice.
    """
    found = read_annotations(source, file)
    others = set(macros) - {each.name for each in found.parameters}
    lines = code_lines(source) if others else []
    defined = [define for name in sorted(others) if (define := define_of(name, lines, file))]
    parameters = [
        Parameter(each.name, Kind.MACRO, (each.value or "",), f"{file}:{each.number}") for each in defined
    ]
    return prepared_source(source, (*found.parameters, *parameters), found.pragmas, file)


def _pragmas(lines: Sequence[str], file: str) -> Iterator[_Pragma]:
    for line in joined(lines):
        number, match = line.first, _PRAGMA.match(line.text)
        if match is None:
            continue
        place, text = f"{file}:{number}", match[2].strip()
        if line.last > line.first:
            raise InvalidInputError(f"{place}: a pragma of coarsen stands in one line")
        word, _, rest = (match[1], "", text) if match[1] == "erange" else text.partition(" ")
        if word not in _WORDS:
            hint = did_you_mean(word, _WORDS)
            raise InvalidInputError(f"{place}: no such pragma '{word}'{hint}; there are {', '.join(_WORDS)}")
        if not rest.strip():
            raise InvalidInputError(f"{place}: '{word}' lacks what it declares")
        yield _Pragma(number, word, rest.strip(), place)


def _parameter(pragma: _Pragma, lines: Sequence[str]) -> Parameter | None:
    """Return the parameter that a pragma declares; None if it declares none."""
    if pragma.word in _MACROS:
        define = _define_below(pragma, lines)
        parameter = parse_parameter(define.name, f"{pragma.word} {pragma.rest}", pragma.place)
        return parameter.with_default(define.value or "")
    if pragma.word not in (Kind.UNROLL, Kind.SELECT):
        return None
    name, _, rest = pragma.rest.partition(" ")
    parameter = parse_parameter(name, f"{pragma.word} {rest}", pragma.place, defined_words(lines))
    if parameter.kind is Kind.UNROLL and not _LOOP.match(_line_below(pragma, lines).text):
        raise InvalidInputError(f"{pragma.place}: a loop must follow: for, while or do")
    chosen = [each.value for each in defines(lines) if each.name == name and each.value]
    if chosen:
        return parameter.with_default(chosen[0])
    return parameter if parameter.kind is Kind.UNROLL else _undefined(parameter)


def _undefined(select: Parameter) -> Parameter:
    """Return a select that no `#define` gives a value: a compiler takes it for 0 in conditions.

    Raises:
        InvalidInputError: none of its implementations has that number.
    """
    if "0" not in select.values:
        word = select.value_of(select.default)
        raise InvalidInputError(
            f"{select.place}: {select.name} is 0 where nothing defines it, and none of its implementations is: "
            f"add a line such as #define {select.name} {word}"
        )
    return select.with_default("0")


def _define_below(pragma: _Pragma, lines: Sequence[str]) -> Define:
    below = _line_below(pragma, lines)
    found = next((each for each in defines(lines) if each.number == below.first), None)
    if found is None or not found.value:
        raise InvalidInputError(f"{pragma.place}: a line must follow that defines the macro: #define BLKSZ 256")
    return found


def _line_below(pragma: _Pragma, lines: Sequence[str]) -> Line:
    """Return the first line after a pragma that is neither empty nor such a pragma itself."""
    for line in joined(lines):
        if line.first > pragma.number and line.text.strip() and not _PRAGMA.match(line.text):
            return line
    return Line(pragma.number, pragma.number, "")


def _features(pragmas: Sequence[_Pragma]) -> Iterator[Declaration]:
    seen: dict[str, str] = {}
    for pragma in pragmas:
        if pragma.word != "input":
            continue
        name, equals, text = (part.strip() for part in pragma.rest.partition("="))
        try:
            check_name(name)
        except InvalidInputError as error:
            raise InvalidInputError(f"{pragma.place}: {error}") from None
        if equals and not text:
            raise InvalidInputError(f"{pragma.place}: '{name} =' lacks the feature's expression")
        if name in seen:
            raise InvalidInputError(f"{pragma.place}: there is a feature {name} already, at {seen[name]}")
        seen[name] = pragma.place
        yield Declaration(text, pragma.place, name)
