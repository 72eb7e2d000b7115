"""Measures candidates of one benchmark on one machine: load, try and verify, time against the baseline.

This is what runs in the process that can be killed. It needs nothing but Python, NumPy and PyOpenCL, so that it
also runs where neither clang nor LLVM is installed.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from coarsen.errors import InternalError
from coarsen.ir.kernel import WrittenArgument
from coarsen.tuning.measure.comparison import compare, is_same, padding_of, without_padding
from coarsen.tuning.measure.laid_out import Arrangements, arrangements_of, as_the_host_has_them, laid_out
from coarsen.tuning.measure.machine import BuildError, Job, LaunchError
from coarsen.tuning.measure.timing import Timed, interleaved, timed_run
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import CheckedAgainst, Method
from coarsen.tuning.workload.benchmark import Array, Benchmark, Clock, Launch, LocalSize, Workload
from coarsen.variant.variant import Definitions, Variant

if TYPE_CHECKING:
    from coarsen.tuning.measure.opencl_machine import OpenClExecutor, OpenClMachine

# The message about a changed guard zone.
WROTE_OUTSIDE = "wrote outside of the buffer"
# How the message begins about results that were right at first.
IN_A_LATER_RUN = "in a later run, with what others had left in scratch, "

# The oracles in messages.
UNCOARSENED, DEFAULT_VERSION = "the uncoarsened kernel", "the default version"

# Small enough for every reference.
CHECKED_PRESET = "test"


class Slot(enum.StrEnum):
    """The two kernels that a session holds."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a first run: its duration in nanoseconds, what is wrong with its results, what they were
    compared with."""

    nanoseconds: int
    wrong: tuple[str, ...]
    oracle: CheckedAgainst


@dataclass(frozen=True, slots=True)
class _Loaded:
    candidate: Variant
    placement: Placement
    executor: OpenClExecutor
    arrangements: Arrangements
    job: Job

    def outputs(self) -> Mapping[str, Array]:
        """Return the outputs as the host has them. Raises LaunchError."""
        return as_the_host_has_them(self.executor.outputs(), self.placement.workload, self.arrangements)


@dataclass(frozen=True, slots=True)
class _LaidOut:
    """The workload whose arrays were packed last, on the machine."""

    workload: Workload
    arrangements: Arrangements
    executor: OpenClExecutor


# Bytes of workloads that are kept although neither kernel needs them just now, unless another number is asked for.
KEPT_BYTES = 2 << 30


class Session:
    """One benchmark's workloads on one machine.

    Args:
        machine: where it runs.
        benchmark: makes the workloads, one for each local size.
        preset: names the sizes.
        seed: of the inputs.
        kept_bytes: how large the workloads may be in all, those that are needed apart.
        shared_local_size: where neither the inputs nor the results depend on the local size, the one at which the
            workload is made for all: they share its buffers, and the outputs of its launch are what all of them
            should give. None: each local size has a workload of its own.
        default: the version whose results all others should give, where there is no reference; its launches are
            its own. None: these are the results of the uncoarsened kernel with the same macros.
    """

    def __init__(
        self,
        machine: OpenClMachine,
        benchmark: Benchmark,
        preset: str,
        seed: int,
        kept_bytes: int = KEPT_BYTES,
        shared_local_size: LocalSize | None = None,
        default: Variant | None = None,
    ) -> None:
        self._machine = machine
        self._benchmark = benchmark
        self._preset = preset
        self._seed = seed
        self._kept_bytes = kept_bytes
        self._shared_local_size = shared_local_size
        if default is not None and shared_local_size is None and benchmark.buffers_fit_any_local_size:
            self._shared_local_size = default.local_size
        self._default = default
        self._placements: dict[tuple[LocalSize, Definitions], Placement] = {}
        self._checked: set[Code] = set()
        self._loaded: dict[Slot, _Loaded] = {}
        self._laid_out: _LaidOut | None = None
        self._padding: dict[Slot, Mapping[str, WrittenArgument]] = {}
        self._first_outputs: dict[Slot, Mapping[str, Array]] = {}

    @property
    def clock(self) -> Clock:
        """Return the clock by which the benchmark's launches are timed."""
        return self._benchmark.clock

    def place(self, slot: Slot, candidate: Variant) -> bool:
        """Put a candidate's workload on the machine; whether there is a reference of its outputs.

        Raises:
            LaunchError: the device doesn't take the workload.
        """
        self._loaded.pop(slot, None)
        return self._placement(candidate).workload.reference is not None

    def load(self, slot: Slot, candidate: Variant, code: Code, binary: bytes | None = None) -> None:
        """Build a candidate's code for its workload.

        Raises:
            BuildError: the device's compiler refuses it.
            LaunchError: the device doesn't take the workload.
        """
        self._loaded.pop(slot, None)
        self._first_outputs.pop(slot, None)
        placement = self._placement(candidate)
        launches = self._launches(placement, candidate)
        executor, arrangements = self._executor(placement, code, launches)
        job = executor.load(code, candidate, binary, launches)
        self._loaded[slot] = _Loaded(candidate, placement, executor, arrangements, job)

    def expect(self, slot: Slot, original: Code) -> None:
        """Find out what the outputs of the workload of a loaded candidate should be.

        Where the reference would take too long at this preset, or there is none, the default version is the
        oracle, or else the uncoarsened kernel. It must be right at the preset `test`.

        Args:
            slot: which of the two.
            original: the oracle's code; of the uncoarsened kernel, that with the same macros.

        Raises:
            LaunchError: the oracle could not be run, is wrong itself, or has other inputs.
        """
        placement, candidate = self._loaded[slot].placement, self._loaded[slot].candidate
        local_size, _ = self._workload_key(candidate)
        oracle = self._default or Variant(local_size, (), candidate.definitions)
        name = UNCOARSENED if self._default is None else DEFAULT_VERSION
        if placement.workload.reference is None and original not in self._checked:
            self._check(Oracle(name, original, oracle))
            self._checked.add(original)
        if placement.workload.reference is None and self._workload_key(oracle) != self._workload_key(candidate):
            raise LaunchError(
                f"{name} has other inputs, so nothing can be compared with its results: give the workload a "
                "reference, or say which macros its buffers depend on"
            )
        launches = self._launches(placement, oracle)
        placement.find_expected(Oracle(name, original, oracle, launches))
        self._padding[slot] = padding_of(original, launches or placement.workload.launches)

    def try_out(self, slot: Slot) -> Trial:
        """Run what was loaded once and compare the results with the expected ones.

        Raises:
            LaunchError: a launch failed.
        """
        loaded = self._loaded[slot]
        executor = loaded.executor
        # Not the outputs alone: what another kernel wrote elsewhere must not make this one right, nor wrong.
        executor.reset()
        nanoseconds = loaded.job(self.clock).nanoseconds
        outputs = self._first_outputs[slot] = loaded.outputs()
        wrong = self._wrong(slot, outputs)
        wrong += [f"{WROTE_OUTSIDE} {name}" for name in executor.violated()]
        return Trial(nanoseconds, tuple(wrong), self._oracle(loaded))

    def time(self, method: Method) -> Timed:
        """Time the candidate, which was tried, against the baseline.

        Raises:
            LaunchError: a launch failed.
        """
        baseline, candidate = (self._loaded[slot] for slot in (Slot.BASELINE, Slot.CANDIDATE))
        first, second = (
            partial(timed_run, each.executor, each.job, method, self.clock) for each in (baseline, candidate)
        )
        return interleaved(first, second, method)

    def wrong_at_last(self) -> tuple[str, ...]:
        """Compare the results of the candidate's last timed run with the expected ones.

        Between timed runs the outputs alone are put back. A version that counts on other buffers being as they
        were made, scratch that is zero for one, is right in its first run alone; what was timed was not its job.

        Raises:
            LaunchError: the results can't be read.
        """
        outputs = self._loaded[Slot.CANDIDATE].outputs()
        first = self._first_outputs.pop(Slot.CANDIDATE, None)
        if first is not None and all(is_same(outputs[name], first[name]) for name in outputs):
            return ()
        wrong = self._wrong(Slot.CANDIDATE, outputs)
        return tuple(f"{IN_A_LATER_RUN}{each}" for each in wrong)

    def _wrong(self, slot: Slot, outputs: Mapping[str, Array]) -> list[str]:
        """Compare outputs with the expected ones, all but their padding."""
        placement, padding = self._loaded[slot].placement, self._padding.get(slot, {})
        expected = without_padding(placement.expected, padding)
        return compare(without_padding(outputs, padding), expected, placement.workload)

    def _check(self, oracle: Oracle) -> None:
        """Raise LaunchError where an oracle isn't right at the preset `test`."""
        if CHECKED_PRESET not in self._benchmark.presets:
            return
        workload = self._benchmark.workload(CHECKED_PRESET, self._seed, definitions=oracle.variant.definitions)
        if workload.reference is None:
            return
        placement = Placement(workload, self._machine.place(workload))
        padding = padding_of(oracle.code, workload.launches)
        outputs, expected = placement.outputs_of(oracle), workload.reference()
        wrong = compare(without_padding(outputs, padding), without_padding(expected, padding), workload)
        if wrong:
            raise LaunchError(f"{oracle.name} is wrong at preset {CHECKED_PRESET}: {'; '.join(wrong)}")

    def _placement(self, candidate: Variant) -> Placement:
        key = self._workload_key(candidate)
        if key in self._placements:
            self._placements[key] = self._placements.pop(key)  # the latest used is the last
        else:
            self._forget_some(self._kept_bytes)
            workload = self._benchmark.workload(self._preset, self._seed, *key)
            self._placements[key] = Placement(workload, self._tried_twice(lambda: self._machine.place(workload)))
        return self._placements[key]

    def _executor(
        self, placement: Placement, code: Code, launches: Sequence[Launch] | None
    ) -> tuple[OpenClExecutor, Arrangements]:
        """The workload for some code: where that wants arrays to lie otherwise, on buffers of its own.

        Those that were packed last are kept: packing takes longer than most launches, and variants whose arrays
        lie alike mostly follow each other.
        """
        if not code.arrays:
            return placement.executor, {}
        workload = placement.workload
        arrangements = arrangements_of(workload, code, workload.launches if launches is None else launches)
        kept = self._laid_out
        if kept is None or kept.workload is not workload or kept.arrangements != arrangements:
            del kept
            self._laid_out = None  # before the next is placed: the device may have no room for both
            executor = self._tried_twice(lambda: self._machine.place(laid_out(workload, arrangements)))
            kept = self._laid_out = _LaidOut(workload, arrangements, executor)
        return kept.executor, arrangements

    def _tried_twice(self, place: Callable[[], OpenClExecutor]) -> OpenClExecutor:
        """Return what is placed; where it doesn't fit beside the workloads that are kept, these are given up."""
        with contextlib.suppress(LaunchError):
            return place()
        self._laid_out = None
        self._forget_some(0)
        return place()

    def _forget_some(self, kept_bytes: int) -> None:
        """Free the workloads that neither slot holds, but for the latest: they may fill the device's memory."""
        needed = {self._workload_key(loaded.candidate) for loaded in self._loaded.values()}
        kept = {}
        left = kept_bytes
        for key, placement in reversed(self._placements.items()):
            left -= placement.byte_count
            if key in needed or left >= 0:
                kept[key] = placement
        self._placements = dict(reversed(kept.items()))

    def _oracle(self, loaded: _Loaded) -> CheckedAgainst:
        if loaded.placement.workload.reference is not None:
            return CheckedAgainst.REFERENCE
        if self._default is not None:
            is_default = loaded.candidate == self._default
            return CheckedAgainst.NOTHING if is_default else CheckedAgainst.DEFAULT
        is_oracle = loaded.candidate.is_original and self._shared_local_size in (None, loaded.candidate.local_size)
        return CheckedAgainst.NOTHING if is_oracle else CheckedAgainst.UNCOARSENED

    def _launches(self, placement: Placement, candidate: Variant) -> tuple[Launch, ...] | None:
        """The launches at a candidate's local size and with its macros; None where the workload has them."""
        local_size, definitions = self._workload_key(candidate)
        if (local_size, definitions) == (candidate.local_size, candidate.definitions):
            return None
        is_made_alike = self._default is None and self._benchmark.shared_local_size is None
        if is_made_alike and definitions == candidate.definitions:
            return tuple(
                replace(launch, local_size=candidate.local_size) for launch in placement.workload.launches
            )
        # Local memory may have the size that the local size asks for.
        return self._benchmark.launches(self._preset, candidate.local_size, candidate.definitions, self._seed)

    def _workload_key(self, candidate: Variant) -> tuple[LocalSize, Definitions]:
        """The local size and the macros that a candidate's workload is made with."""
        shared = self._shared_local_size
        definitions = self._benchmark.definitions_of_workload(candidate.definitions)
        return candidate.local_size if shared is None else shared, definitions


