"""Random kernels on arrays of random records, and random layouts of these.

Each work-item writes an element of its own of `to` and reads any of `from`, so that the order of these does not
count. Fields hold whole numbers alone, and all arithmetic is on unsigned integers: results agree bit for bit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyopencl import cltypes

from coarsen.runtime.layout import Layout
from coarsen.variant.data_layout import AOS, SOA, ArrayLayout, Kind, Order
from tests.transform.layouts.record_kernels import ID, RecordKernel

# OpenCL's name of a number, NumPy's.
_NUMBERS = {"uchar": "u1", "ushort": "u2", "uint": "u4", "ulong": "u8", "float": "f4", "double": "f8"}
_WIDTHS = (2, 4)
_COUNTS = (1, 2, 7, 31, 33, 64, 100)


@dataclass(frozen=True)
class RandomField:
    """A field: OpenCL's type of its numbers, how many, and whether these are a vector."""

    name: str
    number: str
    count: int = 1
    is_vector: bool = False

    @property
    def declaration(self) -> str:
        """The field in OpenCL C."""
        if self.is_vector:
            return f"{self.number}{self.count} {self.name};"
        return f"{self.number} {self.name}[{self.count}];" if self.count > 1 else f"{self.number} {self.name};"

    @property
    def size(self) -> int:
        """Its bytes."""
        return np.dtype(_NUMBERS[self.number]).itemsize * self.count

    @property
    def alignment(self) -> int:
        """What its offset is a multiple of."""
        return self.size if self.is_vector else self.size // self.count

    @property
    def format(self) -> Any:  # noqa: ANN401 (as NumPy takes it)
        """NumPy's type; of a vector PyOpenCL's, so that no deep layout takes it apart."""
        if self.is_vector:
            return getattr(cltypes, f"{self.number}{self.count}")
        return (_NUMBERS[self.number], (self.count,)) if self.count > 1 else _NUMBERS[self.number]

    def numbers(self, element: str) -> list[str]:
        """Each number of the field of an element, in OpenCL C."""
        if self.count == 1:
            return [f"{element}.{self.name}"]
        parts = [f"s{k}" if self.is_vector else f"[{k}]" for k in range(self.count)]
        return [f"{element}.{self.name}{'.' if self.is_vector else ''}{part}" for part in parts]


