"""Two kernels in one, and whether that is the same as one launch after the other.

    kernel void both(…) { scale(n, k, a, t); next_part(); add(n, t, b, c); }

    before (two launches)                                   after (one)
    every work-item: t[i] = k * a[i]                        every work-item: t[i] = k * a[i]
    every work-item: c[i] = t[i] + b[i]                                      c[i] = t[i] + b[i]

In one launch a work-item may come to the second part before another one has done the first. So nothing of one
work-item's second part may meet what another's first part does:

- **what the second part reads of a buffer that the first writes**, the same work-item has written: the load takes
  a stored value (`simplify.py`), else `fusion-crosses-items`;
- **what the second part writes of a buffer that the first accesses**: all these accesses are to one element, the
  same value as address, of one size, in which each id that the kernels ask for is a term with a factor; and each
  work-item that accesses it in the first part writes it in the second. Masks, quotients and choices, by which
  work-items share elements, are no such terms. What is left are factors so small that rows overlap; then several
  work-items would write one element in the second launch, a race that OpenCL leaves undefined.

Barriers, fences, atomics and volatile accesses, by which work-items see each other's stores, are refused in either
part (`fusion-barrier`). Nothing of this matters where the parts are **independent**, side by side: neither writes
what the other accesses. Refused in any case are unknown functions and output, and pointers that can't be followed
to one argument or variable (`fusion-alias`). Different arguments must not overlap where one is written: that is
for the launch to keep to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from coarsen.analysis.control_flow import ControlFlow, FlowGraph, flow_graph, reached
from coarsen.analysis.distinct_arguments import only_synchronises
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.errors import InternalError, RefusalError, SourcePosition
from coarsen.ir.graph.details import Opcode, is_shown
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Named, Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.metadata import node_items
from coarsen.ir.opencl.builtins import Role
from coarsen.ir.opencl.queries import IDS_OF_GROUPS, IDS_OF_ITEMS, Query, query_of
from coarsen.ir.types import AddressSpace, PointerType, Type, VoidType, content_bytes
from coarsen.transform.simplify import same_values

FIRST, SECOND = 1, 2


def tell_parts(module: Module, kernel: str, mark: str) -> None:
    """Give each instruction its part as its replica, in place, and erase the call between the parts.

    Args:
        module: owned by the caller; LLVM has to bring it into normal form.
        kernel: the kernel's name.
        mark: the function that is called between the parts.

    Raises:
        RefusalError: it is never called.
        InternalError: it is called more than once.
    """
    function = module.function(kernel)
    flow = flow_graph(function)
    calls = [each for each in function.instructions() if each.callee == mark]
    if not calls:
        raise RefusalError("fusion-barrier", "the first kernel never ends")
    if len(calls) > 1:
        raise InternalError(f"'{mark}' is called {len(calls)} times")
    [call] = calls
    middle = call.block
    assert middle is not None
    for block in function.blocks:
        is_second = block is not middle and block.name in flow.place and flow.dominates(middle.name, block.name)
        for each in block.instructions:
            if each is call:
                is_second = True
            each.origin = each.origin.for_replica(SECOND if is_second else FIRST)
    call.erase()


class _Access(NamedTuple):
    """What an instruction reads or writes of a buffer; `address` is the first value that is its pointer."""

    instruction: Instruction
    root: Named
    address: Operand
    type: Type
    is_store: bool


@dataclass(frozen=True)
class Accesses:
    """What each of two parts of a kernel does to memory that work-items share.

    Attributes:
        kernel: its parts told, in normal form.
        of_part: its accesses, by part.
        ordering: what orders the accesses of work-items: barriers, fences, atomics, volatile accesses.
    """

    kernel: Kernel
    of_part: Mapping[int, tuple[_Access, ...]]
    ordering: tuple[Instruction, ...]

    @classmethod
    def of(cls, kernel: Kernel) -> Accesses:
        """Return a kernel's accesses. Raises RefusalError, `fusion-barrier` or `fusion-alias`."""
        effects, roots = EffectsOfKernel.of_kernel(kernel), PointerRoots()
        ordering = [each for each in kernel.instructions() if _orders(each, effects)]
        flow = ControlFlow(kernel)
        same = same_values((i for b in flow.reverse_postorder for i in kernel.block[b].instructions), effects)
        found: dict[int, list[_Access]] = {FIRST: [], SECOND: []}
        for each in kernel.instructions():
            for access in _accesses(each, effects, roots, same):
                if each.origin.replica is None:
                    raise RefusalError(
                        "fusion-alias", "an access to memory belongs to both kernels", each.position
                    )
                found[each.origin.replica].append(access)
        return cls(kernel, {part: tuple(of_part) for part, of_part in found.items()}, tuple(ordering))

    @property
    def are_independent(self) -> bool:
        """Return True if neither part writes what the other accesses."""
        touched = [{each.root for each in self.of_part[part]} for part in (FIRST, SECOND)]
        written = [{each.root for each in self.of_part[part] if each.is_store} for part in (FIRST, SECOND)]
        return written[0].isdisjoint(touched[1]) and written[1].isdisjoint(touched[0])

    def check_stores(self) -> None:
        """Raise RefusalError for work-items that may see each other's stores.

        `fusion-barrier`: something orders them; `fusion-crosses-items`: the second part may write what others
        still access.
        """
        if self.ordering:
            what = "a barrier, a fence, an atomic or a volatile access"
            reason = f"{what}: work-items may see each other's stores"
            raise RefusalError("fusion-barrier", reason, self.ordering[0].position)
        flow = ControlFlow(self.kernel)
        for root in dict.fromkeys(each.root for each in self.of_part[SECOND] if each.is_store):
            before = [each for each in self.of_part[FIRST] if each.root is root]
            written = [each for each in self.of_part[SECOND] if each.root is root and each.is_store]
            for each in (*before, *written) if before else ():
                if each.address is not written[0].address or each.type != written[0].type:
                    reason = f"the second kernel writes {root.name} where another work-item may have accessed it"
                    raise RefusalError("fusion-crosses-items", reason, each.instruction.position)
            if before and not _is_own(written[0].address, root, self.kernel):
                reason = f"several work-items may write one element of {root.name} in the second kernel"
                raise RefusalError("fusion-crosses-items", reason, written[0].instruction.position)
            for each in before:
                if not any(_follows(each.instruction, other.instruction, flow) for other in written):
                    reason = f"not each work-item that accesses an element of {root.name} writes it afterwards"
                    raise RefusalError("fusion-crosses-items", reason, each.instruction.position)

    def check_loads(self, written: Collection[str]) -> None:
        """Raise RefusalError, `fusion-crosses-items`, where the second part reads what the first writes.

        Args:
            written: the spellings of what the first part writes.
        """
        for each in self.of_part[SECOND]:
            if not each.is_store and each.root.spelling in written:
                reason = f"the second kernel may read an element of {each.root.name} that another work-item wrote"
                raise RefusalError("fusion-crosses-items", reason, each.instruction.position)

    @property
    def written_first(self) -> frozenset[str]:
        """The spellings of the arguments and variables that the first part writes."""
        return frozenset(each.root.spelling for each in self.of_part[FIRST] if each.is_store)


