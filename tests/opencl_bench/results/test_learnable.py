"""Nothing learns from the second judge: not by name, not by a copy, and no module reads its folder."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.examples import Curve
from coarsen.opencl_bench.results.examples import examples_of
from coarsen.opencl_bench.results.launch_cases import check_learnable, judge_hashes, normal_form_hash
from coarsen.opencl_bench.workloads.lookup import SUITE, judge
from tests.test_architecture import MODULES

DESCRIPTION = """\
file = "{name}.cl"
kernel = "{name}"
outputs = ["brightness", "blueness", "redness"]
ndrange = {{ global_size = ["n"], local_size = [64] }}
sizes = {{ test = {{ n = 1024 }} }}
arguments = [
    {{ name = "pixels", buffer = "uchar4", elements = "n", values = "integers(0, 256)" }},
    {{ name = "brightness", buffer = "uchar", elements = "n", values = "unwritten" }},
    {{ name = "blueness", buffer = "uchar", elements = "n", values = "unwritten" }},
    {{ name = "redness", buffer = "uchar", elements = "n", values = "unwritten" }},
    {{ name = "count", scalar = "int", value = "n" }},
]
"""


def describe(folder: Path, name: str, source: str) -> None:
    """Write a kernel and its description."""
    (folder / f"{name}.cl").write_text(source)
    (folder / f"{name}.toml").write_text(DESCRIPTION.format(name=name))


def test_a_kernel_of_the_judge_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidInputError, match="judge-heat_plate is a kernel of the second judge"):
        check_learnable(["sgemm", "judge-heat_plate"])


def test_a_copy_under_another_name_is_refused(tmp_path: Path) -> None:
    source = judge()["judge-rgb_to_yuv"].source
    copy = source.partition("*/")[2].replace("rgb_to_yuv", "planes").replace("    ", "\t")
    describe(tmp_path, "planes", copy)
    with pytest.raises(InvalidInputError, match="planes is judge-rgb_to_yuv under another name"):
        check_learnable(["sgemm", "planes"], tmp_path)
    describe(tmp_path, "planes", copy.replace("19595", "19000"))
    check_learnable(["sgemm", "planes"], tmp_path)


def test_other_kernels_may_be_learned_from() -> None:
    check_learnable([*SUITE, "synthetic-0-5", "launch-0-5", "of_nobody_knows_where"])


def test_no_kernel_of_the_suite_is_one_of_the_judge() -> None:
    hashes = judge_hashes()
    assert sorted(hashes.values()) == sorted(judge())
    assert not hashes.keys() & {normal_form_hash(benchmark) for benchmark in SUITE.values()}


def test_an_evaluation_finds_the_judge_by_its_names() -> None:
    curve = Curve("judge-heat_plate", "pocl", 1, (16, 16), {2: 1.5}, 2)
    (example,) = examples_of([curve]).examples
    assert (example.kernel, example.family, example.dimension) == ("judge-heat_plate", "judge-heat_plate", 1)


# `bench_inputs` chooses what is measured, `learnable` refuses what may not be learned from.
KNOW_OF_THE_JUDGE = {
    "coarsen.cli.bench.inputs",
    "coarsen.opencl_bench.results.launch_cases",
    "coarsen.opencl_bench.workloads.lookup",
}


def test_no_other_module_reads_the_judge() -> None:
    """An evaluation's last step finds the kernels by the names that stand in their measurements."""
    mentioning = {module for module, path in MODULES.items() if "judge" in path.read_text()}
    trees = {module: ast.parse(MODULES[module].read_text()) for module in mentioning}
    assert {module for module, tree in trees.items() if _asks_for_the_judge(tree)} <= KNOW_OF_THE_JUDGE
    assert not {module for module, tree in trees.items() if _names_its_folder(tree)}


def _asks_for_the_judge(tree: ast.Module) -> bool:
    """Return True for a module that imports the function which finds all of the kernels."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return any(
        node.module == "coarsen.opencl_bench.workloads.lookup" and any(name.name == "judge" for name in node.names)
        for node in imports
    )


def _names_its_folder(tree: ast.Module) -> bool:
    """Return True for a module that builds a path with a folder `judge`."""
    divisions = (node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div))
    return any(
        isinstance(part, ast.Constant) and part.value == "judge"
        for division in divisions
        for part in (division.left, division.right)
    )
