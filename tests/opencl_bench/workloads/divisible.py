"""Work-groups of the suite's benchmarks that many factors divide."""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.tuning.workload.benchmark import LocalSize

# For each dimension a work-group whose extent along it is divided by as many of 2, 3, 4, 8, 16, 32 as the
# algorithm allows; of mtLocal, 32 x 32 work-items need 64 KiB of local memory.
DIVISIBLE: Mapping[str, Mapping[int, LocalSize]] = {
    "binarySearch": {0: (192,)},
    "blackscholes": {0: (192,)},
    "convolution": {0: (192,)},
    "dwtHaar1D": {0: (128,)},
    "fastWalsh": {0: (128,)},
    "floydWarshall": {0: (96, 8), 1: (8, 96)},
    "mriQ": {0: (192,)},
    "mt": {0: (192, 4), 1: (4, 192)},
    "mtLocal": {0: (32, 32), 1: (32, 32)},
    "mvCoal": {0: (192,)},
    "mvUncoal": {0: (192,)},
    "nbody": {0: (192,)},
    "reduce": {0: (128,)},
    "sgemm": {0: (192, 4), 1: (4, 192)},
    "sobel": {0: (192, 4), 1: (4, 192)},
    "spmv": {0: (192,)},
    "stencil": {0: (192, 2, 2), 1: (2, 192, 2), 2: (2, 2, 64)},
}
