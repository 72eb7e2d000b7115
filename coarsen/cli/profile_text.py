"""A device's profile as tables: what it is, its memory, its operations, what starting work costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from coarsen.cli.output import print_line, print_table
from coarsen.models.analytic.machine import Curve, DeviceProfile, MemoryLevel, Point, Quantity

_UNKNOWN = "–"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_BYTES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
_LAUNCH = {
    "gap": "from a launch to the next, many in a row",
    "round_trip": "a launch and the wait for its end",
    "event": "a launch, as its event tells",
    "group": "a work-group, on its compute unit",
    "item": "a work-item, on its compute unit",
    "barrier": "a barrier",
    "barrier_item": "a barrier, for each work-item of the group",
}


def print_profile(profile: DeviceProfile) -> None:
    """Print a profile; ± is half the distance of the quartiles, – what isn't known."""
    print_line(f"{profile.source.kind} on {profile.source.date}: {profile.source.text}")
    print_line()
    print_table(["device", ""], _described(profile))
    print_line()
    print_table(["memory level", "bandwidth", "latency"], map(_level_row, profile.levels), numbers=["bandwidth"])
    print_line()
    _print_curves(profile)
    _print_strides(profile)
    headings = ["operations", "a second", "±", "latency"]
    print_table(headings, _rate_rows(profile), numbers=["a second", "±", "latency"])
    print_line()
    print_table(["starting work", "seconds", "±"], _launch_rows(profile), numbers=["seconds", "±"])


def scaled(value: float | None, unit: str) -> str:
    """Return a number with three digits and the prefix that suits it: `1.23 GB/s`."""
    if value is None:
        return _UNKNOWN
    size, prefix = next(((size, prefix) for size, prefix in _PREFIXES if value >= size), _PREFIXES[-1])
    return f"{value / size:.3g} {prefix}{unit}".rstrip()


def _byte_text(count: float | None) -> str:
    if count is None:
        return _UNKNOWN
    size, unit = next((size, unit) for size, unit in _BYTES if count >= size or size == 1)
    return f"{count / size:.4g} {unit}"


def _described(profile: DeviceProfile) -> Iterator[list[str]]:
    yield ["compute units", str(profile.compute_units)]
    yield ["lanes together", _text(profile.simd_width)]
    yield ["clock", scaled(profile.clock, "Hz")]
    dedicated = {True: "its own", False: "ordinary memory", None: _UNKNOWN}[profile.local_memory_is_dedicated]
    yield ["local memory", f"{_byte_text(profile.local_memory)}, {dedicated}"]
    bandwidth = profile.local_bandwidth
    yield ["local bandwidth", scaled(bandwidth.value if bandwidth else None, "B/s")]


def _text(value: int | None) -> str:
    return _UNKNOWN if value is None else str(value)


def _level_row(level: MemoryLevel) -> list[str]:
    size = "memory" if level.bytes is None else f"up to {_byte_text(level.bytes)}"
    return [size, scaled(level.bandwidth, "B/s"), scaled(level.latency, "s")]


def _print_curves(profile: DeviceProfile) -> None:
    curves = (profile.private_bandwidth, profile.bandwidth, profile.latency)
    if not any(curves):
        return
    headings = ["footprint", "own share", "±", "others' share", "± ", "latency", " ±"]
    units = ("B/s", "B/s", "s")
    rows = [
        [
            _byte_text(at),
            *chain.from_iterable(_cells(curve, at, unit) for curve, unit in zip(curves, units, strict=True)),
        ]
        for at in _places(*curves)
    ]
    print_table(headings, rows, numbers=headings)
    print_line()


def _print_strides(profile: DeviceProfile) -> None:
    curves = (profile.stride_cost, profile.cached_stride_cost, profile.local_stride_cost)
    if not any(curves):
        return
    headings = ["stride", "in memory", "±", "in a cache", "± ", "in local memory", " ±"]
    rows = [
        [f"{at:g}", *chain.from_iterable(_cells(curve, at, "") for curve in curves)] for at in _places(*curves)
    ]
    print_table(headings, rows, numbers=headings)
    print_line()


def _places(*curves: Curve) -> list[float]:
    return sorted({point.at for curve in curves for point in curve})


def _cells(curve: Curve, at: float, unit: str) -> tuple[str, str]:
    point = next((each for each in curve if each.at == at), None)
    return (_UNKNOWN, _UNKNOWN) if point is None else (scaled(point.value, unit), _spread(point))


def _spread(value: Point | Quantity | None) -> str:
    return _UNKNOWN if value is None or value.spread is None else f"{value.spread:.0%}"


def _rate_rows(profile: DeviceProfile) -> Iterator[list[str]]:
    for name, rate in profile.rates.items():
        latency = rate.latency.value if rate.latency else None
        amount = scaled(rate.throughput.value, "")
        yield [name.replace("_", " "), amount, _spread(rate.throughput), scaled(latency, "s")]


def _launch_rows(profile: DeviceProfile) -> Iterator[list[str]]:
    for name, meaning in _LAUNCH.items():
        cost: Quantity | None = getattr(profile.launch, name)
        yield [meaning, scaled(cost.value if cost else None, "s"), _spread(cost)]
