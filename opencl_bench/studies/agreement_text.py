"""The tables of `agreement_table.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.studies.agreement import TransformComparison
from coarsen.opencl_bench.studies.agreement_targets import Goal
from coarsen.opencl_bench.studies.static_effects import Shares, StaticEffect
from coarsen.variant.variant import shape


def device_table(device: DeviceDescription, rows: Iterable[TransformComparison]) -> Table:
    """Return the table of a device's measurements, a line for each kernel, dimension and factor."""
    table = Table(title=f"{device}: speed-up over factor 1 (95 % interval; = the same code on and off)")
    for heading in ("kernel", "dimension", "local size", "factor"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    for heading in ("factor 1, ms", "off", "on", "on over off"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            *(row.benchmark, str(row.dimension), shape(row.local_size), str(row.factor)),
            f"{row.milliseconds['original']:.2f}",
            *(_speedup(row.off), _speedup(row.on)),
            f"{'= ' if row.same_code else ''}{_speedup(row.gain)}",
        )
    return table


def effects_table(effects: Iterable[StaticEffect], factor: int) -> Table:
    """Return the table of what the code of each kernel shows."""
    table = Table(title=f"factor {factor}: instructions, and the work of one work-item by what is done to it")
    table.add_column("kernel")
    for heading in ("off", "on", "on / off", "outside of regions", "interleaved", "copied"):
        table.add_column(heading, justify="right")
    for each in effects:
        shares = (f"{share:.0%}" for share in (each.outside, each.interleaved, each.copied))
        table.add_row(each.benchmark, str(each.off), str(each.on), f"{each.growth:.2f}", *shares)
    return table


def shares_line(shares: Shares, count: int) -> str:
    """Return the means in one line."""
    return (
        f"In the mean of {count} kernels {shares.outside:.0%} of the work stands outside of divergent regions, "
        f"{shares.interleaved:.0%} in regions that are interleaved and {shares.copied:.0%} in regions that are "
        f"copied; of the work in divergent regions {shares.of_regions:.0%} is interleaved"
    )


def target_lines(targets: Sequence[Goal]) -> Iterator[str]:
    """Yield a line for each target: what was wanted, what was found."""
    for target in targets:
        yield f"{'met' if target.met else 'NOT MET'}: {target.wanted}: {target.found}"


def _speedup(speedup: Speedup) -> str:
    return f"{speedup.ratio:.2f} ({speedup.low:.2f}–{speedup.high:.2f})"
