"""A C function as a program of kernels and launches: all that is made of it."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.loops.kernel_text import KernelText
    from coarsen.loops.kernels import NestKernel
    from coarsen.loops.launches import Launching
    from coarsen.loops.native import NativeFunction
    from coarsen.loops.nest import Nest
    from coarsen.loops.tree import CFunction

SUFFIX = ".c"


@dataclass(frozen=True)
class NestProgram:
    """What a C function's loops become.

    Attributes:
        path: the C file.
        function: as it was read.
        nest: its loops.
        kernels: in the order in which they are launched first.
        launches: with the loops around them.
        options: for clang: definitions of macros, folders of headers.
        macros: of the kernels' text, by name: what they are, unless other values are defined.
    """

    path: Path
    function: CFunction
    nest: Nest
    kernels: tuple[KernelText, ...]
    launches: tuple[Launching, ...]
    options: tuple[str, ...] = ()
    macros: Mapping[str, int] = field(default_factory=dict)

    @property
    def shares_sums(self) -> bool:
        """Return True if lanes share a sum of one of its kernels."""
        return any(each.kernel.split for each in self.kernels)

    @property
    def beyond(self) -> int:
        """Return how far beyond their bounds shared loops may count; 0 where none is shared."""
        from coarsen.loops.partial_sums import TERMS

        steps = [abs(loop.step) for loop in self.nest.loops]
        return max(TERMS, *self.macros.values()) * max(steps) if self.shares_sums else 0

    @cached_property
    def ends(self) -> tuple[Expression, ...]:
        """Return how far loops count, over the nest's parameters; none where no loop is shared."""
        from coarsen.loops.launches import ends_in

        return tuple(map(parse_expression, ends_in(self.nest))) if self.shares_sums else ()

    def has_own_lanes(self, kernel: NestKernel) -> bool:
        """Return True if an option says how many lanes share a kernel's sums, or how large a work-group is."""
        from coarsen.loops.splits import GROUP_SIZE, LANES

        return not _given_macros(self.options).keys().isdisjoint((LANES, GROUP_SIZE, *kernel.lane_macros))

    @property
    def text(self) -> str:
        """The OpenCL C of all kernels."""
        from coarsen.loops.kernel_text import opencl_text

        return opencl_text(self.kernels, self.macros)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(each.kernel.name for each in self.kernels)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of a call by the nest's names: the parameters, then what else the function finds."""
        known = {each.spelled: each.name for each in self.nest.arrays.values() if not each.is_local}
        known |= {spelled: name for name, spelled in self.nest.spelled.items()}
        own = [known[each.name] for each in self.function.parameters if each.name in known]
        return (*own, *(name for name in known.values() if name not in own))

    @property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """Pairs of arrays that the kernels take to be apart: one of the two is written."""
        written = {access.array for each in self.nest.statements for access in each.writes}
        names = [each.name for each in self.nest.arrays.values() if not each.is_private]
        return tuple(pair for pair in combinations(names, 2) if written & {*pair})

    @cached_property
    def native(self) -> NativeFunction:
        """The C function, compiled for this machine. Raises InvalidInputError if it can't be."""
        from coarsen.loops.native import NativeFunction

        return NativeFunction(self.path, self.function, self.nest, self.options)

    @cached_property
    def extents(self) -> dict[str, tuple[Expression, ...]]:
        """By array that kernels access in memory: its extents, over the nest's parameters."""
        from coarsen.loops.launches import extents_in

        arrays = [each for each in self.nest.arrays.values() if not each.is_private]
        return {each.name: tuple(map(parse_expression, extents_in(self.nest, each))) for each in arrays}

    def elements_at(self, numbers: Mapping[str, float]) -> dict[str, int]:
        """Return how many elements of each array are accessed at values of its parameters."""
        sizes = {name: int(numbers[name]) for name in self.nest.parameters}
        return {
            name: math.prod(max(each.evaluate(sizes), 0) for each in extents)
            for name, extents in self.extents.items()
        }

    def instances_at(self, sizes: Mapping[str, int]) -> int:
        """Return about how many instances of its statements run at values of its parameters, at most."""
        from coarsen.loops.launches import instances_at

        return sum(instances_at(self.nest, each, sizes) for each in self.nest.statements)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The arrays that the function is given or finds, and writes."""
        written = {access.array for each in self.nest.statements for access in each.writes}
        return tuple(each.name for each in self.nest.arrays.values() if each.name in written and not each.is_local)


def read_program(
    path: Path, name: str | None = None, options: Sequence[str] = (), *, is_for_cpus: bool = False
) -> NestProgram:
    """Return what the loops of a C function become.

    Args:
        path: the C file.
        name: that of the function, or of one of its kernels; needed where several functions have loops.
        options: further words for clang: definitions of macros, folders of headers.
        is_for_cpus: whether all devices that it is for are CPUs.

    Raises:
        InvalidInputError: the file can't be read, has no such function or several; islpy is missing.
        RefusalError: it is no affine loop nest, or none that OpenCL C can have; the error names the place.
    """
    check_islpy()
    # Imported late: they load islpy, which only C files need.
    import islpy as isl

    from coarsen.loops.dependences import limited
    from coarsen.loops.kernel_text import kernel_text, macros_of
    from coarsen.loops.launches import launches_of
    from coarsen.loops.partial_sums import nest_and_kernels
    from coarsen.loops.splits import GROUP_SIZE, LANES

    function = _function(path, name, options)
    with limited(isl.DEFAULT_CONTEXT, function.place):
        nest, _, made = nest_and_kernels(function)
        kernels = tuple(map(kernel_text, made))
        given = _given_macros(options)
        macros = macros_of(kernels, given, is_for_cpus=is_for_cpus)
        words = {*re.findall(r"\w+", path.read_text("utf-8", errors="replace"))}
        check_lane_macros((name for name in given if name not in {LANES, GROUP_SIZE, *words}), macros)
        return NestProgram(path, function, nest, kernels, launches_of(kernels), tuple(options), macros)


def _given_macros(options: Sequence[str]) -> dict[str, str]:
    """The macros that options define, with their values as text; empty where they give none."""
    return dict(re.findall(r"(?:^| )-D ?(\w+)=?(\S*)", " ".join(options)))


def check_lane_macros(names: Iterable[str], macros: Mapping[str, int]) -> None:
    """Raise InvalidInputError for a name like those of lanes, or of their work-groups, that no kernel's macro has.

    Args:
        names: of macros, any.
        macros: those of the kernels.
    """
    from coarsen.loops.splits import LANE_MACRO

    for name in names:
        if LANE_MACRO.fullmatch(name) and name not in macros:
            there = f"there are {', '.join(macros)}" if macros else "lanes share none of its sums"
            raise InvalidInputError(f"{name} is for no kernel of the function: {there}")


def check_islpy() -> None:
    """Raise InvalidInputError, with what to install, if C files can't be read for want of islpy."""
    if importlib.util.find_spec("islpy") is None:
        raise InvalidInputError("C files need islpy: pip install 'coarsen[loops]'")


def _function(path: Path, name: str | None, options: Sequence[str]) -> CFunction:
    # Imported late, so that who only asks for the suffix does without NumPy.
    from coarsen.loops.clang_tree import functions_of

    functions = functions_of(path, options)
    every = [each for each in functions if each.has_loops]
    if exact := [each for each in functions if each.name == name]:
        return exact[0]
    if not every:
        raise InvalidInputError(f"{path}: no function with a loop is defined in it")
    if name is None:
        if len(every) > 1:
            names = ", ".join(each.name for each in every)
            raise InvalidInputError(f"{path} has several functions with loops: name one with --kernel: {names}")
        return every[0]
    stem, _, number = name.rpartition("_")
    chosen = next((each for each in every if each.name == stem and number.isdigit()), None)  # one of its kernels
    return chosen or functions_of(path, options, name)[0]
