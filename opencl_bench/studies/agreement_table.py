"""Worth of the fast path and lock-step: `python -m coarsen.opencl_bench.studies.agreement_table`.

Six kernels with divergent regions at factors 2, 4 and 8, on each CPU device, with both transforms on and off and
beside the uncoarsened kernel, all in one process and one run: verified, timed in turns, medians with bootstrap
intervals. Then what the code alone says of all kernels of the suite, and which targets are met. Each row is
measured once, and all that was measured is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pyopencl as cl
from rich.console import Console

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.errors import CoarsenError, DeviceError
from coarsen.opencl_bench.measure.machine import BuildError, LaunchError
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine, devices_to_measure
from coarsen.opencl_bench.studies.agreement import Asked, TransformComparison, measured_rows
from coarsen.opencl_bench.studies.agreement_targets import Goal, targets
from coarsen.opencl_bench.studies.agreement_text import device_table, effects_table, shares_line, target_lines
from coarsen.opencl_bench.studies.static_effects import StaticEffect, mean_shares, static_effects
from coarsen.opencl_bench.sweep.device_lock import device_lock
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.lookup import SUITE, benchmark
from coarsen.variant.transforms import DeviceKind, device_kind_of

KERNELS = ("mvCoal", "mvUncoal", "spmv", "stencil", "sobel", "convolution")
FACTORS = (2, 4, 8)
JUDGED_FACTOR = 8  # at which the size of the code counts
_WIDTH = 150


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print as the command line says; returns the exit status."""
    chosen = _parser().parse_args(arguments)
    warnings.simplefilter("ignore", cl.CompilerWarning)
    try:
        effects = static_effects(SUITE.values(), JUDGED_FACTOR, DeviceKind(chosen.device_kind))
        measured = [] if chosen.static else [(device, _measured(device, chosen)) for device in _devices(chosen)]
    except CoarsenError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except (BuildError, LaunchError) as error:
        print(f"error: {error}", file=sys.stderr)
        return DeviceError.exit_code
    if chosen.format == "json":
        print(json.dumps(_as_data(measured, effects, chosen), indent=2))
    else:
        _print(measured, effects)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coarsen.opencl_bench.studies.agreement_table", description=(__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    add("--preset", default="cpu", metavar="NAME", help="the benchmarks' sizes (default cpu)")
    add("--device", action="append", metavar="NAME", help="only this device; may be repeated (default: all CPUs)")
    add("--kernel", action="append", metavar="NAME", choices=[*SUITE], help="only this one; may be repeated")
    add("--factor", action="append", type=_factor, metavar="F", help="only this one; may be repeated")
    add("--local-size", type=_local_size, metavar="SIZE", help="such as 64 or 16x16 (default: the preset's)")
    add("--all-dimensions", action="store_true", help="not dimension 0 alone, all that a kernel uses")
    add("--repetitions", type=int, default=21, metavar="N", help="timed runs of each kernel (default 21)")
    add(
        "--device-kind",
        choices=[*DeviceKind],
        default=DeviceKind.CPU,
        help="what the code's size is for (default cpu)",
    )
    add("--static", action="store_true", help="measure nothing: what the code says alone")
    add("-f", "--format", choices=("table", "json"), default="table", help="tables to read, or JSON")
    return parser


def _factor(text: str) -> int:
    if not text.isdecimal() or int(text) <= 1:
        raise argparse.ArgumentTypeError(f"a factor is a whole number above 1, not '{text}'")
    return int(text)


def _local_size(text: str) -> LocalSize:
    extents = text.split("x")
    if not all(extent.isdecimal() and int(extent) for extent in extents):
        raise argparse.ArgumentTypeError(f"a local size is 64 or 16x16 for example, not '{text}'")
    return tuple(map(int, extents))


def _devices(chosen: argparse.Namespace) -> list[DeviceDescription]:
    if chosen.device:
        return [find_device(name) for name in chosen.device]
    devices = [device for device in devices_to_measure() if "cpu" in device.device_types]
    if not devices:
        raise DeviceError("no CPU device works here")
    return devices


def _measured(device: DeviceDescription, chosen: argparse.Namespace) -> list[TransformComparison]:
    with device_lock(device):
        return list(_rows(OpenClMachine(device), device_kind_of(device.device_types), chosen))


def _rows(machine: OpenClMachine, kind: DeviceKind, chosen: argparse.Namespace) -> Iterator[TransformComparison]:
    asked = Asked(chosen.preset, chosen.local_size, chosen.repetitions)
    for name in chosen.kernel or KERNELS:
        for dimension in benchmark(name).dimensions if chosen.all_dimensions else (0,):
            for row in measured_rows(machine, benchmark(name), dimension, chosen.factor or FACTORS, asked, kind):
                print(f"{name}, dimension {dimension}, factor {row.factor}: measured", file=sys.stderr, flush=True)
                yield row


def _print(
    measured: Sequence[tuple[DeviceDescription, list[TransformComparison]]], effects: Sequence[StaticEffect]
) -> None:
    console = Console(width=_WIDTH, highlight=False)
    for device, rows in measured:
        console.print(device_table(device, rows))
        _print_targets(console, targets(rows, ()))
    console.print(effects_table(effects, JUDGED_FACTOR))
    console.print(shares_line(mean_shares(effects), len(effects)), soft_wrap=True)
    _print_targets(console, targets((), effects))


def _print_targets(console: Console, found: Sequence[Goal]) -> None:
    for line in target_lines(found):
        console.print(line, soft_wrap=True)
    console.print()


def _as_data(
    measured: Sequence[tuple[DeviceDescription, list[TransformComparison]]],
    effects: Sequence[StaticEffect],
    chosen: argparse.Namespace,
) -> dict[str, Any]:
    return {
        "preset": chosen.preset,
        "repetitions": chosen.repetitions,
        "devices": [
            {
                "device": device.name,
                "platform": device.platform_name,
                "driver_version": device.driver_version,
                "rows": [asdict(row) for row in rows],
                "targets": [asdict(target) for target in targets(rows, ())],
            }
            for device, rows in measured
        ],
        "code": {
            "factor": JUDGED_FACTOR,
            "kernels": [{**asdict(effect), "growth": effect.growth} for effect in effects],
            "shares": asdict(mean_shares(effects)),
            "targets": [asdict(target) for target in targets((), effects)],
        },
    }


if __name__ == "__main__":
    sys.exit(main())
