"""A variant's JSON as the cells of a table, and back.

    {"coarsenings": [[4, 0, 1], [2, 0, 1, "group"]], "transforms": {…}, "arrays": {"bodies": {"layout": "soa"}}}
        ⇄ coarsenings [[4, 0, 1], [2, 0, 1]], levels ["item", "group"],
          transforms {"fast_path": "auto", …: "true"}, arrays {"bodies": '{"layout": "soa"}'}

Cells are null where there is nothing, and where a table is too old to have the column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Level

_FLAGS = {"true": True, "false": False}


def variant_cells(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Spread the JSON of a variant over cells; None where there is no variant."""
    if value is None:
        return None
    transforms = value.get("transforms")
    return {
        "local_size": value["local_size"],
        "coarsenings": [coarsening[:3] for coarsening in value["coarsenings"]],
        "definitions": value["definitions"],
        "levels": [
            coarsening[3] if len(coarsening) > 3 else Level.ITEM.value for coarsening in value["coarsenings"]
        ],
        "transforms": transforms and {name: _text(entry) for name, entry in transforms.items()},
        "any_size": value.get("any_size", False),
        "arrays": {name: json.dumps(plan, sort_keys=True) for name, plan in value["arrays"].items()}
        if "arrays" in value
        else None,
    }


def variant_value(cells: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Put the JSON of a variant together again. Raises InvalidInputError where the cells contradict each other."""
    if cells is None:
        return None
    coarsenings, levels, transforms = (cells[name] for name in ("coarsenings", "levels", "transforms"))
    if not isinstance(coarsenings, list) or (levels is not None and len(levels) != len(coarsenings)):
        raise InvalidInputError("there must be as many levels as coarsenings")
    value: dict[str, Any] = {name: cells[name] for name in ("local_size", "coarsenings", "definitions")}
    if levels is not None:
        value["coarsenings"] = [
            entry if level == Level.ITEM else [*entry, level]
            for entry, level in zip(coarsenings, levels, strict=True)
        ]
    if transforms:
        value["transforms"] = {name: _FLAGS.get(entry, entry) for name, entry in transforms.items()}
    if cells["any_size"]:
        value["any_size"] = cells["any_size"]
    if cells["arrays"]:
        value["arrays"] = {name: _plan(text) for name, text in cells["arrays"].items()}
    return value


def _plan(text: object) -> object:
    """The JSON of one array's plan."""
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        raise InvalidInputError(f"not the plan of an array: {ascii(text)[:80]}") from None


def _text(entry: object) -> str:
    return str(entry).lower() if isinstance(entry, bool) else str(entry)