# A workload on a machine, and what its outputs should be.


@dataclass(frozen=True, slots=True)
class Oracle:
    """An uncoarsened kernel whose outputs are the measure of others.

    `name`: what it is called in messages. `variant`: its macros and local size. `launches`: in place of the
    workload's own; None for these.
    """

    name: str
    code: Code
    variant: Variant
    launches: Sequence[Launch] | None = field(default=None, compare=False)


class Placement:
    """A workload on the machine.

    Args:
        workload: what is placed.
        executor: where it is.
    """

    def __init__(self, workload: Workload, executor: OpenClExecutor) -> None:
        self.workload = workload
        self.executor = executor
        self._expected: Mapping[str, Array] | None = None
        self._oracle: Oracle | None = None

    @property
    def byte_count(self) -> int:
        """The size of its buffers, and of the outputs once more."""
        buffers = self.workload.buffers
        return sum(map(_byte_count, buffers.values())) + sum(
            _byte_count(buffers[n]) for n in self.workload.outputs
        )

    @property
    def expected(self) -> Mapping[str, Array]:
        """Return the expected outputs that were found. Raises InternalError if none were."""
        if self._expected is None:
            raise InternalError("nobody found out what the outputs should be")
        return self._expected

    def find_expected(self, oracle: Oracle) -> None:
        """Compute the outputs by the reference; by the oracle where there is none. Raises LaunchError."""
        reference = self.workload.reference
        if reference is None and oracle != self._oracle:
            self._expected = self._outputs_of_oracle(oracle)
            self._oracle = oracle
        elif reference is not None and self._expected is None:
            self._expected = reference()

    def outputs_of(self, oracle: Oracle) -> Mapping[str, Array]:
        """Return the outputs of an oracle, started from the workload's inputs. Raises LaunchError."""
        try:
            job = self.executor.load(oracle.code, Variant(), launches=oracle.launches)
        except BuildError as error:
            raise LaunchError(f"{oracle.name}, which the results are compared with: {error}") from error
        self.executor.reset()
        job(Clock.SUM)
        return self.executor.outputs()

    def _outputs_of_oracle(self, oracle: Oracle) -> Mapping[str, Array]:
        """Return the outputs of an oracle that has written some. Raises LaunchError."""
        outputs = self.outputs_of(oracle)
        padding = padding_of(oracle.code, oracle.launches or self.workload.launches)
        before = without_padding(self.workload.buffers, padding)
        now = without_padding(outputs, padding)
        if all(is_same(now[name], before[name]) for name in self.workload.outputs):
            names = ", ".join(self.workload.outputs)
            raise LaunchError(
                f"{oracle.name} leaves all outputs as they were ({names}): nothing could be verified"
            )
        return outputs


def _byte_count(array: Array) -> int:
    return int(array.nbytes)
