"""The measuring service on a device where the order of work-items is another one in each run.

On a real one it is so now and then; here each reading of the outputs finds their elements moved on by one more.
"""

from __future__ import annotations

import sys

import numpy as np

from coarsen.tuning.measure.opencl_machine import OpenClExecutor
from coarsen.tuning.processes.measure_service import main
from coarsen.tuning.workload.benchmark import Array


def make_restless() -> None:
    read = OpenClExecutor.outputs
    readings = 0

    def outputs(self: OpenClExecutor) -> dict[str, Array]:
        nonlocal readings
        readings += 1
        return {name: np.roll(array, readings) for name, array in read(self).items()}

    # This process is for nothing else.
    setattr(OpenClExecutor, "outputs", outputs)  # noqa: B010 (a checker of types forbids the assignment)


if __name__ == "__main__":
    make_restless()
    sys.exit(main())
