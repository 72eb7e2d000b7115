"""Version 0005: rows say by which clock they were timed; inputs that are tuned over are described.

What was stored before is the sum of its launches, which no key says.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, BigInteger, Column, String

revision = "0005"
down_revision = "0004"

ORDERED = String().with_variant(String(collation="C"), "postgresql")
BESIDE = ("sum_nanoseconds", "host_nanoseconds", "baseline_sum_nanoseconds", "baseline_host_nanoseconds")


def upgrade() -> None:
    """Give each row the clock that adds up, and make the table of inputs, empty."""
    op.add_column("measurement", Column("clock", String, nullable=False, server_default="sum"))
    for name in BESIDE:
        op.add_column("measurement", Column(name, JSON))
    op.create_table(
        "input",
        Column("key", ORDERED, primary_key=True),
        Column("benchmark", String, nullable=False),
        Column("preset", String, nullable=False),
        Column("seed", BigInteger, nullable=False),
        Column("parameters", JSON, nullable=False),
        Column("features", JSON, nullable=False),
    )
    op.create_index("input_benchmark", "input", ["benchmark"])
