"""The best row of a benchmark as JSON, the same in every command that tells of one."""

from __future__ import annotations

from typing import Any

from coarsen.opencl_bench.results.best import BestRow
from coarsen.variant.variant_json import variant_to_json


def best_row_as_data(best: BestRow) -> dict[str, Any]:
    """Return a best row as data for JSON."""
    return {
        "key": best.key,
        "configuration": variant_to_json(best.candidate),
        "baseline": variant_to_json(best.baseline),
        "speedup": best.speedup.ratio,
        "interval": [best.speedup.low, best.speedup.high],
        "significant": best.is_coarsened,
        "certain": best.is_certain,
        "confirmed": best.is_confirmed,
        "processes": best.processes,
        "notes": list(best.notes),
    }
