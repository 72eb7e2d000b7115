"""Cold means cold: what is written before a timed run is larger than all caches that are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.measure.opencl_machine import (
    LEAST_FLUSHED_BYTES,
    OpenClMachine,
    flushed_bytes,
    host_cache_bytes,
)


def test_more_is_written_than_any_cache_that_is_known_holds() -> None:
    assert flushed_bytes(0) == LEAST_FLUSHED_BYTES
    assert flushed_bytes(50 << 20) == 200 << 20
    # A processor whose device tells its second level alone.
    assert flushed_bytes(2 << 20, 260 << 20) == 520 << 20


def test_a_processors_largest_cache_is_found(tmp_path: Path) -> None:
    for number, size in enumerate(("48K", "32K", "2048K", "266240K", "what?")):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        (folder / "size").write_text(f"{size}\n")
    assert host_cache_bytes(tmp_path) == 260 << 20
    assert host_cache_bytes(tmp_path / "nowhere") == 0


@pytest.mark.compiled_devices
def test_every_flush_writes_it_all(device: DeviceDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def count(_queue: object, buffer: cl.Buffer, _pattern: object, _offset: int, size: int) -> None:
        assert size == buffer.size
        written.append(size)

    fake: Any = count
    monkeypatch.setattr(cl, "enqueue_fill_buffer", fake)
    machine = OpenClMachine(device)
    for _ in range(3):
        machine.flush_caches()
    known = max(machine.device.global_mem_cache_size, host_cache_bytes())
    assert len(written) == 3 and min(written) > known
