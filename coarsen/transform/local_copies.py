"""The local memory of merged work-groups: each replica's own variables and arguments.

    before (static)    @f.tile = internal addrspace(3) global [64 x float] undef
    after (factor 2)   @f.tile   = internal addrspace(3) global [64 x float] undef
                       @f.tile.1 = internal addrspace(3) global [64 x float] undef

    before (dynamic)   void f(local float *tile)
    after (factor 2)   void f(local float *tile, local float *tile_1)

Replica 0 keeps what is there. Local memory that all groups fill alike (`analysis/divergence.py`) is shared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.errors import InternalError
from coarsen.ir.kernel import AddedArgument, Argument, Kernel
from coarsen.transform.added_arguments import copy_of_argument
from coarsen.transform.names import NameSupply


@dataclass(frozen=True)
class LocalCopies:
    """The copies of a kernel's local memory for the replicas 1, 2, …

    Attributes:
        arguments: the added arguments, those of one original side by side.
        lines: the definitions of the added variables.
        copies: what the replicas 1, 2, … call an argument (`tile`: `%tile_1`, …) or a variable (with its `@`).
    """

    arguments: tuple[Argument, ...] = ()
    lines: tuple[str, ...] = ()
    copies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def names(self, replica: int) -> Mapping[str, str]:
        """What a replica calls the memory of which each replica has its own; nothing for replica 0."""
        if replica == 0:
            return {}
        return {name: copies[replica - 1] for name, copies in self.copies.items()}


def local_copies(kernel: Kernel, own: Sequence[str], factor: int, supply: NameSupply) -> LocalCopies:
    """Name the copies of local memory.

    Args:
        kernel: the kernel before the merging.
        own: its local memory that differs between groups (`Divergence.own_local_memory`).
        factor: the number of groups that become one.
        supply: names that are free in the kernel.
    """
    copies: dict[str, tuple[str, ...]] = {}
    arguments: list[Argument] = []
    lines: list[str] = []
    for argument in _own_arguments(kernel, own):
        added = [copy_of_argument(argument, k, supply) for k in range(1, factor)]
        arguments += added
        copies[argument.name] = tuple(f"%{copy.name}" for copy in added)
    for variable in (name for name in own if name.startswith("@")):
        names = _free_names(kernel, variable, factor - 1)
        definition = _definition(kernel, variable)
        lines += [f"{name}{definition.removeprefix(variable)}" for name in names]
        copies[variable] = names
    return LocalCopies(tuple(arguments), tuple(lines), copies)


def local_memory_arguments(kernel: Kernel, own: Sequence[str], factor: int) -> Iterator[AddedArgument]:
    """What the launcher passes for the arguments that `local_copies` adds, in their order."""
    first_added = len(kernel.arguments) - len(kernel.added_arguments)
    for argument in _own_arguments(kernel, own):
        index = kernel.arguments.index(argument)
        like = index if index < first_added else kernel.added_arguments[index - first_added].like
        for _ in range(1, factor):
            yield AddedArgument("local-memory", like=like)


def _own_arguments(kernel: Kernel, own: Sequence[str]) -> list[Argument]:
    return [argument for argument in kernel.arguments if argument.name in own]


def _free_names(kernel: Kernel, variable: str, count: int) -> tuple[str, ...]:
    """Names of copies that nothing at program scope has, `@f.tile.1` for one."""
    text = kernel.before + kernel.after
    taken = set(re.findall(r"@[-a-zA-Z$._0-9]+", text))
    names: list[str] = []
    number = 1
    while len(names) < count:
        name = f"{variable}.{number}"
        if name not in taken:
            names.append(name)
        number += 1
    return tuple(names)


def _definition(kernel: Kernel, variable: str) -> str:
    """The line that defines a program-scope variable."""
    for line in (*kernel.before.splitlines(), *kernel.after.splitlines()):
        if line.startswith(f"{variable} = "):
            return line
    raise InternalError(f"the program-scope variable '{variable[1:]}' is not in the printed module")
