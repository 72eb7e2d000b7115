"""Oclgrind finds no data race, no access out of bounds and no divergent barrier in a coarsened benchmark that it
doesn't find in the original. `python -m tests.oclgrind` looks at all of them, these tests at some, or at half with
COARSEN_DIFFERENTIAL=full.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.coarsening import Coarsening, Level
from tests.oclgrind.benchmark_runs import Run, all_runs, original_of, watched_run
from tests.oclgrind.watch import findings_in
from tests.selection import everything_is_asked_for, is_taken
from tests.transform.planting import plant

_EVERY = 13  # coprime to the number of factors and levels, so that all of these come
_BARRIER = re.compile(r"^ *call spir_func void @_Z7barrierj\(.*\n", re.MULTILINE)
_SECOND_ID = re.compile(r"(= add (?:nuw )?(?:nsw )?i\d+ %[\w.]+, )1$", re.MULTILINE)


def some_runs() -> list[Run]:
    """Of each benchmark along a dimension two of four, or a few of all."""
    runs = all_runs()
    if everything_is_asked_for():
        return [run for number, run in enumerate(runs) if is_taken(number, 2)]
    return list(islice(runs, 0, None, _EVERY))


def runs_on(parameters: dict[str, object]) -> bool:
    """Only Oclgrind looks for races."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


@pytest.mark.parametrize("run", some_runs(), ids=str)
def test_nothing_new_is_found(run: Run, device: DeviceDescription) -> None:
    outcome = watched_run(run, device)
    assert outcome.wrong == ()
    if outcome.findings:
        assert not outcome.findings - watched_run(original_of(run), device).findings


def without_barriers(assembly: str) -> str:
    """Local memory is read before it is written."""
    return _BARRIER.sub("", assembly)


def with_ids_too_far(assembly: str) -> str:
    """The second work-item of two does the work of the third."""
    return _SECOND_ID.sub(r"\g<1>2", assembly)


@pytest.mark.parametrize(
    ("benchmark", "mistake", "finding"),
    [
        ("mtLocal", without_barriers, "data race in local memory"),
        ("reduce", without_barriers, "data race in local memory"),
        ("mt", with_ids_too_far, "Invalid write of size 4 in global memory"),
    ],
)
def test_a_mistake_would_be_found(
    benchmark: str,
    mistake: Callable[[str], str],
    finding: str,
    device: DeviceDescription,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(benchmark, Coarsening(2, 0))
    plant(monkeypatch, mistake)
    assert any(finding in message for message in watched_run(run, device).findings)


def test_a_divergent_barrier_would_be_found(device: DeviceDescription) -> None:
    benchmark = SUITE["mtLocal"]
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    assert barrier in benchmark.source
    source = benchmark.source.replace(barrier, f"if (get_local_id(0) > 0) {barrier}")
    findings = watched_run(Run("mtLocal", Coarsening(1, 0)), device, source).findings
    assert any("divergence" in message for message in findings), findings


def test_the_sample_has_every_kind() -> None:
    sample = [run.coarsening for run in some_runs()]
    assert {(chosen.level, chosen.factor) for chosen in sample} == {(level, f) for level in Level for f in (2, 4)}


def test_messages_are_told_apart_by_their_first_line() -> None:
    log = (
        "\nRead-write data race at local memory address 0x1a\n\tKernel: reduce\n\n\tFirst entity: Global(1,0,0)\n"
    )
    assert findings_in(log * 2) == {"Read-write data race in local memory": 2}
