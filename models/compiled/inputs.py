"""The facts of two compilations as inputs of a model: how each changed, and whether that is known.

    log2((candidate + offset) / (original + offset)), 1      both are known
    0, 0                                                     one of them is not

A model learns with these inputs left out of some rows (all of them 0), since it is asked without a device too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from coarsen.models.compiled.facts import CompiledFacts

# Added to both sides where a fact may be 0: a word, an instruction.
_OFFSETS: Mapping[str, float] = MappingProxyType(
    {
        "item_lanes": 0.0,
        "loop_lanes": 0.0,
        "operation_bytes": 0.0,
        "gathers": 1.0,
        "scatters": 1.0,
        "registers": 0.0,
        "spilled_bytes": 4.0,
        "frame_bytes": 4.0,
        "private_bytes": 4.0,
        "local_bytes": 4.0,
        "occupancy": 0.0,
        "code_bytes": 0.0,
        "instructions": 0.0,
        "weighted_instructions": 0.0,
        "largest_group": 0.0,
    }
)
CHANGED_FACTS = tuple(_OFFSETS)
INPUT_NAMES = tuple(f"{fact}_{what}" for fact in CHANGED_FACTS for what in ("change", "known"))


def compiled_inputs(original: CompiledFacts | None, candidate: CompiledFacts | None) -> dict[str, float]:
    """Return the inputs of a model by name, in the order of `INPUT_NAMES`.

    Args:
        original: the facts of the kernel as it is; None where it was not compiled.
        candidate: those of the coarsened one, on the same device.

    Returns:
        Of each fact `…_change`, the binary logarithm of the ratio, candidate over original, and `…_known`, 1 or 0.
    """
    inputs = {}
    for fact, offset in _OFFSETS.items():
        change = _change(getattr(original, fact, None), getattr(candidate, fact, None), offset)
        inputs[f"{fact}_change"] = change or 0.0
        inputs[f"{fact}_known"] = float(change is not None)
    return inputs


def _change(before: float | None, after: float | None, offset: float) -> float | None:
    if before is None or after is None:
        return None
    # Neither has a logarithm: nothing is said of a kernel without any.
    if before + offset <= 0 or after + offset <= 0:
        return None
    return math.log2((after + offset) / (before + offset))
