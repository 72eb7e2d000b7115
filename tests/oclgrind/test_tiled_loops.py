"""Oclgrind finds that tiles inside of loops read nothing beside arrays, race for nothing and meet."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.pipeline import run_pipeline
from coarsen.transform.placement import tile
from coarsen.variant.coarsening import Configuration
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant
from tests.oclgrind.watch import Findings, watching
from tests.selection import everything_is_asked_for
from tests.transform.harness import launch, lowered
from tests.transform.placement.test_tiled_loops import CONFIGURATIONS, KERNELS, LOCAL, Loop


def runs_on(parameters: dict[str, object]) -> bool:
    """Only Oclgrind looks for races; `make test` takes every third kernel."""
    device, kernel = parameters["device"], parameters.get("kernel")
    is_sampled = kernel is None or everything_is_asked_for() or kernel in KERNELS[::3]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind") and is_sampled


def findings(kernel: Loop, chosen: Configuration, device: DeviceDescription) -> Findings:
    """What Oclgrind finds in a launch of two strips and a rest."""
    case = kernel.case(19, 24)
    made = run_pipeline(lowered(case), Variant(LOCAL, chosen, transforms=Transforms(tile=Tile(kernel.tile))))
    with watching(device) as watched:
        program = build_uncached(watched.context, made.opencl_c, [made.opencl_c_standard])
        launch(watched.queue, cl.Kernel(program, "k"), case, chosen)
        return watched.findings()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_nothing_is_found(kernel: Loop, device: DeviceDescription) -> None:
    chosen = CONFIGURATIONS[KERNELS.index(kernel) % len(CONFIGURATIONS)]
    assert not findings(kernel, chosen, device)


@pytest.mark.parametrize("left_out", [0, 1])
def test_a_missing_barrier_is_found(
    left_out: int, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    meet, calls = tile.meet, iter(range(9))
    monkeypatch.setattr(
        "coarsen.transform.placement.chunks.meet",
        lambda *given: None if next(calls) % 2 == left_out else meet(*given),
    )
    assert any("race" in message for message in findings(KERNELS[0], CONFIGURATIONS[0], device))
