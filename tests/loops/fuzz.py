"""Random C functions: what is taken of them must run as C says, on every device.

    python -m tests.loops.fuzz --count 1000 --seed 0 [--device intel] [--show]

Prints the seed and the text of each function whose kernels do something else, then how many were refused, by code.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.devices.discovery import open_device
from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import RefusalError
from coarsen.loops.launches import extents_in
from tests.loops.draw_nests import DrawnNest, drawn
from tests.loops.ran import Arrays, Made, element_type, make, run_natively, run_on
from tests.working_devices import devices_that_work, short_name

SIZES = ((1, 1, 1, 2), (2, 3, 1, 3), (7, 5, 11, 3), (13, 2, 3, 4))
GLOBAL_EXTENT = 18


def inputs(nest: DrawnNest, made: Made, sizes: Sequence[int]) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
    """The numbers and the arrays of a function, by the nest's names."""
    given: dict[str, float] = {**dict(zip(nest.sizes, sizes, strict=False)), **dict.fromkeys(nest.numbers, 3)}
    if nest.sizes[-1].startswith("steps"):
        given[nest.sizes[-1]] = sizes[3]
    numbers = {key: given[text.split("->")[-1]] for key, text in made.nest.spelled.items()}
    drawn_arrays = {each.name: each for each in nest.arrays}
    random = np.random.default_rng(sum(sizes))
    arrays = {}
    for each in made.nest.arrays.values():
        if each.is_scalar and each.kind == "local":
            continue
        own = drawn_arrays.get(each.spelled.split("->")[-1])
        if own is None:  # partial sums
            sizes_of = {key: int(number) for key, number in numbers.items()}
            shape = [max(1, parse_expression(text).evaluate(sizes_of)) for text in extents_in(made.nest, each)]
        else:
            extents = [int(given[size]) + pad for size, pad in own.dims]
            shape = [GLOBAL_EXTENT] * len(extents) if own.spelling == "global" else extents
        type_ = element_type(made, each.name)
        numbers_in = random.random(shape) if type_.kind == "f" else random.integers(0, 10, shape)
        arrays[each.name] = numbers_in.astype(type_)
    return numbers, arrays


def differences(made: Made, expected: Arrays, found: Arrays, *, is_inexact: bool) -> Iterator[str]:
    """Yield a sentence for each array that is not as it has to be."""
    for name in made.given:
        if name in expected and not _alike(expected[name], found[name], is_inexact=is_inexact):
            at = tuple(
                int(each[0])
                for each in np.nonzero(~((expected[name] == found[name]) | (expected[name] != expected[name])))
            )
            yield (
                f"{name}{list(at)} is {found[name][at]!r}, not {expected[name][at]!r}" if at else f"{name} differs"
            )


def _alike(one: NDArray[Any], two: NDArray[Any], *, is_inexact: bool) -> bool:
    if is_inexact:
        return bool(np.allclose(one.astype(float), two.astype(float), rtol=1e-3, atol=1e-3, equal_nan=True))
    return bool(np.array_equal(one, two, equal_nan=one.dtype.kind == "f"))


def failures(seed: int, queues: dict[str, cl.CommandQueue], folder: Path) -> Iterator[str]:
    """Yield what is wrong with the kernels of a seed's function on each device. Raises RefusalError."""
    nest = drawn(seed)
    made = make(nest.text, folder)
    runs = [inputs(nest, made, sizes) for sizes in SIZES]
    expected = [run_natively(made, numbers, arrays) for numbers, arrays in runs]
    lanes = [1, 4 + seed % 3] if any(each.kernel.split for each in made.kernels) else [1]
    for (name, queue), lane_count in product(queues.items(), lanes):
        made = made.with_lanes(lane_count)
        name += f" with {lane_count} lanes" * (lane_count > 1)
        kernels = made.build(queue.context)
        for sizes, (numbers, arrays), right in zip(SIZES, runs, expected, strict=True):
            try:
                found = run_on(queue, kernels, made, numbers, arrays, is_guarded="oclgrind" not in name)
            except AssertionError as wrong:
                yield f"{name}, sizes {sizes}: {wrong}"
                continue
            for what in differences(made, right, found, is_inexact=nest.is_inexact):
                yield f"{name}, sizes {sizes}: {what}"


@functools.cache
def _queue(name: str) -> tuple[cl.Context, cl.CommandQueue]:
    (device,) = (each for each in devices_that_work() if short_name(each) == name)
    context = cl.Context([open_device(device)])
    return context, cl.CommandQueue(context)


def outcome(seed: int, names: tuple[str, ...]) -> tuple[str, list[str]]:
    """Return the code of a function's refusal, or nothing, and what is wrong with its kernels on devices."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            return "", [*failures(seed, {name: _queue(name)[1] for name in names}, Path(folder))]
    except RefusalError as refusal:
        return refusal.code, []
    except Exception as error:
        return "", [f"{type(error).__name__}: {str(error)[:300]}"]


class Child:
    """A process in which functions are compiled and run: a device's compiler may crash."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def outcome(self, seed: int, names: tuple[str, ...]) -> tuple[str, list[str]]:
        """As the function of this name; a crash is something wrong."""
        self._pool = self._pool or ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        try:
            return self._pool.submit(outcome, seed, names).result()
        except BrokenProcessPool:
            self._pool = None
            return "", [f"{', '.join(names)}: the process crashed"]

    def end(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._pool.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.loops.fuzz")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", action="append", help="intel, pocl or oclgrind; the first two if left out")
    parser.add_argument("--show", action="store_true", help="print each function")
    asked = parser.parse_args()
    names = tuple(asked.device or ["intel", "pocl"])
    refused: Counter[str] = Counter()
    wrong: list[int] = []
    begun = time.monotonic()
    child = Child()
    for seed in range(asked.seed, asked.seed + asked.count):
        if asked.show:
            print(drawn(seed).text)
        code, sentences = child.outcome(seed, names)
        refused.update([code] if code else [])
        for what in sentences:
            print(f"seed {seed}: {what}", flush=True)
        wrong += [seed] * bool(sentences)
        done = seed - asked.seed + 1
        if done % 50 == 0 or done == asked.count:
            took = f"{done} functions in {time.monotonic() - begun:.0f} s on {', '.join(names)}"
            print(f"{took}: {done - refused.total()} taken, {len(wrong)} wrong", flush=True)
    child.end()
    print(f"wrong: {wrong}; refused: {dict(refused.most_common())}")


if __name__ == "__main__":
    main()
