"""Refusal to learn from the second judge, under whatever name its kernels stand in the data.

names ─▶ `judge-…`                                         ─▶ refused
      └▶ descriptions in a folder ─▶ IR in its normal form ─▶ the same as one of the judge's? ─▶ refused
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import module_text
from coarsen.models.judge import refuse_judge
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.kernel_source import known_kernel
from coarsen.opencl_bench.workloads.lookup import SUITE, judge


def check_learnable(names: Iterable[str], kernels: Path | None = None) -> None:
    """Check that none of the kernels that something is learned from is one of the second judge.

    Args:
        names: of the kernels, as they stand in the data.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.

    Raises:
        InvalidInputError: one is, by its name, or since it has the normal form of one; a description is wrong.
    """
    known = dict.fromkeys(names)
    refuse_judge(known)
    for name in known:
        described = known_kernel(name, kernels) if name not in SUITE else None
        if described is None or (described.source_text and described.source_file is None):
            # The suite's and the generator's kernels are this package's, and tested to be others.
            continue
        found = judge_hashes().get(normal_form_hash(described))
        if found is not None:
            raise InvalidInputError(
                f"{name} is {found} under another name, a kernel of the second judge, and nothing may learn from "
                "those; leave it out"
            )


@cache
def judge_hashes() -> Mapping[str, str]:
    """Return the second judge's kernels by the hash of their normal form."""
    return {normal_form_hash(benchmark): name for name, benchmark in judge().items()}


def normal_form_hash(benchmark: Benchmark) -> str:
    """Return a hash of a kernel's IR in its normal form that doesn't depend on the kernel's own name.

    Empty for a kernel that can't be lowered: nothing can be learned from it either.
    """
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    except RefusalError:
        return ""
    text = re.sub(rf"\b{re.escape(benchmark.kernel)}\b", "kernel", module_text(kernel.graph))
    return hashlib.sha256(text.encode()).hexdigest()
