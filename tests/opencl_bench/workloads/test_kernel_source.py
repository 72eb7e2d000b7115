"""A name in a table or a row finds a kernel, and never a file that the user did not name."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import find_measured
from tests.opencl_bench.workloads.described.conftest import BLEND_FILE, BLEND_KERNEL


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that describes `inside`, beside a description that is not in it."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    for place in (folder / "inside.toml", tmp_path / "outside.toml"):
        place.write_text(BLEND_FILE)
        (place.parent / "blend.cl").write_text(BLEND_KERNEL)
    return folder


def test_what_the_folder_describes(folder: Path) -> None:
    assert find_measured("inside", folder).name == "inside"
    assert find_measured("sgemm", folder).name == "sgemm"


@pytest.mark.parametrize("name", ["../outside", "../outside.toml", "{}/outside.toml", "inside.toml", "..", ""])
def test_a_path_is_no_name(folder: Path, name: str) -> None:
    path = name.format(folder.parent)
    with pytest.raises(InvalidInputError, match=r"is a path and no name of a kernel|is neither in"):
        find_measured(path, folder)
