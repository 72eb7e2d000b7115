"""Version 0004: choices that tuning made are remembered, in a table of their own."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, BigInteger, Column, Double, String

revision = "0004"
down_revision = "0003"

ORDERED = String().with_variant(String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table, empty."""
    op.create_table(
        "remembered",
        Column("key", ORDERED, primary_key=True),
        Column("ir_hash", String, nullable=False),
        Column("kernel", String, nullable=False),
        Column("vendor", String, nullable=False),
        Column("device", String, nullable=False),
        Column("platform", String, nullable=False),
        Column("allowed", String, nullable=False),
        Column("size_class", String, nullable=False),
        Column("variant", JSON, nullable=False),
        Column("speedup", JSON, nullable=False),
        Column("speedup_over_uncoarsened", JSON),
        Column("global_size", JSON, nullable=False),
        Column("local_size", JSON),
        Column("driver_version", String, nullable=False),
        Column("platform_version", String, nullable=False),
        Column("versions", JSON, nullable=False),
        Column("trials", BigInteger, nullable=False),
        Column("seconds", Double, nullable=False),
        Column("processes", BigInteger, nullable=False),
        Column("found_at", ORDERED, nullable=False),
    )
    op.create_index("remembered_kernel", "remembered", ["kernel"])