def _accesses(
    each: Instruction, effects: EffectsOfKernel, roots: PointerRoots, same: Mapping[Operand, Operand]
) -> Iterator[_Access]:
    """Yield what an instruction accesses that isn't private."""
    touched = effects.of(each)
    if only_synchronises(each, effects):
        return
    is_output = each.opcode is Opcode.CALL and touched.is_counted and not touched.writes
    if touched.writes_anything or is_output:
        reason = "output or an unknown function: the order of launches may be seen"
        raise RefusalError("fusion-barrier", reason, each.position)
    for pointers, is_store in ((touched.reads, False), (touched.writes, True)):
        found = roots.of_all(pointers)
        if found is None or touched.reads_anything:
            raise RefusalError("fusion-alias", "it is not known what buffer is accessed here", each.position)
        for root in found:
            if isinstance(root, Instruction) or root.type == PointerType(AddressSpace.PRIVATE):
                continue
            is_plain = each.opcode in (Opcode.LOAD, Opcode.STORE) and len(found) == 1
            address = same.get(pointers[0], pointers[0]) if is_plain else each
            yield _Access(each, root, address, each.operands[0].type if is_store else each.type, is_store)


def _orders(each: Instruction, effects: EffectsOfKernel) -> bool:
    is_together = each.opcode is Opcode.CALL and effects.builtin(each).role is Role.GROUP_WIDE
    return effects.of(each).orders or is_together


def accessed_bytes(kernel: Kernel) -> int:
    """Return the bytes of global memory that a work-item accesses where it comes to each instruction once."""
    effects, found = EffectsOfKernel.of_kernel(kernel), 0
    for each in kernel.instructions():
        touched = effects.of(each)
        if only_synchronises(each, effects):
            continue
        for pointer in (*touched.reads, *touched.writes):
            if isinstance(pointer.type, PointerType) and pointer.type.address_space is AddressSpace.GLOBAL:
                is_stored = pointer in touched.writes and isinstance(each.type, VoidType)
                found += content_bytes(each.operands[0].type if is_stored else each.type)
    return found


def _follows(first: Instruction, second: Instruction, flow: FlowGraph) -> bool:
    """Return True if each way from one instruction passes the other, which is in the second part."""
    assert first.block is not None
    assert second.block is not None
    block = first.block.name
    while block != second.block.name:
        following = flow.immediate_post_dominator.get(block)
        if following is None or following not in flow.place:
            return False
        block = following
    return True


def _made_of(value: Operand) -> Iterator[Instruction]:
    """Yield what a value is computed of, phis apart."""
    pending, seen = [value], {value}
    while pending:
        each = pending.pop()
        if isinstance(each, Instruction):
            yield each
            new = [] if each.opcode is Opcode.PHI else [o for o in each.operands if o not in seen]
            seen.update(new)
            pending += new


