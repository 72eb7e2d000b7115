"""Distances between addresses, against addresses that are computed with every wrap."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coarsen.analysis.algebra.exact_forms import ExactAddress, ExactForms
from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import source_element_type
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, Type, size_of

REPLICAS = 4
LEAVES = {"a": 8, "b": 16, "x": 32, "y": 32, "z": 64}
NUMBER = "number"  # of the replica, as 32 bits: a constant, which LLVM does not see
EDGES = [
    0,
    1,
    2,
    3,
    -1,
    -2,
    -3,
    126,
    127,
    254,
    255,
    65534,
    2**31 - 2,
    2**31 - 1,
    2**31,
    2**32 - 2,
    2**32 - 1,
    2**33 + 5,
]

# A tree: a leaf, or an operation of two trees; what a tree gives is brought to a width by trunc, sext or zext.
Tree = str | int | tuple[str, int, "Tree", "Tree"]
TREES = st.recursive(
    st.sampled_from([*sorted(LEAVES), NUMBER]) | st.integers(-9, 9),
    lambda parts: st.tuples(
        st.sampled_from(["add", "sub", "mul", "shl", "xor", "sext", "zext"]),
        st.sampled_from([8, 16, 32, 64]),
        parts,
        parts,
    ),
    max_leaves=6,
)


class Writer:
    """Writes LLVM IR that computes a tree for one replica; the leaves x and z are larger by its number."""

    def __init__(self, replica: int) -> None:
        self._replica = replica
        self.lines: list[str] = []

    def value(self, tree: Tree, width: int, extension: str = "sext") -> str:
        """The name of a value of `width` bits, or a constant."""
        if isinstance(tree, int):
            return str(tree)
        if tree == NUMBER:
            more = self._assigned(f"add i32 %x, {self._replica}")
            return self._fitted(self._assigned(f"sub i32 {more}, %x"), 32, width, extension)
        if isinstance(tree, str):
            leaf = f"%{tree}"
            if tree in "xz":
                leaf = self._assigned(f"add i{LEAVES[tree]} %{tree}, {self._replica}")
            return self._fitted(leaf, LEAVES[tree], width, extension)
        opcode, own_width, left, right = tree
        if opcode in ("sext", "zext"):
            return self._fitted(self.value(left, own_width, opcode), own_width, width, opcode)
        operands = self.value(left, own_width), self.value(right, own_width)
        if opcode == "shl":
            operands = operands[0], str(len(str(right)) % 4 + 1)
        result = self._assigned(f"{opcode} i{own_width} {operands[0]}, {operands[1]}")
        return self._fitted(result, own_width, width, extension)

    def _fitted(self, value: str, own_width: int, width: int, extension: str) -> str:
        if own_width == width:
            return value
        opcode = "trunc" if own_width > width else extension
        return self._assigned(f"{opcode} i{own_width} {value} to i{width}")

    def _assigned(self, text: str) -> str:
        name = f"%v{self._replica}.{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name


def lowered(tree: Tree, element: str) -> Kernel:
    """A kernel with a store for each replica, to `p[tree]`."""
    lines: list[str] = []
    for replica in range(REPLICAS):
        writer = Writer(replica)
        index = writer.value(tree, 64)
        lines += [*writer.lines, f"%p.{replica} = getelementptr {element}, ptr addrspace(1) %p, i64 {index}"]
        lines.append(f"store volatile {element} 0, ptr addrspace(1) %p.{replica}")
    body = "\n".join(lines)
    parameters = ", ".join(f"i{width} %{name}" for name, width in LEAVES.items())
    return lower(
        'target triple = "spir64-unknown-unknown"\n'
        f"define spir_kernel void @k(ptr addrspace(1) %p, {parameters}) {{\n{body}\nret void\n}}\n"
    )


def evaluate(kernel: Kernel, value: Operand, arguments: Mapping[str, int]) -> int:
    """A value, as an unsigned number of its type's width."""
    if value.kind is ValueKind.ARGUMENT:
        return arguments[value.text] % (1 << width_of(value.type))
    if value.kind is ValueKind.CONSTANT:
        return int(value.text) % (1 << width_of(value.type))
    instruction = kernel.definition[value.text]
    values = [evaluate(kernel, operand, arguments) for operand in instruction.operands]
    first, second = values[0], values[-1]
    if instruction.opcode == "getelementptr":
        second *= size_of(source_element_type(instruction))
    if instruction.opcode == "sext":
        own = width_of(instruction.operands[0].type)
        first -= (first >> (own - 1)) << own
    results = {
        "getelementptr": first + second,
        "add": first + second,
        "sub": first - second,
        "mul": first * second,
        "shl": first << min(second, 64),
        "xor": first ^ second,
    }
    return results.get(instruction.opcode, first) % (1 << width_of(instruction.type))


