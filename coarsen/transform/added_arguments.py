"""Arguments that a transform adds after a kernel's own, in its signature and in what clang recorded of it.

    before: define spir_kernel void @f(ptr addrspace(3) %tile) !kernel_arg_type !7      !7 = !{!"float*"}
    after:  define spir_kernel void @f(ptr addrspace(3) %tile, i64 noundef %global_size_x) !kernel_arg_type !9
                                                                        !9 = !{!"float*", !"ulong"}

A node may be shared (`type` and `base_type` of plain types are one), so the extended ones are new; a kernel that
has no such metadata, as in LLVM IR written by hand, gets none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument as GraphArgument
from coarsen.ir.kernel import Argument
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
    name = _fresh(f"global_size_{_AXES[dimension]}", names)
    return Argument(name, SIZE_TYPE, f"{SIZE_TYPE} noundef %{name}", type_name="ulong", base_type_name="ulong")


def extent_argument(array: str, dimension: int | None, names: NameSupply) -> Argument:
    """Return a `ulong` that takes the number of elements of an array, or of those along a dimension.

    Args:
        array: the name of the argument that the array is passed for.
        dimension: of the array, the slowest is 0; None for all of its elements.
        names: the kernel's.
    """
    name = _fresh(f"{array}_count" if dimension is None else f"{array}_extent_{dimension}", names)
    return Argument(name, SIZE_TYPE, f"{SIZE_TYPE} noundef %{name}", type_name="ulong", base_type_name="ulong")


def copy_of_argument(argument: Argument, replica: int, names: NameSupply) -> Argument:
    """Return a further argument of the same type as one of the kernel's: `tile` becomes `tile_1` for replica 1."""
    name = _fresh(f"{argument.name}_{replica}", names)
    spelling = argument.attributes.removesuffix(f"%{argument.name}")
    return replace(argument, name=name, attributes=f"{spelling}%{name}")


def add_arguments(module: Module, function: Function, added: Sequence[Argument]) -> list[GraphArgument]:
    """Add arguments to a function and to what clang recorded of its arguments, and return them.

    Args:
        module: in which the function is.
        function: owned by the caller; a kernel.
        added: their names are free in the function; `attributes` is the whole spelling in the `define` line.
    """
    new = [GraphArgument(argument.type, argument.name, _attributes(argument)) for argument in added]
    for argument in new:
        argument.has_unique_name = True
    function.add_arguments(new)
    for key, spelling in _RECORDED.items() if added else ():
        node = function.attachment(f"kernel_arg_{key}")
        if node is not None:
            extended = module.add_node([*module.node_operands(node), *map(spelling, added)])
            function.attach(f"kernel_arg_{key}", extended)
    return new


def _attributes(argument: Argument) -> str:
    """Return what stands between an argument's type and its name."""
    return argument.attributes.removeprefix(str(argument.type)).removesuffix(f"%{argument.name}").strip()


def _fresh(wanted: str, names: NameSupply) -> str:
    """A free name that is an identifier in C too, where a supply's numbers stand after dots."""
    while (name := names.spelling(wanted)) != wanted:
        wanted += "_"
    return name
