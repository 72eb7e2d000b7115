"""The searchers that guided search is compared with: other tuners' own, each needing the extra `compare`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from coarsen.opencl_bench.search.kernel_tuner import STRATEGIES
from coarsen.opencl_bench.search.optuna_samplers import SAMPLERS
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.searchers import SEARCHERS

COMPARED: Mapping[str, Searcher] = MappingProxyType(
    {searcher.name: searcher for searcher in (*SAMPLERS, *STRATEGIES)}
)
# What can be replayed.
REPLAYED: Mapping[str, Searcher] = MappingProxyType({**SEARCHERS, **COMPARED})
