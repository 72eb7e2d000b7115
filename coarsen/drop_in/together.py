"""Launches of a program that one launch may do: collected in a region, made at its end.

    with program.together(queue) as t:                    before      scale ─▶ add ─▶ clip
        program.scale(queue, (n,), None, a, tmp)          after       scale_add_clip, or the three as they are
        program.add(queue, (n,), None, tmp, b, c)
        t.gives_up(tmp)

What may be one launch is fused (`coarsen/fused.py`), built once, and taken where it was asked for, or was faster:
the first times that a region comes, both ways run in turns, each of which does what the program wants, and are
timed. Nothing of a region runs before its end, and nothing at all if it ends with an error.
"""

from __future__ import annotations

import logging
import statistics
import threading
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import pyopencl

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.base.bug_report import bug_message
from coarsen.errors import CoarsenError, InternalError, InvalidInputError
from coarsen.frontend.lower import compile_source, lower
from coarsen.fused import fuse_launches
from coarsen.runtime.arguments import ENQUEUE, Argument, SetArguments, as_set, set_all
from coarsen.runtime.enqueue import LaunchOptions, as_tuple
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.launch import plain_offset, plain_sizes
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.waiting import are_over, is_any_set_by_host

_log = logging.getLogger("coarsen")
# Of each way, of which the first is not counted.
TURNS = 6
LEAST_GAIN = 1.03
_PATIENCE = 1.0
# Of NDRanges, each of which is measured.
_MOST_KNOWN = 1024
_OUT_OF_ORDER = pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE


class CollectedLaunch:
    """What a launch in a region returns, to wait for in regions, and to ask as an event after the end.

    PyOpenCL takes it for no event: other commands wait for the region's `event`.
    """

    def __init__(self, region: Together) -> None:
        self._region = region

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as an event has it)
        if self._region.event is None:
            raise InvalidInputError(f"{name}: nothing is launched before the end of `together`")
        return getattr(self._region.event, name)


class _Collected(NamedTuple):
    """A launch to be made."""

    kernel: Kernel
    sizes: tuple[Any, Any]
    arguments: tuple[Argument, ...]
    options: LaunchOptions
    held: object  # keeps memory that the program releases

    @property
    def typed(self) -> tuple[Argument, ...]:
        """Return the arguments, numbers of their types. Raises TypeError where they can't be told."""
        typed = self.kernel._typed(self.arguments)
        if [each is None for each in typed] != [each is None for each in self.arguments]:
            raise TypeError("what is passed can't be told apart")
        return typed

    @property
    def range(self) -> tuple[Any, ...]:
        """Return global and local size and offset, in work-items."""
        whole, local = plain_sizes(*self.sizes, self.options["g_times_l"])
        offset = plain_offset(self.options["global_offset"], self.sizes[1], self.options["g_times_l"])
        return whole, local, tuple(offset) if offset and any(offset) else None


def _as_passed(argument: Argument) -> Argument:
    """Return an argument as it is now: a number may be what the program changes."""
    if isinstance(argument, np.ndarray | np.void):
        return argument.copy()
    try:
        return argument if isinstance(argument, np.generic | bytes) else memoryview(argument).tobytes("A")
    except TypeError:
        return argument


def _thing(argument: Argument) -> Hashable:
    """Return an argument as `fuse_launches` takes it. Raises TypeError where it can't be told."""
    if argument is None or isinstance(argument, pyopencl.LocalMemory):
        return None
    is_memory = isinstance(argument, pyopencl.MemoryObjectHolder)
    return argument.int_ptr if is_memory else memoryview(argument).tobytes()


