"""Whatever a candidate does on a real device, its outcome has a reason, and the next one is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.workloads.lookup import benchmark
from coarsen.tuning.processes.measuring_process import (
    SHORT_RUN,
    Limits,
    MeasuringProcess,
    Ready,
    machine_to_json,
)
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Method
from coarsen.variant.variant import Variant

pytestmark = pytest.mark.compiled_devices

BENCHMARK = benchmark("mt")
LOCAL_SIZE = (32, 32)
METHOD = Method(repetitions=3, minimum_repetitions=3, grace_seconds=3.0, compile_seconds=60.0)
# A best that a transposition of 96 × 64 elements meets easily, in nanoseconds.
LAVISH = Limits(best=1e8, baseline=1e8)


def ready(source: str) -> Ready:
    original = Code("opencl_c", "mt", BENCHMARK.source, BENCHMARK.build_options)
    return Ready(Variant(LOCAL_SIZE), replace(original, content=source), None, original)


GOOD = ready(BENCHMARK.source)
SIGNATURE = BENCHMARK.source[BENCHMARK.source.index("kernel void") : BENCHMARK.source.index("{")]
PARAMETERS = [word.rpartition(" ")[2].lstrip("*") for word in SIGNATURE.partition("(")[2].split(")")[0].split(",")]
OUTPUT = next(name for name in PARAMETERS if name in BENCHMARK.workload("test").outputs)


def with_body(body: str) -> Ready:
    return ready(f"{SIGNATURE} {{ {body} }}")


@pytest.fixture
def process(device: DeviceDescription) -> Iterator[MeasuringProcess]:
    with MeasuringProcess("mt", "test", 0, machine_to_json(device), METHOD) as measuring:
        yield measuring


def assert_next_one_is_measured(process: MeasuringProcess) -> None:
    outcome = process.measure(GOOD, GOOD, LAVISH)
    assert outcome.invalidity is Invalidity.CORRECT, outcome.reason


def test_a_right_kernel_is_timed_as_often_as_its_baseline(process: MeasuringProcess) -> None:
    outcome = process.measure(GOOD, GOOD, Limits())
    assert outcome.invalidity is Invalidity.CORRECT, outcome.reason
    assert outcome.oracle is CheckedAgainst.REFERENCE
    assert len(outcome.nanoseconds) == len(outcome.baseline_nanoseconds) == METHOD.repetitions
    assert min(outcome.nanoseconds) > 0
    assert outcome.measure_seconds > 0


def test_a_wrong_result(process: MeasuringProcess) -> None:
    outcome = process.measure(with_body(f"{OUTPUT}[get_global_id(0)] = 1;"), GOOD, LAVISH)
    assert outcome.invalidity is Invalidity.CORRECTNESS
    assert OUTPUT in outcome.reason
    assert "elements wrong" in outcome.reason
    assert not outcome.nanoseconds
    assert_next_one_is_measured(process)


def test_a_write_outside_of_a_buffer(process: MeasuringProcess) -> None:
    body = BENCHMARK.source[BENCHMARK.source.index("{") + 1 :].rpartition("}")[0]
    outcome = process.measure(with_body(f"{body} {OUTPUT}[-1] = 0;"), GOOD, LAVISH)
    assert outcome.invalidity is Invalidity.CORRECTNESS
    assert f"wrote outside of the buffer {OUTPUT}" in outcome.reason


def test_a_kernel_that_does_not_build(process: MeasuringProcess) -> None:
    outcome = process.measure(with_body("this is no C;"), GOOD, LAVISH)
    assert outcome.invalidity is Invalidity.COMPILE
    assert "\n" not in outcome.reason
    assert_next_one_is_measured(process)


def test_a_hang_is_killed(process: MeasuringProcess) -> None:
    body = (
        f"volatile global int* word = (volatile global int*){OUTPUT}; do {{ word[0] = 1; }} while (word[0] == 1);"
    )
    outcome = process.measure(with_body(body), GOOD, LAVISH)
    assert outcome.invalidity is Invalidity.TIMEOUT
    # The grace, and ten times the best.
    assert outcome.reason == "no answer within 4.0 s while it ran"
    assert_next_one_is_measured(process)


def test_a_crash_is_survived(process: MeasuringProcess) -> None:
    body = "*(volatile global int*)(((size_t)get_global_id(0) + 1) * 8) = 1;"
    outcome = process.measure(with_body(body), GOOD, LAVISH)
    assert outcome.invalidity is Invalidity.RUNTIME
    assert "died of signal SIG" in outcome.reason
    assert_next_one_is_measured(process)


def test_a_launch_that_the_device_refuses(process: MeasuringProcess) -> None:
    picky = BENCHMARK.source.replace("kernel void", "kernel __attribute__((reqd_work_group_size(7, 1, 1))) void")
    outcome = process.measure(ready(picky), GOOD, LAVISH)
    assert outcome.invalidity is Invalidity.RUNTIME
    assert "INVALID_WORK_GROUP_SIZE" in outcome.reason
    assert_next_one_is_measured(process)


def slow() -> Ready:
    body = BENCHMARK.source[BENCHMARK.source.index("{") + 1 :].rpartition("}")[0]
    word = f"volatile global float* word = (volatile global float*){OUTPUT};"
    return with_body(f"{word} for (int i = 0; i < 200000; ++i) word[0]; {body}")


def test_what_is_far_slower_than_the_best_is_given_up(process: MeasuringProcess) -> None:
    outcome = process.measure(slow(), GOOD, Limits(best=1.0, baseline=1.0))
    assert outcome.invalidity is Invalidity.TIMEOUT
    assert "times the best so far" in outcome.reason


def test_a_baseline_is_timed_however_much_faster_the_best_is(process: MeasuringProcess) -> None:
    outcome = process.measure(slow(), slow(), Limits(best=1.0, baseline=1.0))
    assert outcome.invalidity is Invalidity.CORRECT


def test_what_is_as_fast_as_the_baseline_is_never_given_up(process: MeasuringProcess) -> None:
    outcome = process.measure(GOOD, GOOD, Limits(best=1.0, baseline=1e9))
    assert outcome.invalidity is Invalidity.CORRECT


def test_without_a_reference_the_uncoarsened_kernel_is_the_oracle(device: DeviceDescription) -> None:
    wrong = replace(with_body(f"{OUTPUT}[get_global_id(0)] = 1;"), original=GOOD.code)
    with MeasuringProcess("mt", "paper", 0, machine_to_json(device), METHOD) as measuring:
        outcome = measuring.measure(wrong, GOOD, Limits())
    assert outcome.invalidity is Invalidity.CORRECTNESS


def test_limits() -> None:
    assert Limits().longest(METHOD) is None
    assert Limits(best=1e8, baseline=1.5e8).longest(METHOD) == 1e9
    assert Limits(best=1e8, baseline=2e9).longest(METHOD) == 4e9
    assert Limits(best=1.0, baseline=1.0).longest(METHOD) == SHORT_RUN
