"""Measures candidates of one benchmark on one machine: load, try and verify, time against the baseline.

This is what runs in the process that can be killed. It needs nothing but Python, NumPy and the machine's own
package, so that it also runs where neither clang nor LLVM is installed.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from coarsen.errors import InternalError
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.machine import BuildError, Executor, Job, LaunchError, Machine
from coarsen.opencl_bench.measure.timing import Timed, TimedRun, interleaved
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.records.measurement import CheckedAgainst, Method
from coarsen.opencl_bench.workloads.benchmark import Array, Benchmark, Launch, LocalSize, Workload
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.variant.variant import Definitions, Variant

# The message about a changed guard zone.
WROTE_OUTSIDE = "wrote outside of the buffer"

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
    placement: _Placement
    job: Job


# Bytes of workloads that are kept although neither kernel needs them just now, unless another number is asked for.
KEPT_BYTES = 2 << 30


class _Placement:
    """A workload on the machine, and what its outputs should be."""

    def __init__(self, workload: Workload, executor: Executor) -> None:
        self.workload = workload
        self.executor = executor
        self._expected: Mapping[str, Array] | None = None

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

    def find_expected(self, original: Code) -> None:
        """Compute the outputs by the reference; by the uncoarsened kernel where there is none."""
        if self._expected is None:
            reference = self.workload.reference
            self._expected = self.outputs_of_oracle(original) if reference is None else reference()

    def outputs_of(self, original: Code) -> Mapping[str, Array]:
        """Return the outputs of the uncoarsened kernel, started from the workload's inputs. Raises LaunchError."""
        try:
            job = self.executor.load(original, Variant())
        except BuildError as error:
            raise LaunchError(f"the uncoarsened kernel, which the results are compared with: {error}") from error
        self.executor.reset()
        job(Clock.SUM)
        return self.executor.outputs()

    def outputs_of_oracle(self, original: Code) -> Mapping[str, Array]:
        """Return the outputs of the uncoarsened kernel, the measure of others. Raises LaunchError."""
        outputs = self.outputs_of(original)
        before = self.workload.buffers
        if all(_is_same(outputs[name], before[name]) for name in self.workload.outputs):
            names = ", ".join(self.workload.outputs)
            raise LaunchError(
                f"the uncoarsened kernel leaves all outputs as they were ({names}): nothing could be verified"
            )
        return outputs


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
    """

    def __init__(
        self,
        machine: Machine,
        benchmark: Benchmark,
        preset: str,
        seed: int,
        kept_bytes: int = KEPT_BYTES,
        shared_local_size: LocalSize | None = None,
    ) -> None:
        self._machine = machine
        self._benchmark = benchmark
        self._preset = preset
        self._seed = seed
        self._kept_bytes = kept_bytes
        self._shared_local_size = shared_local_size
        self._placements: dict[tuple[LocalSize, Definitions], _Placement] = {}
        self._checked: set[Code] = set()
        self._loaded: dict[Slot, _Loaded] = {}

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
        placement = self._placement(candidate)
        job = placement.executor.load(code, candidate, binary, self._launches(placement, candidate))
        self._loaded[slot] = _Loaded(candidate, placement, job)

    def expect(self, slot: Slot, original: Code) -> None:
        """Find out what the outputs of the workload of a loaded candidate should be.

        Where the reference would take too long at this preset, the uncoarsened kernel is the oracle, once it was
        found right at the preset `test`.

        Args:
            slot: which of the two.
            original: the uncoarsened kernel with the same macros.

        Raises:
            LaunchError: the uncoarsened kernel could not be run, or is wrong itself.
        """
        placement = self._loaded[slot].placement
        if placement.workload.reference is None and original not in self._checked:
            self._check(original, self._loaded[slot].candidate.definitions)
            self._checked.add(original)
        placement.find_expected(original)

    def try_out(self, slot: Slot) -> Trial:
        """Run what was loaded once and compare the results with the expected ones.

        Raises:
            LaunchError: a launch failed.
        """
        loaded = self._loaded[slot]
        placement, executor = loaded.placement, loaded.placement.executor
        expected = placement.expected
        # Not the outputs alone: what another kernel wrote elsewhere must not make this one right, nor wrong.
        executor.reset()
        nanoseconds = loaded.job(self.clock).nanoseconds
        wrong = compare(executor.outputs(), expected, placement.workload)
        wrong += [f"{WROTE_OUTSIDE} {name}" for name in executor.violated()]
        return Trial(nanoseconds, tuple(wrong), self._oracle(loaded))

    def time(self, method: Method) -> Timed:
        """Time the candidate against the baseline. Raises LaunchError."""
        baseline, candidate = (self._loaded[slot] for slot in (Slot.BASELINE, Slot.CANDIDATE))
        runs = [TimedRun(each.placement.executor, each.job, method, self.clock) for each in (baseline, candidate)]
        timed = interleaved(*runs, method)
        return replace(timed, baseline_beside=runs[0].beside, candidate_beside=runs[1].beside)

    def _check(self, original: Code, definitions: Definitions) -> None:
        """Raise LaunchError where the uncoarsened kernel isn't right at the preset `test`."""
        if CHECKED_PRESET not in self._benchmark.presets:
            return
        workload = self._benchmark.workload(CHECKED_PRESET, self._seed, definitions=definitions)
        if workload.reference is None:
            return
        placement = _Placement(workload, self._machine.place(workload))
        wrong = compare(placement.outputs_of(original), workload.reference(), workload)
        if wrong:
            raise LaunchError(f"the uncoarsened kernel is wrong at preset {CHECKED_PRESET}: {'; '.join(wrong)}")

    def _placement(self, candidate: Variant) -> _Placement:
        key = self._workload_key(candidate)
        if key in self._placements:
            self._placements[key] = self._placements.pop(key)  # the latest used is the last
        else:
            self._forget_some(self._kept_bytes)
            workload = self._benchmark.workload(self._preset, self._seed, *key)
            self._placements[key] = _Placement(workload, self._placed(workload))
        return self._placements[key]

    def _placed(self, workload: Workload) -> Executor:
        """A workload on the machine; where it doesn't fit beside those that are kept, these are given up."""
        with contextlib.suppress(LaunchError):
            return self._machine.place(workload)
        self._forget_some(0)
        return self._machine.place(workload)

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
        is_oracle = not loaded.candidate.coarsenings and not self._is_launched_otherwise(loaded.candidate)
        return CheckedAgainst.NOTHING if is_oracle else CheckedAgainst.UNCOARSENED

    def _launches(self, placement: _Placement, candidate: Variant) -> tuple[Launch, ...] | None:
        """The launches at a candidate's local size; None where the workload has them."""
        if not self._is_launched_otherwise(candidate):
            return None
        if self._benchmark.shared_local_size is not None:
            # Local memory may have the size that the local size asks for.
            return self._benchmark.launches(self._preset, candidate.local_size, candidate.definitions)
        return tuple(replace(launch, local_size=candidate.local_size) for launch in placement.workload.launches)

    def _is_launched_otherwise(self, candidate: Variant) -> bool:
        return self._shared_local_size not in (None, candidate.local_size)

    def _workload_key(self, candidate: Variant) -> tuple[LocalSize, Definitions]:
        shared = self._shared_local_size
        return candidate.local_size if shared is None else shared, candidate.definitions


def _is_same(now: Array, before: Array) -> bool:
    if now.dtype.names is not None:  # structures, whose numbers np.array_equal does not look into
        return np.array_equal(now.view(np.uint8), before.view(np.uint8))
    return np.array_equal(now, before, equal_nan=np.issubdtype(now.dtype, np.floating))


def _byte_count(array: Array) -> int:
    return int(array.nbytes)
