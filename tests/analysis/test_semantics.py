"""The three semantics of the algebra's table, against running random programs with every wrap.

- bit-exact: the form equals the value modulo 2^n, always;
- prove: likewise, but for multiples of grain·2^32, always;
- predict: the form equals the value as a whole number where nothing wrapped on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.analysis.algebra.exact_forms import ExactForms, combined, is_exact
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.numbers import number_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.symbols import PieceKind, iteration
from coarsen.analysis.control_flow import ControlFlow
from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.printer import instruction_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, PointerType
from tests.analysis.value_interpreter import Known, Run

ARGUMENTS = {"a": 8, "b": 16, "x": 32, "y": 32, "z": 64}
WIDTHS = (8, 16, 32, 48, 64)
EDGES = [0, 1, 2, 3, 5, -1, -2, 100, 127, 254, 255, 65534, 2**31 - 2, 2**31 - 1, 2**31, 2**32 - 1, 2**33 + 5]
CONSTANTS = (0, 1, 2, 3, 4, 7, 8, 15, -1, -2, -4, -8, 100)
DIVIDING = ("udiv", "urem")
OPCODES = (
    *("add", "add", "sub", "sub", "mul", "shl", "sext", "sext", "zext", "zext", "trunc", "trunc", "constant"),
    *("and", "or", "disjoint", "xor", "complement", "lshr", "ashr", *DIVIDING, "select", "freeze", "pointer"),
)
# An operation: its opcode, numbers that choose its operands, and one that chooses its width.
Operation = tuple[str, int, int, int]
NUMBERS = st.integers(0, 3) | st.integers(0, 40)  # the latest values are the most interesting ones
OPERATIONS = st.lists(st.tuples(st.sampled_from(OPCODES), NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=16)
# What the arguments are in some runs.
VALUES = st.lists(st.tuples(*[st.sampled_from(EDGES)] * len(ARGUMENTS)), min_size=6, max_size=6)
Arguments = tuple[int, ...]


class Writer:
    """Writes operations on values that are there, as LLVM IR; each width has its values."""

    def __init__(self, prefix: str, values: dict[int, list[str]]) -> None:
        self._prefix = prefix
        self.values = {width: list(names) for width, names in values.items()}
        self.lines: list[str] = []

    def write(self, operations: Sequence[Operation]) -> None:
        """Write operations, each of which may use what the others give."""
        for operation in operations:
            self._write(*operation)

    def chosen(self, width: int, number: int) -> str:
        """One of the values of a width."""
        names = self.values[width]
        return names[-1 - number % len(names)]

    def _write(self, opcode: str, first: int, second: int, third: int) -> None:
        width = WIDTHS[third % len(WIDTHS)]
        left, right = self.chosen(width, first), self.chosen(width, second)
        number = CONSTANTS[second % len(CONSTANTS)]
        if opcode in ("sext", "zext", "trunc"):
            narrow, wide = sorted((width, WIDTHS[first % len(WIDTHS)]))
            if narrow < wide:
                own, other = (wide, narrow) if opcode == "trunc" else (narrow, wide)
                self._add(other, f"{opcode} i{own} {self.chosen(own, second)} to i{other}")
        elif opcode == "constant":
            self._add(width, f"{('add', 'mul', 'and')[first % 3]} i{width} {left}, {number}")
        elif opcode in ("shl", "lshr", "ashr"):
            self._add(width, f"{opcode} i{width} {left}, {second % 7 + 1}")
        elif opcode == "disjoint":
            low, high = self._assigned(f"and i{width} {left}, 7"), self._assigned(f"shl i{width} {right}, 3")
            self._add(width, f"or disjoint i{width} {low}, {high}")
        elif opcode == "complement":
            self._add(width, f"xor i{width} {left}, -1")
        elif opcode in DIVIDING:
            divisor = abs(number) or 6
            self._add(width, f"{opcode} i{width} {left}, {divisor}")
        elif opcode == "select":
            condition = self._assigned(f"icmp {('ult', 'slt', 'eq')[first % 3]} i{width} {left}, {right}")
            if first % 3 == 1:
                condition = self._assigned(f"icmp ult i{width} {left}, {right}")
            self._add(width, f"select i1 {condition}, i{width} {left}, i{width} {right}")
        elif opcode == "freeze":
            self._add(width, f"freeze i{width} {left}")
        elif opcode == "pointer":
            name = self._assigned(f"getelementptr i32, ptr addrspace(1) %p, i{width} {left}")
            self.lines.append(f"store volatile i32 0, ptr addrspace(1) {name}")
        else:
            self._add(width, f"{opcode} i{width} {left}, {right}")

    def _add(self, width: int, text: str) -> None:
        name = self._assigned(text)
        self.values[width].append(name)
        self.lines.append(f"store volatile i{width} {name}, ptr addrspace(1) %p")

    def _assigned(self, text: str) -> str:
        name = f"%{self._prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name


def starting() -> Writer:
    writer = Writer("v", {width: [] for width in WIDTHS})
    writer.values |= {8: ["%a"], 16: ["%b"], 32: ["%x", "%y"], 64: ["%z"]}
    writer.lines.append("%wide = sext i32 %x to i48")
    writer.values[48].append("%wide")
    return writer


def kernel_of(lines: Sequence[str]) -> Kernel:
    parameters = ", ".join(f"i{width} %{name}" for name, width in ARGUMENTS.items())
    body = "\n".join(lines)
    return lower(
        'target triple = "spir64-unknown-unknown"\n'
        f"define spir_kernel void @k(ptr addrspace(1) %p, {parameters}) {{\nentry:\n{body}\nret void\n}}\n"
    )


def straight(operations: Sequence[Operation]) -> Kernel:
    writer = starting()
    writer.write(operations)
    return kernel_of(writer.lines)


def looping(operations: Sequence[Operation], steps: Sequence[Operation], width: int) -> Kernel:
    """A loop of three phis of a width: the second one's start and step are the first one's, or nearly so."""
    before = starting()
    before.write(operations)
    start, other = before.chosen(width, 0), before.chosen(width, 1)
    inside = Writer("w", before.values)
    inside.values[width] += ["%i", "%j", "%k"]
    inside.write(steps)
    step = inside.chosen(width, 3)
    return kernel_of(
        [
            *before.lines,
            f"%next = add i{width} {start}, 3",
            "br label %loop",
            "loop:",
            "%n = phi i32 [ 0, %entry ], [ %n.next, %loop ]",
            f"%i = phi i{width} [ {start}, %entry ], [ %i.next, %loop ]",
            f"%j = phi i{width} [ %next, %entry ], [ %j.next, %loop ]",
            f"%k = phi i{width} [ {other}, %entry ], [ %i, %loop ]",
            *inside.lines,
            f"%i.next = add i{width} %i, {step}",
            f"%j.next = add i{width} %j, {step}",
            "%n.next = add i32 %n, 1",
            "%more = icmp ult i32 %n, 3",
            "br i1 %more, label %loop, label %exit",
            "exit:",
        ]
    )


def at(polynomial: Polynomial, value_of: Callable[[str], int]) -> int:
    """A polynomial's value."""
    total = 0
    for product, coefficient in polynomial.terms.items():
        for symbol in product:
            coefficient *= value_of(symbol)
        total += coefficient
    return total


