"""Fixtures of all tests of sweeps and their store."""

from __future__ import annotations

from .postgresql import postgresql_database as postgresql_database
from .postgresql import postgresql_url as postgresql_url
