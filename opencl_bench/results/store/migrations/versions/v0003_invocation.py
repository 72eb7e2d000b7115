"""Version 0003: a confirmation says which of several fresh processes it was measured in.

What was stored before was confirmed in one, the first; its key stays.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Give each row the first invocation."""
    op.add_column("measurement", Column("invocation", BigInteger, nullable=False, server_default="0"))
