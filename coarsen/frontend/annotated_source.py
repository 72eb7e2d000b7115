"""The source of a kernel with parameters, made ready for `-D` to choose their values; every line keeps its number.

    #pragma erange 64,512,2                      (empty)
    #define BLKSZ 256                ──▶         (empty)
    #pragma coarsen unroll LU 1,8,2              COARSEN_UNROLL_LU
    for (…) #if IMPL == lanes                    for (…) #if IMPL == 1

Before it stands what gives every macro its default where no `-D` does, and `#line 1`. A `#define` that were left
where it is would win over `-D` without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.frontend.parameters import Kind, Parameter

HINT = "COARSEN_UNROLL_"

_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_NOT_NEW_LINE = re.compile(r"[^\n]")
_DEFINE = re.compile(r"[ \t]*#[ \t]*(define|undef)[ \t]+([A-Za-z_]\w*)(\(?)[ \t]*([^\n]*)")


@dataclass(frozen=True, slots=True)
class Define:
    """A line that defines or undefines a macro; `number` counts from 1. A macro with arguments has no value."""

    number: int
    name: str
    value: str | None


def code_lines(source: str) -> list[str]:
    """Return the lines of a source with blanks in the place of comments."""
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    return _NOT_CODE.sub(_blank_comment, text).split("\n")


def defines(lines: Sequence[str]) -> Iterator[Define]:
    """Enumerate the lines of a source that define or undefine macros.

    Args:
        lines: of the source, without comments.
    """
    for number, line in enumerate(lines, 1):
        match = _DEFINE.match(line)
        if match is not None:
            has_value = match[1] == "define" and not match[3]
            yield Define(number, match[2], match[4].strip() if has_value else None)


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
    removed = {found.number for each in parameters if (found := define_of(each.name, code, file))}
    selects = [each for each in parameters if each.kind is Kind.SELECT and each.labels]
    for index, line in enumerate(lines):
        number = index + 1
        if number in hints:
            lines[index] = f"{HINT}{hints[number].name} {_comments(line, code[index])}".rstrip()
        elif number in removed or number in pragmas:
            lines[index] = _comments(line, code[index])
        else:
            for select in selects:
                line = _numbered(line, code[index], select, f"{file}:{number}")
            lines[index] = line
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


def _numbered(line: str, code: str, select: Parameter, place: str) -> str:
    try:
        return select.numbered(line, code)
    except InvalidInputError as error:
        raise InvalidInputError(f"{place}: {error}") from None


def _blank_comment(match: re.Match[str]) -> str:
    text = match[0]
    return _NOT_NEW_LINE.sub(" ", text) if text.startswith("/") else text
