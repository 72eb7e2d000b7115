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

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.memory_effects import FUNCTIONS
from coarsen.analysis.shared_memory import CASTS, DEPTH, SharedMemory
from coarsen.analysis.waits.locks import is_given_back
from coarsen.analysis.waits.states import Fact, LoopStates, facts_before, facts_of, parts, truth
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import is_barrier

# What changes memory whatever is there.
_COUNTING = frozenset({"inc", "dec", "add", "sub", "xor", "fadd", "fsub"})
_TRUE_OF_EQUALS = frozenset({"eq", "oeq", "ueq", "sge", "sle", "uge", "ule", "oge", "ole"})
_RESIZING = frozenset({"sext", "zext", "trunc", "freeze"})
_ROUND = frozenset({"urem", "srem", "and", "xor"})
# Beyond so many answers, which takes a second, all values are taken to be steady.
_MOST_ANSWERS = 3000
_GATHERING = frozenset({"add", "sub", "or", "fadd", "fsub"})
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


class _Indices(enum.Enum):
    """Which indices that go round and round are asked about."""

    READ = enum.auto()  # where the loop only looks: it looks there again, and may find the same
    TAKEN = enum.auto()  # where it changes what is free: it finds something, unless everything is taken
    OTHER = enum.auto()


@dataclass(frozen=True, slots=True)
class _Asked:
    """For what it is asked whether a value is steady.

    Attributes:
        changing: the header's phis for whose next values.
        next: the one of them whose next value this is itself, so that its former one means no change.
        kept: those that are taken to be steady, as it is asked whether that can go on.
        facts: what is known where this value is taken over.
        indices: how indices that go round are judged, `k = (k + 1) % n`.
        passed: a block that is passed in each iteration for which it is asked.
        depth: how many answers wait for this one.
    """

    changing: frozenset[str] = frozenset()
    next: str = ""
    kept: frozenset[str] = frozenset()
    facts: frozenset[Fact] = frozenset()
    indices: _Indices = _Indices.OTHER
    passed: str = ""
    depth: int = 0

    def taken_as_kept(self) -> _Asked:
        """Return what is asked for the condition under which the next value is the former one."""
        kept = self.kept | ({self.next} - {""})
        return replace(self.within(), changing=self.changing - {self.next}, kept=kept)

    def within(self) -> _Asked:
        """Return what is asked for what a value is computed from."""
        return replace(self, next="")


