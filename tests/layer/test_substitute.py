"""Programs under the layer that substitutes: which launches run coarsened, and which as they are written."""

from __future__ import annotations

import os
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.layer.program import SUBSTITUTE, layer_library, layers_value
from tests.layer.conftest import PROGRAMS, TRAPS, Build, compiled_program, platform_of
from tests.layer.shelf_files import SOURCE, Row, binary_of, device_text, marking_rows, write_unit

# Of a kernel's first row: launches that no row took.
NO_ROW = 1 << 31


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(shelf: Path, tmp_path: Path) -> dict[str, str]:
    source = tmp_path / "source.cl"
    source.write_text(SOURCE)
    layers = layers_value({}, layer_library(SUBSTITUTE, tmp_path))
    own = {
        "OPENCL_LAYERS": layers,
        "COARSEN_SHELF": str(shelf),
        "SOURCE": str(source),
        "BINARY": str(tmp_path / "binary"),
    }
    return {**os.environ, **own, "COARSEN_COUNTS": str(tmp_path / "counts")}


def run(program: Path, environment: dict[str, str]) -> None:
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def counted(folder: Path) -> Counter[int]:
    """Launches by row."""
    (path,) = folder.glob("counts-*")
    records = list(struct.iter_unpack("<QIIQ", path.read_bytes()))
    assert records[0][:3] == (0, 0, 0) and records[0][3] > 0, "nanoseconds at start"
    found: Counter[int] = Counter()
    for unit, row, _, launches in records[1:]:
        if unit and launches:
            found[row] += launches
    return found


@pytest.mark.compiled_devices
def test_what_is_coarsened(
    build: Build,
    device: DeviceDescription,
    context: cl.Context,
    shelf: Path,
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    platform_of(device, monkeypatch)
    text, rows, binary = device_text(context.devices[0]), marking_rows(context), binary_of(context, SOURCE)
    (tmp_path / "binary").write_bytes(binary)
    for source in (SOURCE.encode(), binary):
        write_unit(shelf, source, "", text, rows)
    run(build("substituted"), environment | {"PLATFORM": device.platform_name})
    launches = counted(tmp_path)
    names = {index: rows[index & ~NO_ROW].kernel for index in launches}
    assert set(names.values()) == {"moved", "below", "added"}
    assert launches[0] > 200 and launches[NO_ROW] > 8 and launches[7] == 1 and launches[NO_ROW | 7] == 2


def test_damaged_files(tmp_path: Path) -> None:
    rows = [
        Row("k", b"binary", 8, 64, 8, 64, 8, new_local=4, apart=(0, 1), memory=(0, 1), objects_below=5),
        Row("l", b"another", 64, 64, factor=32, is_exact=True, memory=(1,)),
        Row("l", b"binary", 1, 7, added=(0, 0, 1, 2), apart=(0, 1, 1, 0)),
        Row("l", b"binary", 8, 64, 8, added=(0, 0, 1, 2)),
    ]
    unit = write_unit(tmp_path, b"text", "-DA", "\n\n\n", rows)
    program = compiled_program(PROGRAMS / "damaged.c", tmp_path / "damaged", options=TRAPS)
    run(program, os.environ | {"UNIT": str(unit), "COARSEN_SHELF": str(tmp_path)})
