"""A C function as a program of kernels and launches, and run as it is: all that is made of it."""

from __future__ import annotations

import ctypes
import json
import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import islpy as isl
from numpy.typing import NDArray

from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.errors import InvalidInputError
from coarsen.frontend.clang import find_clang
from coarsen.loops import sums
from coarsen.loops.clang_tree import functions_of, words_of
from coarsen.loops.dependences import limited
from coarsen.loops.kernel_text import KernelText, kernel_text, macros_of, opencl_text
from coarsen.loops.kernels import NestKernel, nest_and_kernels
from coarsen.loops.launches import Launching, ends_in, extents_in, launches_of
from coarsen.loops.nest import Array, Nest
from coarsen.loops.sums import GROUP_SIZE, LANE_MACRO, LANES
from coarsen.loops.tree import CFunction, Variable

_ENTRY = "coarsen_entry"
# As written: no product is merged with a sum, OpenMP's pragmas do nothing, and a `main` in the file is none.
_OPTIONS = ("-fno-openmp", "-O1", "-ffp-contract=off", "-fPIC", "-fno-stack-protector", f"-Dmain={_ENTRY}_main")


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
        steps = [abs(loop.step) for loop in self.nest.loops]
        return max(sums.TERMS, *self.macros.values()) * max(steps) if self.shares_sums else 0

    @cached_property
    def ends(self) -> tuple[Expression, ...]:
        """Return how far loops count, over the nest's parameters; none where no loop is shared."""
        return tuple(map(parse_expression, ends_in(self.nest))) if self.shares_sums else ()

    def has_own_lanes(self, kernel: NestKernel) -> bool:
        """Return True if an option says how many lanes share a kernel's sums, or how large a work-group is."""
        return not _given_macros(self.options).keys().isdisjoint((LANES, GROUP_SIZE, *kernel.lane_macros))

    @property
    def text(self) -> str:
        """The OpenCL C of all kernels."""
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
        return NativeFunction(self.path, self.function, self.nest, self.options)

    @cached_property
    def extents(self) -> dict[str, tuple[Expression, ...]]:
        """By array that kernels access in memory: its extents, over the nest's parameters."""
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
        """Return how many instances of its statements run at values of its parameters, at most: those of boxes."""
        count = 0
        for each in self.nest.statements:
            domain = isl.Set(self.nest.domain(each)).intersect_params(self.nest.at(sizes))
            if not domain.is_empty():
                places = range(len(each.iterators))
                sides = (domain.dim_max_val(place).sub(domain.dim_min_val(place)) for place in places)
                count += math.prod(int(side.to_python()) + 1 for side in sides)
        return count

    def check_lane_macros(self, names: Iterable[str]) -> None:
        """Raise InvalidInputError for a name like that of a macro for lanes which no kernel has."""
        for name in names:
            if LANE_MACRO.fullmatch(name) and name not in self.macros:
                there = f"there are {', '.join(self.macros)}" if self.macros else "lanes share none of its sums"
                raise InvalidInputError(f"{name} is for no kernel of the function: {there}")

    @property
    def outputs(self) -> tuple[str, ...]:
        """The arrays that the function is given or finds, and writes."""
        written = {access.array for each in self.nest.statements for access in each.writes}
        return tuple(each.name for each in self.nest.arrays.values() if each.name in written and not each.is_local)


def program_of(path: Path, name: str | None, options: Sequence[str], *, is_for_cpus: bool) -> NestProgram:
    """Return what the loops of a C function become: arguments and errors as of `coarsen.loops.read_program`."""
    function = _function(path, name, options)
    with limited(isl.DEFAULT_CONTEXT, function.place):
        nest, _, made = nest_and_kernels(function)
        kernels = tuple(map(kernel_text, made))
        given = _given_macros(options)
        macros = macros_of(kernels, given, is_for_cpus=is_for_cpus)
        program = NestProgram(path, function, nest, kernels, launches_of(kernels), tuple(options), macros)
    words = {*re.findall(r"\w+", path.read_text("utf-8", errors="replace"))}
    program.check_lane_macros(name for name in given if name not in {LANES, GROUP_SIZE, *words})
    return program


def _given_macros(options: Sequence[str]) -> dict[str, str]:
    """The macros that options define, with their values as text; empty where they give none."""
    return dict(re.findall(r"(?:^| )-D ?(\w+)=?(\S*)", " ".join(options)))


def _function(path: Path, name: str | None, options: Sequence[str]) -> CFunction:
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


# The function run as it is, by the processor: what the kernels have to compute.


