"""One launch of two random kernels leaves what two launches leave; pairs with a mistake are refused.

`python -m tests.fused.test_random_chains 0:1000` tries more seeds on the first device that compiles.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription, discover_devices, open_device
from coarsen.errors import RefusalError
from coarsen.fused import fuse
from tests.fused.chains import ELEMENTS, ITEMS, Chain, chain_of
from tests.selection import Turn
from tests.transform.harness import is_left_out

SEEDS = range(24)
_LAUNCHES = {1: ((ITEMS,), (6,)), 2: ((12, ITEMS // 12), (6, 1))}
_TYPES = {"uint": "u4", "int": "i4", "ulong": "u8", "uint2": "u4", "ushort": "u2"}
Buffers = Mapping[str, NDArray[Any]]


def compare(queue: cl.CommandQueue, chain: Chain) -> None:
    """Run both ways. Raises AssertionError where they differ in a buffer that is not given up."""
    fused = fuse(chain.source, *chain.passed, gives_up=chain.gives_up)
    given_up = {*chain.gives_up}
    assert given_up - {*fused.dropped} == {each.name for each in fused.given_up if each.left} & given_up
    plain, once = _contents(chain), _contents(chain)
    program = build_uncached(queue.context, chain.source)
    _run(queue, chain, [cl.Kernel(program, name) for name in chain.passed], [*chain.passed.values()], plain)
    kernel = cl.Kernel(build_uncached(queue.context, fused.opencl_c), fused.kernel.name)
    _run(queue, chain, [kernel], [fused.kernel.argument_names], once)
    for name, wanted in plain.items():
        if name not in chain.gives_up:
            np.testing.assert_array_equal(once[name], wanted, f"{name}\n{chain}\n{fused.opencl_c}")


def _contents(chain: Chain) -> dict[str, NDArray[Any]]:
    element = np.dtype(_TYPES[chain.type])
    lanes = 2 if chain.type.endswith("2") else 1
    draw = np.random.default_rng(5)
    return {name: draw.integers(0, 1000, ELEMENTS * lanes).astype(element) for name in "atubcde"}


def _run(
    queue: cl.CommandQueue, chain: Chain, kernels: list[cl.Kernel], names: list[Any], contents: Buffers
) -> None:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {name: cl.Buffer(queue.context, flags, hostbuf=each) for name, each in contents.items()}
    element, lanes = contents["a"].dtype.type, len(contents["a"]) // ELEMENTS
    scalar = element(7) if lanes == 1 else np.full(lanes, 7, element)
    values = {**buffers, "n": np.int32(ITEMS - 5), "k": scalar}
    for kernel, of_kernel in zip(kernels, names, strict=True):
        kernel(queue, *_LAUNCHES[chain.dimensions], *(values[name] for name in of_kernel))
    for name, each in contents.items():
        cl.enqueue_copy(queue, each, buffers[name])
    queue.finish()


def outcome(queue: cl.CommandQueue, seed: int) -> str:
    """Try a seed. Raises AssertionError where something is wrong."""
    chain = chain_of(seed)
    if chain.is_legal:
        compare(queue, chain)
        return "same"
    try:
        fused = fuse(chain.source, *chain.passed)
    except RefusalError as refusal:
        assert refusal.code == "fusion-crosses-items"
        return "refused"
    raise AssertionError(f"{chain}\nis fused: {fused.opencl_c}")


def test_random_chains(queue: cl.CommandQueue, device: DeviceDescription) -> None:
    own = [seed for seed in SEEDS if not is_left_out(device, Turn(0, seed))]
    assert "same" in [outcome(queue, seed) for seed in own]


def main() -> int:
    """Try the seeds of the command line, `0:1000`."""
    first, _, last = sys.argv[1].partition(":")
    name = sys.argv[2] if len(sys.argv) > 2 else ""
    found = (each for each in discover_devices() if not each.is_called("oclgrind") or name)
    context = cl.Context([open_device(next(each for each in found if name.lower() in str(each).lower()))])
    queue = cl.CommandQueue(context)
    counts = {"same": 0, "refused": 0}
    for seed in range(int(first), int(last or int(first) + 1)):
        try:
            counts[outcome(queue, seed)] += 1
        except (AssertionError, RefusalError) as failure:
            sys.stdout.write(f"seed {seed}: {failure}\n{chain_of(seed).source}")
    sys.stdout.write(f"{counts}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
