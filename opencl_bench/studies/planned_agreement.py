"""The work that is counted from plans beside that of really coarsened kernels, at the same launches.

    python -m coarsen.opencl_bench.studies.planned_agreement 60         # synthetic kernels 0 to 59 of seed 1
    python -m coarsen.opencl_bench.studies.planned_agreement 60 worst   # and the pairs that are furthest off

Each kernel is coarsened by a handful of configurations, in turn of different kinds. Loads and stores are to be the
same, instructions within a tenth.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.cost.planned_work.launches import launched_sizes
from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, WorkCounts, padded
from coarsen.cost.work_functions import work_functions
from coarsen.errors import CoarsenError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Launch, ScalarArgument
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_benchmark
from coarsen.pipeline import carry_out
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms, Use
from coarsen.variant.variant import Variant

SEED = 1
PRESET = "gpu"
EXACT = 0.005
"""How far apart counts of accesses may be that are called the same: borders of NDRanges are taken as none."""
NEAR = 0.1
_WIDE = Transforms(wide_accesses=True)
_ALWAYS = Transforms(fast_path=Use.ALWAYS, lock_step=Use.ALWAYS)
_MULTIPLE_OF_GROUPS = 8
"""Work-groups along a dimension are a multiple of this, so that all factors divide them."""

KINDS: Mapping[str, tuple[Variant, ...]] = {
    "factor": tuple(Variant(coarsenings=(Coarsening(factor),)) for factor in (2, 4, 8)),
    "stride": tuple(Variant(coarsenings=(Coarsening(factor, 0, 32),)) for factor in (2, 4)),
    "dimension 1": tuple(Variant(coarsenings=(Coarsening(factor, 1),)) for factor in (2, 4)),
    "both": (Variant(coarsenings=(Coarsening(2, 0), Coarsening(2, 1))),),
    "groups": tuple(Variant(coarsenings=(Coarsening(factor, 0, 1, Level.GROUP),)) for factor in (2, 4)),
    "wide": (
        Variant(coarsenings=(Coarsening(4),), transforms=_WIDE),
        Variant(coarsenings=(Coarsening(2, 0, 1, Level.GROUP),), transforms=_WIDE),
    ),
    "guarded": tuple(Variant(coarsenings=(Coarsening(factor),), any_size=True) for factor in (2, 4)),
    "always": (Variant(coarsenings=(Coarsening(4),), transforms=_ALWAYS),),
    "alone": (Variant(coarsenings=(Coarsening(4),), transforms=REPLICATION_ALONE),),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel under a configuration, counted in both ways.

    Attributes:
        kernel: its name.
        kind: of configuration.
        variant: the configuration.
        planned: its work from the plan.
        real: that of the coarsened kernel.
    """

    kernel: str
    kind: str
    variant: Variant
    planned: WorkCounts
    real: WorkCounts

    @property
    def loads(self) -> float:
        """Return how far the loads are apart, as a share."""
        return _apart(_accesses(self.planned, False), _accesses(self.real, False))

    @property
    def stores(self) -> float:
        """Return how far the stores are apart."""
        return _apart(_accesses(self.planned, True), _accesses(self.real, True))

    @property
    def instructions(self) -> float:
        """Return how far the instructions are apart."""
        return _apart(sum(self.planned.instructions.values()), sum(self.real.instructions.values()))

    @property
    def text(self) -> str:
        """The pair in one line."""
        counts = (
            f"{name} {_accesses(self.planned, store):.4g}/{_accesses(self.real, store):.4g}"
            for name, store in (("loads", False), ("stores", True))
        )
        planned, real = (sum(work.instructions.values()) for work in (self.planned, self.real))
        return f"{self.kernel} {self.variant}: {', '.join(counts)}, instructions {planned:.5g}/{real:.5g}"


def _accesses(work: WorkCounts, store: bool) -> float:
    return sum(access.count for access in work.accesses if access.store == store)


def _apart(planned: float, real: float) -> float:
    return abs(planned - real) / max(1e-9, abs(real)) if planned != real else 0.0


