"""Programs from Debian's packages run under both layers as without, and their launches can be made again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.cli.main import main
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.store.database import open_store
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.scripts import compiled
from tests.layer.conftest import Compared, Record, replayed, rows_of

FILTERS = "format=rgba,hwupload,avgblur_opencl=sizeX=3,sobel_opencl,hwdownload,format=rgba"
ONE_VARIANT = ("--space", "factor=2", "--space", "dim=0", "--space", "stride=1")


@pytest.fixture
def intel(working_devices: tuple[DeviceDescription, ...]) -> DeviceDescription:
    return compiled(working_devices)


@pytest.fixture
def verified(tmp_path: Path, intel: DeviceDescription, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Measures a variant of a recorded launch, whose results must be those of the original."""

    def verify(path: Path) -> None:
        monkeypatch.setenv("COARSEN_STORE", str(tmp_path / "store.sqlite"))
        words = ("bench", str(path), "--quick", "--no-confirmation", *ONE_VARIANT, "-d", intel.index)
        assert main(list(words)) == 0
        with open_store(str(tmp_path / "store.sqlite")) as store:
            assert {row.invalidity for row in store.measurements()} == {Invalidity.CORRECT}

    return verify


def test_ffmpeg(
    ffmpeg: str,
    record: Record,
    intel: DeviceDescription,
    compared: Compared,
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = (
        *("-loglevel", "error", "-init_hw_device", f"opencl=ocl,platform_name={intel.platform_name}"),
        *("-f", "lavfi", "-i", "testsrc=d=0.4:s=160x96", "-vf", FILTERS, "-f", "md5", "-"),
    )
    plain = subprocess.run([ffmpeg, *words], check=True, capture_output=True, text=True)
    result = record("ffmpeg", *words)
    assert result.exit_code == 0
    written = capfd.readouterr()
    assert (written.out, written.err) == (plain.stdout, plain.stderr)
    rows = rows_of(result)
    assert {name: [row.launches for row in found] for name, found in rows.items()} == {
        "avgblur_horiz": [10],
        "avgblur_vert": [10],
        "sobel_global": [10],
    }
    compared(intel, result, Variant((), (Coarsening(2),)), ffmpeg, *words)
    first, second = rows["avgblur_horiz"][0].path, rows["avgblur_vert"][0].path
    assert first is not None and second is not None
    context = cl.Context([open_device(intel)])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    # What the first kernel writes is what the second one is given.
    (image,) = replayed(first, context, queue).values()
    buffers = find_benchmark(second).workload("cpu").buffers
    np.testing.assert_array_equal(image, buffers["src"])
    assert image.any()


def test_clfft(
    clfft: str,
    record: Record,
    intel: DeviceDescription,
    compared: Compared,
    verified: Callable[[Path], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ("--platform", intel.index.partition(":")[0], "-x", "32", "-y", "32")
    result = record(clfft, *words)
    assert result.exit_code == 0
    # It compares what it has computed with what it must be.
    assert "*****PASS*****" in capfd.readouterr().out
    compared(intel, result, Variant((), (Coarsening(2),)), clfft, *words)
    # One for each dimension, of one name: they differ by their text.
    launched = [(row.kernel, row.launches, row.device) for row in result.recording.rows]
    assert launched == [("fft_fwd", 1, intel.name)] * 2
    first, second = (row.path for row in result.recording.rows)
    assert first is not None and second is not None and first != second
    verified(first)
