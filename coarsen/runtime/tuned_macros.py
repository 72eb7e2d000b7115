"""The macros of versions among a program's build options, and in its source as it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from coarsen.frontend.annotated_source import code_lines, defined_words
from coarsen.variant.variant import Definitions

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*([a-z]+)\b[ \t]*([^\n]*)")
_CONDITIONS = ("if", "ifdef", "ifndef")
_ALONE = ("-D", "-U")
_ASKS_WHETHER = re.compile(r"\b(?:ifn?def|defined)\b")


class _Define(NamedTuple):
    """The `#define` of a macro; `gives_way` says that it stands in an `#ifndef`, so that `-D` wins."""

    value: str
    gives_way: bool


def definition_options(definitions: Definitions) -> tuple[str, ...]:
    """Return the build options that define macros."""
    return tuple(f"-D{name}={value}" for name, value in definitions)


def options_without(options: Sequence[str], names: Collection[str]) -> tuple[str, ...]:
    """Return build options, given one by one, without those that define or undefine these macros."""
    return tuple(word for name, words in _by_macro(options) if name not in names for word in words)


def stand_in_source(definitions: Definitions, source: str, options: Sequence[str]) -> bool:
    """Return True if a program surely has macros with these values as it stands, or they mean nothing in it.

    Args:
        definitions: the macros.
        source: of the program, as its author wrote it.
        options: that it is built with, one by one.
    """
    lines = code_lines(source)
    return all(_stands(name, value.strip(), lines, options) for name, value in definitions)


def _stands(name: str, value: str, lines: Sequence[str], options: Sequence[str]) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    uses = [index for index, line in enumerate(lines) if word.search(line) and _directive(line)[0] != "pragma"]
    told = [words for macro, words in _by_macro(options) if macro == name]
    has_headers = any(_directive(line)[0] == "include" for line in lines)
    words = defined_words(lines)
    if any(_directive(lines[index])[0] in ("define", "undef") for index in uses) or has_headers:
        define = _define(name, lines, uses)
        if define is None or (told and not define.gives_way):
            return False
        own = _value(told[-1]) if told else define.value
        return own == value or words.get(own or "") == value
    if told:
        return _value(told[-1]) == value
    # What nothing defines is 0 in conditions, and would not compile elsewhere.
    return not uses or (value == "0" and not any(_ASKS_WHETHER.search(lines[index]) for index in uses))


def _define(name: str, lines: Sequence[str], uses: Sequence[int]) -> _Define | None:
    """Return the one `#define` of a macro, before all else that names it.

    None where it isn't sure what its value is.
    """
    guards = (("ifndef", name), ("if", f"!defined({name})"), ("if", f"!defined {name}"))
    gives_way = bool(uses) and _directive(lines[uses[0]]) in guards
    if len(uses) <= gives_way:
        return None
    first, *rest = uses[1:] if gives_way else uses
    word, text = _directive(lines[first])
    if word != "define" or not text.startswith(name) or text.endswith("\\"):
        return None
    if any(_directive(lines[index])[0] in ("define", "undef") for index in rest):
        return None
    depth = 0
    for line in lines[:first]:
        depth += (_directive(line)[0] in _CONDITIONS) - (_directive(line)[0] == "endif")
    is_in_no_other = depth == int(gives_way)
    return _Define(text[len(name) :].strip(), gives_way) if is_in_no_other else None


def _directive(line: str) -> tuple[str, str]:
    """Return the word of a preprocessor's line, and what comes after it; empty for other lines."""
    match = _DIRECTIVE.match(line)
    return (match[1], match[2].strip()) if match else ("", "")


def _by_macro(options: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Options one by one, each with the macro that it is about; `-D NAME` is one."""
    rest = iter(options)
    for option in rest:
        words = (option, *([following] if option in _ALONE and (following := next(rest, None)) else []))
        is_about = option[:2] in _ALONE
        yield (re.split(r"[=(]", "".join(words)[2:])[0] if is_about else "", words)


def _value(words: Sequence[str]) -> str | None:
    """Return the value that an option gives a macro; None where it takes it away."""
    text = "".join(words)
    _, equals, value = text.partition("=")
    return None if text.startswith("-U") else value.strip() if equals else "1"