def values(kernel: Kernel, edges: Sequence[int]) -> Iterator[tuple[Run, Instruction, Known]]:
    """The integers and addresses that a kernel computes, in order."""
    run = Run(kernel, {**dict(zip(ARGUMENTS, edges, strict=True)), "p": 1 << 40})
    for instruction in run.results():
        if isinstance(instruction.type, IntegerType | PointerType):
            yield run, instruction, run.values[instruction.name]


def bits_of(run: Run, symbol: str) -> int:
    """The bits of a value, by its name with `%`."""
    name = symbol.removeprefix("%")
    known = run.values.get(name)
    return known.bits if known is not None else run.arguments[name] % (1 << ARGUMENTS.get(name, 64))


# Each semantics: which forms are wrong.


def wrong_predictions(kernel: Kernel, edges: Sequence[int]) -> Iterator[str]:
    forms = IndexForms(kernel, ControlFlow(kernel))
    for run, instruction, known in values(kernel, edges):

        def value_of(symbol: str, run: Run = run) -> int:
            piece = forms.symbols.piece(symbol)
            for header, times in run.iterations.items():
                if symbol == iteration(header):
                    return times
            if piece is not None and piece.kind in (PieceKind.QUOTIENT, PieceKind.POWER):
                parts = [at(part, value_of) for part in piece.parts]
                return parts[0] // parts[1] if piece.kind is PieceKind.QUOTIENT else 1 << parts[0]
            computed = run.values.get(symbol.removeprefix("%"))
            if computed is not None:
                return 0 if computed.whole is None else computed.whole
            bits = bits_of(run, symbol)
            return bits - ((bits >> (ARGUMENTS.get(symbol, 64) - 1)) << ARGUMENTS.get(symbol, 64))

        if known.whole is not None and at(forms.of_instruction(instruction), value_of) != known.whole:
            yield f"{instruction_text(instruction)}: {forms.of_instruction(instruction)} is not {known.whole}"


