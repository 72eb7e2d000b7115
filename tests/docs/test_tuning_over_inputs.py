"""The page about tuning over inputs shows a kernel and a description that go together."""

from __future__ import annotations

from pathlib import Path

from coarsen.opencl_bench.inputs.described import check_described, described_points
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.over_inputs import listed_presets
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from tests.docs.conftest import ROOT
from tests.docs.snippets import blocks


def test_the_description_is_of_the_kernel(tmp_path: Path) -> None:
    for block in blocks(ROOT / "docs" / "how-to" / "tune-over-inputs.md"):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
    path = tmp_path / "mv.toml"
    assert check_described(path) == ()
    list_inputs(path)
    description = read_description(path)
    points = described_points(description, read_benchmark(path), listed_presets(description, None))
    assert len(points) == 24 and set(points[0].features) == {"height", "aspect"}
    # Every input is within the limits of the launch: presets are checked when the file is read.
    assert [*description.parameters.values] == ["BLKSZ", "IMPL", "LU"]
