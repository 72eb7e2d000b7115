"""What `coarsen train --device` learns from where no data is given."""

from __future__ import annotations

import pytest

from coarsen.cli.train.cascade import curves_of
from coarsen.cli.train.options import TrainOptions
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.device_descriptors import CITATION


def asked_for(device: str, *data: str) -> tuple[str, TrainOptions]:
    return device, TrainOptions(device=device, data=[*data])


@pytest.mark.parametrize(("called", "known"), [("Tahiti", "tahiti"), ("Tesla K20c", "kepler")])
def test_published_devices_have_their_best_factors(called: str, known: str) -> None:
    name, found, sources = curves_of(*asked_for(called))
    assert (name, sources) == (known, (CITATION,))
    assert len([curve for curve in found.curves if curve.device == name]) == 17


def test_measured_devices_have_the_synthetic_kernels() -> None:
    name, found, sources = curves_of(*asked_for("Intel"))
    assert (name, sources) == ("intel", ("synthetic_intel.parquet",))
    own = [curve for curve in found.curves if curve.device == name and curve.dimension == 0]
    assert len(own) == 300 and all(curve.speedup for curve in own)


def test_data_may_be_a_sweep_that_comes_along() -> None:
    name, found, sources = curves_of(*asked_for("POCL", "pocl"))
    assert (name, sources) == ("pocl", ("pocl",))
    assert {curve.device for curve in found.curves} == {"pocl"}
    with pytest.raises(InvalidInputError, match="the data has nothing of a device 'fermi'; it has pocl"):
        curves_of(*asked_for("fermi", "pocl"))


def test_of_other_devices_nothing_is_known() -> None:
    with pytest.raises(DeviceError, match="nothing is known of 'gameboy': give its runtimes"):
        curves_of(*asked_for("gameboy"))
