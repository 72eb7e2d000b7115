"""The parameters of a synthetic kernel: how each is declared, how large it is, and what is in it."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.synthetic.axes import (
    GATHERS,
    Access,
    LocalMemory,
    Loop,
    Reuse,
    Store,
)
from coarsen.opencl_bench.workloads.synthetic.indices import has_trips
from coarsen.opencl_bench.workloads.synthetic.sizes import Sizes
from coarsen.opencl_bench.workloads.synthetic.specification import Specification


class Contents(enum.Enum):
    """The contents of a buffer before the launch."""

    UNWRITTEN = enum.auto()
    ELEMENTS = enum.auto()
    WEIGHTS = enum.auto()
    NEAR_INDICES = enum.auto()
    FAR_INDICES = enum.auto()
    LENGTHS = enum.auto()
    KEYS = enum.auto()
    PERMUTATION = enum.auto()


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer: its name, its OpenCL C declaration and element type, its number of elements, its contents."""

    name: str
    qualifiers: str
    type: str
    pointee: str
    elements: Callable[[Sizes], int]
    contents: Contents

    @property
    def declaration(self) -> str:
        """The kernel's declaration of it."""
        return f"{self.qualifiers} {self.pointee} *{self.name}"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of type uint."""

    name: str
    value: Callable[[Sizes], int]

    @property
    def declaration(self) -> str:
        """The kernel's declaration of it."""
        return f"uint {self.name}"


@dataclass(frozen=True, slots=True)
class Scratch:
    """Local memory whose size the host decides."""

    type: str
    elements: int
    name: str = "scratch"

    @property
    def declaration(self) -> str:
        """The kernel's declaration of it."""
        return f"local {self.type} *{self.name}"


Parameter = Buffer | Scalar | Scratch


def parameters(specification: Specification, body: list[str]) -> list[Parameter]:
    """The parameters that a body names and does not declare itself, in their order."""
    text = "\n".join(body)
    possible = [
        *_outputs(specification),
        *_inputs(specification),
        *_tables(specification),
        *_scalars(specification),
    ]
    used = [parameter for parameter in possible if re.search(rf"\b{parameter.name}\b", text)]
    taken = [parameter for parameter in used if f"uint {parameter.name} =" not in text]
    if specification.scratch_elements and not specification.static_local:
        taken.append(Scratch(specification.scratch_type, specification.scratch_elements))
    return taken


def _outputs(specification: Specification) -> list[Parameter]:
    store, element = specification.axes.store, specification.axes.element.value
    if store is Store.IN_PLACE:
        pairs = 2 if specification.is_pair_in_place else 1
        return [_buffer("data", element, lambda sizes: pairs * sizes.count, Contents.ELEMENTS, "global")]
    return [_buffer("output", element, _output_elements(specification), Contents.UNWRITTEN, "global")]


def _output_elements(specification: Specification) -> Callable[[Sizes], int]:
    if specification.axes.store is Store.PER_GROUP:
        return lambda sizes: sizes.groups
    if specification.axes.store is Store.STRIDED:
        return lambda sizes: sizes.count * specification.stride
    if specification.axes.loop is Loop.LOCAL_STRIDE:
        return lambda sizes: sizes.items
    return lambda sizes: sizes.count


def _inputs(specification: Specification) -> list[Parameter]:
    axes, element = specification.axes, specification.axes.element.value
    elements = _input_elements(specification)
    if axes.access is Access.RECORDS:
        fields = specification.fields
        records = Buffer(
            "records",
            "global const",
            element,
            "Record",
            lambda sizes: fields * elements(sizes),
            Contents.ELEMENTS,
        )
        return [records]
    indices = Contents.NEAR_INDICES if axes.access is Access.GATHER_NEAR else Contents.FAR_INDICES
    return [
        _buffer("input", element, elements, Contents.ELEMENTS),
        _buffer("owned", element, lambda sizes: sizes.count, Contents.ELEMENTS),
        _buffer("indices", "uint", lambda sizes: sizes.count * specification.planes, indices),
    ]


