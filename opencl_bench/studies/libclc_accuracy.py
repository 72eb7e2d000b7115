"""The error of libclc's elementary functions: its bitcode run on this computer, against NumPy in a wider type.

libclc's code for NVPTX is plain LLVM IR, so it runs on any processor. `fmuladd` may be fused or not, here as on a
GPU; errors are those of this processor's choice.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from coarsen.opencl_bench.studies.libclc_linking import linked

_COUNT = 20_000
_TYPES: Mapping[str, type[np.floating[Any]]] = {"float": np.float32, "double": np.float64}
_ARGUMENTS = {"exp": (-80.0, 80.0), "exp2": (-120.0, 120.0), "exp10": (-37.0, 37.0), "tgamma": (0.1, 30.0)}
_LOGARITHMS = ("log", "log2", "log10", "pow")
_OF_TWO = frozenset({"pow", "atan2"})
# Python's own functions of these are exact to a few units of a double: a reference for floats alone.
_IN_DOUBLE = {"erf": math.erf, "tgamma": math.gamma}


@dataclass(frozen=True, slots=True)
class Function:
    """An elementary function of OpenCL on `float` or `double`."""

    name: str
    type_: str

    @property
    def count(self) -> int:
        """Return how many arguments it takes."""
        return 2 if self.name in _OF_TWO else 1

    @property
    def mangled(self) -> str:
        """Return its name in libclc."""
        return f"_Z{len(self.name)}{self.name}{self.type_[0] * self.count}"

    @property
    def declaration(self) -> str:
        """Return its declaration in LLVM IR."""
        return f"declare {self.type_} @{self.mangled}({', '.join([self.type_] * self.count)})\n"

    @property
    def call(self) -> str:
        """Return a call of it with %x0, %x1 as arguments and %y as result."""
        arguments = ", ".join(f"{self.type_} %x{k}" for k in range(self.count))
        return f"  %y = call {self.type_} @{self.mangled}({arguments})\n"


def worst_errors(library: bytes, functions: Sequence[Function]) -> dict[Function, float]:
    """Return the largest error of each function over random arguments, in units in the last place.

    A function whose reference is no better than itself (erf and tgamma on doubles) gets NaN.
    """
    text = "".join(_loop(function) for function in functions)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    kept = {_loop_name(function) for function in functions}
    with linked(text, library, kept, llvm.get_default_triple(), str(machine.target_data)) as module:
        own = llvm.parse_assembly(str(module))
    with llvm.create_mcjit_compiler(own, machine) as engine:
        engine.finalize_object()
        return {
            function: _worst_error(function, engine.get_function_address(_loop_name(function)))
            for function in functions
        }


def _worst_error(function: Function, address: int) -> float:
    if function.name in _IN_DOUBLE and function.type_ == "double":
        return math.nan
    arguments = [_values(function, number) for number in range(function.count)]
    found = np.zeros_like(arguments[0])
    pointers = [ctypes.c_void_p] * (function.count + 1)
    run = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_long)(address)
    run(*(array.ctypes.data for array in (*arguments, found)), len(found))
    exact = _exact(function.name)(*(argument.astype(np.longdouble) for argument in arguments))
    narrow = exact.astype(found.dtype)
    usable = np.isfinite(narrow) & (np.abs(narrow) > np.finfo(found.dtype).tiny)
    errors = np.abs(found.astype(np.longdouble) - exact) / np.spacing(np.abs(narrow))
    return float(np.max(errors[usable]))


def _values(function: Function, number: int) -> NDArray[np.floating[Any]]:
    rng = np.random.default_rng(number)
    if function.name in _LOGARITHMS and number == 0:
        return np.exp(rng.uniform(-20, 20, _COUNT)).astype(_TYPES[function.type_])
    low, high = (-3.0, 3.0) if function.name == "pow" else _ARGUMENTS.get(function.name, (-100.0, 100.0))
    return rng.uniform(low, high, _COUNT).astype(_TYPES[function.type_])


def _exact(name: str) -> Callable[..., NDArray[Any]]:
    own: dict[str, Callable[..., NDArray[Any]]] = {
        "exp10": lambda x: np.power(np.longdouble(10), x),
        "pow": np.power,
        "atan2": np.arctan2,
    }
    if name in _IN_DOUBLE:
        return np.vectorize(_IN_DOUBLE[name], otypes=[np.longdouble])
    found: Callable[..., NDArray[Any]] = own.get(name) or getattr(np, name)
    return found


def _loop_name(function: Function) -> str:
    return f"all_{function.mangled}"


def _loop(function: Function) -> str:
    """Return a function that calls another one for each element of arrays."""
    type_ = function.type_
    pointers = ", ".join(f"ptr %p{k}" for k in range(function.count))
    loads = "".join(
        f"  %a{k} = getelementptr {type_}, ptr %p{k}, i64 %i\n  %x{k} = load {type_}, ptr %a{k}\n"
        for k in range(function.count)
    )
    return (
        f"{function.declaration}"
        f"define void @{_loop_name(function)}({pointers}, ptr %out, i64 %n) {{\nentry:\n  br label %loop\nloop:\n"
        f"  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n{loads}{function.call}"
        f"  %to = getelementptr {type_}, ptr %out, i64 %i\n  store {type_} %y, ptr %to\n"
        "  %next = add i64 %i, 1\n  %again = icmp ult i64 %next, %n\n  br i1 %again, label %loop, label %done\n"
        "done:\n  ret void\n}\n"
    )
