"""A launch that can't be the measure of its variants ends the tuning, by what is wrong with it."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from coarsen.errors import CoarsenError, InvalidInputError, VerificationError
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.tuning.deadline import TimeOverError
from coarsen.opencl_bench.tuning.tuner import _measured_own
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
        _measured_own(processes, context, OWN)
    assert type(raised.value) is error
