"""Version 0001: measurements, what they share, and the store's identity."""

from __future__ import annotations

import uuid

from alembic import op
from sqlalchemy import JSON, BigInteger, Boolean, Column, Double, ForeignKey, Integer, String

revision = "0001"
down_revision = None

ORDERED = String().with_variant(String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables and give the store its identity."""
    _make_store()
    _make_subject()
    _make_environment()
    _make_method()
    _make_measurement()


def _make_store() -> None:
    table = op.create_table(
        "store",
        Column("number", Integer, primary_key=True),
        Column("identity", String, nullable=False),
    )
    op.bulk_insert(table, [{"number": 1, "identity": str(uuid.uuid4())}])


def _make_subject() -> None:
    op.create_table(
        "subject",
        Column("key", String, primary_key=True),
        Column("benchmark", String, nullable=False),
        Column("kernel", String, nullable=False),
        Column("ir_hash", String, nullable=False),
        Column("build_options", JSON, nullable=False),
        Column("preset", String, nullable=False),
        Column("size", JSON, nullable=False),
        Column("seed", BigInteger, nullable=False),
    )
    op.create_index("subject_benchmark", "subject", ["benchmark"])


def _make_environment() -> None:
    op.create_table(
        "environment",
        Column("key", String, primary_key=True),
        Column("vendor", String, nullable=False),
        Column("device", String, nullable=False),
        Column("driver_version", String, nullable=False),
        Column("platform", String, nullable=False),
        Column("platform_version", String, nullable=False),
        Column("compute_units", BigInteger, nullable=False),
        Column("device_types", JSON, nullable=False),
        Column("form", String, nullable=False),
        Column("versions", JSON, nullable=False),
    )


def _make_method() -> None:
    op.create_table(
        "method",
        Column("key", String, primary_key=True),
        Column("repetitions", BigInteger, nullable=False),
        Column("minimum_repetitions", BigInteger, nullable=False),
        Column("warm_up", BigInteger, nullable=False),
        Column("interval_width", Double, nullable=False),
        Column("level", Double, nullable=False),
        Column("timeout_multiple", Double, nullable=False),
        Column("grace_seconds", Double, nullable=False),
        Column("compile_seconds", Double, nullable=False),
        Column("cold_cache", Boolean, nullable=False),
    )


def _make_measurement() -> None:
    op.create_table(
        "measurement",
        Column("key", ORDERED, primary_key=True),
        Column("subject_key", String, ForeignKey("subject.key"), nullable=False),
        Column("environment_key", String, ForeignKey("environment.key"), nullable=False),
        Column("method_key", String, ForeignKey("method.key"), nullable=False),
        Column("role", String, nullable=False),
        Column("candidate", JSON, nullable=False),
        Column("baseline", JSON),
        Column("invalidity", String, nullable=False),
        Column("started_at", ORDERED, nullable=False),
        Column("reason", String, nullable=False),
        Column("oracle", String, nullable=False),
        Column("nanoseconds", JSON, nullable=False),
        Column("baseline_nanoseconds", JSON, nullable=False),
        Column("compile_seconds", Double, nullable=False),
        Column("measure_seconds", Double, nullable=False),
        Column("timed_seconds", Double, nullable=False),
        Column("code_hash", String, nullable=False),
    )
    op.create_index("measurement_order", "measurement", ["started_at", "key"])
    op.create_index("measurement_subject", "measurement", ["subject_key"])
    op.create_index("measurement_environment", "measurement", ["environment_key"])
