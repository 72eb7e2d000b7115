"""What kernels of free launch are drawn of: seeded draws, lines of OpenCL C, elements and their arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")

INDENTATION = "    "
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
SIGNATURE_WIDTH = 110

# Beside seed and index, so that these streams are not those of other generators.
STREAM = 15


class Draws:
    """A stream of draws.

    Args:
        numbers: what the stream is drawn from, the seed first.
    """

    def __init__(self, *numbers: int) -> None:
        self._generator = np.random.default_rng([*numbers, STREAM])

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of several values, each with the same probability."""
        return choices[int(self._generator.integers(len(choices)))]

    def some(self, choices: Sequence[T], count: int) -> tuple[T, ...]:
        """Return several different ones of some values, in a drawn order."""
        order = self._generator.permutation(len(choices))
        return tuple(choices[int(place)] for place in order[:count])

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return bool(self._generator.random() < probability)

    def log_uniform(self, least: int, most: int) -> int:
        """Return a whole number between two, its logarithm uniform."""
        exponent = self._generator.uniform(math.log(least), math.log(most + 1))
        return min(most, int(math.exp(exponent)))

    def whole(self, least: int, most: int) -> int:
        """Return a whole number between two, both included."""
        return int(self._generator.integers(least, most + 1))


def indented(lines: Iterable[str]) -> list[str]:
    """Lines one level further in; empty ones stay empty."""
    return [INDENTATION + line if line else line for line in lines]


def block(head: str, lines: list[str]) -> list[str]:
    """A statement with a body, in braces where that has several lines."""
    if len(lines) == 1 and not lines[0].startswith("barrier"):
        return [head, *indented(lines)]
    return [f"{head} {{", *indented(lines), "}"]


def signature_lines(kernel: str, declarations: Iterable[str]) -> list[str]:
    """Return the lines of a kernel's signature, up to its closing parenthesis.

    Args:
        kernel: its name.
        declarations: those of its parameters.
    """
    start = f"kernel void {kernel}("
    lines = [start]
    for number, declaration in enumerate(declarations):
        separator = "" if number == 0 else ", "
        if len(lines[-1]) + len(separator) + len(declaration) > SIGNATURE_WIDTH:
            lines[-1] += separator.rstrip()
            lines.append(" " * len(start) + declaration)
        else:
            lines[-1] += separator + declaration
    lines[-1] += ")"
    return lines


FLOATS = ("float", "float", "float2", "float4")
WHOLE = ("uint", "int", "uint4")
OPERATIONS = (0, 1, 2, 4, 8, 16, 32)

_MULTIPLY_ADD = ("v = v * {a}f + {b}f;", "v = v * {a}f - {b}f;", "v = {a}f - v * {b}f;")
_SPECIAL = (
    "v = {a}f * sin(v) + {b}f;",
    "v = {a}f * cos(v);",
    "v = exp(v * v * -{a}f);",
    "v = sqrt(v * v + {b}f);",
    "v = log(v * v + 1.{d}f);",
    "v = v / (v * v + 1.{d}f);",
    "v = rsqrt(v * v + 1.{d}f);",
    "v = {a}f * tanh(v);",
)
_HASH = ("v = v * 1664525u + {c}u;", "v ^= v >> {s};", "v += v << {s};", "v = (v ^ {c}u) * 2654435761u;")
_SMALL = ("v = (v * 3 + {d}) & 0xffff;", "v = (v ^ v >> {s}) & 0xffff;", "v = (v + {d}) & 0xffff;")
# Costs of an operation in units of 0.1 ns.
CHEAP, DEAR = 0.4, 14.0


@dataclass(frozen=True, slots=True)
class Element:
    """The type of elements, what is computed of one (a function's text), its cost, and how totals are made."""

    type: str
    function: list[str]
    cost: float
    combination: str

    @property
    def is_float(self) -> bool:
        """Return True for floating-point numbers."""
        return self.type.startswith("float")

    @property
    def scalar(self) -> str:
        """The type of a component."""
        return self.type.rstrip("24")

    @property
    def components(self) -> int:
        """The number of components."""
        return int(self.type[len(self.scalar) :] or 1)

    @property
    def zero(self) -> str:
        """The start of a total, also for the largest of several."""
        return f"({self.type})(0)"

    def work(self, value: str) -> str:
        """Return the expression of what is computed of a value."""
        return f"work({value})" if self.function else value

    def combined(self, value: str, total: str = "result") -> str:
        """Return the statement that takes a value into a total."""
        if self.combination == "max":
            largest = "fmax" if self.is_float else "max"
            return f"{total} = {largest}({total}, {value});"
        if self.combination == "xor":
            return f"{total} ^= {value};"
        if self.type == "int":
            return f"{total} = ({total} + {value}) & 0xfffff;"
        return f"{total} += {value};"

    def mixed(self, left: str, right: str) -> str:
        """Return the expression of two values made one."""
        if self.is_float:
            return f"{left} * {right}"
        return f"({left} ^ {right})" if self.type == "int" else f"({left} * {right} + {left})"


def draw_element(draws: Draws, types: tuple[str, ...] = (*FLOATS, *FLOATS, *WHOLE)) -> Element:
    """Draw a type and a function."""
    kind = draws.pick(types)
    operations = draws.pick(OPERATIONS)
    is_special = kind.startswith("float") and draws.chance(0.2)
    if is_special:
        operations = min(operations, 4)
    return element_of(draws, kind, operations, is_special=is_special)


def element_of(draws: Draws, kind: str, operations: int, *, is_special: bool) -> Element:
    """Draw the function of a type: so many operations, special functions or simple ones."""
    is_float = kind.startswith("float")
    possible = (_SPECIAL if is_special else _MULTIPLY_ADD) if is_float else _SMALL if kind == "int" else _HASH
    statements = [_statement(draws, draws.pick(possible)) for _ in range(operations)]
    function = (
        [f"{kind} work({kind} v)", "{", *indented([*statements, "return v;"]), "}", ""] if statements else []
    )
    combination = draws.pick(("add", "add", "max") if is_float else ("add", "xor", "max"))
    width = float(kind[-1]) if kind[-1].isdigit() else 1.0
    return Element(kind, function, width * operations * (DEAR if is_special else CHEAP), combination)


def _statement(draws: Draws, pattern: str) -> str:
    numbers = {
        "a": f"0.{draws.whole(3, 6)}",
        "b": f"0.{draws.whole(1, 4)}",
        "c": str(draws.whole(1 << 20, 1 << 31) | 1),
        "d": f"{draws.whole(1, 9)}",
        "s": str(draws.whole(3, 17)),
    }
    return pattern.format(**numbers)


def loop(bound: str, body: list[str], counter: str = "trip") -> list[str]:
    """A loop that counts up to a bound."""
    return block(f"for (uint {counter} = 0; {counter} < {bound}; ++{counter})", body)
