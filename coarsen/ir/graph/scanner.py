"""A line of LLVM's text, read from left to right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from coarsen.errors import RefusalError
from coarsen.ir.types import StructType, Type, parse_type, type_at

_WORD = re.compile(r"[a-zA-Z_.][-\w.]*")
_NUMBER = re.compile(r"-?\d+")
_PLAIN_TYPE = re.compile(
    r"(?:i\d+|float|double|half|void|ptr(?: addrspace\(\d+\))?"
    r"|<\d+ x (?:i\d+|float|double|half)>|\[\d+ x (?:i\d+|float|double|half)\])(?=[ ,)]|$)"
)
_TYPE_START = re.compile(
    r"(?:i\d+|half|bfloat|float|double|fp128|x86_\w+|ptr|void|target|label|token|metadata)\b|[<\[{%]"
)
_BRACKETS = re.compile(r'"[^"]*"|[(\[{<>}\])]')
_PROPERTY = re.compile(r'(?:[^",]|"[^"]*")+')
_QUOTED_ATTRIBUTE = re.compile(r'"[^"]*"(?:="[^"]*")?')
_OPENING = frozenset("([{<")


class Scanner:
    """A line and the position up to which it is read.

    Attributes:
        text: the line.
        position: of the next character.
        structures: the module's named structure types.
    """

    __slots__ = ("position", "structures", "text")

    def __init__(self, text: str, structures: Mapping[str, StructType]) -> None:
        self.text = text
        self.position = 0
        self.structures = structures

    @property
    def rest(self) -> str:
        """Return what is not read yet."""
        return self.text[self.position :]

    def take(self, expected: str) -> bool:
        """Read past a text if it comes next, and past the space after it."""
        text, position = self.text, self.position
        if not text.startswith(expected, position):
            return False
        position += len(expected)
        self.position = position + 1 if text[position : position + 1] == " " else position
        return True

    def expect(self, expected: str) -> None:
        """Read past a text. Raises RefusalError if something else comes next."""
        if not self.take(expected):
            raise self.unexpected()

    def peek_word(self) -> str:
        """Return the word that comes next, or nothing."""
        match = _WORD.match(self.text, self.position)
        return match.group() if match else ""

    def word(self) -> str:
        """Read a word. Raises RefusalError if none comes next."""
        return self.matched(_WORD)

    def words_of(self, known: frozenset[str]) -> tuple[str, ...]:
        """Read words for as long as they are among known ones."""
        found: list[str] = []
        while (word := self.peek_word()) in known:
            found.append(word)
            self._go_to(self.position + len(word))
        return tuple(found)

    def number(self) -> int:
        """Read a decimal number. Raises RefusalError if none comes next."""
        return int(self.matched(_NUMBER))

    def matched(self, pattern: re.Pattern[str]) -> str:
        """Read what a pattern matches. Raises RefusalError if it doesn't match here."""
        text = self.text
        match = pattern.match(text, self.position)
        if match is None:
            raise self.unexpected()
        end = match.end()
        self.position = end + 1 if text[end : end + 1] == " " else end
        return match.group()

    def type(self) -> Type:
        """Read a type. Raises RefusalError if none comes next."""
        match = _PLAIN_TYPE.match(self.text, self.position)
        if match is not None:
            self._go_to(match.end())
            return _plain_type(match.group())
        try:
            found, end = type_at(self.text, self.position, self.structures)
        except ValueError:
            raise self.unexpected() from None
        self._go_to(end)
        return found

    def comes_type(self) -> bool:
        """Return whether a type comes next."""
        return _TYPE_START.match(self.text, self.position) is not None

    def bracketed(self) -> str:
        """Read from an opening bracket to the one that closes it, and return both with what is between."""
        start, depth = self.position, 0
        for match in _BRACKETS.finditer(self.text, start):
            mark = match.group()
            if mark.startswith('"'):
                continue
            depth += 1 if mark in _OPENING else -1
            if depth == 0:
                self._go_to(match.end())
                return self.text[start : match.end()]
        raise self.unexpected()

    def attributes(self, ends: frozenset[str] = frozenset()) -> str:
        """Read the attributes before a type or a value, such as `noundef align 4 "key"="value"`.

        Args:
            ends: the words that are no attributes.
        """
        start = self.position
        while self._take_attribute(ends):
            pass
        return self.text[start : self.position].strip()

    def _take_attribute(self, ends: frozenset[str]) -> bool:
        if self.text.startswith('"', self.position):
            self.matched(_QUOTED_ATTRIBUTE)
            return True
        word = self.peek_word()
        if not word or word in ends or self.comes_type():
            return False
        end = self.position + len(word)
        self.position = end
        if self.text.startswith("(", end):
            self.bracketed()
        else:
            self._go_to(end)
            if word in ("align", "cc"):
                self.number()
        return True

    def property(self) -> str:
        """Read up to the next comma that stands in no string."""
        return self.matched(_PROPERTY)

    def up_to(self, end: str) -> str:
        """Read up to a text that is left unread, or to the end of the line."""
        start, found = self.position, self.text.find(end, self.position)
        self.position = found if found >= 0 else len(self.text)
        return self.text[start : self.position]

    def unexpected(self) -> RefusalError:
        """Return the error that says where reading ended."""
        return self.refused(f"LLVM IR that is not supported, at '{self.rest}'")

    def refused(self, reason: str) -> RefusalError:
        """Return the error that gives a reason and the line."""
        return RefusalError("unsupported-instruction", f"{reason} of '{self.text}'")

    def _go_to(self, position: int) -> None:
        self.position = position + 1 if self.text.startswith(" ", position) else position


@lru_cache(maxsize=1024)
def _plain_type(text: str) -> Type:
    return parse_type(text)
