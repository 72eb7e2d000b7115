"""Index arithmetic as polynomials over work-item ids, iterations and uniform values.

    int x = get_global_id(0);            global_id(0)
    for (int i = 0; i < n; i += 2)       2·iteration(for.cond)
        sum += data[x + i * width];      data + 4·global_id(0) + 8·iteration(for.cond)·width

A pointer's polynomial has where its variable starts as a symbol. What is not a sum of products becomes a symbol of
its own (`symbols.py`): quotients and remainders, choices between values, what takes a value out of a loop.

- `x / c` is a piece that does not change along a dimension where x moves by at most half of c; a c that is no
  constant counts as larger than any number. `x % c` is x - c·(x / c), so `(x / w)·w + x % w` is x again.
- `min`, `max`, `clamp`, `select`, a phi are choices between values, and so is `x ^ uniform`: it moves like x,
  since neighbours stay within one aligned group.

Arithmetic is taken as exact: extensions and truncations change nothing and no operation wraps. This holds for the
indices of a correct kernel almost always, but it is no proof: use it to predict, never to decide what is legal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from coarsen.analysis.algebra.numbers import number_of
from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.algebra.symbols import Piece, PieceKind, Symbols, iteration, query_form, trips
from coarsen.analysis.algebra.walk import Walk, add, address, subtract
from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import IntegerType, PointerType, Type

# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 64
_MAXIMUM_DEGREE = 8
_MAXIMUM_COEFFICIENT = 1 << 64
_CHOOSING = re.compile(r"(min|max|clamp)$|llvm\.[su](min|max)\b")
_CHOICES = {"min": PieceKind.LEAST, "max": PieceKind.LARGEST, "clamp": PieceKind.CLAMPED}
_LARGEST_SHIFT = 64


class IndexForms(Walk[Polynomial]):
    """The polynomials of a kernel's integers and pointers, each found when first asked for.

    Args:
        kernel: in normal form.
        control_flow: of the kernel.
        divergence: analyses that exist already, by dimension.
    """

    def __init__(
        self, kernel: Kernel, control_flow: ControlFlow, divergence: Mapping[int, Divergence] | None = None
    ) -> None:
        super().__init__(kernel, PREDICT)
        self.control_flow = control_flow
        self.symbols = Symbols(kernel, control_flow, divergence)

    def number(self, number: int) -> Polynomial:
        """Return the polynomial of a number."""
        return Polynomial.constant(number)

    def leaf(self, value: Operand) -> Polynomial:
        """Return the polynomial of an argument, a variable or a constant; 0 of one that may be anything."""
        if value.kind is ValueKind.CONSTANT:
            # A constant address is that of its variable, whatever offset into it.
            if mentioned := value.referenced():
                return Polynomial.symbol(f"@{mentioned[0].name}")
            return self.number(number_of(value) or 0)
        return Polynomial.symbol(("@" if value.kind is ValueKind.GLOBAL else "") + value.text)

    def own(self, instruction: Instruction) -> Polynomial:
        """Return an instruction's result as a symbol of its own."""
        return Polynomial.symbol(f"%{instruction.name}")

    def index(self, value: Operand) -> Polynomial:
        """Return an index as an address counts it: as it is."""
        return self.form(value)

    def kept(self, form: Polynomial, type_: Type) -> Polynomial | None:
        """Return a rule's result; None where it says too much."""
        is_small = len(form.terms) <= _MAXIMUM_TERMS and form.degree <= _MAXIMUM_DEGREE
        is_small &= all(abs(coefficient) <= _MAXIMUM_COEFFICIENT for coefficient in form.terms.values())
        return form if is_small else None

    def assuming(self, phi: Instruction, value: Operand) -> Polynomial:
        """Return the polynomial of a value in which a phi is itself; what follows from that is not kept."""
        known, length = self._forms.get(phi.name), len(self._forms)
        self._forms[phi.name] = self.own(phi)
        found = self.form(value)
        while len(self._forms) > length:
            self._forms.popitem()  # the latest first: only those that came since
        if known is not None:
            self._forms[phi.name] = known
        return found


