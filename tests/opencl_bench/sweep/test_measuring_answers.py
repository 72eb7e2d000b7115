"""What the process that measures answers, or that it doesn't, becomes the right kind of outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from coarsen.errors import DeviceError, InvalidInputError
from coarsen.tuning.processes.child_process import ChildDiedError
from coarsen.tuning.processes.measuring_process import ORACLE_SECONDS, Limits, MeasuringProcess, Outcome, Ready
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import Invalidity, Method
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

CODE = Code("opencl_c", "mt", "")
BASELINE = Ready(Variant((8, 8)), CODE, None, CODE)
COARSENED = Ready(Variant((32, 32), (Coarsening(2),)), CODE, None, CODE)
METHOD = Method(grace_seconds=3.0, compile_seconds=7.0)
Answer = Callable[["PretendedChild", Mapping[str, Any]], dict[str, Any] | None]
RIGHT: dict[str, dict[str, Any]] = {
    "open": {},
    "place": {"has_reference": True},
    "load": {},
    "expect": {},
    "try": {"nanoseconds": 5, "wrong": [], "oracle": "reference"},
    "time": {
        "wrong": [],
        "nanoseconds": [5, 6],
        "baseline_nanoseconds": [7, 8],
        "clock": "span",
        "sum_nanoseconds": [3, 4],
        "host_nanoseconds": [9, 9],
        "baseline_sum_nanoseconds": [],
        "baseline_host_nanoseconds": [10, 11],
    },
}


class PretendedChild:
    """Answers that all is well, unless `answer` has another answer; closed, it forgets what is placed."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.is_running = False
        self.placed: set[str] = set()
        self.asked: list[str] = []
        self.seconds: dict[str, float] = {}

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        self.is_running = True
        self.asked.append(request["do"])
        self.seconds[request["do"]] = seconds
        if request["do"] == "place":
            self.placed.add(request["slot"])
        return self._answer(self, request) or RIGHT[request["do"]]

    def close(self) -> None:
        self.is_running = False
        self.placed.clear()


def measured(answer: Answer, ready: Ready = COARSENED) -> tuple[Outcome, PretendedChild]:
    process = MeasuringProcess("mt", "test", 0, {}, METHOD, "a hash")
    child = PretendedChild(answer)
    vars(process)["_child"] = child
    return process.measure(ready, BASELINE, Limits()), child


def always(do: str, reply: dict[str, Any]) -> Answer:
    return lambda _child, request: reply if request["do"] == do else None


def test_all_is_well() -> None:
    outcome, child = measured(lambda *_: None)
    assert (outcome.invalidity, outcome.nanoseconds, outcome.baseline_nanoseconds) == ("correct", (5, 6), (7, 8))
    assert (outcome.clock, outcome.sum_nanoseconds, outcome.host_nanoseconds) == (Clock.SPAN, (3, 4), (9, 9))
    assert (outcome.baseline_sum_nanoseconds, outcome.baseline_host_nanoseconds) == ((), (10, 11))
    assert child.asked == ["open", "place", "load", "expect", "try", "place", "load", "time"]


@pytest.mark.parametrize("times", [[0, 0], [5, 0], [5, -3]])
@pytest.mark.parametrize("of", ["nanoseconds", "baseline_nanoseconds"])
def test_a_clock_that_stands_still_is_no_measure(of: str, times: list[int]) -> None:
    outcome, _ = measured(always("time", {**RIGHT["time"], of: times}))
    assert outcome.invalidity is Invalidity.RUNTIME
    assert "the device's clock shows no time" in outcome.reason
    assert not outcome.nanoseconds


def test_what_is_right_at_first_and_wrong_later_is_wrong() -> None:
    outcome, child = measured(always("time", {**RIGHT["time"], "wrong": ["in a later run, sums: 1 of 4"]}))
    assert (outcome.invalidity, outcome.reason) == ("correctness", "in a later run, sums: 1 of 4")
    assert not outcome.nanoseconds and not child.is_running


def test_a_death_while_inputs_are_placed_is_no_compiler_s_fault() -> None:
    def die(child: PretendedChild, request: Mapping[str, Any]) -> None:
        if request["do"] == "place":
            child.close()
            raise ChildDiedError("the process died of signal SIGKILL")

    outcome, _ = measured(die)
    assert (outcome.invalidity, outcome.reason) == ("runtime", "the process died of signal SIGKILL")


def test_a_baseline_that_does_not_fit_beside_a_candidate_is_that_candidate_s_row() -> None:
    def full(child: PretendedChild, _request: Mapping[str, Any]) -> dict[str, Any] | None:
        return {"failed": "MEM_OBJECT_ALLOCATION_FAILURE"} if len(child.placed) == 2 else None

    outcome, child = measured(full)
    assert outcome.invalidity is Invalidity.RUNTIME
    assert outcome.reason == "the baseline can't be loaded beside it: MEM_OBJECT_ALLOCATION_FAILURE"
    assert Counter(child.asked)["open"] == 2


def test_a_baseline_that_fails_alone_too_means_that_the_device_fails() -> None:
    def gone(_child: PretendedChild, request: Mapping[str, Any]) -> dict[str, Any] | None:
        return {"failed": "DEVICE_NOT_AVAILABLE"} if request.get("slot") == "baseline" else None

    with pytest.raises(DeviceError, match="the baseline does not run any more: DEVICE_NOT_AVAILABLE"):
        measured(gone)


def test_a_device_that_opens_at_the_second_attempt_is_used() -> None:
    def once(child: PretendedChild, request: Mapping[str, Any]) -> dict[str, Any] | None:
        return {"failed": "busy"} if child.asked == ["open"] and request["do"] == "open" else None

    outcome, child = measured(once)
    assert outcome.invalidity is Invalidity.CORRECT
    assert child.asked[:3] == ["open", "open", "place"]


def test_a_device_that_never_opens_ends_the_sweep() -> None:
    with pytest.raises(DeviceError, match="there is no such device"):
        measured(always("open", {"failed": "there is no such device"}))


def test_another_benchmark_than_was_meant_ends_the_sweep() -> None:
    with pytest.raises(InvalidInputError, match="mt has changed since the sweep began"):
        measured(always("open", {"changed": True}))


def test_an_oracle_that_is_a_kernel_gets_no_more_time_than_a_kernel() -> None:
    _, child = measured(lambda *_: None)
    assert child.seconds["expect"] == ORACLE_SECONDS
    _, child = measured(always("place", {"has_reference": False}))
    assert child.seconds["expect"] == METHOD.grace_seconds + METHOD.compile_seconds
