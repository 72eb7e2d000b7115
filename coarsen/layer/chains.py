"""Which launches of a recording one launch could do: chains of them, and what that saves.

    order ─▶ runs of launches on a queue ─▶ chains that `fuse` accepts ─▶ how often, bytes, what could be given up
                                         ─▶ pairs that it refuses     ─▶ why

A run ends where the host, or another queue, comes to memory of one of its launches in between. What saves no
access to memory is no chain, though it would save a launch. Nothing is measured here, and no program changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from coarsen.errors import CoarsenError
from coarsen.frontend.device_macros import PORTABLE
from coarsen.fused import MOST_KERNELS, FusedKernel, fuse_launches
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.tuning.workload.launch_list import (
    ListedKernel,
    ListedLaunch,
    Order,
    PassedArgument,
    PassedBuffer,
    PassedOther,
    PassedScalar,
    PassedShared,
    Step,
    read_ordered_list,
)

# Of different ones, each of which is compiled.
MOST_CHAINS = 64


class _Launch(NamedTuple):
    """A launch at a place of the order of a process."""

    process: int
    place: int
    kernel: ListedKernel
    launch: ListedLaunch
    memory: tuple[int, ...]

    @property
    def things(self) -> tuple[Hashable, ...]:
        """Return what each argument is passed: memory by its number."""
        memory = iter(self.memory)
        return tuple(_thing(each, memory) for each in self.launch.arguments)


@dataclass(slots=True)
class Chain:
    """Launches that follow each other.

    Attributes:
        launches: some of them.
        folder: of the recording.
        things: what each passes, by numbers: equal ones for equal things.
        fused: them as one; None where `reason` says why not, with its code.
        reason: empty where they can be one.
        found: the launches, each time that they followed each other.
        unread: what is not written where it is given up, and nobody reads later; with its name.
        saved_bytes: of global memory, each time.
        saved_more: likewise, where that is given up; 0 where it isn't known.
    """

    launches: Sequence[_Launch]
    folder: Path
    things: Sequence[Sequence[Hashable]]
    fused: FusedKernel | None = None
    reason: str = ""
    found: list[Sequence[_Launch]] = field(default_factory=list)
    unread: dict[Hashable, str] = field(default_factory=dict)
    saved_bytes: int = 0
    saved_more: int = 0

    @property
    def kernels(self) -> tuple[str, ...]:
        """Return the names of their kernels."""
        return tuple(each.kernel.kernel for each in self.launches)

    @property
    def source(self) -> Path:
        """Return the file of the first one's kernel."""
        return self.folder / self.launches[0].kernel.source_file

    def look(self) -> None:
        """Find out whether they can be one, and what that saves."""
        wholes = [number >> 1 for each in self.launches for number in each.memory]
        parts = {number >> 1 for each in self.launches for number in each.memory if number & 1}
        if len({(each.kernel.source_hash, each.kernel.options) for each in self.launches}) > 1:
            self.reason = "their kernels are in several programs: put them into one source"
        elif len({_range(each.launch) for each in self.launches}) > 1:
            self.reason = "they are launched over other NDRanges [fusion-ndrange]"
        elif 0 in wholes or any(wholes.count(each) > 1 for each in parts):
            # Where a part begins is not told.
            self.reason = "memory is not known, or parts of one buffer may overlap [fusion-alias]"
        else:
            try:
                self._look_at_kernels()
            except CoarsenError as error:
                self.reason = str(error)

    def _look_at_kernels(self) -> None:
        items = math.prod(self.launches[0].launch.global_size)
        fused = self.fused = self._fused(())
        self.saved_bytes = items * fused.saved_bytes
        buffers = {each.name for each in fused.kernel.arguments if each.type == PointerType(AddressSpace.GLOBAL)}
        rows = zip(self.things, fused.passed, strict=True)
        names = dict(pair for things, row in rows for pair in zip(things, row, strict=True))
        shared = [each for each in names if sum(each in row for row in self.things) > 1 and names[each] in buffers]
        if shared:
            without = self._fused(shared)
            self.unread = {each: names[each] for each in shared if names[each] in without.dropped}
            self.saved_more = items * without.saved_bytes

    def _fused(self, gives_up: Collection[Hashable]) -> FusedKernel:
        launches = [*zip(self.kernels, self.things, strict=True)]
        options = self.launches[0].kernel.options
        return fuse_launches(launches, self.source.read_text(), options, PORTABLE, gives_up)

    def unread_memory(self, launches: Sequence[_Launch]) -> dict[Hashable, int]:
        """Return which buffers were at one time what is not read."""
        rows = zip(self.things, (each.things for each in launches), strict=True)
        pairs = (pair for things, numbers in rows for pair in zip(things, numbers, strict=True))
        return {thing: number >> 1 for thing, number in pairs if thing in self.unread and isinstance(number, int)}


