"""Brute-forced spaces of other tuners as tables: defaults, conditions, gaps; the hub's files where they are."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.foreign_tables import foreign_table, name_of, read_spaces
from coarsen.opencl_bench.search.spaces import values_of
from coarsen.opencl_bench.search.table_files import TableFiles, read_tables
from coarsen.opencl_bench.search.tables import Table
from tests.opencl_bench.search.made_up import AXES, rows

CONDITION = "width * height <= 128"


def space_file(folder: Path, condition: str = CONDITION, **defaults: object) -> Path:
    parameters = [
        {"Name": axis.name, "Values": str(list(axis.values)), "Default": defaults.get(axis.name, axis.values[-1])}
        for axis in AXES
    ]
    space = {"TuningParameters": parameters, "Conditions": [{"Expression": condition}]}
    path = folder / "made_up_T1.json"
    path.write_text(json.dumps({"ConfigurationSpace": space}))
    return path


def results_file(folder: Path, *left_out: int) -> Path:
    results: list[dict[str, Any]] = [
        {
            "configuration": configuration,
            "times": {"compilation": 400.0, "runtimes": None if time is None else [time, time]},
            "invalidity": "runtime" if time is None else "correct",
            "correctness": int(time is not None),
            "measurements": [{"name": "time", "value": "RuntimeFailedConfig" if time is None else time}],
        }
        for number, (configuration, time, _) in enumerate(rows())
        if number not in left_out
    ]
    # What was ruled out before it was tried is no part of the space.
    excluded = {"width": 32, "height": 16, "tile": 1, "layout": "rows"}
    results.append({"configuration": excluded, "times": {}, "invalidity": "constraints"})
    path = folder / "made_up_GPU_T4.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"results": results}).encode()))
    return path


def test_a_table_of_a_space(tmp_path: Path) -> None:
    table = foreign_table(results_file(tmp_path), read_spaces([space_file(tmp_path)]), shared=["width"])
    assert table.name == "made up GPU"
    assert len(table.trials) == len(rows())
    assert (table.optimum, len(table.times)) == (0.002, sum(time is not None for _, time, _ in rows()))
    assert [axis.name for axis in table.space.axes if axis.shared] == ["width"]
    # 32 × 16 work-items are too many: of the defaults, one has to change.
    assert values_of(table.space, (0, 0, 0, 0)) == {"width": 8, "height": 16, "tile": 4, "layout": "columns"}
    assert len(table.remarks) == 1 and table.remarks[0].startswith("the default (width = 32, height = 16")


def test_a_valid_default_needs_no_remark(tmp_path: Path) -> None:
    table = foreign_table(results_file(tmp_path), read_spaces([space_file(tmp_path, height=2)]))
    assert table.remarks == ()
    assert values_of(table.space, (0, 0, 0, 0)) == {"width": 32, "height": 2, "tile": 4, "layout": "columns"}


def test_without_a_space_the_results_are_all_that_is_valid(tmp_path: Path) -> None:
    table = foreign_table(results_file(tmp_path))
    assert values_of(table.space, (0, 0, 0, 0)) == rows()[0][0]
    assert len(table.trials) == len(rows())
    assert table.remarks == ("no space was given for it: what the results have is taken for all that is valid",)


def test_gaps_are_said(tmp_path: Path) -> None:
    table = foreign_table(results_file(tmp_path, 3, 5), read_spaces([space_file(tmp_path, height=2)]))
    assert table.remarks == ("2 valid configurations have no result, and are left out",)


def test_what_is_refused(tmp_path: Path) -> None:
    results = results_file(tmp_path)
    with pytest.raises(InvalidInputError, match="has a result, but breaks the conditions of its space"):
        foreign_table(results, read_spaces([space_file(tmp_path, "width * height <= 64")]))
    with pytest.raises(InvalidInputError, match="made up GPU has no parameter 'depth' to be shared"):
        foreign_table(results, shared=["depth"])
    empty = tmp_path / "empty.json"
    empty.write_text('{"results": []}')
    with pytest.raises(InvalidInputError, match=r"empty\.json: it has no results"):
        foreign_table(empty)
    mixed = [{"configuration": {name: 1}, "times": {"runtimes": [1]}, "invalidity": "correct"} for name in "ab"]
    empty.write_text(json.dumps({"results": mixed}))
    with pytest.raises(InvalidInputError, match="its results differ in their parameters"):
        foreign_table(empty)


def test_a_folder_does_not_hide_a_sweep_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pocl").mkdir()
    monkeypatch.chdir(tmp_path)
    file = results_file(tmp_path)
    monkeypatch.setattr("coarsen.opencl_bench.search.table_files.shipped_files", lambda: {"pocl": file})
    assert [table.name for table in read_tables(TableFiles([Path("pocl")]))] == [name_of(file)]


@pytest.mark.parametrize(
    ("file", "name"), [("conv_A100_T4.json.gz", "conv A100"), ("x.json", "x"), ("_T4.json", "_T4.json")]
)
def test_names(file: str, name: str) -> None:
    assert name_of(Path("somewhere") / file) == name


@pytest.fixture(scope="module")
def hub() -> Path:
    """The folder with six brute-forced spaces of the benchmark hub, in the files that `SHA256SUMS` there names."""
    if "COARSEN_HUB" not in os.environ:
        pytest.skip(
            "COARSEN_HUB names no folder with files of the benchmark hub, which are not part of this project"
        )
    folder = Path(os.environ["COARSEN_HUB"])
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert len(lines) == 8
    for digest, name in map(str.split, lines):
        assert hashlib.sha256((folder / name.lstrip("*./")).read_bytes()).hexdigest() == digest, name
    return folder


def hub_table(folder: Path, kernel: str, gpu: str) -> Table:
    return foreign_table(folder / f"{kernel}_{gpu}_T4.json.gz", read_spaces([folder / f"{kernel}_T1.json"]))


@pytest.mark.parametrize(("gpu", "times"), [("A100", 4201), ("W6600", 4362)])
def test_convolution_of_the_hub(gpu: str, times: int, hub: Path) -> None:
    table = hub_table(hub, "convolution", gpu)
    assert (len(table.trials), len(table.times), table.remarks) == (4362, times, ())
    base = values_of(table.space, (0,) * len(table.space.axes))
    assert (base["block_size_x"], base["block_size_y"], base["use_padding"]) == (16, 16, 1)


def test_dedispersion_of_the_hub(hub: Path) -> None:
    table = hub_table(hub, "dedispersion", "W6600")
    assert (len(table.trials), len(table.times)) == (11130, 11130)
    (remark,) = table.remarks
    assert remark.startswith("the default (block_size_x = 16, block_size_y = 32,")
    base = values_of(table.space, (0,) * len(table.space.axes))
    assert (base["tile_size_x"], base["tile_stride_x"], base["tile_stride_y"]) == (1, 0, 0)
