"""A version of a kernel in a tuned file: its configuration, and how it is launched.

A version without launches runs with the sizes that the caller passes. One with launches says its sizes itself, by
expressions over what the caller passes: whole arguments by their names, `bytes_NAME` of buffers, the version's own
macros, and `local_size_0` to `local_size_2` of its configuration. Launches that are repeated may name the number
of their turn, too: neighbours with the same loop take turns in it.

    for (t = 0; t < steps; t++) { ey(…, t); ex(…); }     "repeat": "t in range(0, steps)" of both
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from coarsen.base.codec import Coders, decoded, encoded
from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.dispatch.features import SIZE_NAMES, ArgumentKind, KernelArgument, check_name, input_kinds
from coarsen.dispatch.loops import RANGE, Loop, parse_loop
from coarsen.dispatch.steps import Kind
from coarsen.errors import InvalidInputError
from coarsen.variant.variant import Variant, variant_alike
from coarsen.variant.variant_json import variant_from_json, variant_to_json

MOST_LAUNCHES = 16
MOST_SCRATCH = 16
MOST_ARGUMENTS = 1024
# Work-items or work-groups that become one: more than any search tries, and few enough to be built in seconds.
MOST_MERGED = 256
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
# Of a macro: printable, without blanks and quotes, which would be further build options.
_VALUE = re.compile(r"[!#-&(-\[\]-~]{1,100}")
_Pairs = tuple[tuple[str, str], ...]
# What a launch of several passes besides arguments and scratch: `uint: (n + 255) // 256`.
_NUMBER_ARGUMENT = re.compile(r"(int|uint|long|ulong):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TunedLaunch:
    """One launch of a version.

    Args:
        kernel: the kernel's name.
        global_size: of the launch before anything is merged, in work-items, one to three expressions.
        local_size: as many expressions; empty for the configuration's, which may leave it to the driver.
        local_memory: the bytes of arguments that are local memory, by name; the caller's for others.
        arguments: of a launch among several, in their order: an argument's name, a scratch buffer's, or a number
            with its type such as `uint: (n + 255) // 256`. Empty for the arguments that the caller passes.
        repeat: the loop around it, `t in range(0, steps)`; empty where it is launched once.
        coarsened: of a launch among several, whether its kernel is coarsened as the version says.
    """

    kernel: str
    global_size: tuple[str, ...]
    local_size: tuple[str, ...] = ()
    local_memory: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    repeat: str = ""
    coarsened: bool = False

    def __post_init__(self) -> None:
        # Equal launches must be equal as values.
        object.__setattr__(self, "local_memory", tuple(sorted(self.local_memory)))

    @property
    def loop(self) -> Loop | None:
        """Return the loop around it, read. Raises InvalidInputError for what is none."""
        return parse_loop(self.repeat) if self.repeat else None

    @property
    def names_its_loop(self) -> bool:
        """Return True if it isn't alike in all turns of the loop around it."""
        loop = self.loop
        return loop is not None and any(loop.name in each.names for each in self.expressions())

    def expressions(self) -> Iterator[Expression]:
        """Yield its expressions, which may name the loop's number; raises InvalidInputError for what is none."""
        for text in (*self.global_size, *self.local_size, *(size for _, size in self.local_memory)):
            yield parse_expression(text)
        for argument in self.arguments:
            number = number_argument(argument)
            if number is not None:
                yield parse_expression(number[1])


