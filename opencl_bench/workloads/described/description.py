"""Contents of a benchmark's TOML file, checked for form, and the values of its expressions at some sizes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.dispatch.expressions import Condition, Expression
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.loops import Loop
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_text import hash_with_headers
from coarsen.opencl_bench.workloads.described.distributions import Filling
from coarsen.opencl_bench.workloads.described.inputs import InputSpace
from coarsen.opencl_bench.workloads.described.ndrange import NdRange, Quotient
from coarsen.opencl_bench.workloads.described.parameters import NO_PARAMETERS, KernelParameters
from coarsen.opencl_bench.workloads.described.values import FileValues, SharedContents
from coarsen.tuning.workload.benchmark import LocalSize, Size, whole_numbers
from coarsen.tuning.workload.element_types import ElementType, ImageFormat, SamplerArgument, pixel_type
from coarsen.variant.space import ArrayChoices

if TYPE_CHECKING:
    from coarsen.loops.program import NestProgram


@dataclass(frozen=True, slots=True)
class ImageDescription:
    """An image: its format, its extents (width, height, depth or the number of layers), and what is in it."""

    name: str
    format: ImageFormat
    extents: tuple[Expression, ...]
    values: Filling

    @property
    def type(self) -> ElementType:
        """The type of a pixel."""
        return pixel_type(self.format)

    @property
    def extents_key(self) -> str:
        """Return where the file has the extents."""
        return "extent"


@dataclass(frozen=True, slots=True)
class SamplerDescription:
    """A sampler."""

    name: str
    sampler: SamplerArgument

    @property
    def type(self) -> ElementType:
        """A type, as all arguments have one; nothing of a sampler is in memory."""
        return pixel_type(ImageFormat("image2d", "R", "float"))


@dataclass(frozen=True, slots=True)
class BufferDescription:
    """A pointer to global or constant memory: so many elements of a type, and what is in them.

    Scratch is what only launches of one sequence share: nothing is in it before the first. `shape` has several
    extents, the slowest first, whose product `elements` is; it is empty where only their number is known.
    `arrays` says how it may lie, beside as written.
    """

    name: str
    type: ElementType
    elements: Expression
    values: Filling
    is_scratch: bool = False
    shape: tuple[Expression, ...] = ()
    arrays: ArrayChoices | None = None

    @property
    def extents(self) -> tuple[Expression, ...]:
        """The shape, or the number of elements."""
        return self.shape or (self.elements,)

    @property
    def extents_key(self) -> str:
        """Return where the file has the extents."""
        return "shape" if self.shape else "elements"


FilledDescription = BufferDescription | ImageDescription


@dataclass(frozen=True, slots=True)
class SharedDescription:
    """A pointer to the memory of another buffer, `same_as`: the launch is given that buffer twice."""

    name: str
    type: ElementType
    same_as: str


@dataclass(frozen=True, slots=True)
class NullDescription:
    """A pointer to global or constant memory that leads nowhere."""

    name: str
    type: ElementType


@dataclass(frozen=True, slots=True)
class ScalarDescription:
    """A parameter passed by value; a vector has as many components as its type."""

    name: str
    type: ElementType
    value: tuple[Expression | Quotient | float, ...]


@dataclass(frozen=True, slots=True)
class LocalDescription:
    """A pointer to local memory: so many elements of a type, or bytes, per work-group."""

    name: str
    type: ElementType
    count: Expression
    in_bytes: bool

    @property
    def count_key(self) -> str:
        """Return where the file has the count."""
        return "bytes" if self.in_bytes else "elements"


ArgumentDescription = (
    BufferDescription
    | SharedDescription
    | NullDescription
    | ScalarDescription
    | LocalDescription
    | ImageDescription
    | SamplerDescription
)


@dataclass(frozen=True, slots=True)
class LaunchDescription:
    """One launch of several, made where its conditions hold; `local_size` is None for that of the version.

    `loops` are run around it, the outermost first. One of another kernel is coarsened alike where the conditions
    of `coarsen` hold; None leaves it as it is.
    """

    kernel: str
    arguments: tuple[str, ...]
    global_size: tuple[Expression, ...]
    local_size: tuple[Expression, ...] | None
    conditions: tuple[Condition, ...]
    loops: tuple[Loop, ...] = ()
    coarsen: tuple[Condition, ...] | None = None

    @property
    def expressions(self) -> tuple[tuple[str, tuple[Expression | Condition, ...]], ...]:
        """Its expressions and conditions, by the keys of the file."""
        sizes = (("global_size", self.global_size), ("local_size", self.local_size or ()))
        return (*sizes, ("when", self.conditions), ("coarsen", self.coarsen or ()))

    @property
    def content(self) -> list[object]:
        """Return what tells it from other launches, as JSON takes it."""
        local_size = [each.text for each in self.local_size] if self.local_size is not None else None
        sizes = [[each.text for each in self.global_size], local_size]
        loops = [[each.text for each in self.loops]] if self.loops else []
        alike = [] if self.coarsen is None else [["coarsen", *(each.text for each in self.coarsen)]]
        return [self.kernel, list(self.arguments), *sizes, [each.text for each in self.conditions], *loops, *alike]

    def is_alike(self, values: Mapping[str, int]) -> bool:
        """Return True if a launch of another kernel is coarsened alike."""
        return self.coarsen is not None and all(condition.holds(values) for condition in self.coarsen)


@dataclass(frozen=True, slots=True)
class Description:
    """A user's kernel, its launch and its sizes; `path` is the TOML file.

    `sizes` holds each preset's sizes by name, `preset_local_sizes` the local sizes of those that have one of their
    own; `tunables` the values
    of each `-D` macro, the default first. The tolerances of floating-point numbers are None where the file gives
    none: they follow from `roundings`, how many rounded operations lead to an element of the outputs, or without
    these from the extents of the buffers.

    `parameters` are among the tunables, too. Without `launches` there is one, of `kernel`. `input_list`
    lists them; None where no file does yet. `pads` are those to try of static local arrays. `program` is the C
    function of which the kernels are made; None for kernels of OpenCL C.
    """

    path: Path
    kernel_file: Path
    kernel: str
    build_options: tuple[str, ...]
    arguments: tuple[ArgumentDescription, ...]
    outputs: tuple[str, ...]
    ndrange: NdRange
    tunables: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, Mapping[str, int]]
    preset_local_sizes: Mapping[str, LocalSize]
    relative_tolerance: float | None
    absolute_tolerance: float | None
    integer_tolerance: int
    roundings: Expression | None = None
    order_free: tuple[tuple[str, ...], ...] = ()
    parameters: KernelParameters = NO_PARAMETERS
    launches: tuple[LaunchDescription, ...] = ()
    contents: tuple[SharedContents, ...] = ()
    features: tuple[Feature, ...] = ()
    inputs: InputSpace | None = None
    input_list: Path | None = None
    pads: tuple[ArrayChoices, ...] = ()
    program: NestProgram | None = None

    @property
    def name(self) -> str:
        """The name of the benchmark: the file's name without its ending."""
        return self.path.stem

    def local_size_at(self, preset: str) -> LocalSize:
        """Return the local size that launches have at a preset, unless another is asked for."""
        return self.preset_local_sizes.get(preset, self.ndrange.local_size)

    @property
    def defaults(self) -> tuple[tuple[str, str], ...]:
        """The first value of each macro."""
        return tuple((name, values[0]) for name, values in sorted(self.tunables.items()))

    @property
    def inputs_hash(self) -> str:
        """A hash of what decides about inputs, launch and verification, sizes and the kernel itself apart."""
        content: list[object] = [
            list(self.outputs),
            [extent.text for extent in self.ndrange.global_size],
            [condition.text for condition in self.ndrange.conditions],
            self._tolerances,
            self.defaults,
            [_content(argument) for argument in self.arguments],
        ]
        # At the end and only where it is there: the hashes of descriptions without it stay as they were.
        if self.ndrange.global_offset:
            content.append(["global_offset", *(entry.text for entry in self.ndrange.global_offset)])
        if self.order_free:
            content.append(["order_free", *self.order_free])
        if self.ndrange.local_size_expressions:
            content.append(["local_size", *(entry.text for entry in self.ndrange.local_size_expressions)])
        if self.parameters.conditions:
            content.append(["where", *(condition.text for condition in self.parameters.conditions)])
        if self.launches:
            content.append(["launches", *(launch.content for launch in self.launches)])
        if self.contents:
            content.append(["contents", *(each.text for each in self.contents)])
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def code(self) -> Path | str:
        """The kernel's source as the front end takes it: the file, or the text that `-D` chooses values of."""
        return self.parameters.source or self.kernel_file

    @property
    def source_hash(self) -> str:
        """The hash of the kernel's file, with what it includes, as tuned files have it."""
        text = self.kernel_file.read_text(encoding="utf-8-sig", errors="replace")
        if self.program is not None:
            text = self.program.text
        return hash_with_headers(text, self.build_options, self.kernel_file.parent)

    @property
    def other_kernels(self) -> tuple[str, ...]:
        """The names of the kernels that launches name besides `kernel`."""
        return tuple(dict.fromkeys(each.kernel for each in self.launches if each.kernel != self.kernel))

    def arguments_of(self, kernel: str) -> tuple[ArgumentDescription, ...]:
        """Return the arguments of a kernel, in its order."""
        by_name = {argument.name: argument for argument in self.arguments}
        launch = next((each for each in self.launches if each.kernel == kernel), None)
        return self.arguments if launch is None else tuple(by_name[name] for name in launch.arguments)

    @property
    def own_launch(self) -> LaunchDescription:
        """The one launch of a file that describes no others."""
        names = tuple(each.name for each in self.arguments)
        return LaunchDescription(self.kernel, names, self.ndrange.global_size, None, ())

    @property
    def kernel_arguments(self) -> tuple[KernelArgument, ...]:
        """The arguments of the kernel as features know them."""
        return tuple(KernelArgument(each.name, feature_kind(each)) for each in self.arguments_of(self.kernel))

    @property
    def workload_names(self) -> frozenset[str]:
        """The names that buffers, images and the number of roundings depend on; scratch is a version's own."""
        filled = (each for each in self.arguments if isinstance(each, FilledDescription) and not is_scratch(each))
        needed = (names for each in filled for names in needs(each).values())
        roundings = self.roundings.names if self.roundings is not None else frozenset[str]()
        return roundings.union(*needed, *(contents.names for contents in self.contents))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that buffers and images are filled from, and the list of inputs."""
        values = (argument.values for argument in self.arguments if isinstance(argument, FilledDescription))
        filling = dict.fromkeys(each.path for each in values if isinstance(each, FileValues))
        return (*filling, *(() if self.input_list is None else (self.input_list,)))

    @property
    def is_rounding_bounded(self) -> bool:
        """Return True if the tolerances of floating-point numbers follow from the count of roundings."""
        return self.relative_tolerance is None and self.absolute_tolerance is None

    @property
    def _tolerances(self) -> list[object]:
        if self.is_rounding_bounded:
            return ["roundings", self.roundings.text if self.roundings else None, self.integer_tolerance]
        return [self.relative_tolerance or 0.0, self.absolute_tolerance or 0.0, self.integer_tolerance]

    def place_of(self, index: int) -> str:
        """Return the name of an argument in messages."""
        return f"{self.path}: arguments[{index}] ({self.arguments[index].name})"


def _content(argument: ArgumentDescription) -> list[object]:
    """Return the whole entry of an argument, as JSON takes it."""
    said: list[object] = [type(argument).__name__, argument.name, argument.type.content]
    if isinstance(argument, BufferDescription):
        scratch = ["scratch"] if argument.is_scratch else []
        shape = ["shape", *(extent.text for extent in argument.shape)] if argument.shape else []
        return [*said, argument.elements.text, argument.values.content, *scratch, *shape]
    if isinstance(argument, ImageDescription):
        extents = [extent.text for extent in argument.extents]
        return [*said[:2], str(argument.format), extents, argument.values.content]
    if isinstance(argument, SamplerDescription):
        return [*said[:2], argument.sampler.addressing, argument.sampler.filter, argument.sampler.normalized]
    if isinstance(argument, SharedDescription):
        return [*said, argument.same_as]
    if isinstance(argument, NullDescription):
        return said
    if isinstance(argument, LocalDescription):
        return [*said, argument.count.text, argument.in_bytes]
    return [*said, *(value if isinstance(value, int | float) else value.text for value in argument.value)]


def is_scratch(argument: ArgumentDescription) -> bool:
    """Return True for a buffer that only the launches share."""
    return isinstance(argument, BufferDescription) and argument.is_scratch


def needs(argument: ArgumentDescription) -> Mapping[str, frozenset[str]]:
    """Return the names in the expressions of an argument, by the keys of the file."""
    match argument:
        case BufferDescription() | ImageDescription():
            extents = frozenset[str]().union(*(extent.names for extent in argument.extents))
            return {argument.extents_key: extents, "values": argument.values.names}
        case LocalDescription():
            return {argument.count_key: argument.count.names}
        case ScalarDescription():
            parts = (each.names for each in argument.value if isinstance(each, Expression | Quotient))
            return {"value": frozenset[str]().union(*parts)}
    return {}


def feature_kind(argument: ArgumentDescription) -> ArgumentKind:
    """Return the kind of argument that features know one as."""
    match argument:
        case BufferDescription() | SharedDescription() | NullDescription():
            return ArgumentKind.BUFFER
        case LocalDescription():
            return ArgumentKind.LOCAL
        case ScalarDescription(type=kind) if not kind.is_opaque and kind.components == 1:
            return ArgumentKind.WHOLE if kind.is_integer else ArgumentKind.REAL
    return ArgumentKind.OTHER


def values_of(description: Description, size: Size, local_size: LocalSize) -> Mapping[str, int]:
    """Return the values of the names in expressions; macros have their first value unless another is given."""
    extents = {f"local_size_{dimension}": extent for dimension, extent in enumerate(local_size)}
    return {**whole_numbers(description.defaults), **size, **extents}


def positive(expression: Expression, values: Mapping[str, int]) -> int:
    """Return the value of an expression. Raises InvalidInputError where it is below 1."""
    return at_least(expression, values, 1)


def at_least(expression: Expression, values: Mapping[str, int], least: int) -> int:
    """Return the value of an expression. Raises InvalidInputError, with the values, where it is below another."""
    value = expression.evaluate(values)
    if value < least:
        shown = ", ".join(f"{name} = {values[name]}" for name in sorted(expression.names)) or "every preset"
        raise InvalidInputError(f"'{expression.text}' must be at least {least}; it is {value} for {shown}")
    return value


@contextmanager
def at(description: Description, key: str) -> Iterator[None]:
    """Put file and key before the message of a mistake."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{description.path}: {key}: {error}") from None