@dataclass(frozen=True)
class RandomRecord:
    """A record of random fields."""

    name: str
    fields: tuple[RandomField, ...]

    @property
    def declaration(self) -> str:
        """The structure in OpenCL C."""
        return f"typedef struct {{ {' '.join(each.declaration for each in self.fields)} }} {self.name};"

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type, laid out by C's rules."""
        offsets, end = [], 0
        for each in self.fields:
            offsets.append(-(-end // each.alignment) * each.alignment)
            end = offsets[-1] + each.size
        largest = max(each.alignment for each in self.fields)
        return np.dtype(
            {
                "names": [each.name for each in self.fields],
                "formats": [each.format for each in self.fields],
                "offsets": offsets,
                "itemsize": -(-end // largest) * largest,
            }
        )


@dataclass(frozen=True)
class RecordTrial:
    """A kernel, how its arrays lie, their shape, the factor, and whether extents are passed."""

    kernel: RecordKernel
    layouts: dict[str, Layout]
    shape: tuple[int, ...]
    factor: int
    is_open: bool

    def __str__(self) -> str:
        lies = ", ".join(f"{name}: {each.layout} {each.order or ''}" for name, each in self.layouts.items())
        return f"{lies}; shape {self.shape}, factor {self.factor}, open {self.is_open}\n{self.kernel.source}"


def record_trial(seed: int) -> RecordTrial:
    """Return the trial of a seed."""
    draw = random.Random(seed)
    first = _record(draw, "First")
    second = first if draw.random() < 0.5 else _record(draw, "Second")
    statements = [_statement(draw, first, second) for _ in range(draw.randint(1, 5))]
    # Of an array that is never accessed nobody knows the elements.
    body = "\n    ".join((*statements, _copied_number(draw, first, second)))
    declarations = "\n".join(dict.fromkeys((first.declaration, second.declaration)))
    own = draw.choice(("i", "n - 1 - i"))
    source = f"""{declarations}
kernel void k(global {first.name} *to, global const {second.name} *from, int n)
{{
    {ID}
    int own = {own};
    {body}
}}
"""
    shape = _shape(draw)
    arrays = {"to": first.dtype, "from": second.dtype}
    layouts = {name: Layout(dtype, _layout(draw), _order(draw, len(shape))) for name, dtype in arrays.items()}
    kernel = RecordKernel(f"seed_{seed}", source, arrays)
    return RecordTrial(kernel, layouts, shape, draw.choice((1, 2, 4)), draw.random() < 0.5)


def _record(draw: random.Random, name: str) -> RandomRecord:
    return RandomRecord(name, tuple(_field(draw, f"f{k}") for k in range(draw.randint(1, 6))))


def _field(draw: random.Random, name: str) -> RandomField:
    number = draw.choice(tuple(_NUMBERS))
    if draw.random() < 0.2:
        return RandomField(name, number, draw.choice(_WIDTHS), is_vector=True)
    return RandomField(name, number, draw.choice((1, 1, 1, 2, 3, 5)))


def _shape(draw: random.Random) -> tuple[int, ...]:
    if draw.random() < 0.5:
        return (draw.choice(_COUNTS),)
    return (draw.randint(1, 9), draw.randint(1, 12))


def _layout(draw: random.Random) -> ArrayLayout:
    layout = draw.choice((AOS, SOA, SOA, ArrayLayout(Kind.AOSOA, draw.choice((1, 2, 3, 8, 32)))))
    return layout if layout == AOS or draw.random() < 0.5 else replace(layout, is_deep=True)


def _order(draw: random.Random, dimensions: int) -> Order | None:
    if draw.random() < 0.5:
        return None
    permutation = list(range(dimensions))
    draw.shuffle(permutation)
    return Order(tuple(permutation))


def _statement(draw: random.Random, to: RandomRecord, source: RandomRecord, depth: int = 0) -> str:
    kind = draw.random()
    if kind < 0.15 and to == source:
        return f"to[own] = from[{_index(draw)}];"
    if kind < 0.3 and to == source:
        field = draw.choice(to.fields)
        changed = _assigned(draw, field, "one", source)
        return f"{{ {to.name} one = from[{_index(draw)}]; {changed} to[own] = one; }}"
    if kind < 0.45 and depth < 2:
        inner = _statement(draw, to, source, depth + 1)
        other = f" else {_statement(draw, to, source, depth + 1)}" if draw.random() < 0.5 else ""
        return f"if ({_value(draw, source)} & {draw.choice((1, 2, 4))}) {{ {inner} }}{other}"
    if kind < 0.6 and depth < 2:
        name, rounds = f"j{depth}", draw.randint(1, 3)
        inner = _statement(draw, to, source, depth + 1)
        return f"for (int {name} = 0; {name} < {rounds}; ++{name}) {{ {inner} }}"
    if kind < 0.7:
        field = draw.choice(to.fields)
        if field.number == "uint" and not field.is_vector:
            return f"atomic_add(&{draw.choice(field.numbers('to[own]'))}, (uint)({_value(draw, source)}));"
    return _assigned(draw, draw.choice(to.fields), "to[own]", source)


def _copied_number(draw: random.Random, to: RandomRecord, source: RandomRecord) -> str:
    field = draw.choice(to.fields)
    number = draw.choice(draw.choice(source.fields).numbers("from[i]"))
    return f"{draw.choice(field.numbers('to[own]'))} = ({field.number})((ulong){number} & 1023);"


def _assigned(draw: random.Random, field: RandomField, element: str, source: RandomRecord) -> str:
    number = draw.choice(field.numbers(element))
    if field.count > 1 and not field.is_vector and draw.random() < 0.4:
        number = f"{element}.{field.name}[(i + {draw.randint(0, 3)}) % {field.count}]"
    operator = draw.choice(("=", "=", "+=")) if field.number not in ("float", "double") else "="
    # Floating-point numbers stay whole and small, so that none is rounded.
    value = f"({_value(draw, source)}) & 1023" if operator == "=" else _value(draw, source)
    return f"{number} {operator} ({field.number})({value});"


def _value(draw: random.Random, source: RandomRecord) -> str:
    return f" {draw.choice(('+', '^', '*'))} ".join(_operand(draw, source) for _ in range(draw.randint(1, 3)))


def _operand(draw: random.Random, source: RandomRecord) -> str:
    if draw.random() < 0.25:
        return draw.choice(("(ulong)i", "3ul", "(ulong)own", "17ul"))
    field = draw.choice(source.fields)
    element = f"from[{_index(draw)}]"
    if field.count > 1 and not field.is_vector and draw.random() < 0.3:
        return f"(ulong){element}.{field.name}[i % {field.count}]"
    return f"(ulong){draw.choice(field.numbers(element))}"


def _index(draw: random.Random) -> str:
    return draw.choice(
        ("i", "own", "n - 1 - i", f"(i + {draw.randint(1, 9)}) % n", f"i * {draw.randint(2, 5)} % n", "0")
    )
