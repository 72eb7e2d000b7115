"""The installed packages hold all that the code folders hold, studies and programs on streams apart."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from coarsen.models.launch import NAME, SHIPPED

ROOT = Path(__file__).parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
PATTERNS = SETUPTOOLS["package-data"]["*"]


# `run_setup` configures Python's logging for the whole process, and reads files where it stands.
ASK = "import json, setuptools; from distutils.core import run_setup; "
ASK += "print(json.dumps(run_setup('setup.py', stop_after='init').packages))"


def packages() -> set[str]:
    """Return what `setup.py` asks setuptools to install, asked in a process of its own."""
    told = subprocess.run([sys.executable, "-c", ASK], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return set(json.loads(told.splitlines()[-1]))


PACKAGES = packages()
FOLDERS = {ROOT / folder: package for package, folder in SETUPTOOLS["package-dir"].items()}
STUDIES = ("coarsen.opencl_bench.studies", "coarsen.opencl_bench.streams")
# Neither code nor data: what people read, with its figures, and what tools leave behind outside hidden folders.
NOT_INSTALLED = {".md", ".svg", ".pyc"}


def package_of(folder: Path) -> str:
    """The name under which a folder is installed."""
    root = next(root for root in FOLDERS if folder.is_relative_to(root))
    return ".".join((FOLDERS[root], *folder.relative_to(root).parts))


def files(suffix: str = "") -> list[Path]:
    found = (path for root in FOLDERS for path in root.rglob(f"*{suffix}") if path.is_file())
    return [path for path in found if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)]


def only_studies(packages: set[str]) -> bool:
    """Return True for the studies and the packages in them, all of them and nothing else."""
    return packages >= {*STUDIES} and all(map(is_study, packages))


def is_study(package: str) -> bool:
    return any(f"{package}.".startswith(f"{study}.") for study in STUDIES)


def test_every_package_is_installed() -> None:
    folders = {path.parent for path in files("__init__.py")}
    assert len(folders) > len(FOLDERS)
    assert only_studies({package_of(folder) for folder in folders} - PACKAGES)


def test_no_module_is_outside_of_a_package() -> None:
    assert only_studies({package_of(path.parent) for path in files(".py")} - PACKAGES)


def test_every_data_file_is_installed() -> None:
    """setuptools takes a pattern from the folder of each package that it installs."""
    installed = {
        path
        for root, package in FOLDERS.items()
        for folder in (root, *(below for below in root.rglob("*") if below.is_dir()))
        if ".".join((package, *folder.relative_to(root).parts)) in PACKAGES
        for pattern in PATTERNS
        for path in folder.glob(pattern)
    }
    data = {path for path in files() if path.suffix not in {".py", *NOT_INSTALLED}}
    data = {path for path in data if not is_study(package_of(path.parent))}
    assert {path.suffix for path in data} >= {".cl", ".csv", ".json", ".parquet", ".safetensors", ".typed"}
    assert data <= installed


@pytest.mark.parametrize("suffix", ["safetensors", "json"])
def test_the_launch_model_is_among_them(suffix: str) -> None:
    assert (SHIPPED / f"{NAME}.{suffix}") in files(suffix)


def test_making_the_pages_installs_what_they_need_and_no_more() -> None:
    """The pages are built without the rest in `tests/docs`."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert makefile.count("docs: $(VENV)/.docs-installed\n") == 1
    assert re.search(r"^\$\(VENV\)/\.docs-installed:.*\n(\t.*\n)*?\t.*'\.\[docs\]'$", makefile, re.MULTILINE)
    wanted, seen = ["docs"], set()
    while wanted:
        for requirement in extras[wanted.pop()]:
            name, _, own = requirement.partition("[")
            wanted += own.rstrip("]").split(",") if name == "coarsen" else []
            seen.add(re.split(r"[<>=\[]", requirement)[0])
    assert "mkdocs-material" in seen
    assert not seen & {"torch", "scikit-learn", "scipy"}


def test_asking_for_the_packages_leaves_logging_alone() -> None:
    """A root logger that shows more would fail tests that count messages."""
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    assert packages() == PACKAGES
    assert (root.level, list(root.handlers)) == before
