"""A file tuned over inputs: `coarsen results` shows and plots it, `coarsen apply --tuned` writes its versions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.over_inputs import tuned_file
from coarsen.opencl_bench.workloads.described.read import read_description
from tests.cli.conftest import Run
from tests.cli.scale_kernel import COARSENED, KERNEL, STRAIGHT, TURNED, write_described
from tests.devices.described_devices import TAHITI


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The description of a kernel with pragmas, beside it."""
    return write_described(tmp_path)


@pytest.fixture
def tuned(described: Path) -> Path:
    """A tuned file of which two versions are each twice as fast as the other at half of the inputs."""
    points = tuple(InputPoint(f"input-{i:03}", f"count={2**i}", {"length": float(2**i)}) for i in range(12))
    seconds = [[2e-3, 4e-3, 1e-3] if point.features["length"] > 100 else [1e-3, 4e-3, 2e-3] for point in points]
    times = VersionTimes(points, (STRAIGHT, TURNED, COARSENED), np.array(seconds), 0)
    path = described.with_name("scale.tuned.json")
    tuned_file(read_description(described), TAHITI, times).write(path)
    return path


def test_show_says_rules_versions_and_what_each_is_worth(run: Run, tuned: Path) -> None:
    shown = run("results", "show", tuned)
    assert shown.code == 0 and shown.err == ""
    lines = shown.out.splitlines()
    assert lines[0].startswith(f"scale on {TAHITI.name}, driver {TAHITI.driver_version}, tuned by coarsen ")
    assert lines[2].startswith("if length <= ") and lines[3:6] == ["    version 0", "otherwise:", "    version 1"]
    assert lines[-2:] == ["what a version may be chosen by, of a launch:", "    length = count"]
    (default, faster) = (line for line in lines if line[:2] in ("0 ", "1 "))
    assert "uncoarsened, local size 64, -D IMPL=0 (the default)" in default and "7 inputs" in default
    assert "factor 2" in faster and "5 inputs" in faster and "2.00 times as fast" in faster


def test_show_says_what_choosing_is_worth_beside_each_baseline(run: Run, tuned: Path) -> None:
    shown = run("results", "show", tuned).out
    assert "what is chosen, over all inputs of the tuning:" in shown
    worth = json.loads(run("results", "show", tuned, "-f", "json").out)["choice"]
    for name, words in (("over_default", "the default version"), ("over_fixed", "the fixed best")):
        assert f"    {worth[name]:.2f} times as fast as {words}\n" in shown


def test_show_says_how_the_caches_were(run: Run, tuned: Path) -> None:
    file = TunedFile.read(tuned)
    replace(file, evidence={**file.evidence, "cold_cache": True}).write(tuned)
    assert "the caches were flushed before every timed run\n" in run("results", "show", tuned).out
    assert json.loads(run("results", "show", tuned, "-f", "json").out)["cold_cache"] is True


def test_show_as_json(run: Run, tuned: Path) -> None:
    content = json.loads(run("results", "show", tuned, "-f", "json").out)
    assert content["kernel"] == "scale" and "evidence" not in content
    assert [each["chosen"] for each in content["worth"]] == [7, 5]


def test_a_kernel_whose_best_version_is_one_is_said_to_be_insensitive(run: Run, described: Path) -> None:
    points = tuple(InputPoint(f"input-{i:03}", f"count={2**i}", {"length": float(2**i)}) for i in range(6))
    times = VersionTimes(points, (STRAIGHT, TURNED), np.array([[1e-3, 2e-3]] * 6), 0)
    path = described.with_name("scale.tuned.json")
    tuned_file(read_description(described), TAHITI, times).write(path)
    shown = run("results", "show", path).out.splitlines()
    assert shown[2:4] == ["not input-sensitive: one version suffices, version 0", ""]


