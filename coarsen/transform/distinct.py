"""A kernel compiled for arguments that point to distinct memory.

    kernel void sgemm(global float *a, …, global float *c)
      ─▶ kernel void sgemm(global const float *restrict a, …, global float *restrict c)
      ─▶ what loops accumulate in memory is kept in registers (`accumulators/`)

Each argument that points to a memory object says so: `noalias`, which the OpenCL C writer spells `restrict`, and
`readonly` or `const` where the kernel writes nothing through it: PTX reads by way of the non-coherent cache then.
A launch must keep to it: what is written through one argument is accessed through no other
(`analysis/distinct_arguments.py`). A kernel that has other pointers stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.distinct_arguments import (
    ArgumentPairs,
    DistinctArguments,
    distinct_arguments,
    loads_past_stores,
)
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction, users
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Named
from coarsen.ir.kernel import Kernel
from coarsen.transform.accumulators.accumulators import Accumulator

_QUALIFIERS = "kernel_arg_type_qual"
_FOLLOWED = frozenset({Opcode.GETELEMENTPTR, Opcode.LOAD, Opcode.CALL})


@dataclass(frozen=True, slots=True)
class DistinctMemory:
    """What a kernel takes for granted of its arguments' memory, and gains by it.

    Attributes:
        apart: pairs of arguments, by index, that must not lead to the same memory.
        accumulators: the locations that loops write at addresses that do not change.
        names: of the kernel's arguments.
        is_known: whether every access is known to go through the arguments; if not, nothing is taken for granted.
        shares_loads: whether a load through one argument may come after a store through another one.
    """

    apart: ArgumentPairs = ()
    accumulators: tuple[Accumulator, ...] = ()
    names: tuple[str, ...] = ()
    is_known: bool = True
    shares_loads: bool = False

    @property
    def gains(self) -> bool:
        """Return True if other code can come of it than a compiler makes of the kernel as it is."""
        return bool(self.apart) and (self.shares_loads or any(each.left is None for each in self.accumulators))

    @property
    def note(self) -> str:
        """Return in words why nothing is gained; empty where every access is known."""
        reason = "not every access is known to go through an argument"
        return "" if self.is_known else f"nothing is gained by distinct arguments: {reason}"

    def assumptions(self) -> Iterator[str]:
        """Say in words what is taken for granted."""
        return apart_in_words(self.apart, self.names)


def apart_in_words(pairs: ArgumentPairs, names: Sequence[str]) -> Iterator[str]:
    """Say of pairs of arguments, by index among those of these names, that they must not overlap."""
    others: dict[int, list[str]] = {}
    for first, second in pairs:
        others.setdefault(first, []).append(names[second])
    for first, apart in others.items():
        yield f"the memory passed for {names[first]} must not overlap that for {listed(apart)}"


def listed(names: list[str]) -> str:
    """Write names as a list: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def mark_distinct(module: Module, kernel: Kernel) -> DistinctMemory:
    """Mark the arguments of a kernel as distinct in place, and say which must be so.

    Args:
        module: owned by the caller, the graph of `kernel`.
        kernel: in normal form.
    """
    function, roots = module.function(kernel.name), PointerRoots()
    names = tuple(argument.name for argument in kernel.arguments)
    effects = EffectsOfKernel.of_module(module)
    found = distinct_arguments(function, effects, roots)
    if found is None:
        return DistinctMemory(names=names, is_known=False)
    shares_loads = loads_past_stores(function, effects, roots)
    words = [list(argument.qualifiers) for argument in kernel.arguments]
    for index in found.pointers:
        if "volatile" not in words[index]:
            _mark(function, index, found, words[index])
    _record(module, function, words)
    return DistinctMemory(found.apart, names=names, shares_loads=shares_loads)


def _mark(function: Function, index: int, found: DistinctArguments, words: list[str]) -> None:
    argument = function.arguments[index]
    is_read_only = index not in found.written
    marks = ["noalias", *(["readonly"] if is_read_only else [])]
    told = argument.attributes.split()
    argument.attributes = " ".join([*(mark for mark in marks if mark not in told), *told])
    qualifiers = ["restrict", *(["const"] if is_read_only and _is_only_read(argument) else [])]
    words += [word for word in qualifiers if word not in words]


def _is_only_read(argument: Argument) -> bool:
    """Return True if the argument and what is derived from it meets no other pointer, which may not be `const`."""
    pending: list[Named] = [argument]
    while pending:
        for user in users(pending.pop()):
            if user.opcode not in _FOLLOWED:
                return False
            if isinstance(user, Instruction) and user.opcode is Opcode.GETELEMENTPTR:
                pending.append(user)
    return True


def _record(module: Module, function: Function, words: list[list[str]]) -> None:
    """Let what clang recorded of the arguments say the same; a kernel of LLVM IR by hand may have no record."""
    if function.attachment(_QUALIFIERS) is not None:
        function.attach(_QUALIFIERS, module.add_node(f'!"{" ".join(each)}"' for each in words))
