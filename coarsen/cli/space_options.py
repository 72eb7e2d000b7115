"""The options of `coarsen bench` that say which space to measure, and that space."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from coarsen.cli.local_size import local_size_of
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import MOST_MERGED, Level
from coarsen.variant.transforms import Use

if TYPE_CHECKING:
    from coarsen.opencl_bench.sweep.plan import Space
    from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
    from coarsen.variant.space import ArrayChoices, TransformChoices

Word = TypeVar("Word", bound=enum.StrEnum)
Value = TypeVar("Value")


class Tried(enum.StrEnum):
    """The use of a transform in a sweep: not at all, always, or both with it and without."""

    NO = "no"
    YES = "yes"
    BOTH = "both"


Factors = Annotated[
    str | None, typer.Option("--factors", metavar="N,...", help="Factors to try.  [default: 1,2,4,8,16,32]")
]
Strides = Annotated[
    str | None, typer.Option("--strides", metavar="N,...", help="Strides to try.  [default: 1,8,32]")
]
Dimensions = Annotated[
    str | None, typer.Option("--dims", metavar="N,...", help="Dimensions to try.  [default: the kernel's]")
]
LocalSizes = Annotated[
    str | None,
    typer.Option(
        "--local-sizes",
        metavar="SIZE,...",
        help="Local sizes to try, 64 or 16x16; each kernel takes those that fit its NDRange.  "
        "[default: the kernel's]",
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option("-D", "--define", metavar="NAME=VALUE,...", help="Values to try of a macro. May be repeated."),
]
Levels = Annotated[
    str,
    typer.Option("--levels", metavar="LEVEL,...", help="Merge work-items (item), work-groups (group), or either."),
]
AtOnce = Annotated[
    int,
    typer.Option("--at-once", metavar="NUMBER", min=1, help="Dimensions, and levels, that are coarsened at once."),
]
MostMerged = Annotated[
    int,
    typer.Option(
        "--most-merged", metavar="NUMBER", min=1, help="Work-items that may become one, all factors together."
    ),
]
WideAccesses = Annotated[
    Tried, typer.Option("--wide-accesses", help="One vector access where addresses are consecutive.")
]
AnySize = Annotated[Tried, typer.Option("--any-size", help="Kernels for global sizes that factors do not divide.")]
CleanUp = Annotated[Tried, typer.Option("--clean-up", help="Remove what the rewriting of ids left over.")]
Distinct = Annotated[
    Tried, typer.Option("--distinct", help="Kernels for arguments that point to distinct memory.")
]
FastPath = Annotated[
    str, typer.Option("--fast-path", metavar="USE,...", help="Fast paths to try: auto, always, never.")
]
LockStep = Annotated[
    str, typer.Option("--lock-step", metavar="USE,...", help="Loops in lock-step to try: auto, always, never.")
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample", metavar="NUMBER", min=1, help="Draw so many coarsened configurations instead of trying all."
    ),
]
SampleSeed = Annotated[
    int, typer.Option("--sample-seed", metavar="NUMBER", min=0, help="What the sample is drawn from.")
]


ArrayLayouts = Annotated[
    list[str] | None,
    typer.Option(
        "--layout",
        metavar="ARG=LAYOUT,...",
        help="Layouts to try of an argument's array, beside as written: soa, aosoa:W, deep-soa. May be repeated.",
    ),
]
ArrayOrders = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        metavar="ARG=ORDER",
        help="An order to try of its dimensions, beside as written: 1,0 for a transposed matrix. May be repeated.",
    ),
]
ArrayPlaces = Annotated[
    list[str] | None,
    typer.Option(
        "--place",
        metavar="ARG=PLACE,...",
        help="Places to read an argument's array from, beside global memory: constant, noncoherent, local. "
        "May be repeated.",
    ),
]
ArrayPads = Annotated[
    list[str] | None,
    typer.Option(
        "--pad",
        metavar="ARRAY=PAD,...",
        help="Pads to try of a static local array's rows, beside as written: elements, or xor. May be repeated.",
    ),
]
ArrayShapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="ARG=N,...",
        help="The elements of an array that --place copies to local memory as a whole. May be repeated.",
    ),
]


@dataclass(frozen=True, slots=True)
class ArrayOptions:
    """The options for arrays, as they were given."""

    layouts: Sequence[str] = ()
    orders: Sequence[str] = ()
    places: Sequence[str] = ()
    pads: Sequence[str] = ()
    shapes: Sequence[str] = ()

    @classmethod
    def given(cls, *options: Sequence[str] | None) -> ArrayOptions:
        """Return them from what the command line has, None where it has nothing: in the order of the fields."""
        return cls(*(option or () for option in options))


@dataclass(frozen=True, slots=True)
class TransformOptions:
    """The options for transforms, as they were given."""

    fast_path: str
    lock_step: str
    wide_accesses: Tried
    clean_up: Tried
    any_size: Tried
    distinct: Tried = Tried.NO

    def choices(self) -> TransformChoices:
        """Return the values to try. Raises InvalidInputError for a word that is none."""
        from coarsen.variant.space import TransformChoices

        return TransformChoices(
            listed("--fast-path", self.fast_path, Use),
            listed("--lock-step", self.lock_step, Use),
            _FLAGS[self.wide_accesses],
            _FLAGS[self.clean_up],
            _FLAGS[self.any_size],
            _FLAGS[self.distinct],
        )


_FLAGS = {Tried.NO: (False,), Tried.YES: (True,), Tried.BOTH: (False, True)}


@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """The options of the space; a field is empty where they leave it to the kernel."""

    factors: tuple[int, ...]
    strides: tuple[int, ...]
    dimensions: tuple[int, ...]
    local_sizes: tuple[LocalSize, ...]
    definitions: tuple[tuple[str, tuple[str, ...]], ...]
    levels: tuple[Level, ...]
    at_once: int
    most_merged: int
    transforms: TransformChoices
    sample: int | None
    sample_seed: int
    arrays: tuple[ArrayChoices, ...] = ()

    @classmethod
    def parsed(
        cls,
        factors: str | None,
        strides: str | None,
        dimensions: str | None,
        local_sizes: str | None,
        values: Sequence[str] | None,
        levels: str,
        at_once: int,
        most_merged: int,
        transforms: TransformOptions,
        sample: int | None,
        sample_seed: int,
        arrays: ArrayOptions | None = None,
    ) -> SpaceOptions:
        """Read the options. Raises InvalidInputError for a malformed one, and one that means nothing alone."""
        return cls(
            whole_numbers("--factors", factors, 1),
            whole_numbers("--strides", strides, 1),
            whole_numbers("--dims", dimensions, 0),
            parsed_local_sizes(local_sizes),
            parsed_values(values or ()),
            listed("--levels", levels, Level),
            at_once,
            most_merged,
            transforms.choices(),
            sample,
            sample_seed,
            array_choices(arrays or ArrayOptions()),
        )

    @classmethod
    def default(cls) -> SpaceOptions:
        """Return the options where none is given."""
        transforms = TransformOptions("auto", "auto", Tried.NO, Tried.YES, Tried.NO)
        return cls.parsed(None, None, None, None, None, "item", 1, MOST_MERGED, transforms, None, 0)

    def of(self, benchmark: Benchmark, preset: str) -> Space:
        """Return the space of one benchmark: of dimensions and local sizes those that fit its NDRange.

        Raises:
            InvalidInputError: none fits; no such preset; an array that is no argument of its kernel.
        """
        from coarsen.opencl_bench.sweep.plan import DEFAULT_FACTORS, DEFAULT_STRIDES, Space

        return Space(
            self.factors or DEFAULT_FACTORS,
            self.strides or DEFAULT_STRIDES,
            self._fitting_dimensions(benchmark),
            self._fitting_local_sizes(benchmark, preset),
            self.definitions,
            self.levels,
            self.at_once,
            self.most_merged,
            self.transforms,
            self.sample,
            self.sample_seed,
            arrays=self._arrays(benchmark),
        )

    def _arrays(self, benchmark: Benchmark) -> tuple[ArrayChoices, ...] | None:
        """The choices of the options, and of the benchmark for other arguments; None for its own alone."""
        # Imported late, as in `of`; it loads LLVM.
        from coarsen.opencl_bench.tuning.layout_choices import check_arguments

        named = {choices.argument for choices in self.arrays}
        check_arguments(benchmark, named)
        own = tuple(choices for choices in benchmark.arrays if choices.argument not in named)
        return (*own, *self.arrays) if named else None

    def _fitting_dimensions(self, benchmark: Benchmark) -> tuple[int, ...] | None:
        fitting = tuple(dimension for dimension in self.dimensions if dimension in benchmark.dimensions)
        if self.dimensions and not fitting:
            own = ", ".join(map(str, benchmark.dimensions))
            raise InvalidInputError(f"{benchmark.name}: --dims names none of its dimensions ({own})")
        return fitting or None

    def _fitting_local_sizes(self, benchmark: Benchmark, preset: str) -> tuple[LocalSize, ...] | None:
        own = benchmark.preset(preset).local_size
        fitting = tuple(size for size in self.local_sizes if len(size) == len(own))
        if self.local_sizes and not fitting:
            such = "x".join(map(str, own))
            raise InvalidInputError(f"{benchmark.name}: --local-sizes has none of its dimensions, such as {such}")
        return fitting or None


def whole_numbers(option: str, text: str | None, least: int) -> tuple[int, ...]:
    """`1,2,4` as numbers; none where the option isn't given. Raises InvalidInputError."""
    if text is None:
        return ()
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"[0-9]{1,9}", word) and int(word) >= least for word in words):
        raise InvalidInputError(f"{option} takes whole numbers from {least} on, separated by commas, not '{text}'")
    return tuple(dict.fromkeys(int(word) for word in words))


