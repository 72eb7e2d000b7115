"""Fixtures of all tests of sweeps and their store."""

from __future__ import annotations

from tests.opencl_bench.postgresql import postgresql_database as postgresql_database
from tests.opencl_bench.postgresql import postgresql_url as postgresql_url
