"""Measures a pack: `python -m coarsen.opencl_bench.run_pack DIR`.

For a machine that has Python, NumPy and PyOpenCL, and nothing else that coarsen needs elsewhere. Each
configuration runs in a process that can be killed; each row is on the disk before the next is measured, and a
second run goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from coarsen.base.files import whole_output
from coarsen.errors import CoarsenError, printable
from coarsen.opencl_bench.results.exchange.lines import LineFile
from coarsen.opencl_bench.sweep.pack.plan import Pack
from coarsen.opencl_bench.sweep.pack.running import RunRequest, device_for, run_pack
from coarsen.tuning.records.measurement import QUICK

BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a pack as the command line says; returns the exit status."""
    options = _parser().parse_args(arguments)
    with whole_output():
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    try:
        pack = Pack(options.folder)
        device = device_for(options.device, options.form)
        request = RunRequest(
            benchmarks=tuple(options.benchmark),
            method=QUICK if options.quick else None,
            confirms=not options.no_confirmation,
            part=options.part,
        )
        with LineFile(options.output) as rows:
            print(f"{device}: rows go to {options.output}", flush=True)
            failures = run_pack(pack, device, options.form, rows, request)
    except CoarsenError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"error: {error.filename or options.output}: can't be written: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted; the next run goes on from here", file=sys.stderr)
        return INTERRUPTED
    for failure in failures:
        print(printable(f"error: {failure.benchmark}: {failure.problem}"), file=sys.stderr)
    return failures[0].exit_code if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coarsen.opencl_bench.run_pack",
        description="Measure the configurations of a pack on a device of this machine.",
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the pack")
    add(
        "--device",
        metavar="NAME|INDEX",
        help="part of an OpenCL device's name, or its index; the first GPU if left out, else the first device",
    )
    add("--form", choices=("opencl_c", "spirv"), default="opencl_c", help="which code the device is given")
    add(
        "-o",
        "--output",
        type=Path,
        default=Path("results.jsonl"),
        metavar="FILE",
        help="results.jsonl if left out",
    )
    add("--benchmark", action="append", default=[], metavar="NAME", help="only this one; may be repeated")
    add("--quick", action="store_true", help="few repetitions, for a first look")
    add("--no-confirmation", action="store_true", help="don't time the best once more in new processes")
    add("--part", type=_part, default=(1, 1), metavar="K/N", help="only the K-th of N parts, for one of N devices")
    return parser


def _part(text: str) -> tuple[int, int]:
    try:
        part, parts = map(int, text.split("/"))
    except ValueError:
        part, parts = 0, 0
    if not 0 < part <= parts:
        raise argparse.ArgumentTypeError(f"give K/N, such as 1/2, not {text!r}")
    return part, parts


if __name__ == "__main__":
    sys.exit(main())