def parsed_local_sizes(text: str | None) -> tuple[LocalSize, ...]:
    """`64,16x16` as local sizes; none where the option isn't given. Raises InvalidInputError."""
    if text is None:
        return ()
    words = [word.strip() for word in text.split(",")]
    sizes = dict.fromkeys(map(local_size_of, words))
    if None in sizes:
        raise InvalidInputError(
            f"--local-sizes takes sizes such as 64 or 16x16, separated by commas, not '{text}'"
        )
    return tuple(size for size in sizes if size is not None)


def parsed_values(texts: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """`TILE=8,16` as a name and its values. Raises InvalidInputError."""
    values = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        words = [word.strip() for word in listed.split(",")]
        if not name.isidentifier() or not equals or not all(words):
            raise InvalidInputError(f"-D takes a name and the values to try, NAME=1,2, not '{text}'")
        values[name] = tuple(dict.fromkeys(words))
    return tuple(values.items())


def array_choices(options: ArrayOptions) -> tuple[ArrayChoices, ...]:
    """Return what `bodies=soa,aosoa:32`, `image=1,0` and `weights=constant` leave to be chosen.

    Raises:
        InvalidInputError: a text that can't be read; a shape of what is not copied; a pad that a device decides.
    """
    from coarsen.variant.data_layout import ArrayLayout, Order, parse_shape
    from coarsen.variant.padding import Pad, PadKind
    from coarsen.variant.placement import Place, parse_place
    from coarsen.variant.space import ArrayChoices

    layouts = _values_by_name("--layout", options.layouts, ArrayLayout.parse)
    orders = _values_by_name("--order", options.orders, Order.parse, is_one=True)
    places = _values_by_name("--place", options.places, parse_place)
    pads = _values_by_name("--pad", options.pads, Pad.parse)
    shapes = _values_by_name("--shape", options.shapes, parse_shape, is_one=True)
    for name in shapes:
        if Place.LOCAL not in places.get(name, ()):
            raise InvalidInputError(f"--shape {name}=… goes with --place {name}=local")
    for name, chosen in pads.items():
        if any(pad.kind is PadKind.AUTO for pad in chosen):
            raise InvalidInputError(f"--pad {name}=auto is for `coarsen apply`: name the pads to try")
    return tuple(
        ArrayChoices(
            name,
            tuple(layouts.get(name, ())),
            tuple(orders.get(name, ())),
            tuple(pads.get(name, ())),
            tuple(places.get(name, ())),
            shapes[name][-1] if name in shapes else None,
        )
        for name in dict.fromkeys((*layouts, *orders, *places, *pads))
    )


def _values_by_name(
    option: str, texts: Sequence[str], parse: Callable[[str], Value], is_one: bool = False
) -> dict[str, list[Value]]:
    """Read `NAME=VALUE,...`, repeated or not; `is_one` where a value has commas itself."""
    found: dict[str, list[Value]] = {}
    for text in texts:
        name, values = _named_value(option, text)
        words = [values] if is_one else [word.strip() for word in values.split(",")]
        found.setdefault(name, []).extend(map(parse, words))
    return found


def _named_value(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise InvalidInputError(f"{option} is written as ARGUMENT=VALUE, not '{text}'")
    return name, value


def listed(option: str, text: str, kind: type[Word]) -> tuple[Word, ...]:
    """Read words separated by commas, each once. Raises InvalidInputError for one that is none of the kind's."""
    words = [word.strip() for word in text.split(",")]
    if not all(word in tuple(kind) for word in words):
        raise InvalidInputError(f"{option} takes {', '.join(kind)}, separated by commas, not '{text}'")
    return tuple(dict.fromkeys(kind(word) for word in words))
