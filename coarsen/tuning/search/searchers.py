"""The searchers, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from coarsen.tuning.search.additive import AdditiveSearcher
from coarsen.tuning.search.exhaustive import ExhaustiveSearcher, RandomSearcher, StaircaseSearcher
from coarsen.tuning.search.guided import GuidedSearcher
from coarsen.tuning.search.searcher import Searcher

_ALL: tuple[Searcher, ...] = (
    AdditiveSearcher(),
    GuidedSearcher(),
    StaircaseSearcher(),
    RandomSearcher(),
    ExhaustiveSearcher(),
)
SEARCHERS: Mapping[str, Searcher] = MappingProxyType({searcher.name: searcher for searcher in _ALL})
