"""Find the packages: four folders of the repository, which `pyproject.toml` names, install as one package."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from setuptools import find_namespace_packages, setup

SETTINGS = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text(encoding="utf-8"))
FOLDERS: dict[str, str] = SETTINGS["tool"]["setuptools"]["package-dir"]
# Studies, and the programs on streams, are run in a clone.
LEFT_OUT = ["studies", "studies.*", "streams", "*__pycache__*"]


def packages() -> Iterator[str]:
    """Yield the name of every folder that is installed, those of data too."""
    for package, folder in FOLDERS.items():
        yield package
        yield from (f"{package}.{found}" for found in find_namespace_packages(folder, exclude=LEFT_OUT))


setup(packages=list(packages()))
