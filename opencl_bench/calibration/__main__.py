"""Calibrates a device: `python -m coarsen.opencl_bench.calibration -d NAME -o FILE`.

For a machine that has Python, NumPy and PyOpenCL, and nothing else that coarsen needs elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from coarsen.devices.selection import find_device, find_working_device
from coarsen.errors import CoarsenError, printable
from coarsen.models.analytic.machine import busy_remark, write_profile
from coarsen.opencl_bench.calibration.calibrate import calibrate
from coarsen.tuning.processes.device_lock import device_lock

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate as the command line says; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        device = find_device(options.device) if options.device else find_working_device()
        print(printable(f"{device}: the profile goes to {options.output}"), flush=True)
        with device_lock(device):
            profile = calibrate(device, options.output.stem, progress=lambda what: print(what, flush=True))
        write_profile(profile, options.output)
    except CoarsenError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    print("; ".join(printable(text) for text in (profile.source.text, busy_remark(profile)) if text))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coarsen.opencl_bench.calibration",
        description="Measure what a device's memory, operations and launches cost.",
    )
    parser.add_argument(
        "-d", "--device", metavar="NAME|INDEX", help="part of its OpenCL name, or its index; the first if left out"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.json", help="the profile")
    return parser


if __name__ == "__main__":
    sys.exit(main())
