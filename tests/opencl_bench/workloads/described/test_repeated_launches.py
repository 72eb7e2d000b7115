"""Launches in loops, local sizes of presets, quotients, mixed contents and graphs in a description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.workload.benchmark import Launch, ScalarArgument
from tests.opencl_bench.workloads.described.conftest import Write

KERNELS = """\
kernel void step(global uint *keys, uint run, uint distance, float share)
{
    keys[get_global_id(0)] += run + distance * share;
}
kernel void finish(global uint *keys, uint run) { keys[get_global_id(0)] += run; }
"""
FILE = """\
file = "step.cl"
kernel = "step"
outputs = ["keys"]

[ndrange]
global_size = ["keys"]
local_size = [4]

[sizes.test]
keys = 16

[sizes.more]
keys = 64
local_size = [16]

[[launches]]
repeat = ["run in doubling(2, keys)", "distance in halving(run // 2, 2)"]
arguments = ["keys", "run", "distance", "share"]

[[launches]]
kernel = "finish"
repeat = ["run in doubling(2, keys)"]
when = "run > 4"
arguments = ["keys", "run"]
global_size = ["keys - run % 3 * 0"]

[[arguments]]
name = "keys"
buffer = "uint"
elements = "keys"
values = "first(7, 1)"

[[arguments]]
name = "run"
scalar = "uint"
value = "run"

[[arguments]]
name = "distance"
scalar = "uint"
value = "distance"

