"""Rows of measurements that are kept in memory alone."""

from __future__ import annotations

from coarsen.opencl_bench.records.measurement import Measurement


class MemoryRows:
    """The rows of one tuning, which nobody needs afterwards: it is summed up in what is remembered."""

    def __init__(self) -> None:
        self._rows: dict[str, Measurement] = {}

    @property
    def rows(self) -> tuple[Measurement, ...]:
        """All rows, in the order in which they came."""
        return tuple(self._rows.values())

    def find(self, key: str) -> Measurement | None:
        """Return the row of this key, if there is one."""
        return self._rows.get(key)

    def add(self, measurement: Measurement) -> bool:
        """Store a row; False where one with its key was there."""
        return self._rows.setdefault(measurement.key, measurement) is measurement

    def replace(self, measurement: Measurement) -> None:
        """Store a row in place of the one with its key."""
        self._rows[measurement.key] = measurement
