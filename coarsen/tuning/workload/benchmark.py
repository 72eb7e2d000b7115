"""Benchmarks: a kernel's source, its sizes, and the workloads made from them.

A `Benchmark` makes a `Workload` from a preset and a seed: the buffers, the launches that turn the inputs
into the outputs, and an independent reference of the outputs where there is one.

Shapes: a buffer of OpenCL vectors of n components is an array whose last axis has n elements.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from coarsen.base.names import did_you_mean
from coarsen.errors import InternalError, InvalidInputError
from coarsen.tuning.workload.element_types import Array as Array
from coarsen.tuning.workload.element_types import ImageFormat, SamplerArgument
from coarsen.variant.space import ArrayChoices
from coarsen.variant.variant import Definitions as Definitions
from coarsen.variant.variant import LocalSize as LocalSize
from coarsen.variant.variant import PassedArgument


class Clock(enum.StrEnum):
    """How the time of several launches is told.

    `sum`: the durations of the launches, added up. `span`: from the start of the first launch to the end of the
    last one, with whatever lies between two of them: so a version of two launches can be compared with one of one.
    """

    SUM = "sum"
    SPAN = "span"


Size = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BufferArgument:
    """A buffer or an image of the workload, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class ScratchArgument(BufferArgument):
    """A buffer of the workload that its launches alone share, of as many bytes as they need of it."""

    byte_count: int


@dataclass(frozen=True, slots=True)
class NullArgument:
    """A pointer that leads nowhere."""


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar passed by value; its NumPy type is the kernel's parameter type."""

    value: np.generic


@dataclass(frozen=True, slots=True)
class LocalArgument:
    """Dynamic local memory of a work-group, in bytes."""

    byte_count: int


