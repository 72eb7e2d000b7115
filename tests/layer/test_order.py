"""The order of a program's launches: what the recorder writes of it, and which chains `coarsen fuse` finds."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path

import pytest

from coarsen.cli.main import main
from coarsen.devices.discovery import DeviceDescription
from coarsen.layer.chains import _Launch
from coarsen.layer.log import _STEP, read_logs
from coarsen.tuning.workload.launch_list import (
    LIST_FILE,
    ListedKernel,
    ListedLaunch,
    PassedBuffer,
    PassedOther,
    Step,
    read_launch_list,
    read_ordered_list,
    write_launch_list,
)
from tests.layer.conftest import Build, Record, platform_of


def test_chains_of_a_program(
    record: Record,
    build: Build,
    working_devices: tuple[DeviceDescription, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    platform_of(next(each for each in working_devices if each.runs_on("intel")), monkeypatch)
    assert record(build("order")).exit_code == 0
    folder = tmp_path / "recorded"
    kernels, (order,) = read_ordered_list(folder)
    names = [each.action if each.kernel is None else kernels[each.kernel].kernel for each in order]
    assert names[:5] == ["write", "scale", "add", "read", "write"]
    assert Counter(names) == Counter(write=4, scale=8, add=5, blur=2, read=5, map=2, free=names.count("free"))
    assert {each.queue for each in order if each.action != "free"} == {2, 4}
    *_, (c,), (image,) = [each.memory for each in order if each.action in ("read", "map") and each.memory]
    assert image == c + 1
    (t,) = set(order[1].memory or ()) & set(order[2].memory or ())
    assert len({each.memory for each in order if each.kernel is not None}) == 8 and t % 2 == 0
    capfd.readouterr()
    assert main(["fuse", "--from", str(folder)]) == 0
    found = capfd.readouterr().out.splitlines()
    assert found[0] == (
        "scale → add, 3 times: 4,096 bytes less to and from memory each time; nobody reads t later here, nor in "
        "the program? --gives-up t: 8,192"
    )
    assert found[2].startswith("scale → blur, 2 times: ") and found[2].endswith("[fusion-crosses-items]")
    assert len(found) == 3
    command = shlex.split(found[1])
    assert command[:2] == ["coarsen", "fuse"] and command[3:5] == ["scale", "add(n, t, b, c)"]
    assert command[5] == "--build-option=-DUNUSED=1"
    monkeypatch.chdir(tmp_path)
    assert main([*command[1:], "--gives-up", "t"]) == 0
    assert "t[" not in (tmp_path / "scale_add.cl").read_text()


STEP = "kernel void {0}(global const int *a, global int *b) {{ int i = get_global_id(0); b[i] = a[i]; }}\n"


@pytest.mark.parametrize(
    ("memory", "size", "between", "said"),
    [
        ((4, 6), 8, (), "memory each time"),
        ((4, 5), 8, (), "parts of one buffer may overlap [fusion-alias]"),
        ((0, 4), 8, (), "memory is not known"),
        ((4, 6), 9, (), "they are launched over other NDRanges [fusion-ndrange]"),
        ((4, 6), 8, (Step("write", 4, None, None, (10,)), Step("free", 0, None, None, (4,))), "memory each time"),
        ((4, 6), 8, (Step("write", 4, None, None, (4,)),), ""),
        ((4, 6), 8, (Step("read", 4, None, None, (5,)),), ""),
        ((4, 6), 8, (Step("launch", 4, None, None, None),), ""),
        # A launch of too many buffers, one that is not listed, and memory that is not known.
        ((4, 6), 8, (Step("launch", 2, 0, 0, None),), ""),
        ((4, 6), 8, (Step("launch", 2, 0, None, (8, 4)),), ""),
        ((4, 6), 8, (Step("launch", 2, 0, None, (8, 10)),), "memory each time"),
        ((4, 6), 8, (Step("launch", 2, None, None, (8, 0)),), ""),
    ],
)
def test_launches_that_follow_each_other(
    memory: tuple[int, ...],
    size: int,
    between: tuple[Step, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "s.cl").write_text(STEP.format("one") + STEP.format("two"))
    buffers = (PassedBuffer(32), PassedBuffer(32))
    kernels = [
        ListedKernel(name, "0", "s.cl", (), (ListedLaunch((items,), None, (), buffers),))
        for name, items in (("one", 8), ("two", size))
    ]
    for queue, is_found in ((2, bool(said)), (3, False), (0, False)):
        steps = Step("launch", queue, 0, 0, (2, 4)), *between, Step("launch", queue, 1, 0, memory)
        write_launch_list(kernels, tmp_path, [steps])
        assert main(["fuse", "--from", str(tmp_path)]) == 0
        out = capsys.readouterr().out
        assert out.startswith("one → two, 1 time: ") == is_found and (said in out or not is_found), out


def test_a_chain_ends_where_the_next_step_of_a_loop_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.cl").write_text(STEP.format("one") + STEP.format("two"))
    launches = (ListedLaunch((8,), None, (), (PassedBuffer(32), PassedBuffer(32))),)
    kernels = [ListedKernel(name, "0", "s.cl", (), launches) for name in ("one", "two")]
    steps = Step("launch", 2, 0, 0, (2, 4)), Step("launch", 2, 1, 0, (4, 6))
    write_launch_list(kernels, tmp_path, [steps * 5])
    assert main(["fuse", "--from", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("one → two, 5 times: ")


def test_a_ring_begins_anew(tmp_path: Path) -> None:
    def read(count: int, numbers: list[int]) -> list[int]:
        steps = b"".join(_STEP.pack(1, 0xFFFFFFFF, 2, 1, number, *[0] * 11) for number in numbers)
        (tmp_path / "1-0.order").write_bytes(count.to_bytes(8, "little") + bytes(56) + steps)
        return [number for order in read_logs(tmp_path)[1] for each in order for number in each.memory or ()]

    (tmp_path / "1-0.log").write_bytes(b"")
    assert read(6, [4, 5, 2, 3]) == [2, 3, 4, 5]
    assert read(2, [7, 8, 0, 0]) == [7, 8]
    assert read(0, [0]) == []
    (tmp_path / "1-0.order").write_bytes((1).to_bytes(8, "little") + bytes(56 + _STEP.size))
    assert read_logs(tmp_path)[1] == [(Step("launch", 0, None, None, None),)], "it is not written yet"


@pytest.mark.parametrize(
    "line", ['["launch", 2, 5, 0, [4]]', '["launch", 2, 0, [4]]', '["read", "x", null, null, [4]]', 7]
)
def test_lists_with_and_without_an_order(line: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernels: list[object] = []
    (tmp_path / LIST_FILE).write_text(json.dumps({"format": 2, "kernels": kernels}))
    assert main(["fuse", "--from", str(tmp_path)]) == 2
    assert "its format is 2" in capsys.readouterr().err
    (tmp_path / LIST_FILE).write_text(json.dumps({"format": 3, "kernels": kernels, "orders": []}))
    assert read_launch_list(tmp_path) == () and main(["fuse", "--from", str(tmp_path)]) == 0
    (tmp_path / LIST_FILE).write_text(json.dumps({"format": 3, "kernels": kernels, "orders": [[line]]}))
    assert main(["fuse", "--from", str(tmp_path)]) == 2
    assert "it is no list of launches" in capsys.readouterr().err


def test_samplers_have_no_number() -> None:
    passed = PassedBuffer(32), PassedOther("sampler"), PassedOther("image"), PassedBuffer(32)
    kernel = ListedKernel("one", "0", "s.cl", (), (ListedLaunch((8,), None, (), passed),))
    assert _Launch(0, 0, kernel, kernel.launches[0], (4, 6, 8)).things == (4, None, 6, 8)