class _Progress:
    """Judges whether one loop ends by itself."""

    def __init__(self, flow: ControlFlow, memory: SharedMemory, loop: Loop, inside: list[Instruction]) -> None:
        self._kernel: Kernel = flow.kernel
        self._flow = flow
        self._memory = memory
        self._loop = loop
        self._inside = inside
        self._names = {instruction.name for instruction in inside if instruction.name}
        self._writers_of: dict[Operand | None, list[Instruction]] = {}
        self._states = LoopStates(self._kernel, flow, loop)
        self._later: dict[str, set[str]] = {}
        self._steady: dict[tuple[str, _Asked], bool] = {}

    def waiting(self) -> WaitingLoop | None:
        """Return the loop if it waits for others."""
        exits = self._states.exits()
        # What is left by a branch in the end, when a work-item runs alone.
        cut = [(b, onward) for b, onward, leaving in exits if self._comes(self._condition(b), leaving, b)]
        stuck = self._states.stuck(cut)
        observed = self._observed_by(self._condition(block) for block in self._states.ways_out(stuck))
        if not observed or is_given_back(self._flow, self._memory, self._loop, observed):
            return None
        meeting = {block for block in stuck if any(map(is_barrier, self._kernel.block[block].instructions))}
        meets = bool(meeting) and not self._states.stuck(cut, meeting)
        return WaitingLoop(self._loop, tuple(observed), meets)

    def _condition(self, block: str) -> Operand:
        return self._kernel.block[block].terminator.operands[0]

    def _definition(self, value: Operand) -> Instruction | None:
        """The instruction of the loop that computes a value; None for what comes from elsewhere."""
        is_inside = value.kind is ValueKind.INSTRUCTION and value.text in self._names
        return self._kernel.definition[value.text] if is_inside else None

    def _is_of_header(self, phi: Instruction) -> bool:
        return self._kernel.block_of[phi.name] == self._loop.header

    def _incoming(self, phi: Instruction) -> dict[str, Operand]:
        """Return what a phi may be where the loop goes on, by the block before; of an inner loop, at its start."""
        block = self._kernel.block_of[phi.name]
        inner = self._flow.loop_at.get(block)
        passed = frozenset() if inner is None or self._is_of_header(phi) else inner.blocks
        sources = zip(phi.operands, phi.incoming, strict=True)
        return {s: value for value, s in sources if (s, block) in self._states.going_on and s not in passed}

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

    def _writers(self, pointer: Operand) -> list[Instruction]:
        """The instructions of the loop that may write what a pointer leads into."""
        root = self._memory.root(pointer)
        if root not in self._writers_of:
            pairs = self._all_writes
            self._writers_of[root] = [
                i for i, written in pairs if any(self._memory.leads_into(w, root) for w in written)
            ]
        return self._writers_of[root]

    @cached_property
    def _all_writes(self) -> list[tuple[Instruction, tuple[Operand, ...]]]:
        """The instructions of the loop that write, with the pointers through which they do."""
        return [(i, written) for i in self._inside if (written := self._memory.writes(i))]

    def _observed_by(self, values: Iterable[Operand]) -> list[Instruction]:
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
                pending += self._deciding(instruction, instruction.incoming)
            for writer in self._writers(instruction.operands[0]) if instruction.opcode == "load" else ():
                if writer.opcode == "store":
                    pending.append(writer.operands[0])
                elif self._observes(writer):
                    found.add(writer.name)
        return [instruction for instruction in self._inside if instruction.name in found]

    def _deciding(self, phi: Instruction, sources: Iterable[str]) -> list[Operand]:
        """The conditions on which it depends whether a phi has its value from some of the blocks before."""
        block = self._kernel.block_of[phi.name]
        if block in self._flow.loop_at:
            return []
        first = self._flow.immediate_dominator[block]
        branches = self._flow.controlling(*sources) | {*sources}
        inside = [b for b in self._flow.in_order(branches & self._loop.blocks) if block in self._ahead(b)]
        inside = [b for b in inside if self._flow.dominates(first, b)]
        return [self._condition(b) for b in inside if len(self._flow.successors(b)) > 1]

    # What is steady.

    def _is_steady(self, value: Operand, asked: _Asked) -> bool:
        """Return True if a value, of the loop or from elsewhere, may be the same in each iteration."""
        instruction = self._definition(value)
        is_too_much = asked.depth > DEPTH or len(self._steady) > _MOST_ANSWERS
        if instruction is None or instruction.name in asked.kept or is_too_much:
            return True
        if instruction.name in asked.changing:
            return instruction.name == asked.next
        key = (instruction.name, replace(asked, depth=0))
        if key not in self._steady:
            self._steady[key] = self._found_steady(instruction, replace(asked, depth=asked.depth + 1))
        return self._steady[key]

    def _found_steady(self, instruction: Instruction, asked: _Asked) -> bool:
        if instruction.opcode == "phi":
            return self._is_phi_steady(instruction, asked)
        if instruction.opcode == "select":
            return self._is_choice_steady(instruction, asked)
        if instruction.opcode in _RESIZING:
            return self._is_steady(instruction.operands[0], asked)
        # The next value of an index that takes the same values again and again.
        goes_round = instruction.opcode in _ROUND and self._definition(instruction.operands[1]) is None
        if goes_round and asked.indices is _Indices.READ and asked.next:
            return True
        if instruction.opcode in _GATHERING and self._gathers_nothing(instruction, asked):
            return True
        inner = asked.within()
        if self._observes(instruction):
            if self._moves_on(instruction):
                return False
            pointer = self._memory.reads(instruction)
            is_taken = pointer is not None and bool(self._writers(pointer))
            inner = replace(inner, indices=_Indices.TAKEN if is_taken else _Indices.READ)
        elif instruction.opcode == "load" and (writers := self._writers(instruction.operands[0])):
            root = self._memory.root(instruction.operands[0])
            place = f"*{root.spelling}" if root else "*"
            inner = replace(inner, changing=inner.changing | {place})
            return place not in asked.changing and all(self._leaves_steady(each, inner) for each in writers)
        return all(self._is_steady(each, inner) for each in instruction.arguments)

    def _is_phi_steady(self, phi: Instruction, asked: _Asked) -> bool:
        block = self._kernel.block_of[phi.name]
        if self._is_of_header(phi):
            asked = replace(asked, changing=asked.changing | {phi.name}, next=phi.name)
        sources = self._incoming(phi)
        if any(self._is_back_to_start(each, self._deciding(phi, sources), asked) for each in sources.values()):
            sources = {s: each for s, each in sources.items() if self._definition(each) is not None}
        steady = []
        for source, value in sources.items():
            facts = self._facts_before(block, source, asked)
            # Whether an iteration may pass both blocks, if there is a second one.
            passed = asked.passed
            is_on_way = not passed or source == passed or passed in self._ahead(source)
            if facts is None or not (is_on_way or source in self._ahead(passed)):
                continue
            steady.append(self._is_steady(value, replace(asked, facts=facts)))
            conditions = () if self._is_of_header(phi) else self._deciding(phi, [source])
            there = replace(asked.taken_as_kept(), passed=source)
            if steady[-1] and all(self._is_steady(each, there) for each in conditions):
                return True
        numbers = {self._states.number(each) for each in sources.values()}
        return bool(steady) and all(steady) and (None in numbers or len(numbers) == 1)

    def _facts_before(self, block: str, source: str, asked: _Asked) -> frozenset[Fact] | None:
        """Return what is known where a block's phis have the values of another one; None if that can't be."""
        phis = self._kernel.block[block].phis
        if block != self._loop.header:
            is_inner = block in self._flow.loop_at
            return frozenset() if is_inner else facts_before(self._kernel, asked.facts, phis, source)
        here = {phi.name for phi in phis}
        # What else the loop computes is computed anew in the next iteration.
        stale = self._names - here
        about_phis = [fact for fact in asked.facts if fact[0] in here and fact[1] not in stale]
        known = facts_before(self._kernel, about_phis, phis, source)
        return None if known is None else known | self._states.facts(source, block)

    def _ahead(self, block: str) -> set[str]:
        """Return the blocks that are reached from one within an iteration, of inner loops too."""
        if block not in self._later:
            found, pending = set[str](), [block]
            while pending:
                source = pending.pop()
                following = self._loop.blocks.intersection(self._flow.successors(source)) - found
                new = {each for each in following if not self._flow.dominates(each, source)}
                found |= new
                pending += new
            self._later[block] = found
        return self._later[block]

    def _is_choice_steady(self, choice: Instruction, asked: _Asked) -> bool:
        condition, *values = choice.operands
        known = truth(asked.facts, condition)
        if known is not None:
            is_kept = self._is_steady(condition, asked.taken_as_kept())
            return is_kept and self._is_steady(values[1 - known], asked)
        values = [each for each in values if not self._is_back_to_start(each, [condition], asked)]
        steady = [self._is_steady(each, asked) for each in values]
        if any(steady) and self._is_steady(condition, asked.taken_as_kept()):
            return True
        numbers = {self._states.number(each) for each in values}
        return all(steady) and (None in numbers or len(numbers) == 1)

    def _is_back_to_start(self, value: Operand, conditions: Iterable[Operand], asked: _Asked) -> bool:
        """Return True for what an index begins with again once it comes to an end: `if (++at == n) at = 0`."""
        if asked.indices is not _Indices.TAKEN or not asked.next or self._definition(value) is not None:
            return False
        return any(self._is_computed_from(asked.next, each) for each in conditions)

    def _is_computed_from(self, name: str, value: Operand) -> bool:
        """Return True if a value is computed from another one alone, and from what doesn't change in the loop."""
        pending, found = [value], False
        while pending:
            instruction = self._definition(pending.pop())
            if instruction is None:
                continue
            if instruction.name == name:
                found = True
            elif instruction.opcode in FUNCTIONS:
                pending += instruction.operands
            else:
                return False
        return found

    def _gathers_nothing(self, sum_: Instruction, asked: _Asked) -> bool:
        """Return True for a sum of what is observed, where that may be nothing: `got += atomic_xchg(p, 0)`."""
        names = [each.text for each in sum_.operands]
        if asked.next not in names:
            return False
        other = sum_.operands[1 - names.index(asked.next)]
        return bool(self._observed_by([other])) and self._is_steady(other, asked.within())

    def _leaves_steady(self, writer: Instruction, asked: _Asked) -> bool:
        """Return True if what the loop itself writes may be the same in each iteration."""
        if writer.opcode == "store":
            return self._is_steady(writer.operands[0], replace(asked, facts=frozenset()))
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

    def _is_current(self, compared: Operand, update: Instruction) -> bool:
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
                pending += self._incoming(instruction).values()
            elif not self._is_read_at(instruction, update.arguments[0]):
                return False
        return True

    def _after_failing(self, choice: Instruction, update: Instruction) -> Sequence[Operand]:
        """The values that a `select` may have once an update has not found what it compared with."""
        asked = self._definition(choice.operands[0])
        wanted = {update.name, update.arguments[1].text}
        if asked is None or asked.opcode != "icmp" or predicate(asked) not in ("eq", "ne"):
            return choice.operands[1:]
        if {each.text for each in asked.operands} != wanted:
            return choice.operands[1:]
        return choice.operands[2:] if predicate(asked) == "eq" else choice.operands[1:2]

    def _is_read_at(self, instruction: Instruction, pointer: Operand) -> bool:
        """Return True if an instruction gives what was in memory where a pointer leads."""
        read = self._memory.reads(instruction)
        return read is not None and self._memory.key(read) == self._memory.key(pointer)

    # Whether a branch leaves the loop.

    def _comes(self, value: Operand, wanted: bool, block: str, seen: frozenset[str] = frozenset()) -> bool:
        """Return True if a condition, of a block's branch, is as wanted in the end."""
        if value.kind is ValueKind.CONSTANT:
            return value.text == str(wanted).lower()
        instruction = self._definition(value)
        if instruction is None or instruction.name in seen or len(seen) > DEPTH:
            return False
        seen |= {instruction.name}
        if instruction.opcode == "phi":
            return all(self._comes(each, wanted, block, seen) for each in self._incoming(instruction).values())
        if instruction.opcode == "freeze":
            return self._comes(instruction.operands[0], wanted, block, seen)
        if (demanded := parts(instruction, wanted)) is not None:
            return all(self._comes(each, holds, block, seen) for each, holds in demanded)
        if (refuted := parts(instruction, not wanted)) is not None:
            return any(self._comes(each, not holds, block, seen) for each, holds in refuted)
        known = self._compared(instruction)
        if known is not None:
            return known is wanted
        return not self._is_steady(value, _Asked(facts=facts_of(self._kernel, value, not wanted), passed=block))

    def _compared(self, comparison: Instruction) -> bool | None:
        """Tell what a comparison with a number says, if the loop has just stored one itself; None if unknown."""
        if comparison.opcode not in ("icmp", "fcmp"):
            return None
        first, second = map(self._just_stored, comparison.operands)
        is_same = first == second and (first.kind is ValueKind.CONSTANT or comparison.opcode == "icmp")
        return predicate(comparison) in _TRUE_OF_EQUALS if is_same else None

    def _just_stored(self, value: Operand) -> Operand:
        """Return what was stored just before there, for a value that is read; else the value itself."""
        instruction = self._definition(value)
        if instruction is None or not self._observes(instruction):
            return value
        block = self._kernel.block[self._kernel.block_of[instruction.name]].instructions
        for before in reversed(block[: block.index(instruction)]):
            if any(self._is_read_at(instruction, pointer) for pointer in self._memory.writes(before)):
                if before.opcode == "store":
                    return before.operands[0]
                return before.arguments[1] if self._memory.operation(before) == "xchg" else value
        return value
