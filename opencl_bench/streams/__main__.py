"""Run the programs on streams, check their answers, and time them: `python -m coarsen.opencl_bench.streams -h`."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Collection, Iterator
from ctypes.util import find_library

import numpy as np
import pyopencl as cl

from coarsen.base.names import did_you_mean
from coarsen.devices.discovery import open_device
from coarsen.devices.drivers import prepare_loader
from coarsen.devices.selection import find_device
from coarsen.errors import CoarsenError, one_line
from coarsen.opencl_bench.streams import PARTS, PROGRAMS, Program, found
from coarsen.opencl_bench.studies.turns import in_turns

_COLUMNS = ("device", "program", "size", "without", "what", "microseconds", "q1", "q3", "error")


def main() -> int:
    """Measure what is asked for; return 1 where an answer was wrong or a program failed."""
    asked = _parsed()
    prepare_loader()
    # Intel's runtime keeps no context for its queues.
    context = cl.Context([open_device(find_device(asked.device))])
    queue = cl.CommandQueue(context)
    if find_library("clblast") is None:
        _say("CLBlast (Debian's libclblast1) isn't installed: nothing is compared with it")
    lines, is_right = csv.writer(sys.stdout, lineterminator="\n"), True
    lines.writerow(_COLUMNS)
    for name, program, size in _programs(asked):
        try:
            rows = [*_rows(queue, name, program, size, asked.without)]
        except (CoarsenError, cl.Error, ArithmeticError, MemoryError, RuntimeError, ValueError) as error:
            _say(f"{name} {' '.join(map(str, size))}: {type(error).__name__}: {one_line(str(error))}")
            is_right = False
            continue
        for row in rows:
            lines.writerow(row.values())
            if float(row["error"]) > 1:
                _say(f"{name} {row['size']}: the answer of {row['what']} is wrong")
                is_right = False
        sys.stdout.flush()
    return 0 if is_right else 1


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m coarsen.opencl_bench.streams", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all if left out: {', '.join(PROGRAMS)}")
    parser.add_argument("-d", "--device", required=True)
    parser.add_argument("--size", nargs="+", type=int, action="append", help="of a program; may be given again")
    parser.add_argument("--drawn", type=int, metavar="N", help="N sizes of each, drawn, none a power of two")
    parser.add_argument("--seed", type=int, default=2012, help="that they are drawn with (2012)")
    parser.add_argument("--without", nargs="+", choices=PARTS, default=(), help="what is switched off")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in PROGRAMS]:
        parser.error(f"there is no program {unknown[0]}{did_you_mean(unknown[0], PROGRAMS)}")
    if asked.size and (asked.drawn or len(asked.names) != 1):
        parser.error("--size is of one program, and takes the place of --drawn")
    return asked


def _programs(asked: argparse.Namespace) -> Iterator[tuple[str, Program, tuple[int, ...]]]:
    """Yield the programs with their sizes."""
    for name in asked.names or PROGRAMS:
        program = found(name)
        generator = np.random.default_rng([asked.seed, *name.encode()])
        sizes = [*map(tuple, asked.size or ()), *(program.drawn(generator) for _ in range(asked.drawn or 0))]
        for size in sizes or [program.usual]:
            yield name, program, size


def _rows(
    queue: cl.CommandQueue, name: str, program: Program, size: tuple[int, ...], without: Collection[str]
) -> Iterator[dict[str, str]]:
    """Yield the time of each way, `coarsen` first."""
    problem = program.problem(queue, size, without)
    errors = {what: problem.error(what) for what in problem.runs}
    own = [queue.device.name.strip(), name, " ".join(map(str, size)), " ".join(sorted({*without}))]
    for what, times in in_turns(queue, problem.runs).items():
        median, q1, q3 = (f"{each:.4g}" for each in np.quantile(times, (0.5, 0.25, 0.75)) / problem.steps)
        yield dict(zip(_COLUMNS, [*own, what, median, q1, q3, f"{errors[what]:.2g}"], strict=True))


if __name__ == "__main__":
    sys.exit(main())
