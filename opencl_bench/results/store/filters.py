"""Which of a store's measurements are meant."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, true

from coarsen.opencl_bench.records.measurement import Invalidity, Role
from coarsen.opencl_bench.results.store.schema import environment, is_called, measurement, subject


@dataclass(frozen=True, slots=True)
class Filter:
    """What measurements must have in common; None: anything.

    `device` is any part of the name of the device, or of its platform's name, vendor or version, in any case; a
    platform's name wins over a device's, as in `coarsen.devices.selection`. `key_prefix` is how the key begins.
    """

    benchmark: str | None = None
    device: str | None = None
    preset: str | None = None
    role: Role | None = None
    invalidity: Invalidity | None = None
    key_prefix: str | None = None


EVERYTHING = Filter()


def condition(chosen: Filter) -> ColumnElement[bool]:
    """Return the filter as a condition on the joined tables."""
    conditions: list[ColumnElement[bool]] = []
    if chosen.benchmark is not None:
        conditions.append(subject.c.benchmark == chosen.benchmark)
    if chosen.device is not None:
        conditions.append(is_called(chosen.device, environment))
    if chosen.preset is not None:
        conditions.append(subject.c.preset == chosen.preset)
    if chosen.role is not None:
        conditions.append(measurement.c.role == chosen.role.value)
    if chosen.invalidity is not None:
        conditions.append(measurement.c.invalidity == chosen.invalidity.value)
    if chosen.key_prefix is not None:
        conditions.append(measurement.c.key.startswith(chosen.key_prefix.lower(), autoescape=True))
    return and_(true(), *conditions)
