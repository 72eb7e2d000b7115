"""A loop cut into strips of so many trips, so that what a strip reads can be copied before it runs.

    for (k = a; k < b; k += s)          c = a;
        body(k)                         while (at least T trips are left from c on) {            strips
                                            here                                                 start
                                            for (t = 0; t != T; ++t) body(c + t·s)               strip
                                            c += T·s }                                           turn
                                        for (k = c; k < b; k += s) body(k)                       the loop as it was

All trips are made, in their order, with the same values: nothing is assumed of bounds, nor of wraps. The last
trips, fewer than T, are the loop's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from coarsen.analysis.algebra.numbers import number_of, width_of
from coarsen.analysis.control_flow import FlowGraph, Loop, flow_graph
from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Comparison, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import ValueMap, copy_blocks
from coarsen.ir.types import IntegerType

TRIP = ".trip"
"""What the name of a strip's own counter ends with."""
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne", "eq": "eq"}
_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq", "eq": "ne"}
# What may be computed once more where a strip ends: it neither traps nor looks at memory.
_HARMLESS = frozenset(
    {
        *(Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.LSHR, Opcode.ASHR, Opcode.AND, Opcode.OR),
        *(Opcode.XOR, Opcode.TRUNC, Opcode.SEXT, Opcode.ZEXT, Opcode.ICMP, Opcode.SELECT, Opcode.GETELEMENTPTR),
    }
)


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop that counts by a number from trip to trip up to a bound that stays, and is left at its header alone.

    Attributes:
        loop: its blocks, by name.
        header: where it is tested; `before` leads there, `latch` goes round.
        counter: a phi of the header; `start` is its first value.
        step: what a trip adds.
        relation: of the counter to the bound while the loop goes on: `slt`, `ule`, `ne`, …
        bound: the same in each trip; computed before the loop, or in its header from values that are.
        exit: where it goes on afterwards.
    """

    loop: Loop
    before: Block
    header: Block
    latch: Block
    counter: Instruction
    start: Operand
    step: int
    relation: str
    bound: Operand
    exit: Block


@dataclass(frozen=True, slots=True)
class Strip:
    """A strip of a loop.

    Attributes:
        start: a block before the strip's first trip, with nothing but a branch.
        first: the counter's value in that trip.
        trip: the number of the trip, from 0 on: a phi of the strip's header.
        header: where the strip is tested; `blocks` are all of the strip's, the header first.
        copies: what stands in the strip for what stands in the loop.
    """

    start: Block
    first: Operand
    trip: Instruction
    header: Block
    blocks: tuple[Block, ...]
    copies: ValueMap


def counted_loop(function: Function, flow: FlowGraph, loop: Loop) -> CountedLoop:
    """Return what a loop counts.

    Args:
        function: in which it is.
        flow: of the function.
        loop: of the flow.

    Raises:
        RefusalError: `tile-loop-unknown`.
    """
    blocks = {block.name: block for block in function.blocks}
    header = blocks[loop.header]

    def unknown(reason: str) -> RefusalError:
        position = header.terminator.position
        return RefusalError("tile-loop-unknown", f"this loop can't be cut into strips: {reason}", position)

    latches = [start for start, end in flow.back_edges if end == loop.header]
    entering = [block for block in flow.predecessors(loop.header) if block not in loop.blocks]
    leaving = {block for block in loop.blocks for target in flow.successors(block) if target not in loop.blocks}
    if len(latches) != 1 or len(entering) != 1 or leaving != {loop.header}:
        raise unknown("it is left or gone round elsewhere than at its head")
    branch = header.terminator
    if branch.opcode is not Opcode.BR or len(set(branch.targets)) != 2:
        raise unknown("its head has no test")
    own = [each for each in header.instructions if each.opcode is not Opcode.PHI and each is not branch]
    if any(each.opcode not in _HARMLESS for each in own):
        raise unknown("its test computes more than numbers")
    before, latch = blocks[entering[0]], blocks[latches[0]]
    stays = branch.targets[0] in loop.blocks
    found = _tested(header, latch, loop, branch.operands[0], stays)
    if found is None:
        raise unknown("it doesn't count by a number up to a bound that stays the same")
    counter, step, relation, bound = found
    start = next(value for value, source in counter.edges() if source is before)
    left = next(block for block in branch.blocks if block.name not in loop.blocks)
    return CountedLoop(loop, before, header, latch, counter, start, step, relation, bound, left)


def _tested(
    header: Block, latch: Block, loop: Loop, condition: Operand, stays: bool
) -> tuple[Instruction, int, str, Operand] | None:
    """The counter that a condition compares, its step, the relation while the loop goes on, and the bound."""
    if not isinstance(condition, Instruction) or condition.opcode is not Opcode.ICMP:
        return None
    assert isinstance(condition.detail, Comparison)
    sign, relation = condition.detail.predicate[:-2], condition.detail.predicate[-2:]
    left, right = condition.operands
    if left not in header.phis:
        left, right, relation = right, left, _SWAPPED[relation]
    if not isinstance(left, Instruction) or left not in header.phis or not _stays(right, loop, header):
        return None
    relation = relation if stays else _NEGATED[relation]
    step = _step(left, latch)
    grows = {"lt": 1, "le": 1, "gt": -1, "ge": -1}.get(relation)
    if step is None or relation == "eq" or (grows is not None and step * grows < 0):
        return None
    return None if relation == "ne" and abs(step) != 1 else (left, step, sign + relation, right)


def _stays(value: Operand, loop: Loop, header: Block) -> bool:
    """Return True for what is the same in each trip, and may be computed before the loop."""
    if not isinstance(value, Instruction) or value.block is None or value.block.name not in loop.blocks:
        return True
    is_computed = value.block is header and value.opcode in _HARMLESS
    return is_computed and all(_stays(each, loop, header) for each in value.operands)


def _step(counter: Instruction, latch: Block) -> int | None:
    """Return what a trip adds to a counter; None where that is no number but 0."""
    again = next(value for value, source in counter.edges() if source is latch)
    if not isinstance(counter.type, IntegerType) or not isinstance(again, Instruction):
        return None
    if again.opcode not in (Opcode.ADD, Opcode.SUB):
        return None
    left, right = again.operands
    if again.opcode is Opcode.ADD and right is counter:
        left, right = right, left
    added = number_of(right)
    if left is not counter or not added:
        return None
    half = 1 << (width_of(counter.type) - 1)
    signed = (added + half) % (2 * half) - half
    return signed if again.opcode is Opcode.ADD else -signed


def strip_mined(function: Function, counted: CountedLoop, trips: int) -> Strip:
    """Cut a loop into strips.

    Args:
        function: owned by the caller.
        counted: a loop of it.
        trips: of a strip, at least 2.

    Returns:
        the strip; the loop itself makes what is left.

    Raises:
        RefusalError: `tile-loop-unknown`, the counter has too few bits for so many trips.
    """
    counter, header = counted.counter, counted.header
    type_ = counter.type
    length = trips * counted.step
    if abs(length) >= 1 << (width_of(type_) - 1):
        reason = f"its counter has too few bits for strips of {trips} trips"
        raise RefusalError("tile-loop-unknown", f"this loop can't be cut into strips: {reason}", counter.position)
    counted = replace(counted, bound=_hoisted(counted.bound, counted))
    originals = [block for block in function.blocks if block.name in counted.loop.blocks]
    originals.sort(key=lambda block: block is not header)
    values = ValueMap()
    copies = copy_blocks(originals, values)
    strips, start, turn = (Block(f"{header.name}.{name}", header.origin) for name in ("strips", "start", "turn"))
    # In the order in which they are read: strips, start, the strip, turn; then the loop.
    place = counted.before
    for block in (strips, start, *copies, turn):
        place = function.add_after(place, block)
    build = Builder(strips, counter.origin)
    first_of = {phi: _at_strips(build, phi, counted.before) for phi in header.phis}
    first = first_of[counter]
    build.branch_if(_is_whole(build, counted, first, trips), start, header)
    build.at_end(start).branch(copies[0])
    trip, copied = _strip_header(counted, values, copies[0], start, turn, first_of, trips)
    build.at_end(turn)
    following = build.binary(Opcode.ADD, first, number(type_, length), "strip.next")
    for phi, at_strips in first_of.items():
        at_strips.add_incoming(following if phi is counter else copied[phi], turn)
    build.branch(strips)
    for index, target in enumerate(list(counted.before.terminator.blocks)):
        if target is header:
            counted.before.terminator.set_block(index, strips)
    for phi, at_strips in first_of.items():
        slot = phi.incoming.index(counted.before.name)
        phi.set_operand(slot, at_strips)
        phi.set_block(slot, strips)
    return Strip(start, first, trip, copies[0], tuple(copies), values)


def _hoisted(value: Operand, counted: CountedLoop) -> Operand:
    """Move what a bound is computed of before the loop; return the bound."""
    if not isinstance(value, Instruction) or value.block is not counted.header:
        return value
    operands = [_hoisted(operand, counted) for operand in value.operands]
    moved = Instruction(
        *(value.opcode, value.type, operands, value.name),
        detail=value.detail,
        flags=value.flags,
        origin=value.origin,
    )
    counted.before.insert(len(counted.before.instructions) - 1, moved)
    value.replace_all_uses(moved)
    value.erase()
    return moved


def _at_strips(build: Builder, phi: Instruction, before: Block) -> Instruction:
    """The value of a loop's phi where a strip may begin; from the turn it comes later."""
    value = next(value for value, source in phi.edges() if source is before)
    return build.phi(phi.type, [(value, before)], phi.name)


