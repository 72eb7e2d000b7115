"""The local memory of merged work-groups: each replica's own variables and arguments.

    before (static)    @f.tile = internal addrspace(3) global [64 x float] undef
    after (factor 2)   @f.tile   = internal addrspace(3) global [64 x float] undef
                       @f.tile.1 = internal addrspace(3) global [64 x float] undef

    before (dynamic)   void f(local float *tile)
    after (factor 2)   void f(local float *tile, local float *tile_1)

Replica 0 keeps what is there. Local memory that all groups fill alike (`analysis/divergence.py`) is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Named, Variable
from coarsen.ir.kernel import Argument, Kernel
from coarsen.transform.added_arguments import add_arguments, copy_of_argument
from coarsen.transform.names import NameSupply


@dataclass(frozen=True)
class LocalCopies:
    """The copies of a kernel's local memory for the replicas 1, 2, …

    Attributes:
        copies: the arguments and variables that stand for an argument (`tile`) or a variable (with its `@`).
    """

    copies: Mapping[str, tuple[Named, ...]] = field(default_factory=dict)

    def of_replica(self, replica: int, original: Callable[[str], Named]) -> Mapping[Named, Named]:
        """Return what stands for the memory of which each replica has its own; nothing for replica 0.

        Args:
            replica: which one it is.
            original: gives an argument or variable by its name, a variable's with its `@`.
        """
        if replica == 0:
            return {}
        return {original(name): copies[replica - 1] for name, copies in self.copies.items()}


def add_local_copies(
    kernel: Kernel, module: Module, own: Sequence[str], factor: int, supply: NameSupply
) -> LocalCopies:
    """Add copies of local memory to a module, those of one argument or variable side by side.

    Args:
        kernel: before the merging.
        module: has the kernel; owned by the caller.
        own: its local memory that differs between groups (`Divergence.own_local_memory`).
        factor: the number of groups that become one.
        supply: names that are free in the kernel.
    """
    arguments = _own_arguments(kernel, own)
    added = [copy_of_argument(argument, k, supply) for argument in arguments for k in range(1, factor)]
    new = iter(add_arguments(module, module.function(kernel.name), added))
    copies: dict[str, tuple[Named, ...]] = {
        argument.name: tuple(next(new) for _ in range(1, factor)) for argument in arguments
    }
    for name in (name for name in own if name.startswith("@")):
        original = module.variables[name[1:]]
        copies[name] = tuple(_add_copy(module, original) for _ in range(1, factor))
    return LocalCopies(copies)


def local_memory_arguments(kernel: Kernel, own: Sequence[str], factor: int) -> Iterator[AddedArgument]:
    """Yield what the launcher passes for the arguments that `add_local_copies` adds, in their order."""
    first_added = len(kernel.arguments) - len(kernel.added_arguments)
    for argument in _own_arguments(kernel, own):
        index = kernel.arguments.index(argument)
        like = index if index < first_added else kernel.added_arguments[index - first_added].like
        for _ in range(1, factor):
            yield AddedArgument("local-memory", like=like)


def _own_arguments(kernel: Kernel, own: Sequence[str]) -> list[Argument]:
    return [argument for argument in kernel.arguments if argument.name in own]


def _add_copy(module: Module, original: Variable) -> Variable:
    """A copy under a name that nothing at program scope has, `@f.tile.1` for one."""
    number = 1
    while (name := f"{original.name}.{number}") in module.variables or name in module.callees:
        number += 1
    return module.add_variable(Variable(name, original.address_space, original.definition))
