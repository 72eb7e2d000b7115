"""The condition that rows are of the device that a person named."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Table, and_, not_, or_, select


def is_called(part: str, table: Table) -> ColumnElement[bool]:
    """Return the condition that a row's device, or its platform, has a text in its names, in any case.

    A platform's name wins over a device's, as in `coarsen.devices.selection`: among rows of Intel's runtime and of
    PoCL on an Intel processor, "intel" means those of the runtime.

    Args:
        part: the text; `%` and `_` mean themselves.
        table: one with the columns key, device, vendor, platform and platform_version.
    """
    of_the_platform = _one_contains(part, table.c.platform, table.c.platform_version)
    of_the_device = _one_contains(part, table.c.device, table.c.vendor)
    names_a_platform = select(table.c.key).where(of_the_platform).correlate(None).exists()
    return or_(of_the_platform, and_(not_(names_a_platform), of_the_device))


def _one_contains(part: str, *names: ColumnElement[Any]) -> ColumnElement[bool]:
    return or_(*(name.icontains(part, autoescape=True) for name in names))