def _is_whole(build: Builder, counted: CountedLoop, first: Operand, trips: int) -> Operand:
    """Build whether so many trips are left: the bound is far enough from the first of them.

        c < b and b - c > (T - 1)·s        c > b and c - b > (T - 1)·|s|        c != b and a step of 1: b - c ≥ T

    The difference is one of whole numbers without a sign: the first comparison says that it does not wrap.
    """
    sign, relation = counted.relation[:-2], counted.relation[-2:]
    rises = counted.step > 0
    ends = (counted.bound, first) if rises else (first, counted.bound)
    left = build.binary(Opcode.SUB, *ends, "left")
    if relation == "ne":
        return build.compare("uge", left, number(first.type, trips), "is.whole")
    apart = (trips - 1) * abs(counted.step)
    goes_on = build.compare(sign + relation, first, counted.bound, "goes.on")
    # "≤" may be one nearer.
    is_far = build.compare("uge" if relation in ("le", "ge") else "ugt", left, number(first.type, apart), "is.far")
    return build.binary(Opcode.AND, goes_on, is_far, "is.whole")


def _strip_header(
    counted: CountedLoop,
    values: ValueMap,
    header: Block,
    start: Block,
    turn: Block,
    first_of: dict[Instruction, Instruction],
    trips: int,
) -> tuple[Instruction, dict[Instruction, Instruction]]:
    """Let the copied header count trips; return that counter, and the copies of the other phis."""
    counter, type_ = counted.counter, counted.counter.type
    latch = values.block(counted.latch)
    copied: dict[Instruction, Instruction] = {}
    for phi in counted.header.phis:
        copy = values.find(phi)
        assert isinstance(copy, Instruction)
        slot = next(place for place, (_, source) in enumerate(copy.edges()) if source is counted.before)
        copy.set_operand(slot, first_of[phi])
        copy.set_block(slot, start)
        copied[phi] = copy
    old = copied.pop(counter)
    trip = header.insert(0, Instruction(Opcode.PHI, type_, [], f"{counter.name}{TRIP}", origin=Origin()))
    trip.add_incoming(number(type_, 0), start)
    branch = header.terminator
    inside = next(block for block in branch.blocks if block is not counted.exit)
    tested = branch.operands[0]
    branch.erase()
    if isinstance(tested, Instruction) and not tested.uses:
        tested.erase()
    # Where nothing at the head asks for it, the counter is computed by the body: so the head is a test alone.
    asks = any(old in each.operands for each in header.instructions if each.opcode is not Opcode.PHI)
    build = Builder(header, counter.origin).at_start(header if asks else inside)
    distance: Operand = trip
    if counted.step != 1:
        distance = build.binary(Opcode.MUL, trip, number(type_, counted.step), "distance")
    value = build.binary(Opcode.ADD, first_of[counter], distance, counter.name)
    old.replace_all_uses(value)
    values[counter] = value
    old.erase()
    following = build.before(latch.terminator).binary(Opcode.ADD, trip, number(type_, 1), "trip.next")
    trip.add_incoming(following, latch)
    build.at_end(header).branch_if(build.compare("ne", trip, number(type_, trips), "more"), inside, turn)
    return trip, copied


def innermost_loops(function: Function) -> list[CountedLoop]:
    """Return the loops without a loop in them that count, in their order."""
    flow = flow_graph(function)
    inner = [loop for loop in flow.loops if not any(other.blocks < loop.blocks for other in flow.loops)]
    found = []
    for loop in inner:
        try:
            found.append(counted_loop(function, flow, loop))
        except RefusalError:
            continue
    return found
