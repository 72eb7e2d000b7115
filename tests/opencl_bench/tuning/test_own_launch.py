"""A launch that can't be the measure of its variants ends the tuning, by what is wrong with it."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError, InvalidInputError, VerificationError
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.progress import Deadline, TimeOverError
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuner import measured_own, tune_benchmark
from coarsen.tuning.tuning_processes import LaunchToTune
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

OWN = Variant((64,))


@pytest.mark.parametrize(
    ("invalidity", "error"),
    [
        (Invalidity.TIMEOUT, TimeOverError),
        (Invalidity.RUNTIME, VerificationError),
        (Invalidity.COMPILE, InvalidInputError),
        (Invalidity.CORRECTNESS, VerificationError),
    ],
)
def test_what_is_wrong_with_the_launch_as_it_is(
    invalidity: Invalidity, error: type[CoarsenError], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = some_measurement(candidate=OWN, baseline=OWN, invalidity=invalidity, reason="not within 6 s")
    monkeypatch.setattr(RowMeasurer, "compared", lambda *_: row)
    opened: Future[None] = Future()
    opened.set_result(None)
    processes: Any = SimpleNamespace(opened=lambda _: opened)
    context: Any = SimpleNamespace(process=None, codes=SimpleNamespace(ahead=lambda _: None))
    with pytest.raises(CoarsenError, match="not within 6 s") as raised:
        measured_own(processes, context, OWN, Deadline(7))
    assert type(raised.value) is error
    assert ("give it more than 7 s" in str(raised.value)) == (error is TimeOverError)


class _StoppedError(Exception):
    """The variants were asked for."""


@pytest.mark.parametrize("kind", [DeviceKind.ANY, DeviceKind.GPU])
def test_variants_are_made_for_the_kind_of_device_that_the_program_has(
    kind: DeviceKind, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: list[DeviceKind] = []

    def variant_space(*arguments: Any) -> None:  # noqa: ANN401 (as they are)
        kinds.append(arguments[-1])
        raise _StoppedError

    monkeypatch.setattr("coarsen.tuning.tuner.variant_space", variant_space)
    benchmark = find_benchmark("nbody")
    settings = Tune(distinct=False)
    transforms = Transforms(device_kind=kind)
    launch = LaunchToTune(benchmark, "nbody", "nbody", "test", device, transforms)
    with pytest.raises(_StoppedError):
        tune_benchmark(launch, True, settings, Deadline(60))
    assert kinds == [kind]