def pairs_of(benchmark: Benchmark, kinds: Mapping[str, Sequence[Variant]]) -> Iterator[Pair]:
    """Yield a benchmark's pairs, without the configurations that are refused or do not fit its launch."""
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    launch = next(each for each in benchmark.launches(PRESET) if each.kernel == kernel.name)
    sizes = _whole(LaunchSizes(padded(launch.global_size), padded(launch.local_size)))
    arguments = scalars_of(kernel, launch)
    planned = PlannedKernel(kernel)
    for kind, variants in kinds.items():
        for variant in variants:
            if fits(variant, sizes):
                pair = _pair(benchmark.name, kind, variant, planned, sizes, arguments)
                if pair is not None:
                    yield pair


def _pair(
    name: str,
    kind: str,
    variant: Variant,
    planned: PlannedKernel,
    sizes: LaunchSizes,
    arguments: Mapping[str, int],
) -> Pair | None:
    try:
        real = work_functions(carry_out(planned.kernel, variant).kernel)
    except CoarsenError:
        return None
    values = {**arguments, **_added(sizes)}
    counted = real.at(launched_sizes(variant, sizes), {key: values[key] for key in real.scalars if key in values})
    return Pair(name, kind, variant, planned.work(variant, sizes, arguments), counted)


def _added(sizes: LaunchSizes) -> Mapping[str, int]:
    """The arguments that a guard takes."""
    return {f"global_size_{axis}": size for axis, size in zip("xyz", sizes.global_size, strict=True)}


def scalars_of(kernel: Kernel, launch: Launch) -> dict[str, int]:
    """Return the whole scalar arguments of a launch by name."""
    return {
        argument.name: int(value.value)
        for argument, value in zip(kernel.arguments, launch.arguments, strict=False)
        if isinstance(value, ScalarArgument) and value.value.dtype.kind in "iub"
    }


def _whole(sizes: LaunchSizes) -> LaunchSizes:
    """A launch whose work-groups all factors divide, along dimensions with more than one."""
    groups = [-(-extent // local) for extent, local in zip(sizes.global_size, sizes.local_size, strict=True)]
    rounded = [-(-count // _MULTIPLE_OF_GROUPS) * _MULTIPLE_OF_GROUPS if count > 1 else 1 for count in groups]
    first, second, third = (local * count for local, count in zip(sizes.local_size, rounded, strict=True))
    return LaunchSizes((first, second, third), sizes.local_size)


def fits(variant: Variant, sizes: LaunchSizes) -> bool:
    """Return True if a launch's sizes divide by a configuration."""
    for coarsening in variant.coarsenings:
        local, total = sizes.local_size[coarsening.dimension], sizes.global_size[coarsening.dimension]
        if coarsening.level is Level.ITEM:
            if local % (coarsening.factor * coarsening.stride):
                return False
        elif total // local % coarsening.factor:
            return False
    return True


def table(pairs: Sequence[Pair]) -> Iterator[str]:
    """Return the shares of pairs that agree, by kind and in all, as lines."""
    yield f"{'kind':12} {'pairs':>5} {'loads':>6} {'stores':>6} {'instr.':>6} {'all':>6}"
    for kind in (*dict.fromkeys(pair.kind for pair in pairs), "all"):
        chosen = [pair for pair in pairs if kind in (pair.kind, "all")]
        shares = [
            sum(pair.loads <= EXACT for pair in chosen),
            sum(pair.stores <= EXACT for pair in chosen),
            sum(pair.instructions <= NEAR for pair in chosen),
            sum(agrees(pair) for pair in chosen),
        ]
        yield f"{kind:12} {len(chosen):5} " + " ".join(f"{share / len(chosen):6.1%}" for share in shares)


def agrees(pair: Pair) -> bool:
    """Return True if loads and stores are the same and instructions within a tenth."""
    return max(pair.loads, pair.stores) <= EXACT and pair.instructions <= NEAR


def main(arguments: Sequence[str]) -> None:
    """Print the table of so many synthetic kernels, and with `worst` the pairs that do not agree."""
    pairs: list[Pair] = []
    for index in range(int(arguments[0])):
        turn = {kind: [variants[index % len(variants)]] for kind, variants in KINDS.items()}
        pairs.extend(pairs_of(synthetic_benchmark(SEED, index), turn))
    print("\n".join(table(pairs)))
    if "worst" in arguments:
        off = sorted((pair for pair in pairs if not agrees(pair)), key=lambda pair: (pair.kind, pair.kernel))
        print("\n".join(pair.text for pair in itertools.chain(off)))


if __name__ == "__main__":
    main(sys.argv[1:])
