"""A C function run as it is, by the processor: what the kernels made of its loops have to compute."""

from __future__ import annotations

import ctypes
import json
import re
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
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
    """A C function in a library of its own.

    Args:
        path: its file.
        function: as `clang_tree.functions_of` reads it.
        nest: its loops.
        options: further words for clang: definitions of macros, folders of headers.

    Raises:
        InvalidInputError: it can't be compiled or linked.
    """

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
        with tempfile.TemporaryDirectory() as folder:
            library = _shared_library(text, [*options, "-I", str(path.resolve().parent)], Path(folder), path)
            try:
                # What it calls of math.h is in here.
                ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)
                self._call = ctypes.CDLL(str(library))[_ENTRY]
            except OSError as error:
                raise InvalidInputError(f"{path}: {function.name} can't be run here: {error}") from None

    def __call__(self, numbers: Mapping[str, float], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Run it on arrays, which it changes.

        Args:
            numbers: by the nest's names.
            arrays: contiguous, by the nest's names, each with all the elements that the function accesses.
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
        for variable in function.parameters:
            yield from _declared(variable, spelled)
        for variable in function.globals:
            if variable.name not in given and any(each.startswith(f"{variable.name}->") for each in spelled):
                yield from _record(variable)
        for number, name in enumerate(self._wholes):
            yield f"    {nest.spelled[name]} = {_ENTRY}_wholes[{number}];"
        for number, name in enumerate(self._reals):
            yield f"    {nest.spelled[name]} = {_ENTRY}_reals[{number}];"
        for number, each in enumerate(self._arrays):
            there = f"{_ENTRY}_arrays[{number}]"
            source = there if each.is_scalar or each.spelled not in given else f"&{there}"
            if not each.is_scalar and each.spelled not in given:
                # Of a pointer what it leads to is given, of an array its elements.
                source = f"{_is_pointer(each.spelled)} ? (void *)&{there} : {there}"
            size = self._size(number, each, given)
            yield f"    __builtin_memcpy((void *)&{each.spelled}, {source}, {size});"
        yield f"    {_ENTRY}_call({', '.join(each.name for each in function.parameters)});"
        for number, each in enumerate(self._arrays):
            if each.is_scalar or each.spelled not in given:
                condition = "1" if each.is_scalar else f"!{_is_pointer(each.spelled)}"
                there = f"{_ENTRY}_arrays[{number}]"
                size = self._size(number, each, given)
                yield f"    if ({condition}) __builtin_memcpy({there}, &{each.spelled}, {size});"
        yield "}"

    def _size(self, number: int, array: Array, given: Container[str]) -> str:
        """Return how many bytes are copied: of the file's own arrays no more than what was given."""
        size = f"sizeof {array.spelled}"
        if array.is_scalar or array.spelled in given:
            return size
        return f"{_is_pointer(array.spelled)} ? {size} : {_ENTRY}_least({size}, {_ENTRY}_bytes[{number}])"


def is_given(array: Array) -> bool:
    """Return True for an array that a function is given or finds, and does not make itself."""
    return array.kind in ("parameter", "global")


def _declared(variable: Variable, spelled: Sequence[str]) -> Iterator[str]:
    """The variable of a parameter: a pointer to a record leads to one."""
    if any(each.startswith(f"{variable.name}->") for each in spelled):
        yield f"    {_plain(variable)}{variable.name};"
        yield from _record(variable)
    elif variable.is_memory:
        yield f"    void *{variable.name} = 0;"
    else:
        yield f"    {_plain(variable)}{variable.name};"


def _is_pointer(spelled: str) -> str:
    """A condition in C that tells a pointer from an array."""
    return f"__builtin_types_compatible_p(__typeof__({spelled}), __typeof__(&({spelled})[0]))"


def _record(variable: Variable) -> Iterator[str]:
    """A record full of zeros to which a pointer leads."""
    name = f"{_ENTRY}_{variable.name}"
    yield f"    {_plain(variable).replace('*', '')}{name};"
    yield f"    __builtin_memset(&{name}, 0, sizeof {name});"
    yield f"    {variable.name} = &{name};"


def _plain(variable: Variable) -> str:
    """A variable's type without what keeps it from being set."""
    return re.sub(r"\b(?:const|volatile|restrict|__restrict)\b", "", variable.type) + " "


def _shared_library(text: str, options: Sequence[str], folder: Path, path: Path) -> Path:
    """Compile and link a text. Raises InvalidInputError."""
    clang = find_clang()
    try:
        return clang.shared_library([*words_of(clang, options), *_OPTIONS], text, folder)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path} can't be compiled for this machine: {error}") from None