@dataclass(frozen=True, slots=True)
class TunedVersion:
    """A version of a kernel.

    Args:
        variant: its configuration.
        launches: what is launched, in this order; empty for one launch with the caller's sizes.
        scratch: buffers that only the launches share, by name, with their sizes in bytes.
    """

    variant: Variant
    launches: tuple[TunedLaunch, ...] = ()
    scratch: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "scratch", tuple(sorted(self.scratch)))

    @property
    def is_sequence(self) -> bool:
        """Return True if it takes more than one launch of the caller's arguments."""
        is_own = any(launch.arguments or launch.repeat for launch in self.launches)
        return len(self.launches) > 1 or bool(self.scratch) or is_own

    @property
    def runs(self) -> tuple[tuple[Loop | None, tuple[int, ...]], ...]:
        """Return the loops in their order, each with the places of the launches that take turns in it."""
        groups = groupby(range(len(self.launches)), lambda place: self.launches[place].repeat)
        runs = [tuple(places) for _, places in groups]
        return tuple((self.launches[places[0]].loop, places) for places in runs)

    def variant_of(self, launch: TunedLaunch, kernel: str) -> Variant:
        """Return what the kernel of a launch is.

        Args:
            launch: one of several.
            kernel: the file's.
        """
        if not launch.coarsened:
            return self.variant.uncoarsened()
        return self.variant if launch.kernel == kernel else variant_alike(self.variant)

    def macros(self) -> dict[str, int]:
        """Return its macros that are whole numbers."""
        return {
            name: int(value) for name, value in self.variant.definitions if _WHOLE_NUMBER.fullmatch(value.strip())
        }

    def expressions(self) -> Iterator[Expression]:
        """Yield every expression of its launches, read; raises InvalidInputError for what is none."""
        for launch in self.launches:
            yield from launch.expressions()
        yield from self.expressions_outside()

    def expressions_outside(self) -> Iterator[Expression]:
        """Yield the expressions that no loop is around: bounds of loops, and bytes of scratch."""
        for loop, _ in self.runs:
            yield from () if loop is None else loop.bounds
        for _, size in self.scratch:
            yield parse_expression(size)


def number_argument(argument: str) -> tuple[str, str] | None:
    """Return the type and the expression of a number that a launch passes; None for the name of an argument."""
    found = _NUMBER_ARGUMENT.fullmatch(argument)
    return None if found is None else (found[1], found[2].strip())


def check_version(version: TunedVersion, arguments: tuple[KernelArgument, ...]) -> None:
    """Raise InvalidInputError unless a version's launches can be made of what the caller passes."""
    if len(version.launches) > MOST_LAUNCHES or len(version.scratch) > MOST_SCRATCH:
        raise InvalidInputError(f"a version has more than {MOST_LAUNCHES} launches or scratch buffers")
    if version.scratch and not version.launches:
        raise InvalidInputError("a version has scratch buffers, and no launches that use them")
    if (merged := math.prod(entry.factor for entry in version.variant.coarsenings)) > MOST_MERGED:
        raise InvalidInputError(f"a version merges {merged} work-items into one, more than {MOST_MERGED}")
    if version.variant.transforms.is_tiled:
        raise InvalidInputError("a version has tiles inside of loops, which are for one local size: such has none")
    coarsened = any(launch.coarsened for launch in version.launches)
    if coarsened and not version.variant.is_coarsened:
        raise InvalidInputError("a launch is coarsened, and its version says nothing of how")
    if version.is_sequence and version.variant.is_rewritten and not coarsened:
        raise InvalidInputError("a version of several launches is coarsened, and none of these is")
    if version.variant.arrays:
        raise InvalidInputError(
            "a version's arrays lie otherwise than in its source, which nobody would pack: such are layouts"
        )
    names = {argument.name for argument in arguments}
    for name, _ in (*version.scratch, *version.variant.definitions):
        check_name("a macro or a scratch buffer", name)
        if name in names or name in SIZE_NAMES:
            raise InvalidInputError(f"the macro or scratch buffer {name} has the name of an argument or a size")
    for name, value in version.variant.definitions:
        if not _VALUE.fullmatch(value):
            raise InvalidInputError(
                f"the macro {name} has the value {ascii(value)[:60]}, which no build option takes"
            )
    for launch in version.launches:
        _check_launch(launch, version, arguments)
    known = {name for name, kind in input_kinds(arguments).items() if kind is Kind.WHOLE}
    known = (known - set(SIZE_NAMES)) | set(version.macros())
    known |= {f"local_size_{dimension}" for dimension in range(len(version.variant.local_size))}
    _check_expressions(version.expressions_outside(), known)
    for launch in version.launches:
        loop = launch.loop
        if loop is not None and loop.kind != RANGE:
            raise InvalidInputError(f"'{loop.text}': launches of a tuned file are repeated by {RANGE}(…) alone")
        if loop is not None and loop.name in known | names | {*SIZE_NAMES}:
            raise InvalidInputError(f"'{loop.text}' counts by the name of an argument, a size or a macro")
        _check_expressions(launch.expressions(), known if loop is None else known | {loop.name})


