"""The tuner has a bug, or its process is killed."""

from __future__ import annotations

import os
import signal
import sys

from coarsen.tuning import tuning_service
from coarsen.tuning.settings import Tune


def fail(_launch: object, _groups_matter: bool, settings: Tune, *_others: object, **_first: object) -> None:
    """Die, or fail as nobody thought it would: by the seed."""
    if settings.seed:
        os.kill(os.getpid(), signal.SIGKILL)
    raise KeyError("nobody thought of it")


if __name__ == "__main__":
    setattr(tuning_service, "tune_benchmark", fail)  # noqa: B010
    sys.exit(tuning_service.main())
