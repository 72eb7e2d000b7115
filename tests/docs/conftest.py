"""The built pages, once for all test processes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import browser, pytest_collection_modifyitems
from tests.docs.pages import Site

__all__ = ["browser", "pytest_collection_modifyitems", "site"]

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "error::SyntaxWarning"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site, built from the working tree with warnings as errors."""
    # The processes of pytest-xdist have folders of their own in one that they share.
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if is_worker else base) / "site"
    with (folder.parent / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "sitemap.xml").is_file():
            build(folder)
    return Site(folder)


def build(folder: Path) -> None:
    mkdocs = Path(__file__).with_name("light_build.py")
    command = [sys.executable, "-P", str(mkdocs), "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
