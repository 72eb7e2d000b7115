"""Loops that may go round for ever unless somebody else changes memory.

    while (atomic_cmpxchg(lock, 0, 1) != 0);                     waits: somebody has to store the 0
    while (*(volatile global int *)flag == 0);                   waits
    do old = *p; while (atomic_cmpxchg(p, old, f(old)) != old);  ends: alone, it succeeds
    while ((item = atomic_inc(next)) < count) …                  ends: it counts by itself
    while (*flag == 0 && tries++ < 100);                         ends: it gives up

What a loop observes of others is what it reads by atomic operations, by volatile loads, and, past a fence or a
barrier, by plain loads of memory that it doesn't write. A value is *steady* if it may be the same in each
iteration of a work-item that runs alone. A loop waits if it has a way round on which every branch out asks for a
steady value, and one of these comes from what it observes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.shared_memory import CASTS, DEPTH, SharedMemory
from coarsen.analysis.waits.locks import is_given_back
from coarsen.analysis.waits.states import LoopStates
from coarsen.ir.details import predicate
from coarsen.ir.kernel import Instruction, Kernel, Value, ValueKind
from coarsen.ir.opencl.builtins import is_barrier
from coarsen.ir.types import IntegerType

# What changes memory whatever is there.
_COUNTING = frozenset({"inc", "dec", "add", "sub", "xor", "fadd", "fsub"})
_TRUE_OF_EQUALS = frozenset({"eq", "oeq", "ueq", "sge", "sle", "uge", "ule", "oge", "ole"})
_ORDERING = frozenset({"call", "fence", "atomicrmw", "cmpxchg"})


@dataclass(frozen=True, slots=True)
class WaitingLoop:
    """A loop that may wait for others.

    Attributes:
        loop: the loop.
        observed: the instructions by which it sees what others do, in the kernel's order.
        meets: whether the whole work-group meets at a barrier in each iteration that waits.
    """

    loop: Loop
    observed: tuple[Instruction, ...]
    meets: bool


def waiting_loops(flow: ControlFlow, memory: SharedMemory) -> Iterator[WaitingLoop]:
    """Yield the loops of a kernel that may wait for others, outer before inner.

    Args:
        flow: the kernel's.
        memory: what the kernel does to it.
    """
    for loop in flow.loops:
        inside = [i for block in flow.kernel.in_order(loop.blocks) for i in block.instructions]
        if any(memory.effects.of(instruction).orders for instruction in inside):
            found = _Progress(flow, memory, loop, inside).waiting()
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class _Asked:
    """For what it is asked whether a value is steady.

    Attributes:
        changing: the header's phis for whose next values.
        next: the one of them whose next value this is itself, so that its former one means no change.
        kept: those that are taken to be steady, as it is asked whether that can go on.
        depth: how many answers wait for this one.
    """

    changing: frozenset[str] = frozenset()
    next: str = ""
    kept: frozenset[str] = frozenset()
    depth: int = 0

    def taken_as_kept(self) -> _Asked:
        """Return what is asked for the condition under which the next value is the former one."""
        return _Asked(self.changing - {self.next}, "", self.kept | ({self.next} - {""}), self.depth)


_NOTHING = _Asked()


class _Progress:
    """Whether one loop ends by itself."""

    def __init__(self, flow: ControlFlow, memory: SharedMemory, loop: Loop, inside: list[Instruction]) -> None:
        self._kernel: Kernel = flow.kernel
        self._flow = flow
        self._memory = memory
        self._loop = loop
        self._inside = inside
        self._names = {instruction.name for instruction in inside if instruction.name}
        self._writers_of: dict[Value | None, list[Instruction]] = {}
        self._states = LoopStates(self._kernel, flow, loop)
        self._steady: dict[tuple[str, frozenset[str], frozenset[str], str], bool] = {}

    def waiting(self) -> WaitingLoop | None:
        """Return the loop if it waits for others."""
        exits = self._states.exits()
        cut = [(block, onward) for block, onward, leaving in exits if self._is_left(block, leaving)]
        stuck = self._states.stuck(cut)
        observed = self._observed_by(self._condition(block) for block in self._states.ways_out(stuck))
        if not observed or is_given_back(self._flow, self._memory, self._loop, observed):
            return None
        meeting = {block for block in stuck if any(map(is_barrier, self._kernel.block[block].instructions))}
        meets = bool(meeting) and not self._states.stuck(cut, meeting)
        return WaitingLoop(self._loop, tuple(observed), meets)

    def _condition(self, block: str) -> Value:
        return self._kernel.block[block].terminator.operands[0]

    def _definition(self, value: Value) -> Instruction | None:
        """The instruction of the loop that computes a value; None for what comes from elsewhere."""
        is_inside = value.kind is ValueKind.INSTRUCTION and value.text in self._names
        return self._kernel.definition[value.text] if is_inside else None

    def _is_of_header(self, phi: Instruction) -> bool:
        return self._kernel.block_of[phi.name] == self._loop.header

    def _incoming(self, phi: Instruction) -> list[Value]:
        """List what a phi may be where the loop goes on; an inner loop's, before the first iteration of that."""
        block = self._kernel.block_of[phi.name]
        inner = self._flow.loop_at.get(block)
        passed = frozenset() if inner is None or self._is_of_header(phi) else inner.blocks
        sources = zip(phi.operands, phi.incoming, strict=True)
        return [value for value, s in sources if (s, block) in self._states.going_on and s not in passed]

    # What is observed.

    @cached_property
    def _is_ordered(self) -> bool:
        """Return True if plain loads are repeated in each iteration: past a fence, barrier or atomic operation."""
        return any(i.opcode in _ORDERING and self._memory.effects.of(i).orders for i in self._inside)

    def _observes(self, instruction: Instruction) -> bool:
        """Return True if an instruction sees what others do meanwhile."""
        pointer = self._memory.reads(instruction)
        if pointer is None or not self._memory.is_plain(instruction):
            return pointer is not None
        return self._is_ordered and not self._writers(pointer)

    def _writers(self, pointer: Value) -> list[Instruction]:
        """The instructions of the loop that may write what a pointer leads into."""
        root = self._memory.root(pointer)
        if root not in self._writers_of:
            pairs = self._all_writes
            self._writers_of[root] = [
                i for i, written in pairs if any(self._memory.leads_into(w, root) for w in written)
            ]
        return self._writers_of[root]

    @cached_property
    def _all_writes(self) -> list[tuple[Instruction, tuple[Value, ...]]]:
        """The instructions of the loop that write, with the pointers through which they do."""
        return [(i, written) for i in self._inside if (written := self._memory.writes(i))]

    def _observed_by(self, values: Iterable[Value]) -> list[Instruction]:
        """List what the loop observes that some values come from."""
        found: set[str] = set()
        pending, seen = list(values), set[str]()
        while pending:
            instruction = self._definition(pending.pop())
            if instruction is None or instruction.name in seen:
                continue
            seen.add(instruction.name)
            if self._observes(instruction):
                found.add(instruction.name)
                continue
            pending += instruction.arguments
            if instruction.opcode == "phi":
                pending += self._deciding(instruction)
            for writer in self._writers(instruction.operands[0]) if instruction.opcode == "load" else ():
                if writer.opcode == "store":
                    pending.append(writer.operands[0])
                elif self._observes(writer):
                    found.add(writer.name)
        return [instruction for instruction in self._inside if instruction.name in found]

    def _deciding(self, phi: Instruction) -> list[Value]:
        """The conditions on which it depends which of its values a phi has."""
        block = self._kernel.block_of[phi.name]
        if block in self._flow.loop_at:
            return []
        first = self._flow.immediate_dominator[block]
        branches = self._flow.controlling(*phi.incoming) | {*phi.incoming}
        inside = (b for b in branches & self._loop.blocks if self._flow.dominates(first, b))
        return [self._condition(b) for b in inside if len(self._flow.successors(b)) > 1]

    # What is steady.

    def _is_steady(self, value: Value, asked: _Asked = _NOTHING) -> bool:
        """Return True if a value, of the loop or from elsewhere, may be the same in each iteration."""
        instruction = self._definition(value)
        if instruction is None or instruction.name in asked.kept or asked.depth > DEPTH:
            return True
        if instruction.name in asked.changing:
            return instruction.name == asked.next
        key = (instruction.name, asked.changing, asked.kept, asked.next)
        if key not in self._steady:
            self._steady[key] = self._found_steady(instruction, replace(asked, depth=asked.depth + 1))
        return self._steady[key]

    def _found_steady(self, instruction: Instruction, asked: _Asked) -> bool:
        if instruction.opcode == "phi":
            if self._is_of_header(instruction):
                name = instruction.name
                asked = replace(asked, changing=asked.changing | {name}, next=name)
            return any(self._is_steady(each, asked) for each in self._incoming(instruction))
        if instruction.opcode == "select":
            condition, *values = instruction.operands
            is_any = any(self._is_steady(each, asked) for each in values)
            return is_any and self._is_steady(condition, asked.taken_as_kept())
        inner = replace(asked, next="")
        if self._observes(instruction):
            if self._moves_on(instruction):
                return False
        elif instruction.opcode == "load" and (writers := self._writers(instruction.operands[0])):
            root = self._memory.root(instruction.operands[0])
            place = f"*{root.spelling}" if root else "*"
            inner = replace(inner, changing=inner.changing | {place})
            return place not in asked.changing and all(self._leaves_steady(each, inner) for each in writers)
        return all(self._is_steady(each, inner) for each in instruction.arguments)

    def _leaves_steady(self, writer: Instruction, asked: _Asked) -> bool:
        """Return True if what the loop itself writes may be the same in each iteration."""
        if writer.opcode == "store":
            return self._is_steady(writer.operands[0], asked)
        return not self._observes(writer) or not self._moves_on(writer)

    def _moves_on(self, observing: Instruction) -> bool:
        """Return True if an atomic operation changes memory each time, or succeeds, if a work-item runs alone."""
        operation = self._memory.operation(observing)
        if operation in _COUNTING:
            return not self._memory.is_idle(observing) and not self._is_undone(observing)
        if operation == "cmpxchg":
            return self._is_current(observing.arguments[1], observing)
        if operation == "compare_exchange":
            others = [i for i in self._writers(observing.arguments[1]) if i is not observing]
            return all(i.opcode == "store" and self._is_current(i.operands[0], observing) for i in others)
        return False

    def _is_undone(self, counting: Instruction) -> bool:
        """Return True if the loop may change back what it counts: `while (atomic_dec(s) <= 0) atomic_inc(s);`."""
        place, operation = self._memory.key(counting.arguments[0]), self._memory.operation(counting)
        others = (i for i in self._inside if i is not counting and self._memory.operation(i) != operation)
        return any(self._memory.key(pointer) == place for i in others for pointer in self._memory.writes(i))

    def _is_current(self, compared: Value, update: Instruction) -> bool:
        """Return True if what an update compares with was read there in this iteration or the last one."""
        pending, seen = [compared], set[str]()
        while pending:
            instruction = self._definition(pending.pop())
            if instruction is None:
                return False
            if instruction is update:
                continue
            if instruction.name in seen:
                if instruction.opcode == "phi" and self._is_of_header(instruction):
                    return False
                continue
            seen.add(instruction.name)
            if instruction.opcode == "select":
                pending += self._after_failing(instruction, update)
            elif instruction.opcode in CASTS or instruction.opcode == "extractvalue":
                pending += instruction.operands[:1]
            elif instruction.opcode == "phi":
                pending += self._incoming(instruction)
            elif not self._is_read_at(instruction, update.arguments[0]):
                return False
        return True

    def _after_failing(self, choice: Instruction, update: Instruction) -> tuple[Value, ...]:
        """The values that a `select` may have once an update has not found what it compared with."""
        asked = self._definition(choice.operands[0])
        is_about = asked is not None and asked.opcode == "icmp" and predicate(asked) in ("eq", "ne")
        if (
            asked is None
            or not is_about
            or {each.text for each in asked.operands}
            != {
                update.name,
                update.arguments[1].text,
            }
        ):
            return choice.operands[1:]
        return choice.operands[2:] if predicate(asked) == "eq" else choice.operands[1:2]

    def _is_read_at(self, instruction: Instruction, pointer: Value) -> bool:
        """Return True if an instruction gives what was in memory where a pointer leads."""
        read = self._memory.reads(instruction)
        return read is not None and self._memory.key(read) == self._memory.key(pointer)

    # Whether a branch leaves the loop.

    def _is_left(self, block: str, leaving: bool) -> bool:
        """Return True if the loop is left by a branch in the end, when a work-item runs alone.

        Args:
            block: that ends with the branch.
            leaving: what its condition is where the loop is left.
        """
        return self._comes(self._condition(block), leaving, frozenset())

    def _comes(self, value: Value, wanted: bool, seen: frozenset[str]) -> bool:
        """Return True if a condition is as wanted in the end."""
        if value.kind is ValueKind.CONSTANT:
            return value.text == str(wanted).lower()
        instruction = self._definition(value)
        if instruction is None or instruction.name in seen or len(seen) > DEPTH:
            return False
        seen |= {instruction.name}
        if instruction.opcode == "phi":
            return all(self._comes(each, wanted, seen) for each in self._incoming(instruction))
        if instruction.opcode == "freeze":
            return self._comes(instruction.operands[0], wanted, seen)
        if instruction.opcode == "xor" and instruction.operands[1].text == "true":
            return self._comes(instruction.operands[0], not wanted, seen)
        if (parts := _alternatives(instruction)) is not None:
            is_enough = any if wanted else all
            return is_enough(self._comes(each, wanted, seen) for each in parts)
        if (parts := _conjuncts(instruction)) is not None:
            is_enough = all if wanted else any
            return is_enough(self._comes(each, wanted, seen) for each in parts)
        known = self._compared(instruction)
        return not self._is_steady(value) if known is None else known is wanted

    def _compared(self, comparison: Instruction) -> bool | None:
        """Tell what a comparison with a number says, if the loop has just stored one itself; None if unknown."""
        if comparison.opcode not in ("icmp", "fcmp"):
            return None
        first, second = map(self._just_stored, comparison.operands)
        is_same = first.kind is second.kind is ValueKind.CONSTANT and first.text == second.text
        return predicate(comparison) in _TRUE_OF_EQUALS if is_same else None

    def _just_stored(self, value: Value) -> Value:
        """Return what an atomic exchange just before the one that gives a value has stored; else the value."""
        instruction = self._definition(value)
        if instruction is None or not self._memory.operation(instruction):
            return value
        block = self._kernel.block[self._kernel.block_of[instruction.name]].instructions
        for before in reversed(block[: block.index(instruction)]):
            if any(self._is_read_at(instruction, pointer) for pointer in self._memory.writes(before)):
                return before.arguments[1] if self._memory.operation(before) == "xchg" else value
        return value


def _alternatives(instruction: Instruction) -> tuple[Value, ...] | None:
    """Return the conditions of which one is enough: of `or`, or of a `select` that stands for one."""
    if not isinstance(instruction.type, IntegerType) or instruction.type.width != 1:
        return None
    if instruction.opcode == "or":
        return instruction.operands
    is_or = instruction.opcode == "select" and instruction.operands[1].text == "true"
    return (instruction.operands[0], instruction.operands[2]) if is_or else None


def _conjuncts(instruction: Instruction) -> tuple[Value, ...] | None:
    """Return the conditions that must all hold: of `and`, or of a `select` that stands for one."""
    if not isinstance(instruction.type, IntegerType) or instruction.type.width != 1:
        return None
    if instruction.opcode == "and":
        return instruction.operands
    is_and = instruction.opcode == "select" and instruction.operands[2].text == "false"
    return instruction.operands[:2] if is_and else None
