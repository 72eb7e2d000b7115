"""The second judge stays what was announced: what it measures is not changed after models are made.

`frozen.sha256` is a table of `sha256sum`, made in the repository's root: of every source and description, and of
the launches that the descriptions make, NAME.launches. Whoever has to change one, because it is wrong, says so in
`models/launch/METHOD.md` and renews the table.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from coarsen.opencl_bench.workloads.lookup import judge
from coarsen.tuning.workload.benchmark import Benchmark, Launch, ScalarArgument

ROOT = Path(__file__).parents[4]
TABLE = Path(__file__).with_name("frozen.sha256")
FOLDER = "opencl_bench/kernels/judge"


def announced() -> dict[str, str]:
    """The hash of each file and of each kernel's launches that was announced, by its path or name."""
    rows = (line.split() for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {path: digest for digest, path in rows}


def files() -> dict[str, str]:
    """The hash of each file that there is."""
    paths = sorted((ROOT / FOLDER).iterdir())
    return {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def launches() -> dict[str, str]:
    """The hash of the launches of each kernel at all presets with their local sizes, and of its small buffers."""
    return {
        f"{name}.launches": hashlib.sha256(_text(found).encode()).hexdigest() for name, found in judge().items()
    }


def _text(benchmark: Benchmark) -> str:
    made = [
        (preset, local_size, [_launch(each) for each in benchmark.launches(preset, local_size)])
        for preset in benchmark.presets
        for local_size in benchmark.local_sizes_of(preset)
    ]
    buffers = benchmark.workload("test").buffers
    shapes = [(name, array.shape, array.dtype.str) for name, array in buffers.items()]
    return repr((benchmark.build_options, made, shapes))


def _launch(launch: Launch) -> tuple[object, ...]:
    passed = [
        (each.value.dtype.str, each.value.tobytes().hex()) if isinstance(each, ScalarArgument) else repr(each)
        for each in launch.arguments
    ]
    return launch.kernel, launch.global_size, launch.local_size, passed


def test_every_file_is_announced_and_none_has_changed() -> None:
    found = files()
    assert sum(path.endswith(".cl") for path in found) == sum(path.endswith(".toml") for path in found) == 30
    assert {**found, **launches()} == announced()