def chains_of(folder: Path) -> list[Chain]:
    """Return the chains of a recording, and the pairs that are none, the most frequent first.

    Args:
        folder: the recording. One of a format without the order has no chains.

    Raises:
        InvalidInputError: there is none, or it can't be read.
    """
    kernels, orders = read_ordered_list(folder)
    known: dict[Hashable, Chain] = {}
    for process, order in enumerate(orders):
        for run in _runs(order, kernels, process):
            _divide(run, partial(_chain, known, folder))
    merged: dict[Hashable, Chain] = {}
    for each in known.values():
        # Numbers that happen to be equal make no other chain.
        key = each.kernels, each.fused and each.fused.calls, each.reason, each.saved_bytes
        alike = merged.setdefault(key, each)
        alike.found += each.found if alike is not each else []
    chains = [each for each in merged.values() if each.found]
    _forget_what_is_read(chains, orders)
    return sorted(chains, key=lambda each: (each.fused is None, -len(each.found)))


def _thing(argument: PassedArgument, memory: Iterator[int]) -> Hashable:
    if isinstance(argument, PassedBuffer | PassedShared) or argument == PassedOther("image"):
        return next(memory, None)
    return argument.content if isinstance(argument, PassedScalar) else None


def _range(launch: ListedLaunch) -> Hashable:
    return launch.global_size, launch.local_size, launch.global_offset


def _runs(order: Order, kernels: Sequence[ListedKernel], process: int) -> list[list[_Launch]]:
    """Return the launches that follow each other on a queue, with nothing in between that could tell."""
    done: list[list[_Launch]] = []
    now: dict[int, list[_Launch]] = {}
    for place, step in enumerate(order):
        if step.action == "free":
            continue
        # Queues that are not known, all 0, may be several, or out of order.
        is_in_order = step.queue and not step.queue & 1
        launch = None
        if step.kernel is not None and step.launch is not None and step.memory is not None and is_in_order:
            kernel = kernels[step.kernel]
            launch = _Launch(process, place, kernel, kernel.launches[step.launch], step.memory)
        for queue, run in now.items():
            # A chain has no launch that is further away.
            if (launch is None or queue != step.queue) and _meets(step, run[-MOST_KERNELS:]):
                done.append(run)
                now[queue] = []
        if launch is not None:
            now.setdefault(step.queue, []).append(launch)
    return [*done, *now.values()]


def _meets(step: Step, run: Sequence[_Launch]) -> bool:
    """Return True if a step may access memory of a launch."""
    wholes = {number >> 1 for each in run for number in each.memory}
    if step.memory is None or 0 in step.memory:
        return bool(run)
    return not wholes.isdisjoint({0, *(number >> 1 for number in step.memory)})


def _divide(run: Sequence[_Launch], look: Callable[[Sequence[_Launch]], Chain | None]) -> None:
    """Divide a run into chains, each as long as can be, and note them."""
    first = 0
    while first < len(run) - 1:
        last, saved, chain = first + 1, 0, None
        while last < len(run) and last - first < MOST_KERNELS:
            if chain is not None and _is_same(run[last], run[first]):
                # The next step of a loop.
                break
            longer = look(run[first : last + 1])
            if longer is not None and longer.fused is None:
                pair = run[last - 1], run[last]
                told = look(pair)
                if told is not None and {*pair[0].memory} & {*pair[1].memory}:
                    (told if told.fused is None else longer).found.append(pair)
            if longer is None or longer.fused is None or longer.saved_bytes <= saved:
                break
            chain, saved, last = longer, longer.saved_bytes, last + 1
        if chain is not None:
            chain.found.append(run[first:last])
        # A launch that does not join a chain may begin another one.
        first = max(last, first + 1)


def _is_same(one: _Launch, other: _Launch) -> bool:
    return one.kernel is other.kernel and one.memory == other.memory


def _chain(known: dict[Hashable, Chain], folder: Path, launches: Sequence[_Launch]) -> Chain | None:
    """Return what becomes of some launches, each kind of them looked at once; None where that are too many."""
    # By what is equal, whatever it is: numbers may change from time to time.
    numbers: dict[Hashable, int] = {}
    things = tuple(
        tuple(None if each is None else numbers.setdefault(each, len(numbers)) for each in launch.things)
        for launch in launches
    )
    kinds = tuple((id(each.kernel), _range(each.launch)) for each in launches)
    if (kinds, things) not in known:
        if len(known) >= MOST_CHAINS:
            return None
        known[kinds, things] = chain = Chain(launches, folder, things)
        chain.look()
    return known[kinds, things]


def _forget_what_is_read(chains: Sequence[Chain], orders: Sequence[Order]) -> None:
    """Let chains keep of what could be given up only what nobody reads later.

    That could be given up which a chain writes and takes from registers itself, so that only others may read it.
    """
    own = {
        (launch.process, launch.place, whole)
        for chain in chains
        for launches in chain.found
        for whole in chain.unread_memory(launches).values()
        for launch in launches
    }
    last: dict[tuple[int, int], int] = {}
    for process, order in enumerate(orders):
        for place, step in enumerate(order):
            if step.action in ("launch", "read", "map"):
                wholes = (0,) if step.memory is None else (number >> 1 for number in step.memory)
                last |= {(process, whole): place for whole in wholes if (process, place, whole) not in own}
    for chain in chains:
        for launches in chain.found:
            process, place = launches[-1][:2]
            for thing, whole in chain.unread_memory(launches).items():
                if max(last.get((process, each), 0) for each in (0, whole)) > place:
                    del chain.unread[thing]
                    chain.saved_more = 0
