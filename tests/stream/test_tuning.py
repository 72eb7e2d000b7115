"""What tuning is told of a reduction, and what it finds, is what is launched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.cli.main import main
from coarsen.cli.tune.options import TuneOptions
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.dispatch.launch_sizes import passed_arguments, sequence_function
from coarsen.dispatch.tree import Leaf, answer
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.regret_tree import regret_tree
from coarsen.models.inputs.times import CPU_MARGIN, InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.described import check_described, described_versions
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.stream import Actor, Reduce, interpret, pipeline
from coarsen.stream.reduction_choice import default_file, version_of, with_more_versions
from coarsen.tuning.records.measurement import Method
from coarsen.variant.variant import Variant
from tests.stream.forms import BY_ITEM, FORMS, summed

pytestmark = pytest.mark.compiled_devices
REDUCTIONS = {
    "dot": Reduce("a + b", identity="0", map="k * x[i] * y[i]", arguments="float *x, int k, float *y"),
    "rows": summed("double", rows="rows", length="width"),
    "place": Reduce.argmax("const float *x"),
    "pair": Reduce("a + b", identity="0", map="(int2)(x[i], 1)", arguments="const int *x", dtype=cl.cltypes.int2),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_versions_as_they_are_described(
    name: str,
    tmp_path: Path,
    queue: cl.CommandQueue,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    reduction = REDUCTIONS[name]
    operation = reduction._operation
    tried: list[Mapping[str, int]] = [{}, FORMS["strided"], FORMS["group"]]
    tried += [BY_ITEM] if name == "rows" else []
    described = list[TunedFile]()

    def tune_inputs(path: Path, *_: object, **__: object) -> TunedFile:
        """Checks what is described, and finds that the second version is the best everywhere."""
        list_inputs(path)
        assert check_described(path) == ()
        assert read_benchmark(path).presets.keys() >= {"input-000", "input-023"}
        description = read_description(path)
        # Rows may be as short as points in space.
        assert name != "rows" or min(each["width"] for each in description.sizes.values()) == 3
        file = default_file(operation, reduction.source, queue.device, is_pinned=False)
        assert description.kernel_arguments == file.arguments
        versions = tuple(version_of(operation, each) for each in tried)
        found = described_versions(description, [each.variant for each in versions])
        for own, other in zip(versions, found, strict=True):
            assert [launched(own, file), launched(other, file)] == [launched(own, file)] * 2
        described.append(
            replace(
                file,
                source_hash=description.source_hash,
                build_options=description.build_options,
                features=description.features,
                versions=found[:2],
                tree=Leaf(1),
            )
        )
        return described[0]

    def launched(version: TunedVersion, file: TunedFile) -> object:
        """What a version launches for 1000 elements of each of 7 rows."""
        sizes = sequence_function(file, version, operation.sizes)(*(1000, 7)[: len(operation.sizes)])
        passed = [passed_arguments(version, each, file.arguments) for each in version.launches]
        return sizes, passed

    monkeypatch.setattr("coarsen.opencl_bench.inputs.over_inputs.tune_inputs", tune_inputs)
    reduction.tune().write(tmp_path / "tuned.json")
    sizes = dict(zip(operation.sizes, (1000, 7), strict=False))
    assert reduction.explain(queue, **sizes).version == described[0].versions[1]
    read = TunedFile.read(tmp_path / "tuned.json")
    assert reduction._holds(read, queue.device)
    assert not reduction._holds(replace(read, driver="another"), queue.device)
    assert not caplog.records


# Microseconds of rows of a width on two cores: one item or a vector for each row, 32 rows at once, pieces of rows.
LAWS: tuple[Callable[[int, int], float], ...] = (
    lambda rows, width: 2 + ceil(rows / 2) * (0.08 + width * 3e-4),
    lambda rows, width: 2 + ceil(rows / 2) * (0.25 + width * 1.5e-4),
    lambda rows, width: 2 + ceil(rows / 64) * (0.1 + width * 0.0192),
    lambda rows, width: 2 + ceil(rows / 64) * (0.4 + width * 0.0112),
    lambda rows, width: 4 + 32 * rows * (0.08 + width / 64 * 3e-4) + rows * 0.05,
)


def test_the_sizes_that_are_described_tell_versions_apart(tmp_path: Path) -> None:
    path = REDUCTIONS["rows"].describe(tmp_path, largest=1 << 22)
    list_inputs(path)
    sizes = [each for name, each in read_description(path).sizes.items() if name.startswith("input-")]
    tuned = times_by_laws([(each["rows"], each["width"]) for each in sizes])
    heights = [round(4 * (total / 16) ** (k / 40)) for total in (1 << 20, 1 << 22) for k in range(1, 40)]
    shapes = [(rows, (1 << 20 + 2 * (k >= 39)) // rows) for k, rows in enumerate(heights)]
    others = times_by_laws(shapes)
    tree = regret_tree(tuned, CPU_MARGIN)
    regrets = [others.regret[k, answer(tree, each.features)] for k, each in enumerate(others.inputs)]
    assert np.exp(-np.mean(regrets)) > 0.95 and np.exp(-max(regrets)) > 0.75
    # The best fixed version is far from that.
    assert np.exp(-others.regret.mean(axis=0).min()) < 0.7


def test_versions_that_cannot_run_at_the_first_input_are_tried_first(
    queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = list[object]()

    def stage(*given: Any) -> None:  # noqa: ANN401 (as `stage_one` takes it)
        tried.extend(given[4])
        raise InvalidInputError("seen")

    monkeypatch.setattr("coarsen.opencl_bench.inputs.stage_one.stage_one", stage)
    for reduction in (summed("float"), summed("float", rows="rows")):
        file = default_file(reduction._operation, reduction.source, queue.device, is_pinned=False)
        with pytest.raises(InvalidInputError, match="seen"):
            reduction.tune(queue.device.name.strip(), largest=1 << 16)
        assert len({*tried}) == len(with_more_versions(file, reduction._operation).versions)
        tried.clear()


def times_by_laws(shapes: Sequence[tuple[int, int]]) -> VersionTimes:
    """The times of versions at rows of a width."""
    inputs = [
        InputPoint(f"{k}", f"{k}", {"rows": float(rows), "width": float(width)})
        for k, (rows, width) in enumerate(shapes)
    ]
    seconds = np.array([[law(*shape) for law in LAWS] for shape in shapes])
    return VersionTimes(tuple(inputs), tuple(Variant((k + 1,)) for k in range(len(LAWS))), seconds, 0)


def test_what_is_tuned_for_another_reduction_is_not_used(
    queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    file = default_file(summed("int")._operation, summed("int").source, queue.device, is_pinned=False)
    total = summed("long", tuned=replace(file, tree=Leaf(1)), checks_laws=False)
    assert total(queue, cl.array.zeros(queue, 9, "int64")).get() == 0
    assert "a tuned file of a reduction is not used: the program's source" in caplog.text


def test_what_has_one_version_is_not_tuned() -> None:
    with pytest.raises(InvalidInputError, match="nothing to tune"):
        summed("int", reproducible=True).tune()


@pytest.mark.usefixtures("certain")
def test_a_pipeline_is_tuned_by_its_own_description(
    tmp_path: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, short = TuneOptions.over_inputs, Method(repetitions=1, minimum_repetitions=1)
    monkeypatch.setattr(TuneOptions, "over_inputs", lambda *asked: replace(settings(*asked), method=short))
    pairs = Actor("pairs", pop=2, push=2, work="push(pop() * k); push(pop());", arguments="float k")
    step = pipeline(pairs, Actor("product", pop=2, work="push(pop() * pop());"))
    path = tmp_path / "own.toml"
    step.describe(path, n=(64, 512), k=2.5)
    words = ["-d", device.index, "--inputs", "1", "--trials", "3", "--seconds", "2", "--store", "own.sqlite"]
    monkeypatch.chdir(tmp_path)
    assert main(["tune", str(path), *words]) == 0
    file = TunedFile.read(tmp_path / "own.tuned.json")
    assert all(dict(each.variant.definitions)["LAYOUT_pairs"] in "01" for each in file.versions)
    context = cl.Context([open_device(device)])
    queue, elements = cl.CommandQueue(context), np.arange(301, dtype=np.float32)
    tuned = pipeline(*step._pipeline.stages, tuned=tmp_path / "own.tuned.json")
    found = tuned(queue, cl.array.to_device(queue, elements), k=2.5).get()
    np.testing.assert_array_equal(found, interpret(step._pipeline.stages, elements, k=2.5))
