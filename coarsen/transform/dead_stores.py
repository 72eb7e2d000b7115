"""Stores to memory that the caller gives up go, where nothing in the kernel reads them afterwards.

    before (t is given up)                          after
    void f(global float *t, global float *c, …)     void f(global float *c, …)
        t[i] = scaled;
        c[i] = scaled + b[i];                           c[i] = scaled + b[i];

That nobody asks for the contents of an argument's buffer after the launch is the caller's word: it can't be seen
in a kernel. So is that the buffer is accessed through no other argument. A store goes if no way leads from it to
an instruction that may read the argument's memory: then another work-item can't read it either, since what orders
the two, a barrier, is on such a way. Where anything else orders memory (atomics, fences), a store goes only if
nothing reads the argument at all. An argument that is used no more goes, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coarsen.analysis.control_flow import flow_graph, reached
from coarsen.analysis.distinct_arguments import only_synchronises
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.errors import SourcePosition
from coarsen.ir.graph.details import Opcode, is_shown
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Named
from coarsen.ir.metadata import node_items
from coarsen.ir.types import VoidType
from coarsen.transform.regions.plan import Reason

T = TypeVar("T")
_RECORDED = ("addr_space", "access_qual", "type", "base_type", "type_qual", "name")


@dataclass(frozen=True, slots=True)
class GivenUp:
    """What became of an argument whose contents nobody asks for after a launch.

    Attributes:
        name: of the argument.
        stores: how many of them have gone.
        left: why others stay, with a code of the page of codes; None where none does.
        position: of what makes them stay.
    """

    name: str
    stores: int
    left: Reason | None = None
    position: SourcePosition | None = None


def drop_dead_stores(module: Module, kernel: str, names: Collection[str]) -> tuple[GivenUp, ...]:
    """Drop the stores to arguments that are given up, in place; LLVM has to bring the module into normal form.

    Args:
        module: owned by the caller.
        kernel: the kernel's name.
        names: of its arguments that are given up; pointers to global memory.
    """
    function, effects = module.function(kernel), EffectsOfKernel.of_module(module)
    return tuple(_dropped(function, effects, each) for each in function.arguments if each.name in names)


def _dropped(function: Function, effects: EffectsOfKernel, argument: Argument) -> GivenUp:
    flow, roots = flow_graph(function), PointerRoots()
    readers: list[Instruction] = []
    stores: list[Instruction] = []
    is_ordered = False
    for each in function.instructions():
        touched = effects.of(each)
        if only_synchronises(each, effects):
            is_ordered |= each.opcode is Opcode.FENCE or "barrier" not in each.callee
            continue
        is_ordered |= touched.orders
        read, written = roots.of_all(touched.reads), roots.of_all(touched.writes)
        if touched.reads_anything or touched.writes_anything or read is None or argument in read:
            readers.append(each)
        elif written == frozenset[Named]({argument}):
            if _may_go(each, effects):
                stores.append(each)
            else:
                readers.append(each)  # it shows by itself
    following = {block.name: reached([block.name], flow.successors) for block in function.blocks}
    by_reader = {
        store: next((r for r in readers if is_ordered or _comes_after(r, store, following)), None)
        for store in stores
    }
    dead = [store for store, reader in by_reader.items() if reader is None]
    for store in dead:
        store.erase()
    reader = next((reader for reader in by_reader.values() if reader is not None), None)
    if reader is None and readers and not stores:
        reader = readers[0]
    if reader is None:
        return GivenUp(argument.name, len(dead))
    reason = Reason("given-up-is-read", f"the kernel may read what it stores through {argument.name}")
    return GivenUp(argument.name, len(dead), reason, reader.position)


def _may_go(store: Instruction, effects: EffectsOfKernel) -> bool:
    """Return True for a plain store, and for a call that does nothing but store."""
    touched = effects.of(store)
    if touched.orders or touched.is_counted or is_shown(store.detail):
        return False
    return store.opcode is Opcode.STORE or (store.opcode is Opcode.CALL and isinstance(store.type, VoidType))


def _comes_after(reader: Instruction, store: Instruction, following: dict[str, set[str]]) -> bool:
    assert reader.block is not None
    assert store.block is not None
    if reader.block.name in following[store.block.name]:
        return True
    order = store.block.instructions
    return reader.block is store.block and order.index(reader) > order.index(store)


def drop_arguments(module: Module, kernel: str, names: Collection[str]) -> tuple[str, ...]:
    """Drop those of some arguments that nothing uses, with their metadata, in place; return their names."""
    function = module.function(kernel)
    dropped = [index for index, each in enumerate(function.arguments) if each.name in names and not each.uses]
    found = tuple(function.arguments[index].name for index in dropped)
    for key in _RECORDED if dropped else ():
        node = function.attachment(f"kernel_arg_{key}")
        if node is not None:
            items = list(node_items(module.metadata, node))
            function.attach(f"kernel_arg_{key}", module.add_node(_without(items, dropped)))
    function.arguments = _without(function.arguments, dropped)
    return found


def _without(items: Sequence[T], dropped: Collection[int]) -> list[T]:
    return [item for index, item in enumerate(items) if index not in dropped]