class NativeFunction:
    """A C function in a library of its own. Raises InvalidInputError if it can't be compiled or linked."""

    def __init__(self, path: Path, function: CFunction, nest: Nest, options: Sequence[str] = ()) -> None:
        self._arrays = [each for each in nest.arrays.values() if is_given(each)]
        self._wholes = list(nest.parameters)
        self._reals = [name for name in nest.types if name not in nest.parameters]
        spelled = [*(each.spelled for each in self._arrays), *nest.spelled.values()]
        too_far = next((each for each in spelled if each.count("->") > 1), None)
        if too_far is not None:
            what = f"what leads to {too_far} is not known"
            raise InvalidInputError(f"{path}: {function.name} can't be run here: {what}")
        text = "\n".join(self._entry(path.resolve(), function, nest))
        clang = find_clang()
        words = [*words_of(clang, [*options, "-I", str(path.resolve().parent)]), *_OPTIONS]
        with tempfile.TemporaryDirectory() as folder:
            try:
                library = clang.shared_library(words, text, Path(folder))
            except InvalidInputError as error:
                raise InvalidInputError(f"{path} can't be compiled for this machine: {error}") from None
            try:
                # What it calls of math.h is in here.
                ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)
                self._call = ctypes.CDLL(str(library))[_ENTRY]
            except OSError as error:
                raise InvalidInputError(f"{path}: {function.name} can't be run here: {error}") from None

    def __call__(self, numbers: Mapping[str, float], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Run it on numbers and contiguous arrays, which it changes, by the nest's names.

        An array must have all elements that the function accesses.
        """
        pointers = [arrays[each.name].ctypes.data for each in self._arrays]
        wholes = [int(numbers[name]) for name in self._wholes]
        reals = [float(numbers[name]) for name in self._reals]
        self._call(
            (ctypes.c_void_p * len(pointers))(*pointers),
            (ctypes.c_longlong * len(wholes))(*wholes),
            (ctypes.c_double * len(reals))(*reals),
            (ctypes.c_size_t * len(pointers))(*(arrays[each.name].nbytes for each in self._arrays)),
        )

    def _entry(self, path: Path, function: CFunction, nest: Nest) -> Iterator[str]:
        """C that includes the file, sets what the function is given, and calls it.

        Names that may hide others of the file come after what needs these.
        """
        yield f"#include {json.dumps(str(path), ensure_ascii=False)}"
        yield f"static __typeof__({function.name}) *const {_ENTRY}_call = {function.name};"
        yield f"static __SIZE_TYPE__ {_ENTRY}_least(__SIZE_TYPE__ a, __SIZE_TYPE__ b) {{ return a < b ? a : b; }}"
        given_ones = f"void **{_ENTRY}_arrays, const long long *{_ENTRY}_wholes, const double *{_ENTRY}_reals"
        yield f"void {_ENTRY}({given_ones}, const __SIZE_TYPE__ *{_ENTRY}_bytes)"
        yield "{"
        spelled = [*(each.spelled for each in self._arrays), *nest.spelled.values()]
        given = {each.name for each in function.parameters}
        for variable in (*function.parameters, *(each for each in function.globals if each.name not in given)):
            is_record = any(each.startswith(f"{variable.name}->") for each in spelled)
            if variable.name in given:
                type_ = "void *" if variable.is_memory and not is_record else _plain(variable)
                yield f"    {type_}{variable.name};"
            if is_record:
                # It leads to one that is full of zeros.
                name = f"{_ENTRY}_{variable.name}"
                yield f"    {_plain(variable).replace('*', '')}{name};"
                yield f"    __builtin_memset(&{name}, 0, sizeof {name});"
                yield f"    {variable.name} = &{name};"
        for number, name in enumerate(self._wholes):
            yield f"    {nest.spelled[name]} = {_ENTRY}_wholes[{number}];"
        for number, name in enumerate(self._reals):
            yield f"    {nest.spelled[name]} = {_ENTRY}_reals[{number}];"
        after = []
        for number, each in enumerate(self._arrays):
            there, own, size = f"{_ENTRY}_arrays[{number}]", each.spelled, f"sizeof {each.spelled}"
            if own in given and not each.is_scalar:
                yield f"    {own} = {there};"
                continue
            if not each.is_scalar:
                # Of a pointer what it leads to is given, of an array its elements, and no more than are copied.
                is_pointer = f"__builtin_types_compatible_p(__typeof__({own}), __typeof__(&({own})[0]))"
                yield f"    if ({is_pointer}) __builtin_memcpy((void *)&{own}, &{there}, {size}); else"
                after.append(f"    if (!{is_pointer})")
                size = f"{_ENTRY}_least({size}, {_ENTRY}_bytes[{number}])"
            yield f"    __builtin_memcpy((void *)&{own}, {there}, {size});"
            after.append(f"    __builtin_memcpy({there}, &{own}, {size});")
        yield f"    {_ENTRY}_call({', '.join(each.name for each in function.parameters)});"
        yield from after
        yield "}"


def is_given(array: Array) -> bool:
    """Return True for an array that a function is given or finds, and does not make itself."""
    return array.kind in ("parameter", "global")


def _plain(variable: Variable) -> str:
    """A variable's type without what keeps it from being set."""
    return re.sub(r"\b(?:const|volatile|restrict|__restrict)\b", "", variable.type) + " "
