"""One thing to try: a kernel, a launch of it, a coarsening and the transforms that it may use."""

from __future__ import annotations

import random
import re
from dataclasses import asdict, dataclass
from typing import Any

from coarsen.variant.coarsening import Configuration
from coarsen.variant.transforms import DeviceKind, Transforms, Use
from tests.fuzz import nodes
from tests.fuzz.draw_coarsening import draw_configuration
from tests.fuzz.generate import KernelGenerator
from tests.fuzz.launches import Launch, draw_launch
from tests.fuzz.render import source

UNOPTIMISED = "-cl-opt-disable"
# Of the trials, those that take arguments as distinct, as they are.
_DISTINCT = 0.5
_GROUPED = re.compile(r"get_local|get_group|get_num_groups|barrier")


@dataclass(frozen=True)
class Trial:
    """What is tried.

    `any_size` guards the kernel, so that the sizes need not divide; `free_local_size` is then the local size where
    it doesn't matter. `inputs` is the seed of the buffers' contents, `optimise` asks the device's compiler to.
    """

    kernel: nodes.Kernel
    launch: Launch
    configuration: Configuration
    any_size: bool
    free_local_size: int
    transforms: Transforms
    inputs: int
    optimise: bool

    @property
    def source(self) -> str:
        """The kernel's OpenCL C."""
        return source(self.kernel)

    def describe(self) -> str:
        """How to do it again by hand."""
        how = "; ".join(f"{c}" for c in self.configuration) + (", any size" if self.any_size else "")
        free = f", free local size {self.free_local_size}" if self.any_size else ""
        return f"{how}\n{self.transforms}\n{self.launch}{free}, inputs {self.inputs}, optimised: {self.optimise}"


def trial_of(seed: int) -> Trial:
    """The trial of a seed, always the same."""
    chosen = random.Random(f"launch {seed}")
    kernel = KernelGenerator(seed).kernel()
    launch = draw_launch(chosen, kernel.dimensions, kernel.counts_offset)
    any_size = chosen.random() < 0.25
    grouped = _GROUPED.search(source(kernel)) is not None
    return Trial(
        kernel,
        launch,
        draw_configuration(chosen, launch, any_size, grouped),
        any_size,
        chosen.choice((1, 3, 4, 6, 8)),
        _transforms(chosen, random.Random(f"distinct {seed}").random() < _DISTINCT),
        seed,
        optimise=chosen.random() < 0.25,
    )


def _transforms(chosen: random.Random, distinct: bool) -> Transforms:
    uses = list(Use)
    return Transforms(
        fast_path=chosen.choice(uses),
        lock_step=chosen.choice(uses),
        wide_accesses=chosen.random() < 0.5,
        clean_up=chosen.random() < 0.7,
        device_kind=chosen.choice(list(DeviceKind)),
        distinct=distinct,
    )


def to_json(trial: Trial) -> dict[str, Any]:
    """What `attempt.py` needs of a trial, as JSON has it: the source in place of the tree."""
    return {
        "source": trial.source,
        "launch": asdict(trial.launch),
        "configuration": [asdict(coarsening) for coarsening in trial.configuration],
        "any_size": trial.any_size,
        "free_local_size": trial.free_local_size,
        "transforms": asdict(trial.transforms),
        "inputs": trial.inputs,
        "optimise": trial.optimise,
    }
