"""Measures candidates in a process that is killed when it hangs and started again when it died.

place ─▶ load ─▶ expect ─▶ try, verified ─▶ given up if too slow ─▶ timed against the baseline
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.tuning.measure.session import Slot
from coarsen.tuning.measure.timing import Timed
from coarsen.tuning.processes.child_process import ChildDiedError, ChildProcess, ChildTimedOutError
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import WHILE_BUILT, CheckedAgainst, Invalidity, Method
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.variant import LocalSize, Variant
from coarsen.variant.variant_json import variant_to_json

SERVICE = "coarsen.tuning.processes.measure_service"

# Inputs and references are made by NumPy, in seconds for most, in minutes for some.
OPENING_SECONDS = 120.0
# However little time is left, an answer that is there may be read.
_LEAST_SECONDS = 0.05
# A device that was just lost may need another try.
OPENING_ATTEMPTS = 2
PLACING_SECONDS = 120.0
ORACLE_SECONDS = 900.0
# Between two timed runs the outputs are put back.
COPYING_ALLOWANCE = 4.0
# A candidate at most this many times as slow as the baseline is never given up, however good the best is.
TOLERATED_SLOWDOWN = 2.0
# Nor a run of at most this many nanoseconds: giving it up would save nothing.
SHORT_RUN = 1e7


@dataclass(frozen=True, slots=True)
class Ready:
    """A candidate whose code is there.

    `original` is the code of what its results are compared with: of the default version where there is one, or
    else of the uncoarsened kernel with the same macros.
    """

    candidate: Variant
    code: Code
    binary: str | None
    original: Code


@dataclass(frozen=True, slots=True)
class Limits:
    """Durations in nanoseconds: the best of all so far and the baseline's; None where not known yet."""

    best: float | None = None
    baseline: float | None = None

    def longest(self, method: Method) -> float | None:
        """Return the duration of a run above which a candidate is given up."""
        if self.best is None:
            return None
        return max(method.timeout_multiple * self.best, TOLERATED_SLOWDOWN * (self.baseline or 0.0), SHORT_RUN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Timed):
    """The result of measuring a candidate: the fields of a `Measurement` that are not known before."""

    invalidity: Invalidity
    reason: str = ""
    oracle: CheckedAgainst = CheckedAgainst.NOTHING
    measure_seconds: float = 0.0
    clock: Clock = Clock.SUM


class _FailedError(Exception):
    """The candidate failed, in a way that is a row."""

    def __init__(self, invalidity: Invalidity, reason: str) -> None:
        super().__init__(reason)
        self.invalidity = invalidity
        self.reason = reason


