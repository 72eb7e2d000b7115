"""The tables of the store.

    measurement ──▶ subject       what was measured
                ──▶ environment   where
                ──▶ method        how

    store: one row, the database's identity
    remembered: choices that tuning made, each by itself
    input: presets of benchmarks that are inputs to tune over, described; no measurement refers to them by key

Columns are named like the fields of the data classes in `measurement.py`, `remembered/choice.py` and
`described_input.py`. What many
measurements share is one row of `subject`, `environment` or `method`, keyed by its content. Lists are JSON arrays;
so are the pairs of sizes and versions, whose order counts. How a database gets these tables is in `creation.py`.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
)

# PostgreSQL's own names, so that constraints are called alike in every database.
NAMES = {
    "pk": "%(table_name)s_pkey",
    "fk": "%(table_name)s_%(column_0_name)s_fkey",
}
metadata = MetaData(naming_convention=NAMES)

# Times and keys are ordered byte by byte, whatever language a PostgreSQL server is set to.
ORDERED = String().with_variant(String(collation="C"), "postgresql")

store = Table(
    "store",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("identity", String, nullable=False),
)

subject = Table(
    "subject",
    metadata,
    Column("key", String, primary_key=True),
    Column("benchmark", String, nullable=False),
    Column("kernel", String, nullable=False),
    Column("ir_hash", String, nullable=False),
    Column("build_options", JSON, nullable=False),
    Column("preset", String, nullable=False),
    Column("size", JSON, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Index("subject_benchmark", "benchmark"),
)

environment = Table(
    "environment",
    metadata,
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

method = Table(
    "method",
    metadata,
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

measurement = Table(
    "measurement",
    metadata,
    Column("key", ORDERED, primary_key=True),
    Column("subject_key", String, ForeignKey("subject.key"), nullable=False),
    Column("environment_key", String, ForeignKey("environment.key"), nullable=False),
    Column("method_key", String, ForeignKey("method.key"), nullable=False),
    Column("role", String, nullable=False),
    Column("candidate", JSON, nullable=False),
    Column("baseline", JSON(none_as_null=True)),
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
    Column("invocation", BigInteger, nullable=False, server_default="0"),
    Column("clock", String, nullable=False, server_default="sum"),
    Column("sum_nanoseconds", JSON(none_as_null=True)),
    Column("host_nanoseconds", JSON(none_as_null=True)),
    Column("baseline_sum_nanoseconds", JSON(none_as_null=True)),
    Column("baseline_host_nanoseconds", JSON(none_as_null=True)),
    Index("measurement_order", "started_at", "key"),
    Index("measurement_subject", "subject_key"),
    Index("measurement_environment", "environment_key"),
)

input_table = Table(
    "input",
    metadata,
    Column("key", ORDERED, primary_key=True),
    Column("benchmark", String, nullable=False),
    Column("preset", String, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("features", JSON, nullable=False),
    Index("input_benchmark", "benchmark"),
)

remembered = Table(
    "remembered",
    metadata,
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
    Column("speedup_over_uncoarsened", JSON(none_as_null=True)),
    Column("global_size", JSON, nullable=False),
    Column("local_size", JSON(none_as_null=True)),
    Column("driver_version", String, nullable=False),
    Column("platform_version", String, nullable=False),
    Column("versions", JSON, nullable=False),
    Column("trials", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("processes", BigInteger, nullable=False),
    Column("found_at", ORDERED, nullable=False),
    Index("remembered_kernel", "kernel"),
)

# The tables of what measurements share, in the order in which every writer fills them: two that write at once
# then never wait for each other.
SHARED = (subject, environment, method)
