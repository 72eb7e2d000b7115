"""Mistakes planted between replication and what follows it, to see that tests find them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.printer import module_text
from coarsen.transform.coarsen import Analysed, coarsened_module
from coarsen.transform.regions.plan import RegionPlan
from coarsen.variant.coarsening import Coarsening


def plant(monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]) -> None:
    """Change the LLVM IR of every kernel that is coarsened, before it is cleaned up."""

    def changed(analysed: Analysed, coarsening: Coarsening, plan: RegionPlan) -> Module:
        return parse_module(change(module_text(coarsened_module(analysed, coarsening, plan))))

    monkeypatch.setattr("coarsen.pipeline.coarsened_module", changed)