def _input_elements(specification: Specification) -> Callable[[Sizes], int]:
    axes, planes = specification.axes, specification.planes
    if axes.access in GATHERS:
        return lambda sizes: sizes.count
    if axes.access is Access.STRIDED:
        return lambda sizes: sizes.count * planes * specification.stride
    if axes.access is Access.BROADCAST:
        return _broadcast_elements(specification)
    if axes.access is Access.STENCIL:
        return lambda sizes: _stencil_elements(specification, sizes)
    if axes.access is Access.BLOCK_CYCLIC and not has_trips(specification):
        return lambda sizes: 2 * sizes.count
    return lambda sizes: sizes.count * planes


def _broadcast_elements(specification: Specification) -> Callable[[Sizes], int]:
    planes = specification.planes
    if specification.axes.dimensions == 2:
        return lambda sizes: sizes.height * planes
    if specification.axes.loop is Loop.GRID_STRIDE:
        return lambda sizes: -(-sizes.count // specification.group_size)
    return (lambda _sizes: planes) if has_trips(specification) else (lambda sizes: sizes.groups)


def _stencil_elements(specification: Specification, sizes: Sizes) -> int:
    is_line, planes, radius = specification.axes.dimensions == 1, specification.planes, specification.radius
    if not has_trips(specification):
        if not specification.has_padding:
            return sizes.count
        return sizes.count + 2 * radius if is_line else (sizes.width + 2 * radius) * (sizes.height + 2 * radius)
    if is_line:
        return sizes.count + planes
    if specification.axes.loop is Loop.NESTED:
        return (sizes.width + specification.inner_trips) * (sizes.height + specification.trips)
    return (sizes.width + planes) * sizes.height


def _tables(specification: Specification) -> list[Parameter]:
    axes, scalar = specification.axes, specification.scalar_type
    space = "constant" if specification.constant_weights and axes.reuse is Reuse.EVERYWHERE else "global const"
    found: list[Parameter] = [
        _buffer("weights", scalar, _weight_elements(specification), Contents.WEIGHTS, space),
        _buffer("keys", "uint", lambda sizes: sizes.count, Contents.KEYS),
        _buffer("permutation", "uint", lambda sizes: sizes.count, Contents.PERMUTATION),
        _buffer("lengths", "uint", lambda sizes: sizes.count, Contents.LENGTHS),
    ]
    if axes.local_memory is LocalMemory.TABLE:
        found.append(_buffer("table", scalar, lambda _sizes: specification.group_size, Contents.WEIGHTS))
    return found


def _weight_elements(specification: Specification) -> Callable[[Sizes], int]:
    axes, planes = specification.axes, specification.planes
    if axes.reuse is Reuse.EVERYWHERE:
        if axes.loop is Loop.LOCAL_STRIDE:
            return lambda sizes: sizes.length
        return lambda _sizes: planes
    if axes.reuse is Reuse.ALONG_1:
        return lambda sizes: sizes.width * planes
    if axes.dimensions == 2:
        return lambda sizes: sizes.height * planes
    return lambda sizes: sizes.groups * planes


def _scalars(specification: Specification) -> list[Parameter]:
    return [
        Scalar("count", lambda sizes: sizes.count),
        Scalar("width", lambda sizes: sizes.width),
        Scalar("height", lambda sizes: sizes.height),
        Scalar("length", lambda sizes: sizes.length),
        Scalar("trips", lambda _sizes: specification.trips),
        Scalar("block", lambda _sizes: specification.block),
    ]


def _buffer(
    name: str,
    element: str,
    elements: Callable[[Sizes], int],
    contents: Contents,
    qualifiers: str = "global const",
) -> Buffer:
    return Buffer(name, qualifiers, element, element, elements, contents)
