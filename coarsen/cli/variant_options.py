"""The options of a variant on the command line, made of those that `coarsen.variant.options` declares.

coarsen apply       --factor 4 --wide-accesses --layout bodies=soa          one value each
coarsen bench       --space factor=1,2,4 --space wide-accesses=no,yes       the values to try of each
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coarsen.base.names import did_you_mean
from coarsen.cli.declared import option, several
from coarsen.cli.options import local_size_of, whole_number
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import DIMENSIONS
from coarsen.variant.options import ARRAY_OPTIONS, COARSENING_OPTIONS, TRANSFORM_OPTIONS, VariantOption

if TYPE_CHECKING:
    from coarsen.tuning.engine.plan import DeviceLimits, Space
    from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
    from coarsen.variant.space import ArrayChoices
    from coarsen.variant.transforms import DeviceKind

GRID = "grid"

SPACE_HELP = (
    "Values to try of an option of coarsen apply, factor=1,2,4 or wide-accesses=no,yes; of local-size; "
    "at-once=NUMBER of dimensions and levels; sample=NUMBER to draw; or grid: every launch that coarsen "
    "predict considers. May be repeated."
)


def variant_options(*names: str) -> Any:  # noqa: ANN401 (as `field`)
    """Return a field of a command's options that holds those of a variant, called as its fields."""
    return several({name: _declared(_OPTIONS[name]) for name in names})


_OPTIONS: Mapping[str, VariantOption] = MappingProxyType(
    {**COARSENING_OPTIONS, **TRANSFORM_OPTIONS, **ARRAY_OPTIONS}
)
EVERY = tuple(_OPTIONS)
ARRAYS = tuple(ARRAY_OPTIONS)


def _declared(of: VariantOption) -> tuple[Any, Any]:
    """The type of a variant's option on the command line, and the option."""
    kind, flag = type(of.default), f"--{of.name}"
    if of.field in ARRAY_OPTIONS:
        return list[str] | None, option(f"{of.help} May be repeated.", of.metavar, flag)
    if of.field not in COARSENING_OPTIONS:
        if of.reader is not None:
            return kind, option(of.help, of.metavar, flag, default=of.default, parser=of.reader)
        flags = f"{flag}/--no-{of.name}" if kind is bool else flag
        return kind, option(of.help, None, flags, default=of.default)
    text = of.help if of.default is None else f"{of.help}  [default: {of.default}]"
    if kind in (int, type(None)):
        return list[int] | None, option(text, of.field.upper(), flag, parser=whole_number)
    return list[kind] | None, option(text, "|".join(kind), flag)  # type: ignore[arg-type, valid-type]


@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """The space that a person describes; what it leaves out is the kernel's or the usual.

    Attributes:
        values: to try, by the names of `--space`.
        is_grid: whether it is every launch that `coarsen predict` considers instead.
        definitions: of macros, the values to try.
        arrays: what is tried of arguments' arrays.
    """

    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    definitions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arrays: tuple[ArrayChoices, ...] = ()
    is_grid: bool = False

    @classmethod
    def read(
        cls, words: Iterable[str] | None, macros: Iterable[str] | None, arrays: Mapping[str, Sequence[str] | None]
    ) -> SpaceOptions:
        """Read `--space`, `-D` and the options of arrays. Raises InvalidInputError for what can't be read."""
        given = list(words or ())
        if GRID not in given:
            return cls(space_values(given), parsed_values(macros or ()), array_choices(arrays))
        if len(given) > 1 or macros or any(arrays.values()):
            raise InvalidInputError("--space grid says what is measured: leave out the other options of a space")
        return cls(is_grid=True)

    def of(self, benchmark: Benchmark, preset: str, kind: DeviceKind, limits: DeviceLimits) -> Space:
        """Return the space of one benchmark: of dimensions and local sizes those that fit its NDRange.

        Args:
            benchmark: what is measured.
            preset: its sizes.
            kind: of the device, which decides about a grid; as do its `limits`.
            limits: of the device.

        Raises:
            InvalidInputError: none fits; no such preset; an array that is no argument of its kernel; a grid for a
                kind of device that isn't known.
            RefusalError: the kernel of a grid can't be read.
        """
        if self.is_grid:
            # Imported late: it loads the launch model, which a space does without.
            from coarsen.opencl_bench.sweep.grid_design import grid_space

            return grid_space(benchmark, preset, kind, limits)
        # Imported late: it loads the suite.
        from coarsen.tuning.engine.plan import Space
        from coarsen.variant.space import TransformChoices

        transforms: dict[str, Any] = {
            each.field: self.values[each.name] for each in TRANSFORM_OPTIONS.values() if each.name in self.values
        }
        given: dict[str, Any] = {
            "factors": self.values.get("factor"),
            "strides": self.values.get("stride"),
            "levels": self.values.get("level"),
            "at_once": self._number("at-once"),
            "sample": self._number("sample"),
        }
        return Space(
            dimensions=self._fitting_dimensions(benchmark),
            local_sizes=self._fitting_local_sizes(benchmark, preset),
            definitions=self.definitions,
            transforms=TransformChoices(**transforms),
            arrays=self._arrays(benchmark),
            **{name: value for name, value in given.items() if value is not None},
        )

    def _number(self, name: str) -> int | None:
        return self.values[name][0] if name in self.values else None

    def _arrays(self, benchmark: Benchmark) -> tuple[ArrayChoices, ...] | None:
        """The choices of the options, and of the benchmark for other arguments; None for its own alone."""
        # Imported late: it loads LLVM.
        from coarsen.tuning.layout_choices import check_arguments

        named = {choices.argument for choices in self.arrays}
        check_arguments(benchmark, named)
        own = tuple(choices for choices in benchmark.arrays if choices.argument not in named)
        return (*own, *self.arrays) if named else None

    def _fitting_dimensions(self, benchmark: Benchmark) -> tuple[int, ...] | None:
        wanted = self.values.get("dim", ())
        fitting = tuple(dimension for dimension in wanted if dimension in benchmark.dimensions)
        if wanted and not fitting:
            own = ", ".join(map(str, benchmark.dimensions))
            raise InvalidInputError(f"{benchmark.name}: --space dim=… names none of its dimensions ({own})")
        return fitting or None

    def _fitting_local_sizes(self, benchmark: Benchmark, preset: str) -> tuple[LocalSize, ...] | None:
        own, wanted = benchmark.preset(preset).local_size, self.values.get("local-size", ())
        fitting = tuple(size for size in wanted if len(size) == len(own))
        if wanted and not fitting:
            such = "x".join(map(str, own))
            raise InvalidInputError(
                f"{benchmark.name}: --space local-size=… has none of its dimensions, such as {such}"
            )
        return fitting or None


