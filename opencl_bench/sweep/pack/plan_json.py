"""A pack's plan as JSON, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from coarsen.codec import decoded, encoded
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.pack.plan import FORMAT, Packed, PackedSweep
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

_HASH = re.compile(r"[0-9a-f]{64}")


def plan_to_json(packed: Packed) -> dict[str, Any]:
    """Return the plan as dictionaries, lists, texts and numbers; `plan_from_json` reads it back."""
    value = encoded(packed, {Variant: variant_to_json})
    return {"format": FORMAT, **value["plan"], "codes": value["codes"]}


def plan_from_json(value: object) -> Packed:
    """Return the plan that `plan_to_json` wrote. Raises InvalidInputError where it is none that can be read."""
    if not isinstance(value, Mapping) or "format" not in value:
        raise InvalidInputError("the plan does not say its format")
    if value["format"] != FORMAT:
        raise InvalidInputError(
            f"the plan has format {value['format']!a}; this version of coarsen reads format {FORMAT}: "
            "write the pack anew"
        )
    plan = {name: entry for name, entry in value.items() if name not in ("format", "codes")}
    if isinstance(plan.get("sweeps"), list):
        # Packs that say which space their candidates are of are read as well.
        plan["sweeps"] = [_without_space(sweep) for sweep in plan["sweeps"]]
    content = {"plan": plan, "codes": value.get("codes")}
    packed = decoded(Packed, content, "the pack", {Variant: variant_from_json})
    _check_codes(packed)
    for sweep in packed.plan.sweeps:
        _check_sweep(sweep, packed)
    return packed


def _without_space(sweep: object) -> object:
    return {name: entry for name, entry in sweep.items() if name != "space"} if isinstance(sweep, dict) else sweep


def _check_codes(packed: Packed) -> None:
    """Raise InvalidInputError for a code whose name is no hash: names become paths."""
    for name in packed.codes:
        if not _HASH.fullmatch(name):
            raise InvalidInputError(f"the plan is damaged: {name[:64]!a} is no hash")
    for name, entry in packed.codes.items():
        for other in entry.others:
            # One that needs others itself could need itself.
            if other not in packed.codes or packed.codes[other].others:
                raise InvalidInputError(f"the plan is damaged: the code {name[:12]!a} needs one that is not there")


def _check_sweep(sweep: PackedSweep, packed: Packed) -> None:
    path = PurePosixPath(sweep.benchmark)
    if path.is_absolute() or ".." in path.parts:
        raise InvalidInputError(f"the plan is damaged: the path {sweep.benchmark!a} leads out of the pack")
    if not sweep.subjects or not sweep.candidates:
        raise InvalidInputError(f"the plan is damaged: the sweep of {sweep.benchmark!a} has no candidates")
    if sweep.default is not None and sweep.default not in [each.candidate for each in sweep.candidates]:
        raise InvalidInputError(f"the plan is damaged: the sweep of {sweep.benchmark!a} has no default version")
    for candidate in sweep.candidates:
        if candidate.code is not None and candidate.code not in packed.codes:
            raise InvalidInputError(f"the plan does not say what the code {candidate.code[:12]!a} is")
