"""The source of a kernel with parameters, made ready for `-D` to choose their values; every line keeps its number.

    #pragma erange 64,512,2                      (empty)
    #define BLKSZ 256                ──▶         (empty)
    #pragma coarsen unroll LU 1,8,2              COARSEN_UNROLL_LU

Before it stands what gives every macro its default where no `-D` does, and `#line 1`. A `#define` that were left
where it is would win over `-D` without a word. Nothing else is changed: what `#if IMPL == lanes` means is for the
source alone to say, which is built without all this, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.frontend.parameters import Kind, Parameter

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
