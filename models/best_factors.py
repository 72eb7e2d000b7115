"""The published best factors: the table, with the columns of `data/README.md`, whose it is and its GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS

PUBLISHED = Path(__file__).parent / "data" / "pact14_best_factors.csv"
"""The file with table 5 of Magni, Dubach and O'Boyle (PACT 2014) for `read_curves`: best and predicted factors."""
CITATION = (
    "A. Magni, C. Dubach, M. O'Boyle: Automatic Optimization of Thread-Coarsening for Graphics Processors, "
    "PACT 2014, table 5"
)

# The GPUs that are known by their model only.
DEVICES: Mapping[str, str] = {
    name: DEVICE_DESCRIPTORS[name].full_name for name in ("fermi", "kepler", "cypress", "tahiti")
}
