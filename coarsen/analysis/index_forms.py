"""Index arithmetic as polynomials over work-item ids, loop iterations and uniform values.

    int x = get_global_id(0);            global_id(0)
    for (int i = 0; i < n; i += 2)       2·iteration(for.cond)
        sum += data[x + i * width];      data + 4·global_id(0) + 8·iteration(for.cond)·width

A pointer's polynomial has where its variable starts as a symbol. What is not a sum of products becomes a symbol of
its own (`symbols.py`): quotients and remainders, a choice between values, what takes a value out of a loop.

- `x / c` is a piece that does not change along a dimension where x moves by at most half of c; a c that is no
  constant counts as larger than any number. `x % c` is x - c·(x / c), so `(x / w)·w + x % w` is x again.
- `min`, `max`, `clamp`, `select` and phis move like those of their operands that move, if these agree.
- `x ^ uniform` moves like x: neighbours stay within one aligned group.

Arithmetic is taken as exact: extensions and truncations change nothing and no operation wraps. This holds for the
indices of a correct kernel almost always, but it is no proof: use it to predict, never to decide what is legal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from coarsen.analysis.algebra.addresses import address_steps
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.inductions import loop_phi
from coarsen.analysis.polynomial import ONE, ZERO, Polynomial
from coarsen.analysis.queries import query_form
from coarsen.analysis.quotients import quotient
from coarsen.analysis.symbols import Piece, Symbols, trips
from coarsen.ir.details import flags
from coarsen.ir.kernel import Instruction, Kernel, Value, ValueKind
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import IntegerType, PointerType

_TRANSPARENT = frozenset({"sext", "zext", "trunc", "freeze", "bitcast", "addrspacecast", "ptrtoint", "inttoptr"})
_CHOOSING = re.compile(r"min$|max$|clamp$|llvm\.[su](?:min|max)\b")
_VARIABLE = re.compile(r"@([-\w$.]+)")
_NOTHING = frozenset({"undef", "poison"})
# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 64
_MAXIMUM_DEGREE = 8
_MAXIMUM_COEFFICIENT = 1 << 64
_MAXIMUM_DEPTH = 60


class IndexForms:
    """The polynomials of a kernel's integers and pointers, each computed when first asked for."""

    def __init__(
        self, kernel: Kernel, control_flow: ControlFlow, divergence: Mapping[int, Divergence] | None = None
    ) -> None:
        self.kernel = kernel
        self.control_flow = control_flow
        self.symbols = Symbols(kernel, control_flow, divergence)
        self._forms: dict[str, Polynomial] = {}
        self._depth = 0

    def form(self, value: Value) -> Polynomial:
        """The polynomial of a scalar integer or a pointer."""
        if value.kind is ValueKind.INSTRUCTION:
            return self.of_instruction(self.kernel.definition[value.text])
        if value.kind is ValueKind.CONSTANT:
            return _constant(value)
        return Polynomial.symbol(("@" if value.kind is ValueKind.GLOBAL else "") + value.text)

    def of_instruction(self, instruction: Instruction) -> Polynomial:
        """The polynomial of an instruction's result."""
        pending = [instruction]
        while instruction.name not in self._forms:
            missing = list(self._missing(pending[-1]))
            if missing:
                pending.extend(missing)
                continue
            latest = pending.pop()
            if latest.name not in self._forms:
                self._forms[latest.name] = self._computed(latest)
        return self._forms[instruction.name]

    def _missing(self, instruction: Instruction) -> Iterator[Instruction]:
        """The operands that must be known first. Phis ask for theirs when they are computed."""
        if instruction.opcode in _RULES or instruction.opcode in _TRANSPARENT:
            for operand in instruction.operands:
                if operand.kind is ValueKind.INSTRUCTION and operand.text not in self._forms:
                    yield self.kernel.definition[operand.text]

    def _computed(self, instruction: Instruction) -> Polynomial:
        self._depth += 1
        computed = self._compute(instruction) if self._depth < _MAXIMUM_DEPTH else opaque(instruction)
        self._depth -= 1
        return computed if _is_small(computed) else opaque(instruction)

    def assuming(self, phi: Instruction, value: Value) -> Polynomial:
        """The polynomial of a value in which a phi stands for itself; what follows from that is not kept."""
        known, length = self._forms.get(phi.name), len(self._forms)
        self._forms[phi.name] = opaque(phi)
        found = self.form(value)
        while len(self._forms) > length:
            self._forms.popitem()  # the latest first: only those that came since
        if known is not None:
            self._forms[phi.name] = known
        return found

    def _compute(self, instruction: Instruction) -> Polynomial:
        if instruction.opcode == "phi":
            return self._phi(instruction)
        if not isinstance(instruction.type, IntegerType | PointerType):
            return opaque(instruction)
        if instruction.opcode in _TRANSPARENT:
            return self._unchanged(instruction)
        rule = _RULES.get(instruction.opcode)
        return rule(self, instruction) if rule else opaque(instruction)

    def _unchanged(self, instruction: Instruction) -> Polynomial:
        source = instruction.operands[0]
        is_index = isinstance(source.type, IntegerType | PointerType)
        is_bit = isinstance(instruction.type, IntegerType) and instruction.type.width == 1
        return self.form(source) if is_index and not is_bit else opaque(instruction)

    # Arithmetic.

    def _both(self, instruction: Instruction) -> tuple[Polynomial, Polynomial]:
        return self.form(instruction.operands[0]), self.form(instruction.operands[1])

    def add(self, instruction: Instruction) -> Polynomial:
        """`add`."""
        first, second = self._both(instruction)
        return first + second

    def subtract(self, instruction: Instruction) -> Polynomial:
        """`sub`."""
        first, second = self._both(instruction)
        return first - second

    def multiply(self, instruction: Instruction) -> Polynomial:
        """`mul`."""
        return self._product(instruction, *self._both(instruction))

    def _product(self, instruction: Instruction, first: Polynomial, second: Polynomial) -> Polynomial:
        too_many = len(first.terms) * len(second.terms) > _MAXIMUM_TERMS
        return opaque(instruction) if too_many else first * second

    def shift_left(self, instruction: Instruction) -> Polynomial:
        """`shl`: a product with a power of two."""
        shifted, distance = self._both(instruction)
        return self._product(instruction, shifted, self._power_of_two(instruction, distance))

    def shift_right(self, instruction: Instruction) -> Polynomial:
        """`lshr`, `ashr`: a quotient by a power of two."""
        shifted, distance = self._both(instruction)
        return quotient(self.symbols, shifted, self._power_of_two(instruction, distance), instruction.name)

    def _power_of_two(self, instruction: Instruction, exponent: Polynomial) -> Polynomial:
        if exponent.is_constant:
            return Polynomial.constant(1 << max(0, min(exponent.constant_part, 64)))
        piece = Piece((exponent,), instruction.name, lambda d: self._only_uniform(exponent, d))
        return self.symbols.add(self.symbols.shortened(f"2^({exponent})"), piece)

    def _only_uniform(self, polynomial: Polynomial, dimension: int) -> Polynomial | None:
        return ZERO if self.symbols.difference(polynomial, dimension) == ZERO else None

    def divide(self, instruction: Instruction) -> Polynomial:
        """`udiv`, `sdiv`."""
        return quotient(self.symbols, *self._both(instruction), instruction.name)

    def remainder(self, instruction: Instruction) -> Polynomial:
        """`urem`, `srem`."""
        first, second = self._both(instruction)
        return first - second * quotient(self.symbols, first, second, instruction.name)

    def bitwise_and(self, instruction: Instruction) -> Polynomial:
        """`and` with 2^k - 1 is a remainder, with -2^k the rest."""
        first, mask = self._both(instruction)
        if first.is_constant:
            first, mask = mask, first
        if not mask.is_constant:
            return opaque(instruction)
        value = mask.constant_part
        power = value + 1 if value >= 0 else -value
        if power & (power - 1) or power == 0:
            return opaque(instruction)
        modulus = Polynomial.constant(power)
        whole = modulus * quotient(self.symbols, first, modulus, instruction.name)
        return first - whole if value >= 0 else whole

    def bitwise_or(self, instruction: Instruction) -> Polynomial:
        """`or` of numbers without a common bit is their sum."""
        return self.add(instruction) if "disjoint" in flags(instruction) else self.exclusive_or(instruction)

    def exclusive_or(self, instruction: Instruction) -> Polynomial:
        """`xor`: with -1 it is -x - 1, with another uniform number it keeps neighbours together."""
        first, second = self._both(instruction)
        if second.is_constant and second.constant_part == -1:
            return second - first
        return self._choice(instruction, (first, second))

    # Choices.

    def select(self, instruction: Instruction) -> Polynomial:
        """`select`."""
        return self._choice(instruction, [self.form(operand) for operand in instruction.operands[1:]])

    def _phi(self, phi: Instruction) -> Polynomial:
        loop = self.control_flow.loop_of[self._block(phi)]
        if loop is not None and loop.header == self._block(phi):
            return loop_phi(self, phi, loop)
        if not isinstance(phi.type, IntegerType | PointerType):
            return opaque(phi)
        if len(phi.operands) == 1:
            return self._out_of_loop(phi)
        return self._choice(phi, [self.form(operand) for operand in phi.operands if operand.text not in _NOTHING])

    def _out_of_loop(self, phi: Instruction) -> Polynomial:
        """The phi that takes a value out of a loop: regular along dimensions where all leave it together."""
        inner, source = self.form(phi.operands[0]), phi.incoming[0]
        left = [loop for loop in self.control_flow.loops_around(source) if self._block(phi) not in loop.blocks]
        inner = inner.replaced(lambda symbol: self.symbols.after(symbol, left))
        blocks = frozenset().union(*(loop.blocks for loop in left))
        changing = self.symbols.origins(inner) - {trips(loop.header) for loop in left}
        if not any(self.symbols.block_of(symbol) in blocks for symbol in changing):
            return inner

        def difference(dimension: int) -> Polynomial | None:
            apart = any(map(self.symbols.divergence(dimension).is_left_apart, left))
            return None if apart else self.symbols.difference(inner, dimension)

        return self.symbols.add(f"%{phi.name}", Piece((inner,), phi.name, difference))

    def _choice(self, instruction: Instruction, parts: Sequence[Polynomial]) -> Polynomial:
        """One of several values, chosen in a way that is not followed."""
        if parts and all(part.terms == parts[0].terms for part in parts):
            return parts[0]

        def difference(dimension: int) -> Polynomial | None:
            found = [self.symbols.difference(part, dimension) for part in parts]
            moving = [gain for gain in found if gain is None or gain.terms]
            if not moving:
                return None if self.symbols.is_divergent(instruction.name, dimension) else ZERO
            return moving[0] if all(gain == moving[0] for gain in moving) else None

        return self.symbols.add(f"%{instruction.name}", Piece(tuple(parts), instruction.name, difference))

    # Addresses and calls.

    def address(self, instruction: Instruction) -> Polynomial:
        """`getelementptr`."""
        steps = address_steps(instruction, self.kernel.structures)
        if steps is None:
            return opaque(instruction)
        total = self.form(instruction.operands[0])
        for step in steps:
            factor = ONE if step.index is None else self.form(step.index)
            total = total + factor.scaled(step.bytes)
        return total

    def component(self, instruction: Instruction) -> Polynomial:
        """`extractelement` of what `insertelement` put there."""
        vector, index = instruction.operands
        while vector.kind is ValueKind.INSTRUCTION and index.kind is ValueKind.CONSTANT:
            source = self.kernel.definition[vector.text]
            if source.opcode != "insertelement" or source.operands[2].kind is not ValueKind.CONSTANT:
                break
            if source.operands[2].text == index.text:
                return self.form(source.operands[1])
            vector = source.operands[0]
        return opaque(instruction)

    def call(self, instruction: Instruction) -> Polynomial:
        """Queries of the NDRange, and builtins on integers that are products, sums or choices."""
        query = query_form(instruction)
        if query is not None:
            return query
        name, arguments = builtin_name(instruction.callee), instruction.arguments
        if name == "mul24":
            return self.multiply(instruction)
        if name == "mad24":
            return self.multiply(instruction) + self.form(arguments[2])
        if name.startswith("convert_") and isinstance(arguments[0].type, IntegerType):
            return self.form(arguments[0])
        if _CHOOSING.match(name):
            return self._choice(instruction, [self.form(argument) for argument in arguments])
        return opaque(instruction)

    def _block(self, instruction: Instruction) -> str:
        return self.kernel.block_of[instruction.name]