def asked_ids(instructions: Iterable[Instruction]) -> frozenset[tuple[Query, str]]:
    """Return the ids that instructions ask for, each with its dimension as it is spelled, if it has one."""
    found = set()
    for each in instructions:
        query = query_of(each)
        if query is not None and query in IDS_OF_ITEMS | IDS_OF_GROUPS:
            found.add((query, each.arguments[0].text if each.arguments else ""))
    return frozenset(found)


def _is_own(address: Operand, root: Named, kernel: Kernel) -> bool:
    """Return True if each id that the kernel asks for, or what it is made of, is a term of an address."""
    terms = _id_terms(address)
    if terms is None:
        return False
    dimensions = {dimension for _, dimension in asked_ids(kernel.instructions())}
    wanted = [{Query.GLOBAL_ID}, {Query.GLOBAL_LINEAR_ID}, {Query.LOCAL_ID, Query.GROUP_ID}]
    if root.type == PointerType(AddressSpace.LOCAL):
        wanted.append({Query.LOCAL_ID})
    own = [{query for query, along in terms if along == dimension} for dimension in dimensions]
    return bool(own) and all(each in wanted for each in own)


def _id_terms(value: Operand) -> frozenset[tuple[Query, str]] | None:
    """The ids of which a value is a sum, each once and with a factor; None for any other way of having ids.

    The number of a work-group counts only times a size of work-groups: else groups share numbers.
    """
    if not isinstance(value, Instruction) or not asked_ids(_made_of(value)):
        return None if isinstance(value, Instruction) and value.opcode is Opcode.PHI else frozenset()
    query = query_of(value)
    if query is Query.GROUP_ID:
        return None
    if query is not None:
        return asked_ids([value])
    if value.opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.FREEZE):
        return _id_terms(value.operands[0])
    if value.opcode in (Opcode.MUL, Opcode.SHL):
        number, factor = value.operands[:2]
        if value.opcode is Opcode.MUL and asked_ids(_made_of(factor)):
            number, factor = factor, number
        if asked_ids(_made_of(factor)):
            return None
        group, size = (_without_casts(each) for each in (number, factor))
        if isinstance(group, Instruction) and query_of(group) is Query.GROUP_ID:
            is_whole = isinstance(size, Instruction) and query_of(size) in (
                Query.LOCAL_SIZE,
                Query.ENQUEUED_LOCAL_SIZE,
            )
            return asked_ids([group]) if is_whole else None
        return _id_terms(number)
    if value.opcode is Opcode.SUB and asked_ids(_made_of(value.operands[1])):
        return None
    if value.opcode not in (Opcode.ADD, Opcode.SUB, Opcode.GETELEMENTPTR):
        return None
    terms: frozenset[tuple[Query, str]] = frozenset()
    for each in value.operands:
        own = _id_terms(each)
        if own is None or own & terms:
            return None
        terms |= own
    return terms


def _without_casts(value: Operand) -> Operand:
    while isinstance(value, Instruction) and value.opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC):
        value = value.operands[0]
    return value


# Stores to memory that the caller gives up go, where nothing in the kernel reads them afterwards.
#
#     before (t is given up)                          after
#     void f(global float *t, global float *c, …)     void f(global float *c, …)
#         t[i] = scaled;
#         c[i] = scaled + b[i];                           c[i] = scaled + b[i];
#
# That nobody asks for the contents of an argument's buffer after the launch is the caller's word: it can't be seen
# in a kernel. So is that the buffer is accessed through no other argument. A store goes if no way leads from it to
# an instruction that may read its memory: then another work-item can't read it either, since what orders
# the two, a barrier, is on such a way. Where anything else orders memory (atomics, fences), a store goes only if
# nothing reads the argument at all. An argument that is used no more goes, too.

_RECORDED = ("addr_space", "access_qual", "type", "base_type", "type_qual", "name")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GivenUp:
    """What became of an argument whose contents nobody asks for after a launch.

    Attributes:
        name: of the argument.
        stores: how many of them have gone.
        left: why stores or the argument stay, in a sentence; empty where they don't.
        position: of what makes them stay.
    """

    name: str
    stores: int
    left: str = ""
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
    name = argument.name
    reason = f"{name} is written all the same: the kernel may read here what it stores through {name}"
    if not stores:
        reason = f"{name} is only read: it stays an argument"
    return GivenUp(argument.name, len(dead), reason, reader.position)


def _may_go(store: Instruction, effects: EffectsOfKernel) -> bool:
    """Return True for a plain store, and for a call that does nothing but store."""
    if effects.of(store).orders or is_shown(store.detail):
        return False
    is_call = store.opcode is Opcode.CALL and isinstance(store.type, VoidType) and effects.builtin(store).is_known
    return is_call or store.opcode is Opcode.STORE


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
