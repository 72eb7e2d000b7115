"""The package's functions are functions, also where a module of the package has the same name."""

from __future__ import annotations

import subprocess
import sys


def test_a_function_is_not_its_module() -> None:
    code = (
        "import coarsen.features.kernel_facts, coarsen.features.feature_table\n"
        "from coarsen.features import feature_table\n"
        "assert callable(feature_table), feature_table"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