def opaque(instruction: Instruction) -> Polynomial:
    """An instruction's result as a symbol of its own."""
    return Polynomial.symbol(f"%{instruction.name}")


def _is_small(polynomial: Polynomial) -> bool:
    terms = polynomial.terms
    return len(terms) <= _MAXIMUM_TERMS and all(
        len(product) <= _MAXIMUM_DEGREE and abs(c) <= _MAXIMUM_COEFFICIENT for product, c in terms.items()
    )


def _constant(value: Value) -> Polynomial:
    """A constant's number; a constant address by its variable, whatever offset into it."""
    variable = _VARIABLE.search(value.text)
    if variable is not None:
        return Polynomial.symbol(variable.group())
    if value.text in ("true", "false"):
        return ONE if value.text == "true" else ZERO
    return Polynomial.constant(int(value.text)) if re.fullmatch(r"-?\d+", value.text) else ZERO


_RULES: Mapping[str, Callable[[IndexForms, Instruction], Polynomial]] = {
    "add": IndexForms.add,
    "sub": IndexForms.subtract,
    "mul": IndexForms.multiply,
    "shl": IndexForms.shift_left,
    "lshr": IndexForms.shift_right,
    "ashr": IndexForms.shift_right,
    "udiv": IndexForms.divide,
    "sdiv": IndexForms.divide,
    "urem": IndexForms.remainder,
    "srem": IndexForms.remainder,
    "and": IndexForms.bitwise_and,
    "or": IndexForms.bitwise_or,
    "xor": IndexForms.exclusive_or,
    "select": IndexForms.select,
    "getelementptr": IndexForms.address,
    "extractelement": IndexForms.component,
    "call": IndexForms.call,
}
