"""Run the programs on streams: check their answers, time them beside plain ones: lines of CSV.

    python -m coarsen.opencl_bench.streams [NAME …] -d DEVICE [--size N …] [--drawn N] [--without fusion choice]

A line for each way: microseconds of a run, which is of so many steps, medians of 15 rounds in turns, the host's
part included. A wrong answer and what fails are said on standard error; the others go on.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.streams import PARTS, Program, bicgstab, convolution, monte_carlo, products, svm
from coarsen.opencl_bench.studies.turns import COMPARED, compared, correct, goes_on, study

PROGRAMS: dict[str, Program] = {
    **products.PROGRAMS,
    **convolution.PROGRAMS,
    **monte_carlo.PROGRAMS,
    **bicgstab.PROGRAMS,
    **svm.PROGRAMS,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "names": {"nargs": "*", "metavar": "NAME", "choices": [*PROGRAMS, []], "help": "all if left out"},
    "--size": {"nargs": "+", "type": int, "action": "append", "default": [], "help": "may be given again"},
    "--drawn": {"type": int, "default": 0, "metavar": "N", "help": "N sizes of each, drawn, none a power of two"},
    "--seed": {"type": int, "default": 2012, "help": "that they are drawn with (2012)"},
    "--without": {"nargs": "+", "choices": PARTS, "default": (), "help": "what is switched off"},
}


def lines(queue: cl.CommandQueue, asked: Namespace) -> Iterator[tuple[object, ...]]:
    """Yield the lines of all programs."""
    yield "device", "program", "size", "without", "steps", *COMPARED
    for name in asked.names or PROGRAMS:
        program, generator = PROGRAMS[name], np.random.default_rng([asked.seed, *name.encode()])
        sizes = [*map(tuple, asked.size), *(program.drawn(generator) for _ in range(asked.drawn))]
        for size in sizes or [tuple(program.usual.values())]:
            told = " ".join(map(str, size))
            with goes_on(f"{name} {told}"):
                if len(size) != len(program.usual) or min(size) < 1:
                    raise InvalidInputError(f"its size is {' and '.join(program.usual)}, each at least 1")
                problem = program.make(queue, size, asked.without)
                runs = correct(f"{name} {told}", problem.ways, problem.wanted, problem.close)
                for line in compared(queue, runs):
                    without = " ".join(sorted({*asked.without}))
                    yield queue.device.name.strip(), name, told, without, problem.steps, *line


if __name__ == "__main__":
    study(__doc__, lines, OPTIONS)
