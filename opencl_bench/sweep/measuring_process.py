"""Measures candidates in a process that is killed when it hangs and started again when it died.

load ─▶ expect ─▶ try, verified ─▶ given up if too slow ─▶ timed against the baseline
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from coarsen.errors import DeviceError

from ..candidate import Candidate, Code
from ..measurement import Invalidity, Method, Oracle
from ..session import Slot
from .child_process import ChildDiedError, ChildProcess, ChildTimedOutError

SERVICE = "coarsen.opencl_bench.sweep.measure_service"

# Inputs and references are made by NumPy, in seconds for most, in minutes for some.
OPENING_SECONDS = 120.0
PLACING_SECONDS = 120.0
ORACLE_SECONDS = 900.0
# Between two timed runs the outputs are put back.
COPYING_ALLOWANCE = 4.0
# What is no slower than this many times the baseline is never given up, however good the best is.
TOLERATED_SLOWDOWN = 2.0
# Nor what is over so soon, in nanoseconds, that giving it up would save nothing.
SHORT_RUN = 1e7


@dataclass(frozen=True, slots=True)
class Ready:
    """A candidate whose code is there. `original` is the uncoarsened kernel's code with the same macros."""

    candidate: Candidate
    code: Code
    binary: str | None
    original: Code


@dataclass(frozen=True, slots=True)
class Limits:
    """Durations in nanoseconds: the best of all so far and the baseline's; None where not known yet."""

    best: float | None = None
    baseline: float | None = None

    def longest(self, method: Method) -> float | None:
        """The duration of a run above which a candidate is given up."""
        if self.best is None:
            return None
        return max(method.timeout_multiple * self.best, TOLERATED_SLOWDOWN * (self.baseline or 0.0), SHORT_RUN)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of measuring a candidate; the fields are those of a `Measurement`."""

    invalidity: Invalidity
    reason: str = ""
    oracle: Oracle = Oracle.NOTHING
    nanoseconds: tuple[int, ...] = ()
    baseline_nanoseconds: tuple[int, ...] = ()
    measure_seconds: float = 0.0


class _FailedError(Exception):
    """The candidate failed, in a way that is a row."""

    def __init__(self, invalidity: Invalidity, reason: str) -> None:
        super().__init__(reason)
        self.invalidity = invalidity
        self.reason = reason


class MeasuringProcess:
    """Measures candidates of one benchmark on one machine.

    Args:
        benchmark: a name of the suite, or the path of a TOML file.
        preset: names the sizes.
        seed: of the inputs.
        machine: as `measure_service.open_machine` takes it.
        method: how to time, and how long to wait.
    """

    def __init__(self, benchmark: str, preset: str, seed: int, machine: Mapping[str, Any], method: Method) -> None:
        self._opening = {"benchmark": benchmark, "preset": preset, "seed": seed, "machine": machine}
        self._method = method
        self._child = ChildProcess(SERVICE)
        self._baseline: Candidate | None = None

    def __enter__(self) -> MeasuringProcess:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._child.close()

    def measure(self, ready: Ready, baseline: Ready, limits: Limits) -> Outcome:
        """Verify a candidate and time it against the baseline.

        Raises:
            DeviceError: the device can't be opened, or the baseline does not run on it any more.
        """
        start = time.perf_counter()
        self._open()
        try:
            outcome = self._measured(ready, baseline, limits)
        except _FailedError as failed:
            outcome = Outcome(failed.invalidity, failed.reason)
        seconds = time.perf_counter() - start
        return Outcome(
            outcome.invalidity,
            outcome.reason,
            outcome.oracle,
            outcome.nanoseconds,
            outcome.baseline_nanoseconds,
            seconds,
        )

    def start_afresh(self) -> None:
        """Measure what comes next in a new process."""
        self._child.close()

    def _open(self) -> None:
        if self._child.is_running:
            return
        self._baseline = None
        try:
            answer = self._child.ask({"do": "open", **self._opening}, OPENING_SECONDS)
        except (ChildDiedError, ChildTimedOutError) as error:
            raise DeviceError(f"the device can't be opened: {error}") from None
        if "failed" in answer:
            raise DeviceError(answer["failed"])

    def _measured(self, ready: Ready, baseline: Ready, limits: Limits) -> Outcome:
        self._load(Slot.CANDIDATE, ready)
        self._ask_for(Slot.CANDIDATE, {"do": "expect", "original": ready.original.to_json()}, ORACLE_SECONDS)
        tried = self._tried(limits)
        if tried["wrong"]:
            # What writes wrong results may have written anywhere: inputs and guard zones are to be made anew.
            self._child.close()
            raise _FailedError(Invalidity.CORRECTNESS, "; ".join(tried["wrong"]))
        if _is_slow(tried["nanoseconds"], limits.longest(self._method)):
            # A first run is slow for reasons of its own: page faults, cold caches.
            tried = self._tried(limits)
            self._give_up_if_slow(tried["nanoseconds"], limits)
        if self._baseline != baseline.candidate:
            self._load_baseline(ready, baseline)
        timed = self._timed(tried["nanoseconds"], limits)
        return Outcome(
            Invalidity.CORRECT,
            "",
            Oracle(tried["oracle"]),
            tuple(timed["candidate"]),
            tuple(timed["baseline"]),
        )

    def _load(self, slot: Slot, ready: Ready) -> None:
        request = {
            "do": "load",
            "candidate": ready.candidate.to_json(),
            "code": ready.code.to_json(),
            "binary": ready.binary,
        }
        seconds = PLACING_SECONDS + self._method.compile_seconds
        try:
            self._ask_for(slot, request, seconds)
        except _FailedError:
            if ready.binary is None or not self._child.is_running:
                raise
            # Some drivers write binaries that they don't read.
            self._ask_for(slot, {**request, "binary": None}, seconds)

    def _load_baseline(self, ready: Ready, baseline: Ready) -> None:
        try:
            self._load(Slot.BASELINE, baseline)
        except _FailedError as failed:
            if ready.candidate == baseline.candidate:
                raise
            raise DeviceError(f"the baseline does not run any more: {failed.reason}") from None
        self._baseline = baseline.candidate

    def _tried(self, limits: Limits) -> dict[str, Any]:
        longest = limits.longest(self._method)
        # The first launch may compile for its work-group size; before there is a best, nobody knows what is slow.
        allowance = self._method.compile_seconds if longest is None else longest / 1e9
        return self._ask_for(Slot.CANDIDATE, {"do": "try"}, self._method.grace_seconds + allowance)

    def _give_up_if_slow(self, nanoseconds: int, limits: Limits) -> None:
        if limits.best is None or not _is_slow(nanoseconds, limits.longest(self._method)):
            return
        raise _FailedError(
            Invalidity.TIMEOUT,
            f"a run took {nanoseconds / 1e6:.2f} ms, more than {nanoseconds / limits.best:.1f} times "
            f"the best so far ({limits.best / 1e6:.2f} ms)",
        )

    def _timed(self, nanoseconds: int, limits: Limits) -> dict[str, Any]:
        method = self._method
        slowest = max(nanoseconds, limits.longest(method) or 0.0)
        runs = 2 * (method.repetitions + method.warm_up)
        seconds = method.grace_seconds + COPYING_ALLOWANCE * runs * (slowest / 1e9 + 0.1)
        return self._ask_for(Slot.CANDIDATE, {"do": "time", "method": asdict(method)}, seconds)

    def _ask_for(self, slot: Slot, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """The answer of a request that concerns a candidate; whatever goes wrong is a reason for its row."""
        building = request["do"] == "load"
        try:
            answer = self._child.ask({**request, "slot": slot}, seconds)
        except ChildTimedOutError:
            doing = "while it was built" if building else "while it ran"
            raise _FailedError(Invalidity.TIMEOUT, f"no answer within {seconds:.1f} s {doing}") from None
        except ChildDiedError as error:
            invalidity = Invalidity.COMPILE if building else Invalidity.RUNTIME
            raise _FailedError(invalidity, str(error)) from None
        if "failed" not in answer:
            return answer
        refused = building and answer["while_building"]
        if not refused:
            # After a failed launch a context may be of no use any more.
            self._child.close()
        raise _FailedError(Invalidity.COMPILE if refused else Invalidity.RUNTIME, answer["failed"])


def _is_slow(nanoseconds: int, longest: float | None) -> bool:
    return longest is not None and nanoseconds > longest
