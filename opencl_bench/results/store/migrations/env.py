"""What alembic runs for each migration: all steps on the connection, and in the transaction, that it was given."""

from __future__ import annotations

from alembic import context

from coarsen.opencl_bench.results.store.migration import VERSION_TABLE
from coarsen.opencl_bench.results.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