Argument = BufferArgument | NullArgument | ScalarArgument | LocalArgument | SamplerArgument


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel over an NDRange, with the uncoarsened sizes.

    `local_size` is empty where it is left to the implementation. `global_offset`: of the first work-item, an entry
    per dimension; empty where it is 0. `is_coarsened`: of another kernel than the benchmark's, whether it is
    coarsened alike.
    """

    kernel: str
    global_size: tuple[int, ...]
    local_size: LocalSize
    arguments: tuple[Argument, ...]
    global_offset: tuple[int, ...] = ()
    is_coarsened: bool = False


@dataclass(frozen=True, slots=True)
class MacroStep:
    """One of the launches in the place of one: its sizes, in work-items, and what its arguments are."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: LocalSize
    passed: tuple[PassedArgument, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MacroSizes:
    """The sizes of a launch with some values of its source's macros, in work-items; names in their order.

    Where these take several launches there are `steps`, and `scratch` buffers of so many bytes.
    """

    definitions: Definitions
    global_size: tuple[int, ...]
    local_size: LocalSize
    steps: tuple[MacroStep, ...] = ()
    scratch: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ByMacros:
    """A launch whose sizes follow from its source's macros.

    `sizes` has those that may be tried, the source's own first; `roundings` says how many lead to an element one
    after the other, None where that isn't known.
    """

    sizes: tuple[MacroSizes, ...] = ()
    roundings: int | None = None

    @property
    def is_sequence(self) -> bool:
        """Return True if some of them take several launches."""
        return any(each.steps for each in self.sizes)


@dataclass(frozen=True, slots=True)
class Workload:
    """Everything needed to run a benchmark once and to judge what came out.

    `buffers` holds the contents before the first launch. Those that are neither inputs nor `outputs` are scratch:
    a launch must write there before one reads, since what a run leaves is still there in the next.

    `reference` computes the contents of the `outputs` after the last launch; where it is None, the results of the
    uncoarsened kernel, or of the default version, take its place. A floating-point element is right if
    |got - wanted| <= absolute + relative * |wanted|; an integer if it differs by at most `integer_tolerance`,
    which is 0 unless rounding of an intermediate result may tip it.

    Where `rounding_steps` isn't 0, so many rounded operations lead to a floating-point element one after the
    other, and a difference that they explain is right as well (`measure/comparison.py`).

    `order_free` names outputs whose elements may come in any order; several of one group have theirs together, as
    a key and its value.

    `images`: those of the buffers that are images, and what they are.

    `element_shapes`: of buffers that are packed for a kernel whose arrays lie otherwise, in elements.
    """

    buffers: Mapping[str, Array]
    launches: tuple[Launch, ...]
    outputs: tuple[str, ...]
    reference: Callable[[], Mapping[str, Array]] | None
    relative_tolerance: float = 0.0
    absolute_tolerance: float = 0.0
    integer_tolerance: int = 0
    rounding_steps: int = 0
    order_free: tuple[tuple[str, ...], ...] = ()
    images: Mapping[str, ImageFormat] = field(default_factory=dict)
    element_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def expected(self) -> Mapping[str, Array]:
        """Return the outputs by the reference. Raises InternalError where there is none."""
        if self.reference is None:
            raise InternalError("the workload has no reference")
        return self.reference()


@dataclass(frozen=True, slots=True)
class Preset:
    """The extents of the problem (in elements) and the work-group size used unless another is asked for.

    `local_size` is empty where it is left to the implementation.

    `feasible`: whether the host can compute the reference of such a problem in reasonable time and memory.
    """

    size: Size
    local_size: LocalSize
    feasible: bool = True


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A kernel with its host driver.

    `dimensions` are those that the NDRange uses. `make_workload` takes the extents, the work-group size and the
    source of random numbers; extents that the kernel does not guard are rounded up to whole work-groups.
    `local_sizes` are the work-groups worth trying and `tunables` the values worth trying of `-D` macros, the
    default first.

    `make_launches` gives the launches alone, for a driver whose launches depend on the problem's extents in more
    than their number. `source_file` or `source_text` holds the kernel, whose name is `kernel_name` where it isn't
    the benchmark's. `inputs_hash` stands for all that decides about inputs and verification and isn't in
    the kernel nor the sizes: what a user's file says of arguments, outputs and tolerances. It is empty where the
    driver is part of this package. `input_files` are those that the workload reads. `shared_local_size`, where
    neither the inputs nor the results nor the global size depend on the local size, is the one at which the
    workload is made for all (see `Session`); it needs `make_launches`.

    `other_kernels` are those of the same source, besides `kernel`, that launches may name; of these
    `coarsened_kernels` have launches that are coarsened alike, all others stay as they are. `clock` says how the
    launches are timed as one job. `local_size_of` gives the local size of some macro values, where these decide
    about it; `local_sizes` is empty then.

    `input_macros` are the macros that buffers or the reference depend on, where that is known: the workload is
    then made once for all values of the others, at their default. Scratch must suffice for each of them, unless
    launches say how much they need (`ScratchArgument`).
    `buffers_fit_any_local_size`: the same of the local size, where a version is the default, whose results others
    are compared with. Both need `make_launches`.

    `arrays` says how arrays of the kernel's arguments may lie, beside as written.

    `family` is shared by kernels that are variations of each other, and `mechanisms` says why coarsening helps or
    harms a kernel: whoever judges what was learned holds out whole families, or mechanisms. Kernels that nobody
    drew have neither.
    """

    name: str
    dimensions: tuple[int, ...]
    presets: Mapping[str, Preset]
    make_workload: Callable[[Size, LocalSize, np.random.Generator], Workload]
    build_options: tuple[str, ...] = ("-cl-std=CL1.2",)
    local_sizes: tuple[LocalSize, ...] = ()
    tunables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    make_launches: Callable[[Size, LocalSize], tuple[Launch, ...]] | None = None
    kernel_name: str = ""
    source_file: Path | None = None
    source_text: str = ""
    inputs_hash: str = ""
    input_files: tuple[Path, ...] = ()
    shared_local_size: LocalSize | None = None
    other_kernels: tuple[str, ...] = ()
    coarsened_kernels: tuple[str, ...] = ()
    clock: Clock = Clock.SUM
    input_macros: tuple[str, ...] | None = None
    buffers_fit_any_local_size: bool = False
    local_size_of: Callable[[Definitions], LocalSize] | None = None
    arrays: tuple[ArrayChoices, ...] = ()
    family: str = ""
    mechanisms: frozenset[str] = frozenset()

    @property
    def kernel(self) -> str:
        """The name of the kernel function."""
        return self.kernel_name or self.name

    @property
    def kernel_file(self) -> Path:
        """The path of the kernel's source. Raises InternalError where the source is in no file."""
        if self.source_file is None:
            raise InternalError(f"the source of {self.name} is in no file")
        return self.source_file

    @property
    def code(self) -> Path | str:
        """The kernel's source as the front end takes it: a file's path, or the text itself."""
        return self.source_text or self.kernel_file

    @property
    def source(self) -> str:
        """The kernel's OpenCL C source."""
        return self.source_text or self.kernel_file.read_text(encoding="utf-8-sig")

    @property
    def own_definitions(self) -> Definitions:
        """The default values of the `-D` macros that can be tuned, in the order of their names."""
        return tuple((name, values[0]) for name, values in sorted(self.tunables.items()))

    def definitions_of_workload(self, definitions: Definitions) -> Definitions:
        """Return the macro values that the workload for some others is made with: the same where they share it."""
        if self.input_macros is None:
            return definitions
        own = {name: value for name, value in definitions if name in self.input_macros}
        return tuple(sorted({**dict(self.own_definitions), **own}.items()))

    @property
    def own_options(self) -> tuple[str, ...]:
        """The build options with the default values of the macros that can be tuned."""
        return (*self.build_options, *(f"-D{name}={value}" for name, value in self.own_definitions))

    def content_hash(self, preset: str) -> str:
        """Return a hash of what is measured at a preset, the kernel's code apart. Raises InvalidInputError."""
        size = sorted(self.preset(preset).size.items())
        content = [self.name, self.kernel, size, self.inputs_hash]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def preset(self, name: str) -> Preset:
        """Return the preset of this name. Raises InvalidInputError, listing the names, if there is none."""
        if name not in self.presets:
            hint = did_you_mean(name, self.presets)
            raise InvalidInputError(f"{self.name}: no preset {name!r}{hint}; there are {', '.join(self.presets)}")
        return self.presets[name]

    def coarsens(self, launch: Launch) -> bool:
        """Return True if a launch is of the kernel that is coarsened, or is coarsened alike."""
        return launch.is_coarsened or launch.kernel not in self.other_kernels

    def local_sizes_of(self, preset: str) -> tuple[LocalSize, ...]:
        """Return the work-group sizes worth trying at a preset, its own first. Raises InvalidInputError."""
        return tuple(dict.fromkeys((self.preset(preset).local_size, *self.local_sizes)))

    def workload(
        self, preset: str, seed: int = 0, local_size: LocalSize | None = None, definitions: Definitions = ()
    ) -> Workload:
        """Make the workload of a preset; the same arguments give the same arrays.

        Args:
            preset: `test`, `cpu`, `paper`, `gpu` or whatever `presets` has.
            seed: seed of the inputs.
            local_size: work-group size in work-items, one entry per dimension; the preset's if None; left to the
                implementation if empty.
            definitions: names and values of the `-D` macros that the kernel is built with; whole numbers among
                them count as extents of the problem, for a driver whose launches depend on them.

        Returns:
            The workload, without its reference where that isn't feasible.

        Raises:
            InvalidInputError: no such preset, or a work-group size that the algorithm can't use.
        """
        chosen = self.preset(preset)
        if local_size == () and chosen.local_size:
            own = self.workload(preset, seed, None, definitions)
            return replace(own, launches=self._left_open(own.launches))
        size, group = self._size_and_group(chosen, local_size, definitions)
        made = self.make_workload(size, group, np.random.default_rng(seed))
        return made if chosen.feasible else replace(made, reference=None)

    def launches(
        self, preset: str, local_size: LocalSize | None = None, definitions: Definitions = (), seed: int = 0
    ) -> tuple[Launch, ...]:
        """Return the launches of a preset's workload, found without making large inputs.

        A driver that has no `make_launches` is asked for the workload of its smallest preset: there the number of
        launches and their global sizes differ, but not their local sizes nor their local memory.

        Args:
            preset: `test`, `cpu`, `paper`, `gpu` or whatever `presets` has.
            local_size: work-group size in work-items, one entry per dimension; the preset's if None; left to the
                implementation if empty.
            definitions: names and values of the `-D` macros that the kernel is built with.
            seed: of the inputs, which arguments may be of where there is no `make_launches`.

        Raises:
            InvalidInputError: no such preset, or a work-group size that the algorithm can't use.
        """
        chosen = self.preset(preset)
        if local_size == () and chosen.local_size:
            return self._left_open(self.launches(preset, None, definitions, seed))
        if self.make_launches is not None:
            return self.make_launches(*self._size_and_group(chosen, local_size, definitions))
        group = chosen.local_size if local_size is None else local_size
        return self.workload(next(iter(self.presets)), seed, group, definitions).launches

    def real_launches(self, preset: str, local_size: LocalSize | None = None, seed: int = 0) -> tuple[Launch, ...]:
        """Return the launches of a preset just as they are, though its inputs have to be made for that.

        Arguments and errors are those of `launches`.
        """
        if self.make_launches is not None:
            return self.launches(preset, local_size)
        return self.workload(preset, seed, local_size).launches

    def own_launches(self, preset: str, local_size: LocalSize | None = None) -> tuple[Launch, ...]:
        """Return those of `real_launches` that are of the kernel that is coarsened, at least one.

        Arguments and errors are those of `launches`.
        """
        launches = self.real_launches(preset, local_size)
        return tuple(each for each in launches if each.kernel == self.kernel) or launches

    def _left_open(self, launches: tuple[Launch, ...]) -> tuple[Launch, ...]:
        """The launches without their local size. Raises InvalidInputError where an argument depends on it."""
        if any(isinstance(argument, LocalArgument) for launch in launches for argument in launch.arguments):
            raise InvalidInputError(
                f"{self.name}: the local memory that is passed belongs to a local size, which can't be left open"
            )
        return tuple(replace(launch, local_size=()) for launch in launches)

    def _size_and_group(
        self, preset: Preset, local_size: LocalSize | None, definitions: Definitions
    ) -> tuple[Size, LocalSize]:
        group = preset.local_size if local_size is None else local_size
        count = len(preset.local_size or self.dimensions)
        is_open = not group and not preset.local_size
        if not is_open and (len(group) != count or min(group) < 1):
            raise InvalidInputError(f"{self.name}: a local size is {count} positive numbers, not {group}")
        return {**preset.size, **whole_numbers(definitions)}, group


def whole_numbers(definitions: Definitions) -> dict[str, int]:
    """Return the macros whose value is a decimal whole number, by name."""
    return {name: int(value) for name, value in definitions if value.removeprefix("-").isdecimal()}
