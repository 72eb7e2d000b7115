"""There is no process that compiles."""

from __future__ import annotations

import sys

from coarsen.tuning.processes import compiler
from tests.tuning_services.certain import tune_certainly

if __name__ == "__main__":
    setattr(compiler, "SERVICE", "tests.there_is_no_such_compiler")  # noqa: B010
    sys.exit(tune_certainly())