# Phis: values that loops carry on, that leave loops, or that come from several blocks.
#
# What a loop's header chooses between its start and what the latch brings back:
#
#     i starts at 0, i += step                 step·iteration(header): an induction variable
#     p starts at data, p += anything else     regular between work-items if what is added is the same for them

_NOTHING = frozenset({"undef", "poison"})


def phi(forms: IndexForms, instruction: Instruction) -> Polynomial:
    """Return a phi's polynomial."""
    block = forms.kernel.block_of[instruction.name]
    loop = forms.control_flow.loop_of[block]
    if loop is not None and loop.header == block:
        return _of_header(forms, instruction, loop)
    if len(instruction.operands) == 1:
        return _out_of_loop(forms, instruction)
    parts = [forms.form(operand) for operand in instruction.operands if operand.text not in _NOTHING]
    return choice(forms, instruction, PieceKind.JOINED, parts)


def _of_header(forms: IndexForms, phi: Instruction, loop: Loop) -> Polynomial:
    """Return the polynomial of a phi at a loop's header."""
    itself = forms.own(phi)
    entering = [v for v, block in zip(phi.operands, phi.incoming, strict=True) if block not in loop.blocks]
    latches = [v for v, block in zip(phi.operands, phi.incoming, strict=True) if block in loop.blocks]
    if len(entering) != 1 or len(latches) != 1:
        return itself
    step = forms.assuming(phi, latches[0]) - itself
    origins = forms.symbols.origins(step)
    if f"%{phi.name}" in origins:
        return itself
    start = forms.form(entering[0])
    if all(forms.symbols.block_of(symbol) not in loop.blocks for symbol in origins):
        return start + step * Polynomial.symbol(iteration(loop.header))
    return _carried(forms.symbols, phi, start, step)


def _carried(symbols: Symbols, phi: Instruction, start: Polynomial, step: Polynomial) -> Polynomial:
    """Return a sum of steps that change: it moves like its start where steps are the same for all work-items."""

    def difference(dimension: int) -> Polynomial | None:
        gain = symbols.difference(step, dimension)
        return symbols.difference(start, dimension) if gain is not None and not gain.terms else None

    return symbols.add(f"%{phi.name}", Piece(PieceKind.CARRIED, (start, step), phi.name, difference))


def _out_of_loop(forms: IndexForms, phi: Instruction) -> Polynomial:
    """Return the phi that takes a value out of a loop: regular along dimensions where all leave it together."""
    symbols, block = forms.symbols, forms.kernel.block_of[phi.name]
    inner, source = forms.form(phi.operands[0]), phi.incoming[0]
    left = [loop for loop in forms.control_flow.loops_around(source) if block not in loop.blocks]
    inner = inner.replaced(lambda symbol: symbols.after(symbol, left))
    blocks = frozenset().union(*(loop.blocks for loop in left))
    changing = symbols.origins(inner) - {trips(loop.header) for loop in left}
    if not any(symbols.block_of(symbol) in blocks for symbol in changing):
        return inner

    def difference(dimension: int) -> Polynomial | None:
        apart = any(map(symbols.divergence(dimension).is_left_apart, left))
        return None if apart else symbols.difference(inner, dimension)

    return symbols.add(f"%{phi.name}", Piece(PieceKind.LEFT, (inner,), phi.name, difference))


# One of several values, chosen in a way that is not followed.
#
# It moves like those of the values that move, if these agree: `min`, `max`, `clamp`, `select`, a phi, `x ^
# uniform`.


