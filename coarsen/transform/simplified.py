"""What is a number, or another value, whatever its operands are.

    %item = mul i64 %call, 8            %first = icmp eq i64 %item.1, 0     false: %item.1 is 8·call + 1
    %item.1 = add i64 %item, 1          %all = and i1 %c, false             false

So of the replicas of `if (item == 0)` only the first is left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from coarsen.transform.body_text import Line
from coarsen.transform.known_bits import known_bits

_EQUALITY = re.compile(
    r"icmp (?:samesign )?(?P<predicate>eq|ne) i(?P<width>\d+) (?P<left>[^ ,]+), (?P<right>[^ ,]+)$"
)
_LOGIC = re.compile(r"\w+(?: disjoint)? i1 (?P<left>[^ ,]+), (?P<right>[^ ,]+)$")
_CHOICE = re.compile(r"select i1 (?P<condition>[^ ,]+), \S+ (?P<left>[^ ,]+), \S+ (?P<right>[^ ,]+)$")


def simplified(line: Line, definition: Mapping[str, Line]) -> str | None:
    """What stands for a line's result, if it is that simple; `definition` gives the lines that compute values."""
    if line.opcode == "icmp":
        return _comparison(line.text, definition)
    if line.opcode in ("and", "or", "xor"):
        logic = _LOGIC.match(line.text)
        return _logic(line.opcode, logic["left"], logic["right"]) if logic else None
    choice = _CHOICE.match(line.text) if line.opcode == "select" else None
    return _choice(choice["condition"], choice["left"], choice["right"]) if choice else None


def _comparison(text: str, definition: Mapping[str, Line]) -> str | None:
    """`false` where values that are compared differ in a bit."""
    match = _EQUALITY.match(text)
    if match is None:
        return None
    left, right = (known_bits(match[side], int(match["width"]), definition) for side in ("left", "right"))
    if not left.differs_from(right):
        return None
    return "false" if match["predicate"] == "eq" else "true"


def _logic(opcode: str, left: str, right: str) -> str | None:
    if left in ("true", "false"):
        left, right = right, left
    absorbing, neutral = {"and": ("false", "true"), "or": ("true", "false"), "xor": ("", "false")}[opcode]
    if right == absorbing:
        return absorbing
    return left if right == neutral else None


def _choice(condition: str, left: str, right: str) -> str | None:
    if condition in ("true", "false"):
        return left if condition == "true" else right
    if (left, right) == ("true", "false"):
        return condition
    return left if left == right else None
