"""Version 0002: configurations name their transforms, in place of a version that was the environment's.

    {"coarsenings": [[4, 0, 1]], …}  ─▶  {"coarsenings": [[4, 0, 1]], …, "transforms": {"fast_path": "never", …}}

The tables stay as they are, and so do the keys of rows: what a row's environment implied is now said. The
transforms that are written out here are those of that time, whatever today's are called.
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import JSON, Column, MetaData, String, Table, bindparam, select, update

revision = "0002"
down_revision = "0001"

BATCH = 500
REPLICATION_ALONE = {
    "fast_path": "never",
    "lock_step": "never",
    "wide_accesses": False,
    "clean_up": False,
    "device_kind": "any",
}
DEFAULT = {"fast_path": "auto", "lock_step": "auto", "wide_accesses": False, "clean_up": True}

_metadata = MetaData()
_environment = Table(
    "environment",
    _metadata,
    Column("key", String),
    Column("device_types", JSON),
    Column("versions", JSON),
)
_measurement = Table(
    "measurement",
    _metadata,
    Column("key", String),
    Column("environment_key", String),
    Column("candidate", JSON),
    Column("baseline", JSON(none_as_null=True)),
)


def upgrade() -> None:
    """Say of each coarsened configuration which transforms it stands for."""
    connection = op.get_bind()
    environments = connection.execute(select(_environment)).all()
    implied = {row.key: implied_transforms(row.device_types, row.versions) for row in environments}
    rows = connection.execute(select(_measurement)).all()
    changed = [
        {
            "row": row.key,
            "candidate": with_transforms(row.candidate, implied[row.environment_key]),
            "baseline": with_transforms(row.baseline, implied[row.environment_key]),
        }
        for row in rows
    ]
    statement = (
        update(_measurement)
        .where(_measurement.c.key == bindparam("row"))
        .values(candidate=bindparam("candidate"), baseline=bindparam("baseline"))
    )
    for start in range(0, len(changed), BATCH):
        connection.execute(statement, changed[start : start + BATCH])


def implied_transforms(device_types: list[str], versions: list[list[str]]) -> dict[str, Any]:
    """Return the transforms of coarsened configurations that were measured in an environment."""
    if "transform" not in dict(versions):
        return REPLICATION_ALONE
    kinds = {"cpu", "gpu"} & set(device_types)
    return {**DEFAULT, "device_kind": kinds.pop() if len(kinds) == 1 else "any"}


def with_transforms(value: dict[str, Any] | None, transforms: dict[str, Any]) -> dict[str, Any] | None:
    """Return a configuration with its transforms, where it is coarsened and names none."""
    if value is None or not value["coarsenings"] or "transforms" in value:
        return value
    return {**value, "transforms": transforms}
