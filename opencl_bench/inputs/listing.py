"""Writes the lists of the inputs of kernels that adapt, after a change of their spaces.

    python -m coarsen.opencl_bench.inputs.listing [NAME …]

Rows that were measured on other inputs of the same names keep their sizes, and are told apart by them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from coarsen.opencl_bench.inputs.drawing import draw_inputs
from coarsen.opencl_bench.workloads.input_space import write_inputs
from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel


def main(words: Sequence[str]) -> None:
    """Write the lists of the kernels of these names, of all where there are none."""
    for kernel in map(adaptive_kernel, words or adaptive()):
        write_inputs(kernel.list_file, kernel.inputs, draw_inputs(kernel.inputs))


if __name__ == "__main__":
    main(sys.argv[1:])
