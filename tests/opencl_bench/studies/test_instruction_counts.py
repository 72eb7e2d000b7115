"""Coarsened by 8, no benchmark has more than 1.1 times the uncoarsened kernel's instructions for each replica."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.studies.executed_counts import executed_counts
from coarsen.opencl_bench.studies.instruction_counts import FACTOR, MOST, STRIDES, main, rows
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.coarsening import Coarsening


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Whether the device counts instructions."""
    device: DeviceDescription = parameters["device"]
    return device.is_called("oclgrind")


@pytest.mark.parametrize("name", [*SUITE])
def test_no_replica_has_a_tenth_more(name: str) -> None:
    found = list(rows([name], FACTOR, STRIDES, executed=False))
    assert len(found) == len(STRIDES) * len(SUITE[name].dimensions)
    for row in found:
        assert row.keeps_rule, (row.coarsening, row.growth)
        assert row.cleaned.code <= row.without.code


@pytest.mark.parametrize(("name", "dimension"), [("mt", 1), ("stencil", 0)])
def test_no_more_than_a_tenth_more_is_executed(name: str, dimension: int, device: DeviceDescription) -> None:
    """Oclgrind counts; it also finds the results the same to the bit."""
    assert device.is_called("oclgrind")
    executed = executed_counts(SUITE[name], Coarsening(FACTOR, dimension))
    assert 0 < executed.cleaned <= executed.without
    assert executed.cleaned <= MOST * executed.uncoarsened


def test_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kernel", "mt", "--stride", "1", "-f", "json"]) == 0
    [first, second] = json.loads(capsys.readouterr().out)
    assert (first["coarsening"]["dimension"], second["coarsening"]["dimension"]) == (0, 1)
    assert first["keeps_rule"] and first["growth"]["together"] < 1


def test_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kernel", "mt", "--stride", "2"]) == 0
    assert "instructions per replica" in capsys.readouterr().out
