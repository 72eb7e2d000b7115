"""Which launches of a recording one launch could do: chains of them, and what that saves.

    order ─▶ runs of launches on a queue ─▶ chains that `fuse` accepts ─▶ how often, bytes, what could be given up
                                         ─▶ pairs that it refuses     ─▶ why

A run ends where the host, or another queue, comes to memory of one of its launches in between. What saves no
access to memory is no chain, though it would save a launch. Nothing is measured here, and no program changed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from coarsen.errors import CoarsenError, RefusalError
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
Things = tuple[tuple[Hashable, ...], ...]


@dataclass(slots=True)
class Chain:
    """Launches that follow each other.

    Attributes:
        kernels: their names.
        source: the file that has them; None where these are several.
        options: the build options.
        fused: them as one; None where `reason` says why not, with its code.
        reason: empty where they can be one.
        items: work-items of a launch.
        things: what each of them passes; memory by numbers of its own.
        found: the launches, each time that they followed each other.
        count: how often that was.
        gives_up: what nobody reads later in the recording, by the names of the fused kernel's arguments.
        saved_bytes: of global memory, by each time; `saved_more` where these are given up.
        saved_more: see `saved_bytes`.
    """

    kernels: tuple[str, ...]
    source: Path | None
    options: tuple[str, ...]
    fused: FusedKernel | None
    reason: str
    items: int
    things: Things
    found: list[tuple[_Launch, ...]] = field(default_factory=list)
    count: int = 0
    gives_up: tuple[str, ...] = ()
    saved_bytes: int = 0
    saved_more: int = 0


class _Launch(NamedTuple):
    """A launch at a place of the order of a process."""

    place: int
    process: int
    kernel: ListedKernel
    launch: ListedLaunch
    queue: int
    memory: tuple[int, ...]

    @property
    def things(self) -> tuple[Hashable, ...]:
        """Return what each argument is passed."""
        memory = iter(self.memory)
        return tuple(_thing(each, memory) for each in self.launch.arguments)


def chains_of(folder: Path) -> list[Chain]:
    """Return the chains of a recording, and the pairs that are none, the most frequent first.

    Args:
        folder: the recording. One of a format without the order has no chains.

    Raises:
        InvalidInputError: there is none, or it can't be read.
    """
    kernels, orders = read_ordered_list(folder)
    found = _Chains(folder)
    for process, order in enumerate(orders):
        for run in _runs(order, kernels, process):
            found.divide(run)
    chains = sorted(found.known.values(), key=lambda each: (each.fused is None, -each.count))
    chains = [each for each in chains if each.count]
    _ask_what_is_read([each for each in chains if each.fused is not None], orders)
    return chains


def _thing(argument: PassedArgument, memory: Iterator[int]) -> Hashable:
    if isinstance(argument, PassedBuffer | PassedShared | PassedOther):
        return next(memory, None)
    return argument.content if isinstance(argument, PassedScalar) else None


def _runs(order: Order, kernels: Sequence[ListedKernel], process: int) -> list[list[_Launch]]:
    """Return the launches that follow each other on a queue, with nothing in between that could tell."""
    done: list[list[_Launch]] = []
    now: dict[int, list[_Launch]] = {}
    for place, step in enumerate(order):
        launch = _launch(step, place, kernels, process)
        if step.action == "free":
            continue
        for queue, run in now.items():
            if (launch is None or queue != step.queue) and run and _meets(step, run):
                done.append(run)
                now[queue] = []
        if launch is not None:
            now.setdefault(step.queue, []).append(launch)
    return [*done, *now.values()]


def _launch(step: Step, place: int, kernels: Sequence[ListedKernel], process: int) -> _Launch | None:
    """A launch of which all is known; None for any other step."""
    if step.kernel is None or step.launch is None or step.memory is None or step.queue & 1:
        return None
    kernel = kernels[step.kernel]
    return _Launch(place, process, kernel, kernel.launches[step.launch], step.queue, step.memory)


def _meets(step: Step, run: Sequence[_Launch]) -> bool:
    """Return True if a step may access memory of a launch."""
    if step.memory is None or 0 in step.memory:
        return True
    wholes = {number >> 1 for each in run for number in each.memory}
    return 0 in wholes or not wholes.isdisjoint(number >> 1 for number in step.memory)


@dataclass(slots=True)
class _Chains:
    """What has become of launches that follow each other, each kind of them looked at once."""

    folder: Path
    known: dict[Hashable, Chain] = field(default_factory=dict)

    def divide(self, run: Sequence[_Launch]) -> None:
        """Divide a run into chains, each as long as can be."""
        first = 0
        while first < len(run) - 1:
            last = first + 1
            chain: Chain | None = None
            while last < len(run) and last - first < MOST_KERNELS:
                longer = self._chain(run[first : last + 1])
                if longer is None or longer.fused is None:
                    self._count_refused(run[last - 1 : last + 1], longer)
                    break
                if longer.saved_bytes <= (0 if chain is None else chain.saved_bytes):
                    break
                chain, last = longer, last + 1
            if chain is not None:
                chain.count += 1
                chain.found.append(tuple(run[first:last]))
            # A launch that does not join a chain may begin another one.
            first = max(last, first + 1)

    def _count_refused(self, pair: Sequence[_Launch], longer: Chain | None) -> None:
        if longer is None or not _shares_memory(*pair):
            return
        told = self._chain(pair)
        (longer if told is None or told.fused is not None else told).count += 1

    def _chain(self, launches: Sequence[_Launch]) -> Chain | None:
        """Return what becomes of some launches; None where that is not looked at."""
        numbers: dict[Hashable, int] = {}
        things = tuple(
            tuple(
                ("memory", numbers.setdefault(thing, len(numbers))) if isinstance(thing, int) else thing
                for thing in row
            )
            for row in (each.things for each in launches)
        )
        first = launches[0]
        sizes = tuple(
            (each.launch.global_size, each.launch.local_size, each.launch.global_offset) for each in launches
        )
        programs = tuple((each.kernel.source_hash, each.kernel.options) for each in launches)
        key = tuple(each.kernel.kernel for each in launches), things, sizes, programs
        if key not in self.known:
            if len(self.known) >= MOST_CHAINS:
                return None
            fused: FusedKernel | None = None
            reason = _reason(launches, sizes, programs)
            if not reason:
                try:
                    source = (self.folder / first.kernel.source_file).read_text()
                    fused = _fused(source, key[0], things, first.kernel.options)
                except RefusalError as error:
                    reason = f"{error.code}: {error}"
                except CoarsenError as error:
                    reason = str(error)
            file = self.folder / first.kernel.source_file if len({*programs}) == 1 else None
            items = math.prod(first.launch.global_size)
            chain = Chain(key[0], file, first.kernel.options, fused, reason, items, things)
            chain.saved_bytes = items * fused.saved_bytes if fused else 0
            self.known[key] = chain
        return self.known[key]


def _fused(
    source: str, kernels: Sequence[str], things: Things, options: Sequence[str], gives_up: Iterable[Hashable] = ()
) -> FusedKernel:
    return fuse_launches(source, [*zip(kernels, things, strict=True)], options, PORTABLE, {*gives_up})


def _reason(launches: Sequence[_Launch], sizes: Sequence[object], programs: Sequence[object]) -> str:
    """Why launches can't be one, whatever their kernels do; empty where nothing is known against it."""
    if len({*programs}) > 1:
        return "their kernels are in several programs: put them into one source"
    if len({*sizes}) > 1:
        return "fusion-ndrange: they are launched over other NDRanges"
    # A part of a buffer is told without its place.
    wholes = [{*each.memory} for each in launches]
    parts = {number for each in wholes for number in each if number & 1}
    if any(sum({part, part - 1} & each != set() for each in wholes) > 1 for part in parts):
        return "fusion-alias: parts of one buffer may overlap"
    return ""


