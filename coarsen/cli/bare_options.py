"""Options of a number that may be left out: `--measure` alone means `--measure 4`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

# Of each command, the numbers that such options have alone.
_NUMBERS: Mapping[str, Mapping[str, str]] = MappingProxyType({"predict": MappingProxyType({"--measure": "4"})})


def with_numbers(command: str, words: Sequence[str]) -> list[str]:
    """Return a command's words with the numbers that were left out; what follows `--` is left as it is."""
    numbers = _NUMBERS.get(command, {})
    end = list(words).index("--") if "--" in words else len(words)
    return [*_filled(words[:end], numbers), *words[end:]] if numbers else list(words)


def _filled(words: Sequence[str], numbers: Mapping[str, str]) -> Iterator[str]:
    for word, following in zip(words, [*words[1:], ""], strict=False):
        yield word
        # A negative number is one, too, so that its own message says what is wrong with it.
        if word in numbers and not following.removeprefix("-").isdecimal():
            yield numbers[word]
