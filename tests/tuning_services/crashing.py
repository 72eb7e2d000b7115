"""The compiler crashes at some variants and never ends at others."""

from __future__ import annotations

import sys

from coarsen.tuning import tuning_processes
from coarsen.tuning.processes import compiler
from tests.tuning_services.certain import tune_certainly

if __name__ == "__main__":
    setattr(compiler, "SERVICE", "tests.drop_in.crashing_compiler")  # noqa: B010
    setattr(tuning_processes, "_COMPILE_SECONDS", 15.0)  # noqa: B010
    sys.exit(tune_certainly())
