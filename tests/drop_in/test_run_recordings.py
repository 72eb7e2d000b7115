"""Launches of an unmodified program are recorded: what is captured, what is listed, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from coarsen.drop_in.recorder import Recorder
from coarsen.drop_in.running import RunResult
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_text import source_hash_of
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument
from coarsen.tuning.workload.launch_list import (
    PassedBuffer,
    PassedScalar,
    PassedShared,
    read_launch_list,
)
from tests.drop_in.scripts import COUNT, HEAD, SCALE, SOURCE, written

SHARED = """\
kernel void both(global float *out, global const float *in, local float *tile, global const float *more)
{
    int item = get_global_id(0) - 2;
    if (!more)
        out[item] = in[item] + 1;
}
"""


def test_the_first_launch_of_each_kind_is_recorded(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    kept = written(folder, "kept", "scale-1024.npz")
    result = run_text(SCALE, recorder=Recorder(folder))
    assert result.exit_code == 0
    names = [each.path.name for each in result.recorded]
    assert names == ["number-1024.npz", "scale-1024-2.npz", "scale-512.npz"]
    # What a kernel only writes is not read.
    assert [each.byte_count for each in result.recorded] == [0, 4 * COUNT, 4 * COUNT]
    assert all(each.path.is_file() for each in result.recorded)
    assert kept.read_text() == "kept"
    # Before the launch, not after it.
    buffers = find_benchmark(folder / "scale-1024-2.npz").workload("cpu").buffers
    np.testing.assert_array_equal(buffers["values"], np.arange(COUNT))


def test_what_is_not_recorded_is_said(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    text = f"{SCALE}\nkernel(queue, (1,), None, values, np.float32(2))\n"
    result = run_text(text, recorder=Recorder(tmp_path / "recorded", most_bytes=4 * COUNT + 1))
    assert [each.path.name for each in result.recorded] == ["number-1024.npz", "scale-1024.npz"]
    start = "a launch is not recorded: the kernel 'scale': "
    small, single = (message.removeprefix(start) for message in result.not_recorded)
    assert small == "its buffers and images have 0.0 MiB, and at most 0.0 MiB may be captured"
    assert single == "it has no more than one work-item"


def test_a_launch_whose_arguments_are_not_known_is_not_recorded(
    run_text: Callable[..., RunResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.runtime.waiting.are_over", lambda *_: False)
    result = run_text(SCALE, recorder=Recorder(tmp_path / "recorded"))
    assert (result.exit_code, result.recorded) == (0, ())
    assert len(result.not_recorded) == 3
    assert all("did not end in time" in message for message in result.not_recorded)


def launches_of(folder: Path, kernel: str) -> list[tuple[tuple[int, ...], str, int]]:
    """The listed launches of a kernel: global size, the last argument, count."""
    return [
        (each.global_size, str(each.arguments[-1]), each.count)
        for listed in read_launch_list(folder)
        if listed.kernel == kernel
        for each in listed.launches
    ]


@pytest.mark.parametrize("most_bytes", [0, 1 << 20])
def test_what_launches_pass_is_listed(run_text: Callable[..., RunResult], tmp_path: Path, most_bytes: int) -> None:
    folder = tmp_path / "recorded"
    result = run_text(SCALE, recorder=Recorder(folder, most_bytes))
    assert (result.exit_code, result.launch_list) == (0, folder / "launches.json")
    two, half = str(PassedScalar(np.float32(2).tobytes())), str(PassedScalar(np.float32(0.5).tobytes()))
    assert launches_of(folder, "scale") == [((1024,), two, 3), ((512,), half, 1)]
    (listed,) = (each for each in read_launch_list(folder) if each.kernel == "number")
    assert [each.arguments for each in listed.launches] == [(PassedBuffer(4 * COUNT),)]
    assert (listed.options, listed.further) == ((), 0)
    assert listed.source_hash == source_hash_of(SOURCE) and (folder / listed.source_file).read_text() == SOURCE
    assert bool(list(folder.glob("*.npz"))) == (most_bytes > 0)


def test_of_launches_that_all_differ_only_some_are_listed(
    run_text: Callable[..., RunResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.drop_in.passed_launches.MOST_LAUNCHES", 5)
    more = "for factor in range(10, 20):\n    kernel(queue, (COUNT,), (64,), values, np.float32(factor))\n"
    folder = tmp_path / "recorded"
    run_text(f"{SCALE}{more}", recorder=Recorder(folder))
    (listed,) = (each for each in read_launch_list(folder) if each.kernel == "scale")
    assert (len(listed.launches), listed.further) == (5, 7)


def test_another_run_counts_on(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    run_text(SCALE, recorder=Recorder(folder))
    run_text(SCALE, recorder=Recorder(folder, most_bytes=0))
    assert [count for _, _, count in launches_of(folder, "scale")] == [6, 2]


def test_a_list_that_can_not_be_read_ends_it_before_the_program_runs(
    run_text: Callable[..., RunResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "recorded", "{}", "launches.json").parent
    with pytest.raises(InvalidInputError, match="it is no list of launches"):
        run_text(SCALE, recorder=Recorder(folder))
    assert "right" not in capsys.readouterr().out


def test_arguments_that_are_set_before_are_listed_too(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    text = f"{HEAD}SOURCE = {SHARED!r}\n" + (
        "program = Program(context, SOURCE).build()\n"
        "values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)\n"
        "program.both(queue, (COUNT,), None, values, values, cl.LocalMemory(64), None, global_offset=(2,))\n"
    )
    folder = tmp_path / "recorded"
    run_text(text, recorder=Recorder(folder, most_bytes=0))
    ((listed,),) = (each.launches for each in read_launch_list(folder))
    assert listed.arguments == (PassedBuffer(4 * COUNT), PassedShared(0), LocalArgument(64), NullArgument())
    assert (listed.local_size, listed.global_offset) == (None, (2,))
