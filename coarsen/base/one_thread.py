"""NumPy in one thread, for work that needs no more.

OpenBLAS, with which NumPy comes, starts a thread for each processor as it is loaded. They wait for work, and they
wait busily: that takes more processor time than all else that is done to load NumPy.
"""

from __future__ import annotations

import os
import sys

_THREADS = "OPENBLAS_NUM_THREADS"


def load_numpy_in_one_thread() -> None:
    """Load NumPy so that it computes in the thread that asks it to, unless the environment says how many it has.

    Where NumPy is loaded already nothing changes, nor does it for processes that this one starts.
    """
    if "numpy" in sys.modules or _THREADS in os.environ:
        return
    os.environ[_THREADS] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[_THREADS]
