"""JSON in the columns of a database, which may hold anything: others write to it too."""

from __future__ import annotations

import json


def json_value(text: str | bytes) -> object:
    """Return what JSON text means, or else the text itself, which no column's reader takes for a value."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
