"""A program that is run inside of the clone, where Python finds the folder `coarsen` before anything installed."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from coarsen.base.names import PARTS, folders_of_parts

ROOT = Path(__file__).parents[1]
PROGRAM = """
import coarsen, coarsen.features, coarsen.models, coarsen.opencl_bench
from coarsen.opencl_bench.workloads.lookup import SUITE
for package in (coarsen, coarsen.features, coarsen.models, coarsen.opencl_bench):
    print(package.__file__)
chosen = SUITE["mt"]
print(coarsen.__version__, coarsen.predict(chosen.kernel_file, device="tahiti").factor)
"""


def run_in_the_clone(site_packages: Path) -> list[str]:
    """What a program prints that no `.pth` file helps to find anything."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM],
        cwd=ROOT,
        env={"PYTHONPATH": str(site_packages), "PATH": "/usr/bin:/bin", "HOME": str(site_packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def dependencies(tmp_path: Path) -> Path:
    """All that is installed but this package."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "coarsen" not in path.name:
            (folder / path.name).symlink_to(path)
    return folder


def test_a_program_needs_no_installed_package(dependencies: Path) -> None:
    *files, last = run_in_the_clone(dependencies)
    assert files == [str(ROOT / folder / "__init__.py") for folder in ("coarsen", *PARTS)]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version, factor = last.split()
    assert version == project["version"] and int(factor) >= 1


def test_a_package_that_is_installed_too_is_not_mixed_in(dependencies: Path) -> None:
    """The clone's own folders count, whatever is beside the dependencies."""
    installed = dependencies / "coarsen"
    installed.mkdir()
    (installed / "__init__.py").write_text("raise ImportError('the installed one')\n")
    *files, _ = run_in_the_clone(dependencies)
    assert files == [str(ROOT / folder / "__init__.py") for folder in ("coarsen", *PARTS)]


@pytest.mark.parametrize("missing", ["pyproject.toml", "models/__init__.py"])
def test_an_installed_package_is_left_alone(tmp_path: Path, missing: str) -> None:
    for name in ("coarsen", *PARTS):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / missing).unlink()
    assert folders_of_parts(tmp_path / "coarsen") == []
    (tmp_path / missing).touch()
    assert folders_of_parts(tmp_path / "coarsen") == [str(tmp_path)]
    # Its parts are folders of its own, whatever other packages are called `features`.
    (tmp_path / "coarsen" / "features").mkdir()
    assert folders_of_parts(tmp_path / "coarsen") == []
