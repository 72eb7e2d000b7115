"""What the indices of a kernel are, for proofs about them; arithmetic on operands that folds constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from coarsen.analysis.algebra.exact_forms import combined, is_exact
from coarsen.analysis.algebra.numbers import number_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import DIMENSIONS, Query, queried_dimension, query_of
from coarsen.ir.types import IntegerType
from coarsen.transform.names import own
from coarsen.transform.prologue import INDEX

# Deeper expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_DEEPEST = 24
_EXTENSIONS = ("sext", "zext")
_LOCAL_SIZES = (Query.LOCAL_SIZE, Query.ENQUEUED_LOCAL_SIZE)


class IndexForms:
    """Finds what values are.

    Args:
        kernel: in normal form.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._forms: dict[Operand, Polynomial | None] = {}

    def of(self, value: Operand, depth: int = 0) -> Polynomial | None:
        """Return the polynomial of an integer, modulo 2^width; None of an undefined one."""
        if value not in self._forms:
            self._forms[value] = self._computed(value, depth)
        return self._forms[value]

    def _computed(self, value: Operand, depth: int) -> Polynomial | None:
        number = number_of(value)
        if number is not None:
            return Polynomial.constant(number)
        if not value.is_local:
            return None
        instruction = self._kernel.definition.get(value.text)
        if instruction is not None and is_exact(instruction.opcode) and depth < _DEEPEST:
            parts = [self.of(operand, depth + 1) for operand in instruction.operands]
            if parts[0] is not None and parts[1] is not None and isinstance(value.type, IntegerType):
                found = combined(instruction.opcode, parts[0], parts[1], value.type.width)
                if found is not None:
                    return found
        return Polynomial.symbol(value.text)

    def instruction(self, form: Polynomial) -> Instruction | None:
        """Return the instruction whose result is all of a form."""
        if len(form.symbols) != 1:
            return None
        (symbol,) = form.symbols
        return self._kernel.definition.get(symbol) if form == Polynomial.symbol(symbol) else None

    def launch_value(self, symbol: str) -> Operand | None:
        """Return the value of a symbol that is an argument, or one extended; None for any other."""
        instruction = self._kernel.definition.get(symbol)
        if instruction is None:
            return next(each for each in self._kernel.function.arguments if each.name == symbol)
        if instruction.opcode in _EXTENSIONS and instruction.operands[0].kind is ValueKind.ARGUMENT:
            return instruction
        return None

    def extension(self, value: Operand) -> Instruction | None:
        """Return the instruction that extends a value; None for any other value."""
        if value.kind is not ValueKind.INSTRUCTION:
            return None
        instruction = self._kernel.definition[value.text]
        return instruction if instruction.opcode in _EXTENSIONS else None

    def extension_to_index(self, form: Polynomial) -> Instruction | None:
        """Return the extension to 64 bits whose result is all of a form."""
        instruction = self.instruction(form)
        if instruction is None or instruction.opcode not in _EXTENSIONS:
            return None
        return instruction if instruction.type == INDEX else None

    def global_id(self, value: Operand) -> int | None:
        """Return the dimension along which a value is the global id, that less its offset, or the low bits."""
        asked = self._asked(value.text)
        if asked is not None:
            return asked[1] if asked[0] is Query.GLOBAL_ID else None
        instruction = self._kernel.definition.get(value.text)
        is_part = instruction is not None and instruction.opcode == "trunc"
        form = self.of(instruction.operands[0] if instruction is not None and is_part else value)
        return None if form is None else self._grouped_id(form)

    def _grouped_id(self, form: Polynomial) -> int | None:
        """The dimension along which a form is the group's id times its size plus the local id.

        A last work-group that is smaller tells a smaller size, so that this is at most the global id.
        """
        if any(coefficient != 1 for coefficient in form.terms.values()):
            return None
        products = sorted((tuple(map(self._asked, product)) for product in form.terms), key=len)
        if list(map(len, products)) != [1, 2]:
            return None
        ((local,), factors) = products
        for group, size in (factors, factors[::-1]):
            if local is None or group is None or size is None or not local[1] == group[1] == size[1]:
                continue
            if local[0] is Query.LOCAL_ID and group[0] is Query.GROUP_ID and size[0] in _LOCAL_SIZES:
                return local[1]
        return None

    def _asked(self, symbol: str) -> tuple[Query, int] | None:
        """The query whose result a symbol is, or has the low bits of, and the dimension."""
        instruction = self._kernel.definition.get(symbol)
        if instruction is not None and instruction.opcode == "trunc":
            instruction = self._kernel.definition.get(instruction.operands[0].text)
        query = query_of(instruction) if instruction is not None else None
        if instruction is None or query is None:
            return None
        along = queried_dimension(instruction)
        return (query, along) if along is not None and 0 <= along < DIMENSIONS else None