def width_of(type_: Type) -> int:
    return type_.width if isinstance(type_, IntegerType) else 64


def addresses(kernel: Kernel) -> list[tuple[Operand, ExactAddress]]:
    forms = ExactForms(kernel)
    pointers = [i.operands[1] for i in kernel.instructions() if i.opcode == "store"]
    return [(pointer, forms.address(pointer)) for pointer in pointers]


BYTE = ("zext", 8, "x", 0)


@settings(max_examples=40)
@example(("sext", 32, ("add", 64, BYTE, 0), 0), "i8", (0, 0, 254, 0, 0))
@example(("add", 32, ("add", 64, BYTE, "z"), "y"), "i32", (0, 0, 254, 0, 0))
@example(("sub", 64, ("zext", 32, "x", 0), ("sext", 32, "x", 0)), "i32", (0, 0, 2**31 - 2, 0, 0))
@example(("zext", 32, ("sub", 32, NUMBER, 2), 0), "i32", (0, 0, 0, 0, 0))
@example(("sext", 8, ("add", 8, NUMBER, 126), 0), "i8", (0, 0, 0, 0, 0))
@given(TREES, st.sampled_from(["i8", "i32", "i64"]), st.tuples(*[st.sampled_from(EDGES)] * len(LEAVES)))
def test_distances_are_those_of_computed_addresses(tree: Tree, element: str, edges: tuple[int, ...]) -> None:
    kernel = lowered(tree, element)
    arguments = {**dict(zip(LEAVES, edges, strict=True)), "p": 1 << 40}
    for (first, one), (second, other) in itertools.combinations(addresses(kernel), 2):
        if one.form != other.form:
            continue
        wrap = min((a.wrap for a in (one, other) if a.wrap is not None), default=2**64)
        real = evaluate(kernel, second, arguments) - evaluate(kernel, first, arguments)
        assert (real - (other.offset - one.offset)) % min(wrap, 2**64) == 0


@pytest.mark.parametrize(
    ("tree", "distances", "wrap"),
    [
        ("z", [4, 4, 4], None),
        (("sext", 32, "x", 0), [4, 4, 4], 2**34),
        (("zext", 32, "x", 0), [4, 4, 4], 2**34),
        (("add", 32, "x", ("mul", 32, "y", "y")), [4, 4, 4], 2**34),
        (("sub", 64, 0, "z"), [-4, -4, -4], None),
        (("shl", 64, "z", 1), None, None),
        (("zext", 8, "x", 0), None, None),
        (("zext", 16, "z", 0), None, None),
        (("xor", 64, "z", 1), None, None),
        (("xor", 64, "z", -1), [-4, -4, -4], None),
        (("mul", 64, "z", "z"), None, None),
    ],
)
def test_known_distances(tree: Tree, distances: list[int] | None, wrap: int | None) -> None:
    found = [address for _, address in addresses(lowered(tree, "i32"))]
    if distances is None:
        assert [b.offset - a.offset for a, b in itertools.pairwise(found) if a.form == b.form] != [4, 4, 4]
    else:
        assert len({str(address.form) for address in found}) == 1
        assert [b.offset - a.offset for a, b in itertools.pairwise(found)] == distances
        assert {address.wrap for address in found} == {wrap}
