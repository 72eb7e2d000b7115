"""Any interval is narrow enough, however busy this machine is."""

from __future__ import annotations

import sys

from coarsen.tuning.measure import speedup
from coarsen.tuning.tuning_service import main


def tune_certainly() -> int:
    """Serve so."""
    # This process is for nothing else.
    setattr(speedup, "WIDEST", float("inf"))  # noqa: B010 (a checker of types forbids the assignment)
    return main()


if __name__ == "__main__":
    sys.exit(tune_certainly())
