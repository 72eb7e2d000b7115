"""Results differ from run to run."""

from __future__ import annotations

import sys

from coarsen.tuning.processes import measuring_process
from tests.tuning_services.certain import tune_certainly

if __name__ == "__main__":
    setattr(measuring_process, "SERVICE", "tests.drop_in.restless_device")  # noqa: B010
    sys.exit(tune_certainly())