class MeasuringProcess:
    """Measures candidates of one benchmark on one machine.

    Args:
        benchmark: what `measure_service.benchmark_of` takes.
        preset: names the sizes.
        seed: of the inputs.
        machine: as `measure_service.open_machine` takes it.
        method: how to time, and how long to wait.
        content_hash: that of the benchmark at this preset; None: whatever the process finds is measured.
        time_left: the seconds that are left for everything; None where there is no such limit.
        variables: of its environment, besides those of this process.
        shared_local_size: as `Session` takes it.
        default: likewise.
        child: the process, which others use before and after and close; one of its own if None.
        called: the benchmark in messages; `benchmark` if None.
    """

    def __init__(
        self,
        benchmark: str,
        preset: str,
        seed: int,
        machine: Mapping[str, Any],
        method: Method,
        content_hash: str | None = None,
        time_left: Callable[[], float] | None = None,
        variables: Mapping[str, str] | None = None,
        shared_local_size: LocalSize | None = None,
        default: Variant | None = None,
        child: ChildProcess | None = None,
        called: str | None = None,
    ) -> None:
        self._called = called or benchmark
        self._time_left = time_left
        self._opening: Mapping[str, Any] = {
            "benchmark": benchmark,
            "preset": preset,
            "seed": seed,
            "machine": machine,
            "content_hash": content_hash,
            "shared_local_size": shared_local_size,
            "default": None if default is None else variant_to_json(default),
        }
        self._method = method
        self._is_shared = child is not None
        self._child = ChildProcess(SERVICE, variables=variables) if child is None else child
        # Whether the process has these inputs, and not those of whoever used it before.
        self._is_open = False
        self._baseline: Variant | None = None

    def __enter__(self) -> MeasuringProcess:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def measure(self, ready: Ready, baseline: Ready, limits: Limits) -> Outcome:
        """Verify a candidate and time it against the baseline.

        Raises:
            DeviceError: the device can't be opened, or the baseline does not run on it any more.
            InvalidInputError: the benchmark isn't what it was.
        """
        start = time.perf_counter()
        self.open()
        try:
            outcome = self._measured(ready, baseline, limits)
        except _FailedError as failed:
            outcome = Outcome(invalidity=failed.invalidity, reason=failed.reason)
        return replace(outcome, measure_seconds=time.perf_counter() - start)

    def use(self, method: Method) -> None:
        """Time what comes next in another way."""
        self._method = method

    def start_afresh(self) -> None:
        """Measure what comes next in a new process."""
        self._child.close()

    def close(self) -> None:
        """End the process, unless others use it as well."""
        self._is_open = False
        if not self._is_shared:
            self._child.close()

    def open(self) -> None:
        """Start the process and have it make the inputs, unless that was done; raises as `measure` does."""
        if self._is_open and self._child.is_running:
            return
        self._baseline = None
        problem = ""
        for _ in range(OPENING_ATTEMPTS):
            try:
                answer = self._child.ask({"do": "open", **self._opening}, self._within(OPENING_SECONDS))
            except (ChildDiedError, ChildTimedOutError) as error:
                problem = f"the device can't be opened: {error}"
                continue
            if "changed" in answer:
                raise InvalidInputError(f"{self._called} has changed since the sweep began; begin again")
            if "failed" not in answer:
                self._is_open = True
                return
            problem = answer["failed"]
            self._child.close()
        raise DeviceError(problem)

    def _measured(self, ready: Ready, baseline: Ready, limits: Limits) -> Outcome:
        has_reference = self._load(Slot.CANDIDATE, ready)
        # Without a reference it is a kernel that runs, which may hang like any other.
        seconds = ORACLE_SECONDS if has_reference else self._seconds_of_first_run(Limits())
        self._ask_for(Slot.CANDIDATE, {"do": "expect", "original": ready.original.to_json()}, seconds)
        if (ready.candidate, ready.code) == (baseline.candidate, baseline.code):
            # It is what others are measured against, however slow it is beside the best of them.
            limits = Limits()
        tried = self._tried(limits)
        self._refuse_wrong(tried)
        if _is_slow(tried["nanoseconds"], limits.longest(self._method)):
            # A first run is slow for reasons of its own: page faults, cold caches.
            tried = self._tried(limits)
            self._give_up_if_slow(tried["nanoseconds"], limits)
        if self._baseline != baseline.candidate:
            self._load_baseline(ready, baseline)
        timed = self._timed(tried["nanoseconds"], limits)
        self._refuse_wrong(timed)
        times: dict[str, Any] = {each.name: tuple(timed[each.name]) for each in fields(Timed)}
        oracle, clock = CheckedAgainst(tried["oracle"]), Clock(timed["clock"])
        return Outcome(invalidity=Invalidity.CORRECT, oracle=oracle, clock=clock, **times)

    def _refuse_wrong(self, answer: Mapping[str, Any]) -> None:
        """Raise _FailedError where results were wrong."""
        if answer["wrong"]:
            # A kernel with wrong results may have written anywhere: inputs and guard zones are to be made anew.
            self._child.close()
            raise _FailedError(Invalidity.CORRECTNESS, "; ".join(answer["wrong"]))

    def _load(self, slot: Slot, ready: Ready) -> bool:
        """Place a workload and build its kernel; whether it has a reference."""
        candidate = variant_to_json(ready.candidate)
        placed = self._ask_for(slot, {"do": "place", "candidate": candidate}, PLACING_SECONDS)
        request = {"do": "load", "candidate": candidate, "code": ready.code.to_json(), "binary": ready.binary}
        seconds = self._method.grace_seconds + self._method.compile_seconds
        try:
            self._ask_for(slot, request, seconds)
        except _FailedError:
            if ready.binary is None or not self._child.is_running:
                raise
            # Some drivers write binaries that they don't read.
            self._ask_for(slot, {**request, "binary": None}, seconds)
        return bool(placed["has_reference"])

    def _load_baseline(self, ready: Ready, baseline: Ready) -> None:
        try:
            self._load(Slot.BASELINE, baseline)
        except _FailedError as failed:
            if ready.candidate == baseline.candidate:
                raise
            self._load_baseline_alone(baseline)
            raise _FailedError(
                Invalidity.RUNTIME, f"the baseline can't be loaded beside it: {failed.reason}"
            ) from None
        self._baseline = baseline.candidate

    def _load_baseline_alone(self, baseline: Ready) -> None:
        """Find out in a new process whether the device or the candidate is to blame. Raises DeviceError."""
        self._child.close()
        self.open()
        try:
            self._load(Slot.BASELINE, baseline)
        except _FailedError as failed:
            raise DeviceError(f"the baseline does not run any more: {failed.reason}") from None
        finally:
            self._child.close()

    def _tried(self, limits: Limits) -> dict[str, Any]:
        return self._ask_for(Slot.CANDIDATE, {"do": "try"}, self._seconds_of_first_run(limits))

    def _seconds_of_first_run(self, limits: Limits) -> float:
        longest = limits.longest(self._method)
        # The first launch may compile for its work-group size; before there is a best, no run counts as slow.
        allowance = self._method.compile_seconds if longest is None else longest / 1e9
        return self._method.grace_seconds + allowance

    def _give_up_if_slow(self, nanoseconds: int, limits: Limits) -> None:
        if limits.best is None or not _is_slow(nanoseconds, limits.longest(self._method)):
            return
        raise _FailedError(
            Invalidity.TIMEOUT,
            f"a run took {nanoseconds / 1e6:.2f} ms, more than {nanoseconds / max(limits.best, 1.0):.1f} times "
            f"the best so far ({limits.best / 1e6:.2f} ms)",
        )

    def _timed(self, nanoseconds: int, limits: Limits) -> dict[str, Any]:
        method = self._method
        slowest = max(nanoseconds, limits.longest(method) or 0.0)
        runs = 2 * (method.repetitions + method.warm_up)
        seconds = method.grace_seconds + COPYING_ALLOWANCE * runs * (slowest / 1e9 + 0.1)
        timed = self._ask_for(Slot.CANDIDATE, {"do": "time", "method": asdict(method)}, seconds)
        if min(*timed["nanoseconds"], *timed["baseline_nanoseconds"]) <= 0:
            reason = "the device's clock shows no time between begin and end of a run, so nothing can be compared"
            raise _FailedError(Invalidity.RUNTIME, reason)
        return timed

    def _within(self, seconds: float) -> float:
        """Return how long an answer may take that would be waited for so many seconds."""
        return seconds if self._time_left is None else min(seconds, max(self._time_left(), _LEAST_SECONDS))

    def _ask_for(self, slot: Slot, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """The answer of a request that concerns a candidate; whatever goes wrong is a reason for its row."""
        building = request["do"] == "load"
        seconds = self._within(seconds)
        try:
            answer = self._child.ask({**request, "slot": slot}, seconds)
        except ChildTimedOutError:
            doing = WHILE_BUILT if building else "while it ran"
            raise _FailedError(Invalidity.TIMEOUT, f"no answer within {seconds:.1f} s {doing}") from None
        except ChildDiedError as error:
            invalidity = Invalidity.COMPILE if building else Invalidity.RUNTIME
            raise _FailedError(invalidity, str(error)) from None
        if "failed" not in answer:
            return answer
        if answer.get("breaks_constraint"):
            raise _FailedError(Invalidity.CONSTRAINTS, answer["failed"])
        refused = building and answer["while_building"]
        if not refused:
            # After a failed launch a context may be of no use any more.
            self._child.close()
        raise _FailedError(Invalidity.COMPILE if refused else Invalidity.RUNTIME, answer["failed"])


def machine_to_json(device: DeviceDescription) -> dict[str, object]:
    """Return a device as the child processes take it."""
    return {"device": asdict(device)}


def _is_slow(nanoseconds: int, longest: float | None) -> bool:
    return longest is not None and nanoseconds > longest