def wrong_proofs(kernel: Kernel, edges: Sequence[int]) -> Iterator[str]:
    forms = ExactForms(kernel)
    for run, instruction, known in values(kernel, edges):

        def value_of(symbol: str, run: Run = run) -> int:
            extension = forms.extension(symbol)
            if extension is None:
                return bits_of(run, symbol)
            bits = at(extension.operand, value_of) % (1 << extension.width)
            sign = bits >> (extension.width - 1) if extension.opcode == "sext" else 0
            return bits - (sign << extension.width)

        form = forms.of_instruction(instruction)
        modulus = 1 << width_of(instruction.type)
        if form.grain:
            modulus = min(modulus, form.grain << 32)
        if (at(form.polynomial, value_of) - known.bits) % modulus:
            yield f"{instruction_text(instruction)}: {form} is not {known.bits}"


def wrong_bits(kernel: Kernel, edges: Sequence[int]) -> Iterator[str]:
    """The forms of straight code, as whoever numbers values keeps them."""
    forms: dict[str, Polynomial] = {}

    def of(value: Operand) -> Polynomial:
        number = number_of(value)
        known = forms.get(value.text, Polynomial.symbol(f"%{value.text}"))
        return known if number is None else Polynomial.constant(number)

    for run, instruction, known in values(kernel, edges):
        width = width_of(instruction.type)
        found = None
        if is_exact(instruction.opcode):
            first, second = map(of, instruction.operands)
            found = combined(instruction.opcode, first, second, width)
        forms[instruction.name] = Polynomial.symbol(f"%{instruction.name}") if found is None else found
        if (at(forms[instruction.name], partial(bits_of, run)) - known.bits) % (1 << width):
            yield f"{instruction_text(instruction)}: {forms[instruction.name]} is not {known.bits}"


def assert_right(kernel: Kernel, arguments: Sequence[Arguments], *, has_loops: bool = False) -> None:
    for edges in arguments:
        assert not list(wrong_predictions(kernel, edges))
        assert not list(wrong_proofs(kernel, edges))
        assert has_loops or not list(wrong_bits(kernel, edges))


@settings(max_examples=40)
@given(OPERATIONS, VALUES)
def test_straight_code(operations: list[Operation], arguments: list[Arguments]) -> None:
    assert_right(straight(operations), arguments)


@settings(max_examples=30)
@given(OPERATIONS, OPERATIONS, st.sampled_from(WIDTHS), VALUES)
def test_loops(
    operations: list[Operation], steps: list[Operation], width: int, arguments: list[Arguments]
) -> None:
    assert_right(looping(operations, steps, width), arguments, has_loops=True)


ALL_EDGES = [(edge,) * len(ARGUMENTS) for edge in EDGES]


def stored(program: str) -> list[str]:
    """Assignments that stand between semicolons, each followed by a store of what it gives."""
    lines: list[str] = []
    for line in program.split("; "):
        name, _, text = line.partition(" = ")
        type_ = text.split(" to ")[1] if " to " in text else text.split()[1]
        lines += [line, f"store volatile {type_} {name}, ptr addrspace(1) %p"]
    return lines


NEXT = "%u = add i32 %x, 1; %v = zext i32 %u to i64"


