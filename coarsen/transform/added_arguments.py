"""Arguments that a transform adds after a kernel's own, in its signature and in what clang recorded of it.

    before: define spir_kernel void @f(ptr addrspace(3) %tile) !kernel_arg_type !7      !7 = !{!"float*"}
    after:  define spir_kernel void @f(ptr addrspace(3) %tile, i64 noundef %global_size_x) !kernel_arg_type !9
                                                                        !9 = !{!"float*", !"ulong"}

A node may be shared (`type` and `base_type` of plain types are one), so the extended ones are new; a kernel that
has no such metadata, as in LLVM IR written by hand, gets none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument as GraphArgument
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import IntegerType
from coarsen.transform.names import NameSupply

SIZE_TYPE = IntegerType(64)
_AXES = "xyz"
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
_RECORDED: Mapping[str, Callable[[Argument], str]] = {
    "addr_space": lambda argument: f"i32 {argument.address_space}",
    "access_qual": lambda argument: f'!"{argument.access}"',
    "type": lambda argument: f'!"{argument.type_name}"',
    "base_type": lambda argument: f'!"{argument.base_type_name}"',
    "type_qual": lambda argument: f'!"{" ".join(argument.qualifiers)}"',
    "name": lambda argument: f'!"{argument.name}"',
}


def global_size_argument(dimension: int, names: NameSupply) -> Argument:
    """A `ulong` that takes the uncoarsened launch's global size along a dimension; `names` are the kernel's."""
    name = _fresh(f"global_size_{_AXES[dimension]}", names)
    return Argument(name, SIZE_TYPE, f"{SIZE_TYPE} noundef %{name}", type_name="ulong", base_type_name="ulong")


def copy_of_argument(argument: Argument, replica: int, names: NameSupply) -> Argument:
    """A further argument of the same type as one of the kernel's: `tile` becomes `tile_1` for replica 1."""
    name = _fresh(f"{argument.name}_{replica}", names)
    spelling = argument.attributes.removesuffix(f"%{argument.name}")
    return replace(argument, name=name, attributes=f"{spelling}%{name}")


def with_arguments(kernel: Kernel, added: Sequence[Argument]) -> Kernel:
    """The kernel with further arguments after its own.

    Its `arguments`, `signature` and `after` have them; `added_arguments`, which says what the launcher passes, is
    left to the transform.

    Args:
        kernel: the kernel, in normal form.
        added: arguments whose names are free in it; `attributes` is the whole spelling in the `define` line.
    """
    if not added:
        return kernel
    signature, nodes = _with_parameters(kernel.signature, added), ""
    number = next_node(kernel)
    for key, spelling in _RECORDED.items():
        attached = re.search(rf"!kernel_arg_{key} !(\d+)\b", signature)
        if attached is None:
            continue
        nodes += f"!{number} = !{{{', '.join([*_operands(kernel.after, attached[1]), *map(spelling, added)])}}}\n"
        signature = signature.replace(attached.group(), f"!kernel_arg_{key} !{number}", 1)
        number += 1
    arguments = (*kernel.arguments, *added)
    return replace(kernel, arguments=arguments, signature=signature, after=kernel.after + nodes)


def add_argument(module: Module, function: Function, added: Argument) -> GraphArgument:
    """Add an argument to a function and to what clang recorded of its arguments, and return it.

    Args:
        module: in which the function is.
        function: owned by the caller; a kernel.
        added: its name is free in the function; `attributes` is the whole spelling in the `define` line.
    """
    attributes = added.attributes.removeprefix(str(added.type)).removesuffix(f"%{added.name}").strip()
    argument = GraphArgument(added.type, added.name, attributes)
    argument.has_unique_name = True
    function.arguments.append(argument)
    attached = dict(function.attachments)
    for key, spelling in _RECORDED.items():
        node = attached.get(f"kernel_arg_{key}")
        if node is not None:
            recorded = module.metadata[node.removeprefix("!")].removeprefix("!{").removesuffix("}")
            separator = ", " if recorded else ""
            attached[f"kernel_arg_{key}"] = module.add_node(f"!{{{recorded}{separator}{spelling(added)}}}")
    function.attachments = tuple(attached.items())
    return argument


def next_node(kernel: Kernel) -> int:
    """The first number that no metadata node of the kernel's module has."""
    return 1 + max((int(found) for found in _NODE.findall(kernel.after)), default=-1)


def _fresh(wanted: str, names: NameSupply) -> str:
    """A free name that is an identifier in C too, where a supply's numbers stand after dots."""
    while (name := names.fresh(wanted)) != wanted:
        wanted += "_"
    return name


def _with_parameters(signature: str, added: Sequence[Argument]) -> str:
    """The `define` line with parameters before the parenthesis that ends them; their types have some as well."""
    start = signature.index("(", signature.index("@"))
    depth = 0
    for end in range(start, len(signature)):
        depth += {"(": 1, ")": -1}.get(signature[end], 0)
        if depth == 0:
            break
    separator = ", " if signature[start + 1 : end].strip() else ""
    spelled = ", ".join(argument.attributes for argument in added)
    return f"{signature[:end]}{separator}{spelled}{signature[end:]}"


def _operands(after: str, node: str) -> list[str]:
    """The operands of a metadata node of strings or integers, as they are spelled."""
    body = re.search(rf"^!{node} = !\{{(.*)\}}$", after, re.MULTILINE)
    return re.findall(r'!"(?:[^"\\]|\\.)*"|i32 \d+', body[1]) if body else []
