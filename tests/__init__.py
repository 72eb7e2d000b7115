"""Tests: several processes of them run at once, each with one thread for linear algebra."""

import os

# Before NumPy is loaded, which reads them. Child processes have them, too.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