[[arguments]]
name = "share"
scalar = "float"
value = "distance / run"
"""


def described(tmp_path: Path, *replacements: tuple[str, str]) -> Path:
    text = FILE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "step.cl").write_text(KERNELS)
    path = tmp_path / "step.toml"
    path.write_text(text)
    return path


def numbers(launch: Launch) -> tuple[object, ...]:
    passed = (each.value.item() for each in launch.arguments if isinstance(each, ScalarArgument))
    return (launch.kernel, *passed)


def test_launches_with_the_same_loop_take_turns(tmp_path: Path) -> None:
    made = read_benchmark(described(tmp_path)).launches("test")
    assert [numbers(each) for each in made] == [
        ("step", 4, 2, 0.5),
        ("step", 8, 4, 0.5),
        ("step", 8, 2, 0.25),
        ("finish", 8),
        ("step", 16, 8, 0.5),
        ("step", 16, 4, 0.25),
        ("step", 16, 2, 0.125),
        ("finish", 16),
    ]
    apart = ('run in doubling(2, keys)"]\nwhen', 'run in doubling(2, keys + 0)"]\nwhen')
    after = read_benchmark(described(tmp_path, apart)).launches("test")
    assert [each.kernel for each in after] == ["step"] * 6 + ["finish"] * 2


def test_a_range_ends_before_its_bound(tmp_path: Path) -> None:
    loops = (
        'repeat = ["run in doubling(2, keys)", "distance in halving(run // 2, 2)"]',
        'repeat = ["run in range(1, 4)", "distance in range(0, run)"]',
    )
    made = read_benchmark(described(tmp_path, loops, ("distance / run", "1"))).launches("test")
    passed = [numbers(each)[1:3] for each in made if each.kernel == "step"]
    assert passed == [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]


def test_a_preset_has_a_local_size_of_its_own(tmp_path: Path) -> None:
    read = read_benchmark(described(tmp_path))
    assert [read.presets[name].local_size for name in ("test", "more")] == [(4,), (16,)]
    assert {each.local_size for each in read.launches("more")} == {(16,)}
    assert dict(read.presets["more"].size) == {"keys": 64}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("doubling(2, keys)", "doubling(0, keys)", "must have bounds of at least 1, not 0 and 16"),
        (
            "in doubling(2, keys)",
            "in growing(2, keys)",
            "launches[0].repeat: there is no 'growing'; there are range",
        ),
        ("run in doubling(2, keys)", "keys in doubling(2, keys)", "there is a size or a macro 'keys' too"),
        ("distance in halving(", "run in halving(", "a loop inside of another has its name, 'run'"),
        ("run in doubling(2, keys)", "run in doubling(2 * keys, keys)", "there is none for keys = 16"),
        ("run in doubling(2, keys)", "run of keys", "'run of keys' is no expression"),
        (
            "run in doubling(2, keys)",
            "run in keys",
            "must have the form NAME in range|doubling|halving(FIRST, LAST)",
        ),
        (
            "halving(run // 2, 2)",
            "halving(ruin // 2, 2)",
            "launches[0].repeat: there is no 'ruin' (did you mean run",
        ),
        ('elements = "keys"', 'elements = "run"', "arguments[0].elements: there is no 'run'"),
        (
            "run in doubling(2, keys)",
            "run in range(0, 200000)",
            "has more than 100000 values",
        ),
        ("distance / run", "run / (distance - 4)", "divides by zero"),
        ("distance / run", "1 / distance / run", "may only have whole numbers"),
        ("local_size = [16]", "local_size = [16, 1]", "sizes.more.local_size: a local size is 1 positive whole"),
        ('value = "distance"', 'value = "distance / 2"', "arguments[2].value"),
    ],
)
def test_mistakes_are_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as raised:
        read_benchmark(described(tmp_path, (old, new)))
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_inputs_are_for_plain_loops_alone(tmp_path: Path) -> None:
    path = described(tmp_path, ("[sizes.test]", "[inputs]\nranges = { keys = [16, 64] }\n\n[sizes.test]"))
    with pytest.raises(InvalidInputError, match=r"launches\[0\]\.repeat: over inputs one range"):
        read_benchmark(path)


def test_mixed_contents(write: Write) -> None:
    path = write(('values = "uniform(-1, 1)"', 'values = "mixed(250, constant(9), uniform(-1, 1))"'))
    contents = read_benchmark(path).workload("test").buffers["input"]
    share = (contents == 9).mean()
    assert 0.2 < share < 0.3 and abs(contents[contents != 9]).max() <= 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("mixed(1001, zeros, zeros)", "a share of 1001 per mille; it is from 0 to 1000"),
        ("mixed(1, zeros)", "must have the form mixed(per_mille, DISTRIBUTION, DISTRIBUTION)"),
        ("mixed(1, zeros, uniform(2, 1))", "has no number between 2 and 1"),
        ("mixd(1, zeros, zeros)", "did you mean mixed"),
    ],
)
def test_mistakes_in_mixed_contents(values: str, message: str, write: Write) -> None:
    with pytest.raises(InvalidInputError) as raised:
        read_benchmark(write(('values = "uniform(-1, 1)"', f'values = "{values}"')))
    assert "arguments[1].values: " in str(raised.value) and message in str(raised.value)


GRAPH = (
    ('"keys"\nvalues = "first(7, 1)"', '"keys + 1"\nvalues = "net.starts"'),
    ("[[launches]]\nrepeat", '[contents]\nnet = "graph(keys, 3 * keys)"\n\n[[launches]]\nrepeat'),
)


def test_parts_of_a_graph(tmp_path: Path) -> None:
    starts = read_benchmark(described(tmp_path, *GRAPH)).workload("test").buffers["keys"]
    assert (
        starts.dtype == np.uint32
        and starts[0] == 0
        and starts[-1] == 48
        and (np.diff(starts.astype(int)) >= 1).all()
    )
    wrong = (GRAPH[0], (GRAPH[1][0], GRAPH[1][1].replace("graph(keys, 3 * keys)", "graph(keys)")))
    with pytest.raises(
        InvalidInputError, match=r"contents.net: 'graph\(keys\)' must have the form graph\(nodes, edges\)"
    ):
        read_benchmark(described(tmp_path, *wrong))
    other = (GRAPH[0][0], GRAPH[0][1].replace("net.starts", "net.positions"))
    with pytest.raises(
        InvalidInputError, match=r"arguments\[0\].values: 'net.positions'.*: net has starts, targets"
    ):
        read_benchmark(described(tmp_path, other, GRAPH[1]))
    few = (GRAPH[0], (GRAPH[1][0], GRAPH[1][1].replace("3 * keys", "keys - 1")))
    with pytest.raises(InvalidInputError, match="a graph of 16 nodes can't have 15 edges"):
        read_benchmark(described(tmp_path, *few)).workload("test")
    large = ('[contents]\nnet = "graph(keys, 3 * keys)"', '[contents]\nnet = "cube(1000000 * keys)"')
    with pytest.raises(
        InvalidInputError, match=r"contents.net: 'cube\(1000000 \* keys\)' does not fit the memory"
    ):
        read_benchmark(described(tmp_path, *GRAPH, large)).workload("test")
