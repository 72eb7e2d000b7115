"""Tries many random kernels:  python -m tests.fuzz --seeds 0:2000 [--device intel] [--jobs 2]

Prints each failing seed at once, then the smallest kernel found that fails in the same way, with how it is
coarsened; at the end what came of all, on how many kernels boxes were made, and how many kernels a minute. Ends
with 1 if anything failed. `--device oclgrind` also looks for races and accesses beside buffers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue

from coarsen.devices.discovery import discover_devices
from coarsen.devices.health import check_health
from tests.fuzz.attempt import Verdict
from tests.fuzz.child import TIME_LIMIT_SECONDS, Child, Target
from tests.fuzz.shrink import MAX_ATTEMPTS, shrink
from tests.fuzz.trial import Trial, trial_of
from tests.fuzz.variants import statements

COMPILED_DEVICES = ("intel", "pocl")
PROGRESS = 100  # a line for so many
_BOXES, _NO_BOX = "(boxes made)", "(boxes refused)"


@dataclass(frozen=True)
class Finding:
    """What came of one seed on one device."""

    seed: int
    target: Target
    verdict: Verdict
    smallest: Trial | None = None
    has_boxes: bool = False

    @property
    def has_no_box(self) -> bool:
        """Return True if a part of an array was to be copied to local memory and was not."""
        refused = self.verdict.kind == "refused" and self.verdict.detail.startswith(("place-", "tile-"))
        return self.has_boxes and (refused or self.verdict.kind == "error")

    def __str__(self) -> str:
        line = f"seed {self.seed} on {self.target}: {self.verdict.kind}: {self.verdict.detail}"
        if self.smallest is None:
            return line
        count = statements(self.smallest.kernel.body)
        return f"{line}\n--- shrunk to {count} statements\n{self.smallest.describe()}\n{self.smallest.source}---"


def targets(device: str | None) -> list[Target]:
    """Every compiled device that works, in each form that it takes."""
    found: list[Target] = []
    for name in COMPILED_DEVICES if device is None else (device,):
        for described in discover_devices():
            if described.runs_on(name) and check_health(described).works:
                found += [Target(name, form) for form in ("opencl_c", "spirv")[: 1 + described.takes_spirv]]
                break
    return found


def try_seed(seed: int, on: list[Target], child: Child, shrink_attempts: int) -> Iterator[Finding]:
    """Try a seed on each target, and shrink what fails."""
    trial = trial_of(seed)
    # SPIR-V takes a process more: with each fourth seed.
    for target in (target for target in on if target.form == "opencl_c" or seed % 4 == 0):
        verdict = child.judge(trial, target)
        yield Finding(seed, target, verdict, has_boxes=trial.has_boxes or trial.has_tiles)
        if verdict.is_failure and shrink_attempts:
            # Each attempt that hangs takes the whole time limit.
            attempts = shrink_attempts // 20 if verdict.kind == "hang" else shrink_attempts
            smallest = shrink(trial, partial(_judge, child, target), attempts)
            yield Finding(seed, target, child.judge(smallest, target), smallest)


def _judge(child: Child, target: Target, trial: Trial) -> Verdict:
    return child.judge(trial, target)


def _seeds(text: str) -> range:
    start, _, stop = text.partition(":")
    return range(int(start), int(stop)) if stop else range(int(start), int(start) + 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Tries many random kernels.")
    parser.add_argument("--seeds", type=_seeds, default=range(1000), help="first:last+1, or one")
    parser.add_argument("--boxes", action="store_true", help="of the seeds, those that copy a part of an array")
    parser.add_argument("--tiles", action="store_true", help="of the seeds, those that do so inside of loops")
    parser.add_argument("--device", help="a part of the name of the only device to use")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT_SECONDS, help="of one attempt, in seconds")
    parser.add_argument("--shrink", type=int, default=MAX_ATTEMPTS, help="attempts to shrink a failure; 0: none")
    parser.add_argument("--show", action="store_true", help="print the kernels, try nothing")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> list[int]:
    """The seeds to try."""
    asked = {"has_boxes": options.boxes, "has_tiles": options.tiles}
    wanted = [name for name, is_wanted in asked.items() if is_wanted]
    return [seed for seed in options.seeds if not wanted or any(getattr(trial_of(seed), name) for name in wanted)]


def _run(options: argparse.Namespace, chosen: list[int]) -> Counter[tuple[str, str]]:
    """Try all seeds; counts what came of them, by target and kind."""
    counts: Counter[tuple[str, str]] = Counter()
    on, seeds = targets(options.device), iter(chosen)
    found: SimpleQueue[Finding | None] = SimpleQueue()

    def work() -> None:
        with Child(options.time_limit) as child:
            for seed in seeds:
                for finding in try_seed(seed, on, child, options.shrink):
                    found.put(finding)
        found.put(None)

    with ThreadPoolExecutor(options.jobs) as pool:
        workers = [pool.submit(work) for _ in range(options.jobs)]
        for _ in workers:
            for finding in iter(found.get, None):
                _tell(finding, counts)
        for worker in workers:
            worker.result()
    return counts


def _tell(finding: Finding, counts: Counter[tuple[str, str]]) -> None:
    if finding.verdict.is_failure or finding.verdict.kind == "original":
        print(finding, flush=True)
    if finding.smallest is None and _tried(counts) % PROGRESS == PROGRESS - 1:
        print(f"… {_tried(counts) + 1} tried, at seed {finding.seed}", file=sys.stderr, flush=True)
    if finding.smallest is None:
        kind = finding.verdict.kind
        counts[str(finding.target), f"refused, {finding.verdict.detail}" if kind == "refused" else kind] += 1
        if finding.has_boxes and kind != "original":
            counts[str(finding.target), _NO_BOX if finding.has_no_box else _BOXES] += 1


def _tried(counts: Counter[tuple[str, str]]) -> int:
    return sum(count for (_, kind), count in counts.items() if kind not in (_BOXES, _NO_BOX))


def main() -> int:
    options = _options()
    chosen = _chosen(options)
    if options.show:
        for seed in chosen:
            print(f"// seed {seed}: {trial_of(seed).describe()}\n{trial_of(seed).source}")
        return 0
    start = time.monotonic()
    counts = _run(options, chosen)
    seconds = time.monotonic() - start
    for (target, kind), count in sorted(counts.items()):
        print(f"{target:16} {kind:40} {count}")
    print(f"{len(chosen)} kernels in {seconds:.0f} s, {len(chosen) / seconds * 60:.0f} a minute")
    kinds = {kind for _, kind in counts if not kind.startswith("refused") and kind not in (_BOXES, _NO_BOX)}
    return int(any(Verdict(kind).is_failure for kind in kinds))


if __name__ == "__main__":
    sys.exit(main())