def _check_expressions(expressions: Iterable[Expression], known: set[str]) -> None:
    for expression in expressions:
        unknown = sorted(expression.names - known)
        if unknown:
            raise InvalidInputError(
                f"'{expression.text}' needs '{unknown[0]}', which is no whole argument, size of a buffer, "
                "macro of the version or local size of it"
            )


def _check_launch(launch: TunedLaunch, version: TunedVersion, arguments: tuple[KernelArgument, ...]) -> None:
    check_name("a kernel", launch.kernel)
    dimensions = len(launch.global_size)
    if not 1 <= dimensions <= 3:
        raise InvalidInputError(f"a launch of {launch.kernel} has {dimensions} global sizes, not one to three")
    local = launch.local_size or version.variant.local_size
    if local and len(local) != dimensions:
        raise InvalidInputError(
            f"a launch of {launch.kernel} has {len(local)} local and {dimensions} global sizes"
        )
    if launch.local_size and version.variant.local_size and not version.is_sequence:
        raise InvalidInputError("a version has a local size in its configuration and another in its launch")
    kinds = {argument.name: argument.kind for argument in arguments}
    for name, _ in launch.local_memory:
        if kinds.get(name) is not ArgumentKind.LOCAL:
            raise InvalidInputError(f"{name!a} is no argument that is local memory")
    if len(launch.arguments) > MOST_ARGUMENTS:
        raise InvalidInputError(f"a launch has more than {MOST_ARGUMENTS} arguments")
    known = {*kinds, *(name for name, _ in version.scratch)}
    for argument in launch.arguments:
        if number_argument(argument) is None and argument not in known:
            raise InvalidInputError(f"a launch passes {argument!a}, which is no argument or scratch buffer")


def version_to_json(version: TunedVersion) -> dict[str, Any]:
    """Write a version as JSON takes it; what it has not is left out."""
    launches = [_launch_to_json(launch) for launch in version.launches]
    return {
        "variant": variant_to_json(version.variant),
        **_given(launches=launches, scratch=dict(version.scratch)),
    }


def version_from_json(value: object) -> TunedVersion:
    """Read the version that `version_to_json` wrote; `check_version` says whether it makes sense.

    Raises:
        InvalidInputError: it isn't in that form.
    """
    filled = _filled(value, launches=[], scratch={})
    decoders: Coders = {Variant: variant_from_json, TunedLaunch: _launch_from_json, _Pairs: _pairs}
    return decoded(TunedVersion, filled, "a version of a tuned file", decoders)


def _launch_to_json(launch: TunedLaunch) -> dict[str, Any]:
    return _given(**{**encoded(launch), "local_memory": dict(launch.local_memory)})


def _given(**entries: Any) -> dict[str, Any]:  # noqa: ANN401 (any JSON value)
    return {name: entry for name, entry in entries.items() if entry}


def _launch_from_json(value: object) -> TunedLaunch:
    filled = _filled(value, local_size=[], local_memory={}, arguments=[], repeat="", coarsened=False)
    return decoded(TunedLaunch, filled, "a launch of a tuned file", {_Pairs: _pairs})


def _filled(value: object, **usual: object) -> object:
    """Return an object with what was left out."""
    return {**usual, **value} if isinstance(value, Mapping) else value


def _pairs(value: object) -> _Pairs:
    if not isinstance(value, Mapping) or not all(isinstance(entry, str) for entry in value.values()):
        raise InvalidInputError("local memory and scratch of a tuned file must be objects of texts")
    return tuple(sorted(value.items()))