# Arithmetic on operands of one width, of which what is constant is computed at once.
#
# 5 + %i·1 + 0        %i + 5
# (7 · 3) mod 16      5

_COMPUTED: Mapping[Opcode, Callable[[int, int, int], int]] = {
    Opcode.ADD: lambda left, right, _: left + right,
    Opcode.SUB: lambda left, right, _: left - right,
    Opcode.MUL: lambda left, right, _: left * right,
    Opcode.UDIV: lambda left, right, width: left % 2**width // (right % 2**width),
    Opcode.UREM: lambda left, right, width: left % 2**width % (right % 2**width),
    Opcode.AND: lambda left, right, _: left & right,
    Opcode.XOR: lambda left, right, _: left ^ right,
}


class OperandArithmetic:
    """Builds numbers at one place of a function.

    Args:
        build: puts them there.
        type_: of the numbers.
        name: makes the names of results.
    """

    def __init__(self, build: Builder, type_: IntegerType = INDEX, name: Callable[[str], NewName] = own) -> None:
        self._build = build
        self._type = type_
        self._name = name

    def number(self, value: int) -> Operand:
        """Return a constant."""
        return number(self._type, value)

    def wide(self, value: Operand) -> Operand:
        """Return an index as a `getelementptr` takes it: of 64 bits, with its sign."""
        return self.resized(Opcode.SEXT, value)

    def resized(self, opcode: Opcode, value: Operand) -> Operand:
        """Return a value in the width of the others, by `sext`, `zext` or `trunc`."""
        if value.type == self._type:
            return value
        return self._build.cast(opcode, value, self._type, self._name("index"))

    def truncated(self, value: Operand) -> Operand:
        """Return the low bits of a value."""
        if not value.is_local:
            return self.number(int(value.text))
        return self.resized(Opcode.TRUNC, value)

    def plus(self, left: Operand, right: Operand) -> Operand:
        """Return a sum."""
        if is_zero(right):
            return left
        return right if is_zero(left) else self.computed(Opcode.ADD, left, right)

    def times(self, value: Operand, factor: int) -> Operand:
        """Return the product with a number."""
        return self.computed(Opcode.MUL, value, self.number(factor))

    def divided(self, value: Operand, divisor: int) -> Operand:
        """Return the quotient by a number, both without a sign."""
        return self.computed(Opcode.UDIV, value, self.number(divisor))

    def remainder(self, value: Operand, divisor: int) -> Operand:
        """Return what the division by a number leaves, both without a sign."""
        return self.computed(Opcode.UREM, value, self.number(divisor))

    def exclusive_or(self, left: Operand, right: Operand) -> Operand:
        """Return the bits in which two differ."""
        if is_zero(right):
            return left
        return right if is_zero(left) else self.computed(Opcode.XOR, left, right)

    def sum_of(self, steps: Iterable[tuple[Operand, int]], divisor: int, constant: int) -> Operand:
        """Return the sum of a number and of indices, each times its scale over a divisor of that."""
        total = self.number(constant)
        for value, scale in steps:
            total = self.plus(self.times(self.wide(value), scale // divisor), total)
        return total

    def product(self, factors: Iterable[Operand]) -> Operand:
        """Return a product, 1 of no factors."""
        product = self.number(1)
        for factor in factors:
            product = self.computed(Opcode.MUL, product, factor)
        return product

    def computed(self, opcode: Opcode, left: Operand, right: Operand) -> Operand:
        """Return the result of an operation."""
        if not left.is_local and not right.is_local:
            return self.number(_COMPUTED[opcode](int(left.text), int(right.text), width_of(self._type)))
        if _is_one(right) and opcode in (Opcode.MUL, Opcode.UDIV):
            return left
        if _is_one(left) and opcode is Opcode.MUL:
            return right
        return self._build.binary(opcode, left, right, self._name("position"))


def is_zero(value: Operand) -> bool:
    """Return True for the constant 0."""
    return not value.is_local and value.text == "0"


def _is_one(value: Operand) -> bool:
    return not value.is_local and value.text == "1"
