"""Arguments that a transform adds after a kernel's own, in its signature and in what clang recorded of it.

    before: define spir_kernel void @f(ptr addrspace(3) %tile) !kernel_arg_type !7      !7 = !{!"float*"}
    after:  define spir_kernel void @f(ptr addrspace(3) %tile, i64 noundef %global_size_x) !kernel_arg_type !9
                                                                        !9 = !{!"float*", !"ulong"}

A node may be shared (`type` and `base_type` of plain types are one), so the extended ones are new; a kernel that
has no such metadata, as in LLVM IR written by hand, gets none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from coarsen.analysis.divergence import Divergence
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument as GraphArgument
from coarsen.ir.graph.operands import Named, Variable
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.metadata import node_items
from coarsen.ir.types import IntegerType
from coarsen.transform.names import NameSupply

SIZE_TYPE = IntegerType(64)
_AXES = "xyz"
_RECORDED: Mapping[str, Callable[[Argument], str]] = {
    "addr_space": lambda argument: f"i32 {argument.address_space}",
    "access_qual": lambda argument: f'!"{argument.access}"',
    "type": lambda argument: f'!"{argument.type_name}"',
    "base_type": lambda argument: f'!"{argument.base_type_name}"',
    "type_qual": lambda argument: f'!"{" ".join(argument.qualifiers)}"',
    "name": lambda argument: f'!"{argument.name}"',
}


def global_size_argument(dimension: int, names: NameSupply) -> Argument:
    """Return a `ulong` that takes the original global size along a dimension; `names` are the kernel's."""
    return _size_argument(f"global_size_{_AXES[dimension]}", names)


def extent_argument(array: str, dimension: int | None, names: NameSupply) -> Argument:
    """Return a `ulong` that takes the number of elements of an array, or of those along a dimension.

    Args:
        array: the name of the argument that the array is passed for.
        dimension: of the array, the slowest is 0; None for all of its elements.
        names: the kernel's.
    """
    return _size_argument(f"{array}_count" if dimension is None else f"{array}_extent_{dimension}", names)


def _size_argument(wanted: str, names: NameSupply) -> Argument:
    name = _fresh(wanted, names)
    return Argument(name, SIZE_TYPE, "noundef", type_name="ulong", base_type_name="ulong")


def copy_of_argument(argument: Argument, replica: int, names: NameSupply) -> Argument:
    """Return a further argument of the same type as one of the kernel's: `tile` becomes `tile_1` for replica 1."""
    return replace(argument, name=_fresh(f"{argument.name}_{replica}", names))


def add_arguments(module: Module, function: Function, added: Sequence[Argument]) -> list[GraphArgument]:
    """Add arguments to a function and to what clang recorded of its arguments, and return them.

    Args:
        module: in which the function is.
        function: owned by the caller; a kernel.
        added: their names are free in the function.
    """
    new = [GraphArgument(argument.type, argument.name, argument.attributes) for argument in added]
    for argument in new:
        argument.has_unique_name = True
    function.add_arguments(new)
    for key, spelling in _RECORDED.items() if added else ():
        node = function.attachment(f"kernel_arg_{key}")
        if node is not None:
            extended = module.add_node([*node_items(module.metadata, node), *map(spelling, added)])
            function.attach(f"kernel_arg_{key}", extended)
    return new


def _fresh(wanted: str, names: NameSupply) -> str:
    """A free name that is an identifier in C too, where a supply's numbers stand after dots."""
    while (name := names.spelling(wanted)) != wanted:
        wanted += "_"
    return name


# The local memory of merged work-groups: each replica's own variables and arguments.
#
#     before (static)    @f.tile = internal addrspace(3) global [64 x float] undef
#     after (factor 2)   @f.tile   = internal addrspace(3) global [64 x float] undef
#                        @f.tile.1 = internal addrspace(3) global [64 x float] undef
#
#     before (dynamic)   void f(local float *tile)
#     after (factor 2)   void f(local float *tile, local float *tile_1)
#
# Replica 0 keeps what is there. Local memory that all groups fill alike (`analysis/divergence.py`) is shared.


def add_local_copies(
    kernel: Kernel, module: Module, own: Sequence[str], factor: int, supply: NameSupply
) -> list[dict[Named, Named]]:
    """Add copies of local memory to a module, those of one argument or variable side by side.

    Args:
        kernel: before the merging.
        module: has the kernel; owned by the caller.
        own: its local memory that differs between groups (`Divergence.own_local_memory`).
        factor: the number of groups that become one.
        supply: names that are free in the kernel.

    Returns:
        What stands for the kernel's arguments and variables in each replica; nothing for replica 0.
    """
    arguments = _own_arguments(kernel, own)
    added = [copy_of_argument(argument, k, supply) for argument in arguments for k in range(1, factor)]
    new = iter(add_arguments(module, module.function(kernel.name), added))
    copies: list[dict[Named, Named]] = [{} for _ in range(factor)]
    for argument in arguments:
        original = kernel.function.arguments[kernel.arguments.index(argument)]
        for of_replica in copies[1:]:
            of_replica[original] = next(new)
    for name in (name[1:] for name in own if name.startswith("@")):
        for of_replica in copies[1:]:
            of_replica[kernel.graph.variables[name]] = _add_copy(module, module.variables[name])
    return copies


def local_memory_arguments(kernel: Kernel, divergence: Divergence, factor: int) -> Iterator[AddedArgument]:
    """Yield what the launcher passes for the arguments that `add_local_copies` adds, in their order."""
    first_added = len(kernel.arguments) - len(kernel.added_arguments)
    for argument in _own_arguments(kernel, divergence.own_local_memory):
        index = kernel.arguments.index(argument)
        like = index if index < first_added else kernel.added_arguments[index - first_added].like
        yield from [AddedArgument("local-memory", like=like)] * (factor - 1)


def _own_arguments(kernel: Kernel, own: Sequence[str]) -> list[Argument]:
    return [argument for argument in kernel.arguments if argument.name in own]


def _add_copy(module: Module, original: Variable) -> Variable:
    """A copy under a name that nothing at program scope has, `@f.tile.1` for one."""
    number = 1
    while (name := f"{original.name}.{number}") in module.variables or name in module.callees:
        number += 1
    return module.add_variable(Variable(name, original.address_space, original.definition))
