"""The package's functions are functions, also where a module of the package has the same name."""

from __future__ import annotations

import subprocess
import sys

import pytest

NAMES = ("extract", "feature_table")


@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_not_its_module(name: str) -> None:
    code = (
        f"import coarsen.features.kernel_facts, coarsen.features.{name}\n"
        f"from coarsen.features import {name}\n"
        f"assert callable({name}), {name}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
