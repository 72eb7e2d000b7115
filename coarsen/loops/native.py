"""A C function run as it is, by the processor: what the kernels made of its loops have to compute."""

from __future__ import annotations

import ctypes
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.frontend.clang import find_clang
from coarsen.loops.clang_json import words_of
from coarsen.loops.nest import Array, Nest
from coarsen.loops.tree import CFunction, Variable

_ENTRY = "coarsen_entry"
# As written: no product is merged with a sum, OpenMP's pragmas do nothing, and a `main` in the file is none.
_OPTIONS = ("-fno-openmp", "-O1", "-ffp-contract=off", "-fPIC", "-fno-stack-protector", f"-Dmain={_ENTRY}_main")


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