def choice(
    forms: IndexForms, instruction: Instruction, kind: PieceKind, parts: Sequence[Polynomial]
) -> Polynomial:
    """Return the polynomial of a choice between values."""
    if parts and all(part.terms == parts[0].terms for part in parts):
        return parts[0]
    symbols = forms.symbols

    def difference(dimension: int) -> Polynomial | None:
        found = [symbols.difference(part, dimension) for part in parts]
        moving = [gain for gain in found if gain is None or gain.terms]
        if not moving:
            return None if symbols.is_divergent(instruction.name, dimension) else ZERO
        return moving[0] if all(gain == moving[0] for gain in moving) else None

    return symbols.add(f"%{instruction.name}", Piece(kind, tuple(parts), instruction.name, difference))


def select(forms: IndexForms, instruction: Instruction) -> Polynomial:
    """`select`."""
    parts = [forms.form(operand) for operand in instruction.operands[1:]]
    return choice(forms, instruction, PieceKind.SELECTED, parts)


# Arithmetic and calls.


def unchanged(forms: IndexForms, instruction: Instruction) -> Polynomial | None:
    """Extensions, truncations and the like: what they are given, but for bits."""
    source = instruction.operands[0]
    is_index = isinstance(source.type, IntegerType | PointerType)
    is_bit = isinstance(instruction.type, IntegerType) and instruction.type.width == 1
    return forms.form(source) if is_index and not is_bit else None


def multiply(forms: IndexForms, instruction: Instruction) -> Polynomial | None:
    """`mul`."""
    return _product(*forms.both(instruction))


def _product(first: Polynomial, second: Polynomial) -> Polynomial | None:
    return first * second if len(first.terms) * len(second.terms) <= _MAXIMUM_TERMS else None


def shift_left(forms: IndexForms, instruction: Instruction) -> Polynomial | None:
    """`shl`: a product with a power of two."""
    shifted, distance = forms.both(instruction)
    return _product(shifted, _power_of_two(forms, instruction, distance))


def shift_right(forms: IndexForms, instruction: Instruction) -> Polynomial:
    """`lshr`, `ashr`: a quotient by a power of two."""
    shifted, distance = forms.both(instruction)
    power = _power_of_two(forms, instruction, distance)
    return quotient(forms.symbols, shifted, power, instruction.name)


def _power_of_two(forms: IndexForms, instruction: Instruction, exponent: Polynomial) -> Polynomial:
    if exponent.is_constant:
        return Polynomial.constant(1 << max(0, min(exponent.constant_part, _LARGEST_SHIFT)))
    symbols = forms.symbols

    def difference(dimension: int) -> Polynomial | None:
        return ZERO if symbols.difference(exponent, dimension) == ZERO else None

    piece = Piece(PieceKind.POWER, (exponent,), instruction.name, difference)
    return symbols.add(symbols.shortened(f"2^({exponent})"), piece)


def divide(forms: IndexForms, instruction: Instruction) -> Polynomial:
    """`udiv`, `sdiv`."""
    return quotient(forms.symbols, *forms.both(instruction), instruction.name)


def remainder(forms: IndexForms, instruction: Instruction) -> Polynomial:
    """`urem`, `srem`."""
    first, second = forms.both(instruction)
    return first - second * quotient(forms.symbols, first, second, instruction.name)


def bitwise_and(forms: IndexForms, instruction: Instruction) -> Polynomial | None:
    """Return the `and` of two values: with 2^k - 1 it is a remainder, with -2^k the rest."""
    first, mask = forms.both(instruction)
    if first.is_constant:
        first, mask = mask, first
    value = mask.number
    if value is None:
        return None
    power = value + 1 if value >= 0 else -value
    if power & (power - 1) or power == 0:
        return None
    modulus = Polynomial.constant(power)
    whole = modulus * quotient(forms.symbols, first, modulus, instruction.name)
    return first - whole if value >= 0 else whole


def bitwise_or(forms: IndexForms, instruction: Instruction) -> Polynomial:
    """`or` of numbers without a common bit is their sum; of others a choice."""
    first, second = forms.both(instruction)
    if "disjoint" in instruction.flags:
        return first + second
    return choice(forms, instruction, PieceKind.BITS, (first, second))