def test_export_writes_versions_and_the_header(run: Run, tuned: Path) -> None:
    folder = tuned.parent / "generated"
    exported = run("apply", tuned.with_name("scale.cl"), "--tuned", tuned, "-o", folder)
    assert exported.code == 0, exported.err
    assert sorted(path.name for path in folder.iterdir()) == ["choose.h", "version_0.cl", "version_1.cl"]
    assert "scale_choose" in (folder / "choose.h").read_text()
    texts = [(folder / f"version_{number}.cl").read_text() for number in (0, 1)]
    assert "#define IMPL 0\n" in texts[0] and "IMPL == turned" in texts[0] and "#define turned 1\n" in texts[0]
    assert all("kernel void scale(" in text for text in texts)


def test_export_says_with_which_options_it_compiles(run: Run, tuned: Path) -> None:
    """They are the file's, and may define any macro."""
    replace(TunedFile.read(tuned), build_options=("-cl-std=CL1.2", "-DEXTRA=1\x1b[2J")).write(tuned)
    exported = run("apply", tuned.with_name("scale.cl"), "--tuned", tuned, "-o", tuned.parent / "generated")
    assert exported.code == 0
    assert (
        r"the tuned file's build options, which the sources name: -cl-std=CL1.2 -DEXTRA=1\x1b[2J" in exported.err
    )


def test_export_refuses_another_source(run: Run, tuned: Path) -> None:
    (tuned.parent / "scale.cl").write_text(KERNEL.replace("factor;", "factor + 1;"))
    refused = run("apply", tuned.with_name("scale.cl"), "--tuned", tuned, "-o", tuned.parent / "generated")
    assert refused.code == 2 and "it is not the source that was tuned" in refused.error


@pytest.mark.parametrize("words", [("--inputs", "3"), ()])
def test_a_file_tuned_over_more_inputs_is_not_lost(
    run: Run, tuned: Path, described: Path, words: tuple[str, ...]
) -> None:
    """The twelve inputs that were tuned over cost more than the three that are asked for now."""
    before = tuned.read_bytes()
    refused = run("tune", described, *words, "--device", "no such device")
    assert refused.code == 2 and tuned.read_bytes() == before
    assert refused.err.endswith(
        f"{tuned} was tuned over 12 inputs of scale.toml: say by -o where one over 3 inputs of scale.toml is to "
        "go\n"
    )
    # Whoever names a place means it.
    named = run("tune", described, *words, "-o", tuned, "--device", "no such device")
    assert named.code == 4 and "no such device" in named.err


def test_a_file_tuned_over_other_inputs_is_not_lost(run: Run, tuned: Path, described: Path) -> None:
    file = TunedFile.read(tuned)
    replace(file, evidence={**file.evidence, "description": "scale.recorded.toml"}).write(tuned)
    refused = run("tune", described, "--device", "no such device")
    assert refused.code == 2 and "was tuned over 12 inputs of scale.recorded.toml: say by -o" in refused.err
    replace(file, evidence={}).write(tuned)
    refused = run("tune", described, "--device", "no such device")
    assert refused.code == 2 and f"{tuned} doesn't say what it was tuned over: say by -o" in refused.err


def test_a_file_without_evidence_is_shown(run: Run, tuned: Path) -> None:
    replace(TunedFile.read(tuned), evidence={}).write(tuned)
    shown = run("results", "show", tuned)
    assert shown.code == 0 and shown.err == ""
    assert "the speed of its versions is not known: it keeps no times of a tuning" in shown.out.splitlines()
    assert any(line.startswith("if length <= ") for line in shown.out.splitlines())
    assert json.loads(run("results", "show", tuned, "-f", "json").out)["worth"] == []


def test_show_and_evaluate_speak_of_the_best_of_what_was_tried(run: Run, tuned: Path) -> None:
    file = TunedFile.read(tuned)
    # Alone in a file, the default version is the fastest of these everywhere, and not of what was tried.
    alone = replace(file, versions=file.versions[:1], tree=Leaf(0))
    alone.write(tuned)
    shown = run("results", "show", tuned).out
    assert "fastest of these at" in shown and "12 inputs" in shown
    assert "    0.75 of the speed of the fastest that was tried, in this file or not" in shown