def space_values(words: Iterable[str], known: Sequence[str] = ()) -> dict[str, tuple[Any, ...]]:
    """Return the values to try, by name, that texts such as `factor=1,2,4` list; each value once.

    Args:
        words: what was given to `--space`.
        known: the names that are taken; all if empty.

    Raises:
        InvalidInputError: no such name, a value that is none, a number of things where there can be but one.
    """
    readers = {name: read for name, read in _SPACE.items() if not known or name in known}
    found: dict[str, tuple[Any, ...]] = {}
    for word in words:
        name, equals, listed = word.partition("=")
        if name not in readers:
            near = did_you_mean(name, readers)
            raise InvalidInputError(f"--space takes {', '.join(readers)}, not '{name}'{near}")
        if not equals:
            raise InvalidInputError(f"--space is written as {name}=VALUE,..., not '{word}'")
        try:
            found[name] = tuple(dict.fromkeys(readers[name](each.strip()) for each in listed.split(",")))
        except InvalidInputError as error:
            raise InvalidInputError(f"--space {word}: {error}") from None
        if name in _SINGLE and len(found[name]) > 1:
            raise InvalidInputError(f"--space {word}: {name} is one number")
    return found


def _from_one(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", word) or int(word) < 1:
        raise InvalidInputError(f"a whole number from 1 on is expected, not '{word}'")
    return int(word)


def _dimension(word: str) -> int:
    if word not in map(str, range(DIMENSIONS)):
        raise InvalidInputError(f"a dimension is 0, 1 or 2, not '{word}'")
    return int(word)


def _local_size(word: str) -> LocalSize:
    size = local_size_of(word)
    if size is None:
        raise InvalidInputError(f"a local size is 64 or 16x16 for example, not '{word}'")
    return size


_SINGLE = ("at-once", "sample")
_SPACE: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        **{each.name: each.read for each in (*COARSENING_OPTIONS.values(), *TRANSFORM_OPTIONS.values())},
        "factor": _from_one,
        "stride": _from_one,
        "dim": _dimension,
        "local-size": _local_size,
        "at-once": _from_one,
        "sample": _from_one,
    }
)


def parsed_values(texts: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """`TILE=8,16` as a name and its values. Raises InvalidInputError."""
    values = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        words = [word.strip() for word in listed.split(",")]
        if not name.isidentifier() or not equals or not all(words):
            raise InvalidInputError(f"-D takes a name and the values to try, NAME=1,2, not '{text}'")
        values[name] = tuple(dict.fromkeys(words))
    return tuple(values.items())


def array_choices(given: Mapping[str, Sequence[str] | None]) -> tuple[ArrayChoices, ...]:
    """Return what `bodies=soa,aosoa:32`, `image=1,0` and `weights=constant` leave to be chosen.

    Args:
        given: the texts of each option, by its field.

    Raises:
        InvalidInputError: a text that can't be read; a shape of what is not copied; a pad that a device decides.
    """
    from coarsen.variant.pads import PadKind
    from coarsen.variant.placement import Place
    from coarsen.variant.space import ArrayChoices

    found = {name: _values_by_name(ARRAY_OPTIONS[name], given.get(name) or ()) for name in ARRAYS}
    shapes, places, pads = found["shape"], found["place"], found["pad"]
    for name in shapes:
        if Place.LOCAL not in places.get(name, ()):
            raise InvalidInputError(f"--shape {name}=… goes with --place {name}=local")
    for name, chosen in pads.items():
        if any(pad.kind is PadKind.AUTO for pad in chosen):
            raise InvalidInputError(f"--pad {name}=auto is for `coarsen apply`: name the pads to try")
    names = dict.fromkeys((*found["layout"], *found["order"], *places, *pads))
    return tuple(
        ArrayChoices(
            name,
            tuple(found["layout"].get(name, ())),
            tuple(found["order"].get(name, ())),
            tuple(pads.get(name, ())),
            tuple(places.get(name, ())),
            shapes[name][-1] if name in shapes else None,
        )
        for name in names
    )


def _values_by_name(option: VariantOption, texts: Iterable[str]) -> dict[str, list[Any]]:
    """Read `NAME=VALUE,...`, repeated or not; an order and a shape have commas themselves."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InvalidInputError(f"--{option.name} is written as ARGUMENT=VALUE, not '{text}'")
        words = [value] if option.field in ("order", "shape") else [word.strip() for word in value.split(",")]
        found.setdefault(name, []).extend(map(option.read, words))
    return found