def exclusive_or(forms: IndexForms, instruction: Instruction) -> Polynomial:
    """`xor`: with -1 a ring operation; with another uniform number it keeps neighbours together."""
    first, second = forms.both(instruction)
    if first == second:
        return ZERO
    if second.number == -1:
        return second - first
    return choice(forms, instruction, PieceKind.BITS, (first, second))


def component(forms: IndexForms, instruction: Instruction) -> Polynomial | None:
    """`extractelement` of what `insertelement` put there."""
    vector, index = instruction.operands
    while vector.kind is ValueKind.INSTRUCTION and index.kind is ValueKind.CONSTANT:
        source = forms.kernel.definition[vector.text]
        if source.opcode != "insertelement" or source.operands[2].kind is not ValueKind.CONSTANT:
            break
        if source.operands[2].text == index.text:
            return forms.form(source.operands[1])
        vector = source.operands[0]
    return None


def call(forms: IndexForms, instruction: Instruction) -> Polynomial | None:
    """Queries of the NDRange, and builtins on integers that are products, sums or choices."""
    query = query_form(instruction)
    if query is not None:
        return query
    name, arguments = builtin_name(instruction.callee), instruction.arguments
    if name in ("mul24", "mad24"):
        product = multiply(forms, instruction)
        if product is None or name == "mul24":
            return product
        return product + forms.form(arguments[2])
    if name.startswith("convert_") and isinstance(arguments[0].type, IntegerType):
        return forms.form(arguments[0])
    chosen = _CHOOSING.match(name)
    if chosen is None:
        return None
    parts = [forms.form(argument) for argument in arguments]
    return choice(forms, instruction, _CHOICES[chosen[1] or chosen[2]], parts)


def quotient(symbols: Symbols, dividend: Polynomial, divisor: Polynomial, instruction: str) -> Polynomial:
    """Return the whole quotient of two values, rounded either way, computed by an instruction of this name.

    Equal quotients have the same symbol wherever they are computed.
    """
    if divisor.is_constant and divisor.constant_part == 0:
        return ZERO
    if dividend.is_constant and divisor.is_constant:
        return Polynomial.constant(dividend.constant_part // divisor.constant_part)
    exact = dividend.divided(divisor)
    if exact is not None:
        return exact

    def difference(dimension: int) -> Polynomial | None:
        gain, change = (symbols.difference(part, dimension) for part in (dividend, divisor))
        if gain is None or change is None or change.terms:
            return None
        return _gain_of_quotient(gain, divisor)

    symbol = symbols.shortened(f"({dividend})/({divisor})")
    return symbols.add(symbol, Piece(PieceKind.QUOTIENT, (dividend, divisor), instruction, difference))


def _gain_of_quotient(gain: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """Return what the quotient gains where the dividend gains `gain`: an exact part of it, or usually nothing."""
    exact = gain.divided(divisor)
    if exact is not None:
        return exact
    if not gain.is_constant:
        return None
    is_small = not divisor.is_constant or 2 * abs(gain.constant_part) <= abs(divisor.constant_part)
    return ZERO if is_small else None


PREDICT: Mapping[str, Callable[[IndexForms, Instruction], Polynomial | None]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "getelementptr": address,
    "shl": shift_left,
    "or": bitwise_or,
    "xor": exclusive_or,
    "and": bitwise_and,
    **dict.fromkeys(("sext", "zext", "trunc", "freeze", "bitcast"), unchanged),
    **dict.fromkeys(("addrspacecast", "ptrtoint", "inttoptr"), unchanged),
    **dict.fromkeys(("udiv", "sdiv"), divide),
    **dict.fromkeys(("urem", "srem"), remainder),
    **dict.fromkeys(("lshr", "ashr"), shift_right),
    "select": select,
    "phi": phi,
    "extractelement": component,
    "call": call,
}
"""The rule of each opcode; results of others are symbols of their own."""