@pytest.mark.parametrize(
    "program",
    [
        NEXT,
        "%u = add i32 %x, -2; %v = sext i32 %u to i64; %r = add i64 %v, %z",
        "%u = add i16 %b, 1; %r = zext i16 %u to i64",
        "%u = sext i8 %a to i64; %v = add i64 %u, %z; %r = trunc i64 %v to i32",
        "%u = sext i32 %x to i64; %v = mul i64 %u, %z; %r = trunc i64 %v to i16",
        "%u = add i32 %x, 200; %v = sub i32 %u, %x; %w = trunc i32 %v to i8; %r = zext i8 %w to i32",
        f"{NEXT}; %w = shl i64 %v, 2; %t = add i32 %y, 3; %s = sext i32 %t to i64; %r = add i64 %w, %s",
        f"{NEXT}; %r = mul i64 %v, 6",
        f"{NEXT}; %w = trunc i64 %v to i48; %s = add i48 %w, 1; %r = sext i48 %s to i64",
        "%u = xor i8 %a, -1; %r = sext i8 %u to i32; %s = xor i64 %z, -1",
        "%u = xor i32 %x, %x; %r = add i32 %u, %y; %v = urem i32 %x, 6; %w = and i32 %x, 7; %s = and i32 %x, -8",
    ],
)
def test_programs_that_wrap(program: str) -> None:
    assert_right(kernel_of(stored(program)), ALL_EDGES)


@pytest.mark.parametrize(
    ("first", "second", "step"),
    [
        ("sext i32 %x to i64", "sext i32 %x.3 to i64", "add i64 {}, %z"),
        ("zext i32 %x to i64", "zext i32 %x.3 to i64", "add i64 {}, 2"),
        ("sext i16 %b to i64", "sext i16 %b.3 to i64", "add i64 {}, 1"),
        ("add i64 %z, 0", "add i64 %z, 3", "mul i64 {}, 2"),
    ],
)
def test_phis_at_a_distance(first: str, second: str, step: str) -> None:
    """The second phi starts as the first one, 3 further on; a step may keep the distance or not."""
    kernel = kernel_of(
        [
            *("%x.3 = add i32 %x, 3", "%b.3 = add i16 %b, 3", f"%first = {first}", f"%second = {second}"),
            *("br label %loop", "loop:", "%n = phi i32 [ 0, %entry ], [ %n.next, %loop ]"),
            "%i = phi i64 [ %first, %entry ], [ %i.next, %loop ]",
            "%j = phi i64 [ %second, %entry ], [ %j.next, %loop ]",
            *stored(f"%i.next = {step.format('%i')}; %j.next = {step.format('%j')}"),
            *("%n.next = add i32 %n, 1", "%more = icmp ult i32 %n, 3", "br i1 %more, label %loop, label %exit"),
            "exit:",
        ]
    )
    assert_right(kernel, ALL_EDGES, has_loops=True)
    form = ExactForms(kernel).of_instruction(kernel.definition["j"])
    is_kept = "mul" not in step and "16" not in first
    assert ("%i" in form.polynomial.symbols) == is_kept


def test_a_constant_is_no_value_of_its_spelling() -> None:
    """A phi of `true` and one of a value called `%true` are two."""
    kernel = kernel_of(
        [
            *("%true = icmp slt i32 %x, 7", "%c = icmp slt i32 %y, 9", "%d = trunc i8 %a to i1"),
            "br i1 %c, label %left, label %right",
            *("left:", "store volatile i8 1, ptr addrspace(1) %p", "br label %exit"),
            *("right:", "store volatile i8 2, ptr addrspace(1) %p", "br label %exit", "exit:"),
            *("%i = phi i1 [ true, %left ], [ %d, %right ]", "%j = phi i1 [ %true, %left ], [ %d, %right ]"),
            *stored("%wide = zext i1 %i to i64; %other = zext i1 %j to i64"),
        ]
    )
    forms = ExactForms(kernel)
    one, other = (forms.of_instruction(kernel.definition[name]) for name in ("wide", "other"))
    assert one.polynomial != other.polynomial


def test_long_chains_are_followed() -> None:
    lines = [f"%v{k + 1} = add i64 %v{k}, %z" for k in range(500)]
    kernel = kernel_of(["%v0 = mul i64 %z, 3", *lines, "store volatile i64 %v500, ptr addrspace(1) %p"])
    last = kernel.definition["v500"]
    assert ExactForms(kernel).of_instruction(last).polynomial == Polynomial.symbol("%z").scaled(503)
    assert IndexForms(kernel, ControlFlow(kernel)).of_instruction(last) == Polynomial.symbol("z").scaled(503)


def test_few_predictions_are_left_out() -> None:
    """The tests above would pass if every run were taken to wrap."""
    kernel = straight([(opcode, 0, 1, 2) for opcode in OPCODES])
    found = [known.whole is not None for _, _, known in values(kernel, (1, 2, 3, 4, 5))]
    assert sum(found) > 0.7 * len(found) > 15
