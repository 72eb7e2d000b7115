"""A pack that several tests look at; none changes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.opencl_bench.sweep.pack.small_pack import make_pack


@pytest.fixture(scope="session")
def small_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two benchmarks of the suite as OpenCL C."""
    folder = tmp_path_factory.mktemp("pack") / "small"
    make_pack(folder, "reduce", "mvCoal")
    return folder