@dataclass(slots=True)
class Fused:
    """What a region's launches may be, and what was measured of it.

    Attributes:
        kernel: launched in their place; None for nothing.
        reason: why not, or why the launches stay apart.
        passed: for each of its arguments the launch, and the argument of that.
        apart: pairs of these that must not overlap.
        seconds: that the launches took, and this one.
        is_faster: None while that isn't known.
    """

    kernel: pyopencl.Kernel | None = None
    reason: str = ""
    passed: tuple[tuple[int, int], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    is_faster: bool | None = None

    def values(self, launches: Sequence[_Collected]) -> list[Argument]:
        """Return what the one launch is passed. Raises TypeError."""
        typed = [each.typed for each in launches]
        return [typed[launch][index] for launch, index in self.passed]


class Fuser:
    """Makes kernels of the launches of a program, each once."""

    def __init__(self, plan: CoarseningPlan) -> None:
        self.lock = threading.Lock()
        self._plan = plan
        self._kernels: dict[Hashable, Fused] = {}
        self._known: dict[Hashable, Fused] = {}
        self._names: dict[str, tuple[str, ...] | str] = {}

    def fused(self, launches: Sequence[_Collected], given_up: frozenset[int], device: int) -> Fused:
        """Return what launches become on a device. Raises CoarsenError or TypeError for what can't be told."""
        things = [tuple(map(_thing, each.typed)) for each in launches]
        kernels = [each.kernel.function_name for each in launches]
        for kernel in {*kernels} - self._names.keys():
            try:
                self._names[kernel] = lower(compile_source(*self._plan.compiled_from), kernel).argument_names
            except CoarsenError as error:
                self._names[kernel] = str(error)
        for names in map(self._names.__getitem__, kernels):
            if isinstance(names, str):
                return Fused(reason=names)
        numbers: dict[Hashable, int] = {}
        # Which memory is the same; of numbers those of one name.
        pattern = tuple(
            thing and numbers.setdefault(thing if isinstance(thing, int) else (name, thing), len(numbers))
            for kernel, row in zip(kernels, things, strict=True)
            for name, thing in zip(self._names[kernel], row, strict=True)
        )
        lost = frozenset(map(numbers.__getitem__, given_up))
        made = *kernels, pattern, lost
        if made not in self._kernels:
            self._kernels[made] = self._made([*zip(kernels, things, strict=True)], given_up)
        key = made, launches[0].range, device
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = replace(self._kernels[made], seconds=([], []))
        return self._known[key]

    def _made(self, launches: Sequence[tuple[str, tuple[Hashable, ...]]], given_up: frozenset[int]) -> Fused:
        try:
            made = fuse_launches(launches, *self._plan.compiled_from, given_up)
            text = write_opencl_c(made.kernel)
            kernel = self._plan.kernel_of(text.text, text.standard, made.kernel.name)
        except Exception as error:
            # The program must not end of it.
            is_known = isinstance(error, CoarsenError | pyopencl.Error) and not isinstance(error, InternalError)
            return Fused(reason=str(error) if is_known else bug_message(error))
        places = {name: (at, index) for at, row in enumerate(made.passed) for index, name in enumerate(row)}
        return Fused(kernel, "", tuple(places[name] for name in made.kernel.argument_names), made.apart)


class Together:
    """A region of `coarsen.Program.together`.

    Attributes:
        event: of the last launch; None before the end, and where nothing was launched.
        is_fused: whether one launch was made in the place of several.
        reason: why not; empty where it was.
    """

    def __init__(self, queue: pyopencl.CommandQueue, plans: Sequence[CoarseningPlan], measure: bool) -> None:
        self.event: pyopencl.Event | None = None
        self.is_fused = False
        self.reason = ""
        self._queue, self._plans, self._measure = queue, plans, measure
        self._fuser = plans[0].fuser = plans[0].fuser or Fuser(plans[0])
        self._launches: list[_Collected] = []
        self._given_up: dict[int, pyopencl.MemoryObjectHolder] = {}
        self._thread: int | None = None

    def __enter__(self) -> Self:
        if self._plans[0].region is not None:
            raise InvalidInputError("`together` can't be nested: this program's launches are collected already")
        if self._thread is not None:
            raise InvalidInputError("a region of `together` is entered once: call it again")
        if self._queue.properties & _OUT_OF_ORDER:
            raise InvalidInputError("`together` takes a queue that keeps the order of its commands")
        self._thread = threading.get_ident()
        for plan in self._plans:
            plan.region = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for plan in self._plans:
            plan.region = None
        launches, self._launches = self._launches, []
        if kind is None and launches:
            self._launch(launches)

    def gives_up(self, *buffers: pyopencl.MemoryObjectHolder) -> None:
        """Say of buffers that nobody reads what the region's launches write there.

        Raises InvalidInputError outside of the region, and for what is no buffer.
        """
        if self._plans[0].region is not self:
            raise InvalidInputError("gives_up belongs inside of `together`: its end makes the launches")
        for each in buffers:
            if not isinstance(each, pyopencl.MemoryObjectHolder):
                raise InvalidInputError(f"gives_up takes buffers, not {type(each).__name__}")
            self._given_up[each.int_ptr] = each

    def collect(
        self,
        kernel: Kernel,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        arguments: tuple[Argument, ...] | None,
        options: LaunchOptions,
    ) -> Any:  # noqa: ANN401 (it stands for an event)
        """Keep a launch for the end, for None with what is set. What PyOpenCL has to say of that, it says now.

        Raises InvalidInputError for another thread or queue, and launches that depend on more than arguments.
        """
        name = kernel.function_name
        if threading.get_ident() != self._thread:
            raise InvalidInputError(f"{name}: another thread collects launches of this program by `together`")
        if queue != self._queue:
            raise InvalidInputError(f"{name}: `together` collects launches of another queue than this one")
        if kernel._layouts is not None:
            raise InvalidInputError(f"{name}: `together` takes no arrays that lie otherwise")
        if arguments is None:
            arguments = kernel._set.in_order()
            held: object = kernel._set.copy()
        else:
            kernel.set_args(*arguments)
            kernel._end_call()
            arguments = tuple(map(_as_passed, arguments))
            held = [
                as_set(each) for each in kernel._typed(arguments) if isinstance(each, pyopencl.MemoryObjectHolder)
            ]
        waited = [self._event_of(each) for each in as_tuple(options["wait_for"]) or ()]
        own: LaunchOptions = {**options, "wait_for": [each for each in waited if each is not None] or None}
        self._launches.append(_Collected(kernel, sizes, arguments, own, held))
        return CollectedLaunch(self)

    def _event_of(self, waited: Any) -> Any:  # noqa: ANN401 (whatever is passed)
        """Return the event to wait for; None for a launch before in this region."""
        if not isinstance(waited, CollectedLaunch):
            return waited
        if waited._region is not self and waited._region.event is None:
            raise InvalidInputError("wait_for: the launch of another region of `together` is not made")
        return waited._region.event

    def _launch(self, launches: list[_Collected]) -> None:
        every = [each for launch in launches for each in launch.arguments]
        memory = {each.int_ptr: each for each in every if isinstance(each, pyopencl.MemoryObjectHolder)}
        if not self._given_up.keys() <= memory.keys():
            raise InvalidInputError("gives_up: no launch of the region is passed this buffer")
        try:
            found = self._found(launches, [*memory.values()])
        except (CoarsenError, TypeError) as error:
            found = Fused(reason=str(error))
        self.reason = found.reason
        if found.kernel is None or found.is_faster is False:
            self._make(launches, None)
        elif found.is_faster or not self._measure:
            self._make(launches, found)
        else:
            self._measured(launches, found)

    def _found(self, launches: list[_Collected], memory: list[Argument]) -> Fused:
        """Return what launches may be. Raises CoarsenError or TypeError for what can't be looked at."""
        if len(launches) == 1:
            return Fused(reason="there is only one launch")
        if len({launch.range for launch in launches}) > 1 or not all(launches[0].range[0]):
            return Fused(reason="the launches have other NDRanges, or no work-items [fusion-ndrange]")
        found = self._fuser.fused(launches, frozenset(self._given_up), self._queue.device.int_ptr)
        if found.kernel is None:
            return found
        is_apart = _are_apart(found.values(launches), found.apart)
        # What is not written any more must not be anything else's memory.
        lost = [index for index, each in enumerate(memory) if each.int_ptr in self._given_up]
        pairs = [(one, other) for one in lost for other in range(len(memory)) if other != one]
        if any(plan.shares_memory for plan in self._plans) or not is_apart or not _are_apart(memory, pairs):
            return Fused(reason="memory that is passed may overlap, or is not known [fusion-alias]")
        return found

    def _make(self, launches: list[_Collected], found: Fused | None) -> None:
        """Make one launch; the launches as they are where there is none, or the device does not take it."""
        if found is not None and found.kernel is not None:
            values, (whole, local, offset) = found.values(launches), launches[0].range
            try:
                with self._fuser.lock:
                    set_all(found.kernel, range(len(values)), values)
                    given = found.kernel, whole, local, offset, _waited(launches)
                    self.event = ENQUEUE(self._queue, *given, False, False)
                self.is_fused, self.reason = True, ""
                return
            except pyopencl.Error as error:
                found.kernel, found.reason = None, str(error)
                self.reason = found.reason
        kept = [(each.kernel, each.kernel._set.copy()) for each in launches]
        for each in launches:
            self.event = each.kernel(self._queue, *each.sizes, *each.arguments, **each.options)
        for kernel, arguments in kept:
            kernel._set_again(arguments)

    def _measured(self, launches: list[_Collected], found: Fused) -> None:
        """Run one of both ways, in turns, and time it where nothing else runs on the queue."""
        apart, fused = found.seconds
        is_turn = len(fused) < len(apart)
        waited = _waited(launches)
        self.reason = "both ways are being measured, in turns"
        if is_any_set_by_host(waited) or not are_over(self._queue, waited, _PATIENCE):
            if not is_any_set_by_host(waited):
                found.is_faster, found.reason = False, "the queue is never empty, so that nothing can be measured"
            self._make(launches, None)
            return
        start = time.perf_counter()
        self._make(launches, found if is_turn else None)
        self._queue.finish()
        (fused if is_turn else apart).append(time.perf_counter() - start)
        if len(fused) < TURNS:
            return
        gains = [of(apart[1:]) / of(fused[1:]) for of in (min, statistics.median)]
        found.is_faster = min(gains) >= LEAST_GAIN
        found.reason = "" if found.is_faster else "one launch was not faster"
        names = ", ".join(each.kernel.function_name for each in launches)
        what = "run as one launch" if found.is_faster else "stay apart"
        _log.info("%s %s: %.2f times as fast, measured", names, what, gains[0])


def _waited(launches: Sequence[_Collected]) -> list[pyopencl.Event]:
    return [event for launch in launches for event in launch.options["wait_for"] or ()]


def _are_apart(values: Sequence[Argument], pairs: Sequence[tuple[int, int]]) -> bool:
    """Return True if the values of each pair surely lead to memory that does not overlap."""
    passed = SetArguments(len(values))
    passed.note_all(values)
    return passed.are_apart(pairs)
