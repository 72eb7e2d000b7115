"""Pragmas of a kernel's source that declare its parameters, what must hold of them, and features of the input.

    #pragma erange 64,512,2                            above `#define BLKSZ 256`, whose value is the default
    #pragma coarsen erange|range|values …              the same
    #pragma coarsen unroll LU 1,8,2                    above a loop
    #pragma coarsen select IMPL rows,lanes             `#if IMPL == lanes` chooses, below `#define lanes 1`
    #pragma coarsen where BLKSZ % ROWS == 0
    #pragma coarsen input aspect = log2(height / width)

The first form is that of Liu, Zhang and Shen's G-ADAPT (2009). Pragmas in comments are none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
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
        features: the `input`s.
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
        name, _, text = (part.strip() for part in pragma.rest.partition("="))
        try:
            check_name(name)
        except InvalidInputError as error:
            raise InvalidInputError(f"{pragma.place}: {error}") from None
        if not text:
            raise InvalidInputError(f"{pragma.place}: the feature {name} lacks '= EXPRESSION'")
        if name in seen:
            raise InvalidInputError(f"{pragma.place}: there is a feature {name} already, at {seen[name]}")
        seen[name] = pragma.place
        yield Declaration(text, pragma.place, name)


# The source of a kernel with parameters, made ready for `-D` to choose their values; every line keeps its number.
#
#     #pragma erange 64,512,2                      (empty)
#     #define BLKSZ 256                ──▶         (empty)
#     #pragma coarsen unroll LU 1,8,2              COARSEN_UNROLL_LU
#
# Before it stands what gives every macro its default where no `-D` does, and `#line 1`. A `#define` that were left
# where it is would win over `-D` without a word. Nothing else is changed: what `#if IMPL == lanes` means is for
# the source alone to say, which is built without all this, too.

HINT = "COARSEN_UNROLL_"

# A comment goes on after a line's end that a backslash stands before.
_NOT_CODE = re.compile(
    r"//(?:\\[ \t]*\n|[^\n])*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_NOT_NEW_LINE = re.compile(r"[^\n]")
_ENUMERATION = re.compile(r"\benum\b[^{};()]*\{([^}]*)\}")
_DEFINE = re.compile(r"[ \t]*#[ \t]*(define|undef)[ \t]+([A-Za-z_]\w*)(\(?)[ \t]*([^\n]*)")


@dataclass(frozen=True, slots=True)
class Define:
    """A line that defines or undefines a macro; `number` counts from 1. A macro with arguments has no value.

    `last` is the number of the last line of one that goes on over several.
    """

    number: int
    name: str
    value: str | None
    last: int = 0

    @property
    def numbers(self) -> range:
        """The numbers of its lines."""
        return range(self.number, max(self.number, self.last) + 1)


@dataclass(frozen=True, slots=True)
class Line:
    """A line as the preprocessor sees it, made of lines that end with a backslash and one that doesn't.

    `first` and `last` are their numbers, from 1.
    """

    first: int
    last: int
    text: str


def code_lines(source: str) -> list[str]:
    """Return the lines of a source with blanks in the place of comments."""
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    return _NOT_CODE.sub(_blank_comment, text).split("\n")


def joined(lines: Sequence[str]) -> Iterator[Line]:
    """Enumerate the lines of a source, those that a backslash continues joined to the next.

    Args:
        lines: of the source, without comments.
    """
    first, text = 1, ""
    for number, line in enumerate(lines, 1):
        content = line.rstrip(" \t")
        if content.endswith("\\") and number < len(lines):
            text += content[:-1]
            continue
        yield Line(first, number, text + line)
        first, text = number + 1, ""


def defines(lines: Sequence[str]) -> Iterator[Define]:
    """Enumerate the lines of a source that define or undefine macros.

    Args:
        lines: of the source, without comments.
    """
    for line in joined(lines):
        match = _DEFINE.match(line.text)
        if match is not None:
            has_value = match[1] == "define" and not match[3]
            yield Define(line.first, match[2], match[4].strip() if has_value else None, line.last)


def defined_words(lines: Sequence[str]) -> Mapping[str, str]:
    """Return the texts that a source gives to macros and to constants of enumerations, by name.

    Macros that are defined twice or undefined are left out, and constants whose number isn't told.

    Args:
        lines: of the source, without comments.
    """
    found = dict(_enumerated("\n".join(line.text for line in joined(lines))))
    every = [*defines(lines)]
    names = [each.name for each in every]
    found |= {each.name: each.value for each in every if each.value and names.count(each.name) == 1}
    return found


def _enumerated(text: str) -> Iterator[tuple[str, str]]:
    for body in _ENUMERATION.findall(text):
        following: int | None = 0
        for entry in filter(None, map(str.strip, body.split(","))):
            name, equals, value = (part.strip() for part in entry.partition("="))
            if equals:
                following = int(value) if re.fullmatch(r"-?[1-9][0-9]{0,8}|0", value) else None
            if following is not None:
                yield name, str(following)
                following += 1


def define_of(name: str, lines: Sequence[str], file: str) -> Define | None:
    """Return the one line that gives a macro its value; None where there is none.

    Raises:
        InvalidInputError: it is defined twice, undefined, or has arguments.
    """
    found = [each for each in defines(lines) if each.name == name]
    if len(found) > 1:
        raise InvalidInputError(
            f"{file}:{found[1].number}: {name} is a parameter with a #define in line {found[0].number}; "
            "leave one line that defines it"
        )
    if found and not found[0].value:
        raise InvalidInputError(
            f"{file}:{found[0].number}: {name} is a parameter: it must be a macro with a value"
        )
    return found[0] if found else None


def prepared_source(source: str, parameters: Sequence[Parameter], pragmas: Sequence[int], file: str) -> str:
    """Return a source in which `-D` chooses the values of parameters.

    Args:
        source: OpenCL C.
        parameters: of any place; their own `#define`s are left out of the source.
        pragmas: the numbers of the lines that declare something, from 1.
        file: the name of the source in messages.

    Raises:
        InvalidInputError: a macro is defined twice; a comparison with no implementation of a `select`.
    """
    if not parameters and not pragmas:
        return source
    lines, code = source.replace("\r\n", "\n").replace("\r", "\n").split("\n"), code_lines(source)
    hints = dict(_hints(parameters, pragmas, code))
    removed = {
        number
        for each in parameters
        if (found := define_of(each.name, code, file)) is not None
        for number in found.numbers
    }
    for index, line in enumerate(lines):
        number = index + 1
        if number in hints:
            lines[index] = f"{HINT}{hints[number].name} {_comments(line, code[index])}".rstrip()
        elif number in removed or number in pragmas:
            lines[index] = _comments(line, code[index])
    _check_words(code, parameters, {*hints, *removed, *pragmas}, file)
    return "\n".join((*_first_lines(parameters), "#line 1", *lines))


def _comments(line: str, code: str) -> str:
    """Return what a line has of comments: where one begins or ends there, other lines depend on it."""
    return "".join(there if blank == " " else " " for there, blank in zip(line, code, strict=False)).rstrip()


def _hints(
    parameters: Sequence[Parameter], pragmas: Sequence[int], code: Sequence[str]
) -> Iterator[tuple[int, Parameter]]:
    """Enumerate the lines of pragmas in whose place a hint stands."""
    for parameter in parameters:
        if parameter.kind is Kind.UNROLL:
            pattern = re.compile(rf"[ \t]*#[ \t]*pragma[ \t]+coarsen[ \t]+unroll[ \t]+{parameter.name}\b")
            yield from ((number, parameter) for number in pragmas if pattern.match(code[number - 1]))


def _first_lines(parameters: Sequence[Parameter]) -> Iterator[str]:
    for parameter in parameters:
        name = parameter.name
        yield from (f"#ifndef {name}", f"#define {name} {parameter.default}", "#endif")
        if parameter.kind is Kind.UNROLL:
            yield from (f"#if {name} > 1", f"#define {HINT}{name} __attribute__((opencl_unroll_hint({name})))")
            yield from ("#else", f"#define {HINT}{name}", "#endif")


def _check_words(
    code: Sequence[str], parameters: Sequence[Parameter], left_out: Collection[int], file: str
) -> None:
    """Check that each word that a `select` is compared with is the number that it stands for."""
    selects = [each for each in parameters if each.kind is Kind.SELECT and each.labels]
    macros = {each.name: each.number for each in defines(code)} if selects else {}
    for line in joined(code) if selects else ():
        for select in selects if line.first not in left_out else ():
            try:
                select.check_comparisons(line.text, macros, line.first)
            except InvalidInputError as error:
                raise InvalidInputError(f"{file}:{line.first}: {error}") from None


def _blank_comment(match: re.Match[str]) -> str:
    text = match[0]
    return _NOT_NEW_LINE.sub(" ", text) if text.startswith("/") else text
