"""Nothing learns from the second judge, and no module reads its folder."""

from __future__ import annotations

import ast

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.examples import Curve
from coarsen.models.held_out import refuse_judge
from coarsen.opencl_bench.results.measured_curves import examples_of
from coarsen.opencl_bench.workloads.lookup import SUITE
from tests.test_architecture import MODULES


def test_a_kernel_of_the_judge_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidInputError, match="judge-heat_plate is a kernel of the second judge"):
        refuse_judge(["sgemm", "judge-heat_plate"])
    refuse_judge([*SUITE, "synthetic-0-5", "launch-0-5", "of_nobody_knows_where"])


def test_an_evaluation_finds_the_judge_by_its_names() -> None:
    curve = Curve("judge-heat_plate", "pocl", 1, (16, 16), {2: 1.5}, 2)
    (example,) = examples_of([curve]).examples
    assert (example.kernel, example.family, example.dimension) == ("judge-heat_plate", "judge-heat_plate", 1)


# `bench_inputs` chooses what is measured.
KNOW_OF_THE_JUDGE = {
    "coarsen.cli.bench.inputs",
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