def _shares_memory(first: _Launch, second: _Launch) -> bool:
    return not {number >> 1 for number in first.memory}.isdisjoint(number >> 1 for number in second.memory)


# What could be given up: what a chain writes and takes from registers itself, so that only others may read it.


def _ask_what_is_read(chains: Sequence[Chain], orders: Sequence[Order]) -> None:
    """Say of each chain what nobody reads later."""
    droppable = [_droppable(chain) for chain in chains]
    safe = {
        (launch.process, number >> 1, launch.place)
        for chain, things in zip(chains, droppable, strict=True)
        for launches in chain.found
        for number in _numbers(chain, launches, things).values()
        for launch in launches
    }
    last = {process: _last_reads(order, process, safe) for process, order in enumerate(orders)}
    for chain, things in zip(chains, droppable, strict=True):
        unread = dict(things)
        for launches in chain.found:
            for thing, number in _numbers(chain, launches, things).items():
                read = last[launches[0].process]
                if max(read.get(number >> 1, 0), read.get(0, 0)) > launches[-1].place:
                    unread.pop(thing, None)
        if unread and chain.source is not None and chain.fused is not None:
            fused = _fused(chain.source.read_text(), chain.kernels, chain.things, chain.options, unread)
            chain.gives_up = tuple(unread.values())
            chain.saved_more = chain.items * fused.saved_bytes


def _droppable(chain: Chain) -> dict[Hashable, str]:
    """Return what the fused kernel need not write where it is given up, with the names of its arguments."""
    assert chain.fused is not None
    assert chain.source is not None
    kernel = chain.fused.kernel
    buffers = {each.name for each in kernel.arguments if each.type == PointerType(AddressSpace.GLOBAL)}
    rows = zip(chain.things, chain.fused.passed, strict=True)
    pairs = [{*zip(things, names, strict=True)} for things, names in rows]
    shared = {
        pair: None
        for index, row in enumerate(pairs)
        for pair in row
        if pair[1] in buffers and any(pair in other for other in pairs[index + 1 :])
    }
    if not shared:
        return {}
    gives_up = [thing for thing, _ in shared]
    fused = _fused(chain.source.read_text(), chain.kernels, chain.things, chain.options, gives_up)
    return {thing: name for thing, name in shared if name in fused.dropped}


def _numbers(chain: Chain, launches: Sequence[_Launch], things: Iterable[Hashable]) -> dict[Hashable, int]:
    """Return the memory that some things were at one time."""
    found: dict[Hashable, int] = {}
    for row, launch in zip(chain.things, launches, strict=True):
        for thing, number in zip(row, launch.things, strict=True):
            if thing in things and isinstance(number, int):
                found[thing] = number
    return found


def _last_reads(order: Order, process: int, safe: Collection[tuple[int, int, int]]) -> dict[int, int]:
    """Return for each whole buffer, 0 for any, the last place that may read it, chains that write it apart."""
    last: dict[int, int] = {}
    for place, step in enumerate(order):
        if step.action in ("launch", "read", "map"):
            for number in (0,) if step.memory is None else step.memory:
                if (process, number >> 1, place) not in safe:
                    last[number >> 1] = place
    return last
