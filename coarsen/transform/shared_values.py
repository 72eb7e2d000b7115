"""Values that replicas compute alike are computed once: common subexpressions, loads, address arithmetic.

    before (replicas read x and x - 1)              after
    %centre = add i32 %row, %x                      %centre = add i32 %row, %x
    %centre.1 = add i32 %row, %x.1                  %centre.1 = add i32 %row, %x.1
    %i = load input[%centre]                        %i = load input[%centre]
    %i.1 = load input[%centre.1]                    %i.1 = load input[%centre.1]
    %left = sub i32 %centre, 1                      %left = sub i32 %centre, 1
    %left.1 = sub i32 %centre.1, 1                  (is %centre)
    %j = load input[%left]                          %j = load input[%left]
    %j.1 = load input[%left.1]                      (is %i)

    %mul = mul i32 %x, %height                      %mul = mul i32 %x, %height
    %index = add i32 %mul, %y                       %index = add i32 %mul, %y
    %mul.1 = mul i32 %x.1, %height
    %index.1 = add i32 %mul.1, %y                   %index.1 = add i32 %index, %height

The blocks are visited so that each comes after those that dominate it. A value takes the place of a later one if
it dominates it, is in the same loops, and is the same: equal texts, or equal sums (`sums.py`); for loads, if
nothing between them may change memory (`memory_order.py`). A sum is written anew only where that saves an
instruction. Nothing is moved, and calls with an effect all stay where they are: barriers are neither copied nor
brought under a branch. Floating-point operations are never reordered: results stay the same to the bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.polynomial import Polynomial
from coarsen.ir.printer import rename
from coarsen.transform.body_text import BodyText, Line, read_line
from coarsen.transform.dominance import Dominance
from coarsen.transform.memory_order import MemoryOrder
from coarsen.transform.simplified import simplified
from coarsen.transform.sums import Sum, Sums
from coarsen.transform.surely_defined import SurelyDefined

_ARGUMENT_ATTRIBUTE = re.compile(r" noundef\b| #\d+$|^(?:tail|notail) ")
_MAXIMUM_LEADERS = 8

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Leader:
    """A value that may stand for later ones: what it is called, its block, whether overflow makes it poison."""

    text: str
    block: str
    may_be_poison: bool = False


class SharedValues:
    """One pass over a body; `blocks` makes it and gives the result."""

    def __init__(self, body: BodyText, memory: MemoryOrder) -> None:
        self._body = body
        self._memory = memory
        self._dominance = Dominance(body.control_flow)
        self._defined = SurelyDefined(body, memory, self._dominance)
        self._sums = Sums()
        self._leaders: dict[Key, list[Leader]] = {}
        self._replaced: dict[str, str] = {}
        self._order_at_end: dict[str, int] = {}
        self._orders = 0

    def blocks(self) -> list[tuple[str, list[Line]]]:
        """The blocks in their old order, with the lines that are left; those that are never reached stay.

        What stands for a value is put in again at the end: a phi comes before what comes round its loop.
        """
        lines = dict(self._body.blocks)
        written = {name: list(self._visit(name, lines[name])) for name in self._dominance.order}
        left = ((name, written.get(name, old)) for name, old in self._body.blocks)
        return [(name, [self._renamed(line) for line in kept]) for name, kept in left]

    def _renamed(self, line: Line) -> Line:
        """A line with the values that stand for others put in."""
        if self._replaced.keys().isdisjoint(line.operands):
            return line
        return read_line(line.name, rename(line.text, self._replaced))

    def _visit(self, block: str, lines: tuple[Line, ...]) -> Iterator[Line]:
        memory = self._order_at_start(block)
        for old in lines:
            line = self._renamed(old)
            if self._memory.may_change_memory(line):
                memory = self._next_order()
            kept = self._share(line, block, memory) if line.name else line
            if kept is not None:
                yield kept
        self._order_at_end[block] = memory

    def _order_at_start(self, block: str) -> int:
        """What memory holds at the start of a block: where it is reached one way only, what it held there."""
        predecessors = self._body.control_flow.predecessors(block)
        if len(predecessors) == 1 and predecessors[0] in self._order_at_end:
            return self._order_at_end[predecessors[0]]
        return self._next_order()

    def _next_order(self) -> int:
        self._orders += 1
        return self._orders

    def _share(self, line: Line, block: str, memory: int) -> Line | None:
        """The line, or one that says the same with less; None where another value stands for it."""
        key = self._text_key(line, block, memory)
        known = simplified(line, self._body.definition) or (None if key is None else self._leader(key, block))
        if known is not None:
            self._replaced[line.name] = known
            return None
        found = self._sums.of_line(line)
        kept = line if found is None else self._share_sum(line, found, block)
        # Only now: what another value stands for, as `x` does for `x * 1`, can't stand for an equal text later.
        if key is not None and kept is not None:
            self._follow(key, line.name, block)
        return kept

    # Equal texts.

    def _text_key(self, line: Line, block: str, memory: int) -> Key | None:
        """The key under which a line with an equal text is found; None where equal texts may differ in value."""
        if self._memory.is_function_of_operands(line):
            return (_ARGUMENT_ATTRIBUTE.sub("", line.text) if line.opcode == "call" else line.text,)
        if self._memory.is_plain_load(line):
            return (line.text, memory)
        return (line.text, block) if line.opcode == "phi" else None

    def _leader(self, key: Key, block: str) -> str | None:
        """The value that is known under a key and that may be used in a block."""
        for leader in self._leaders.get(key, ())[-_MAXIMUM_LEADERS:]:
            if self._dominance.may_use(block, leader.block) and (
                not leader.may_be_poison or self._defined.is_defined(leader.text[1:], block)
            ):
                return leader.text
        return None

    def _follow(self, key: Key, name: str, block: str, may_be_poison: bool = False) -> None:
        self._leaders.setdefault(key, []).append(Leader(f"%{name}", block, may_be_poison))

    # Equal sums.

    def _share_sum(self, line: Line, found: Sum, block: str) -> Line | None:
        same = self._leader(_key(found), block) or _symbol(found)
        if same is not None:
            self._replaced[line.name] = same
            return None
        shorter = self._shorter(line, found, block) if found.is_total else None
        if shorter is None:
            self._remember(line.name, found, block)
            return line
        self._remember(line.name, Sum(found.width, found.polynomial, True), block)
        return read_line(line.name, shorter)

    def _remember(self, name: str, found: Sum, block: str) -> None:
        self._sums.remember(name, found)
        self._follow(_key(found), name, block, not found.is_total)
        if found.is_total:
            for product in found.polynomial.terms if len(found.polynomial.terms) == 1 else ():
                self._follow(("multiple", found.width, product), name, block)

    def _shorter(self, line: Line, found: Sum, block: str) -> str | None:
        """The sum as another plus or minus one value, if an operand is then needed no more."""
        freed = [name for name in line.operands if self._body.use_count.get(name) == 1 and self._is_sum(name)]
        if not freed:
            return None
        for distance, text in self._distances(found, block):
            for opcode, other in (("add", found.polynomial - distance), ("sub", found.polynomial + distance)):
                start = self._leader(_key(Sum(found.width, other.modulo(found.width), True)), block)
                if start is not None and not {start[1:], text[1:]}.issuperset(freed):
                    return f"{opcode} i{found.width} {start}, {text}"
        return None

    def _is_sum(self, name: str) -> bool:
        line = self._body.definition.get(name)
        return line is not None and self._sums.of_line(line) is not None

    def _distances(self, found: Sum, block: str) -> Iterator[tuple[Polynomial, str]]:
        """Values that the sum may be away from another one: its number, what its terms are multiples of."""
        constant = found.polynomial.constant_part
        if constant:
            yield Polynomial.constant(constant), str(constant)
        if all(len(product) < 2 for product in found.polynomial.terms):
            return  # `2·x + 1` reads better than `x.1 + x`
        for product in found.polynomial.terms:
            if len(product) == 1 and product[0].startswith("%"):
                yield Polynomial({product: 1}), product[0]
            for leader in self._leaders.get(("multiple", found.width, product), ())[-_MAXIMUM_LEADERS:]:
                if self._dominance.may_use(block, leader.block):
                    yield self._sums.known(leader.text), leader.text


def _key(found: Sum) -> Key:
    return ("sum", found.width, frozenset(found.polynomial.terms.items()))


def _symbol(found: Sum) -> str | None:
    """The value or number that a sum of one term is."""
    if found.number is not None:
        return str(found.number)
    [(product, coefficient), *others] = found.polynomial.terms.items()
    is_value = not others and coefficient == 1 and len(product) == 1 and product[0].startswith("%")
    return product[0] if is_value else None
