"""`coarsen predict` by the launch model: where there is one, its options, its words, and how little it loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coarsen.features.feature_table import kernel_identity
from coarsen.frontend.lower import lower
from coarsen.user_models import user_models
from coarsen.variant.variant_json import variant_from_json
from tests.cli.conftest import SCALE, Run
from tests.cli.small_launch_model import store_small_launch_model

NO_BOLD = "is for the launch model: a cascade has neutral and cautious"
NOT_FOR_A_CASCADE = "is for the launch model, and the cascade answers for this device"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    identities = {"scale_learned": kernel_identity(lower(SCALE))}
    return store_small_launch_model(tmp_path_factory.mktemp("models"), identities)


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    file = tmp_path / "scale.cl"
    file.write_text(SCALE)
    return file


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_the_launch_both_speed_ups_and_the_reason(run: Run, models: Path, kernel: Path) -> None:
    sizes = ("--global-size", "65536", "--local-size", "64", "--size", "count=65536")
    outcome = run("predict", kernel, "-d", "intel", "--models", models, "--no-measure", *sizes)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("kernel scale on intel (")
    assert lines[1].startswith("Over the launch as it is: ")
    assert lines[2].startswith("Over the best uncoarsened local size: ")
    assert lines[3].startswith("Why: ")
    assert "scale_learned is one of the model's training kernels, so this is not" in outcome.out
    assert lines[-1] == "Nothing was measured: as --no-measure asks"


def test_as_json(run: Run, models: Path, kernel: Path) -> None:
    outcome = run(
        "predict", kernel, "-d", "pocl", "--models", models, "--no-measure", "--risk", "bold", "-f", "json"
    )
    found = json.loads(outcome.out)
    assert (found["model"], found["risk"], found["training_kernel"]) == ("launch", "bold", "scale_learned")
    assert found["choices"]["bold"] == found["choice"]["variant"]
    assert {"over_best_uncoarsened", "over_own", "multiple_of", "chance"} <= set(found["launches"][0])
    assert found["sizes_are_assumed"] and found["reason"].startswith("Why: ")


def test_what_can_not_be_measured_is_predicted_alone(run: Run, models: Path, kernel: Path) -> None:
    outcome = run("predict", kernel, "-d", "intel", "--models", models)
    assert outcome.out.splitlines()[-1].startswith("Nothing was measured: there are no inputs: ")
    kernel.with_suffix(".toml").touch()
    beside = run("predict", kernel, "-d", "intel", "--models", models)
    assert beside.out.splitlines()[-1].startswith(f"Nothing was measured: give {kernel.with_suffix('.toml')} in ")
    kernel.with_suffix(".toml").unlink()
    asked = run("predict", kernel, "-d", "intel", "--models", models, "--measure", "2")
    assert asked.code == 2
    assert asked.error.startswith("there are no inputs: `coarsen describe` writes a description")


def test_a_model_that_the_user_trained_answers_from_then_on(run: Run, kernel: Path) -> None:
    asked = ("predict", kernel, "-d", "intel", "--no-measure", "-f", "json")
    shipped = run(*asked)
    assert (json.loads(shipped.out)["model"], shipped.err) == ("launch", "")
    store_small_launch_model(user_models())
    outcome = run(*asked)
    assert json.loads(outcome.out)["model"] == "launch"
    assert outcome.err.startswith("coarsen: note: by the model that you trained, in ")
    assert run(*asked, "--shipped").out == shipped.out
    # Who asks for a dimension asks the same model.
    assert json.loads(run(*asked, "--dim", "0").out)["model"] == "launch"


@pytest.mark.parametrize("gpu", ["tahiti", "Tesla K20c"])
def test_a_gpu_of_the_publication_is_answered_by_its_cascade(run: Run, kernel: Path, gpu: str) -> None:
    found = json.loads(run("predict", kernel, "-d", gpu, "-f", "json").out)
    assert found["model"] == {"tahiti": "tahiti"}.get(gpu, "kepler")
    # The launch model learned nothing from it.
    refused = run("predict", kernel, "-d", gpu, "--model", "launch", "--no-measure")
    assert (refused.code, refused.out) == (4, "")
    assert (
        refused.error.startswith(f"there is no model of {found['model']} (")
        and "h200, intel, pocl" in refused.error
    )


def test_along_one_dimension_nothing_else_is_considered(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "copy.cl"
    file.write_text("kernel void copy(global int *a) { a[get_global_id(1) * 64 + get_global_id(0)] = 1; }")
    asked = ("predict", file, "-d", "intel", "--no-measure", "-f", "json")

    def dimensions(*words: str) -> set[int]:
        launches = json.loads(run(*asked, *words).out)["launches"]
        variants = (variant_from_json(launch["variant"]) for launch in launches)
        return {each.dimension for variant in variants for each in variant.coarsenings}

    assert (dimensions(), dimensions("--dim", "1")) == ({0, 1}, {1})


# The shipped model ranks another local size, at 0.98 of the launch as it is, before all others on an H200.
DISTANCES = """\
kernel void distances(global const float *queries, global const float *targets, global float *found,
                      int query_count, int target_count, int length)
{
    int query = get_global_id(0);
    int target = get_global_id(1);
    if (query >= query_count || target >= target_count)
        return;

    float sum = 0.0f;
    for (int k = 0; k < length; ++k) {
        float difference = queries[query * length + k] - targets[target * length + k];
        sum += difference * difference;
    }
    found[target * query_count + query] = sqrt(sum);
}
"""


@pytest.mark.parametrize("risk", ["cautious", "neutral", "bold"])
def test_nothing_that_is_expected_to_be_slower_is_chosen(run: Run, tmp_path: Path, risk: str) -> None:
    file = tmp_path / "distances.cl"
    file.write_text(DISTANCES)
    found = json.loads(run("predict", file, "-d", "h200", "--risk", risk, "-f", "json").out)
    assert found["choice"]["over_own"]["value"] >= 1


def test_rows_can_be_kept_only_where_something_is_measured(run: Run, models: Path, kernel: Path) -> None:
    words = ("predict", kernel, "-d", "intel", "--models", models, "--store", "rows.sqlite")
    outcome = run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith("there are no inputs: ")


def test_without_a_model_it_is_said_how_to_make_one(run: Run, kernel: Path, tmp_path: Path) -> None:
    outcome = run("predict", kernel, "-d", "intel", "--model", "launch", "--models", tmp_path)
    assert outcome.code == 2
    assert "`coarsen train --model launch --data FILE` makes one" in outcome.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "cascade", "--global-size", "64"), f"--global-size {NOT_FOR_A_CASCADE}"),
        (("--model", "cascade", "--risk", "bold"), f"--risk bold {NO_BOLD}"),
        (("--model", "cascade", "--dim", "1", "--size", "count=3"), f"--size {NOT_FOR_A_CASCADE}"),
        (("--dim", "1", "--local-size", "64"), "a launch with the local size 64 has no dimension 1"),
        (("--dim", "3"), "the dimension must be 0, 1 or 2, not 3"),
        (("--measure", "2", "--no-measure"), "--measure and --no-measure exclude each other"),
    ],
)
def test_options_that_do_not_go_together(run: Run, kernel: Path, words: tuple[str, ...], message: str) -> None:
    assert run("predict", kernel, "-d", "intel", *words).error == message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--global-size", "many"), "--global-size takes one to three sizes, such as 4096 or 512x512, not 'many'"),
        (("--size", "width=3"), "kernel scale has no whole argument 'width'"),
        (("--global-size", "100", "--local-size", "64"), "the local size 64 does not divide the global size 100"),
    ],
)
def test_sizes_that_are_none(run: Run, models: Path, kernel: Path, words: tuple[str, ...], message: str) -> None:
    asked = ("predict", kernel, "-d", "intel", "--models", models, "--no-measure")
    assert message in run(*asked, *words).error


@pytest.mark.parametrize("further", [["--no-measure"], []])
def test_predicting_loads_no_package_of_training(models: Path, kernel: Path, further: list[str]) -> None:
    # Without inputs nothing is measured, even where that isn't said.
    words = ["coarsen", "predict", str(kernel), "-d", "intel", "--models", str(models), *further]
    code = (
        "import sys\nfrom coarsen.cli.main import main\n"
        f"sys.argv = {words!r}\n"
        "try:\n    main()\nexcept SystemExit as exit:\n    assert not exit.code, exit.code\n"
        "absent = ('sklearn', 'scipy', 'pandas', 'sqlalchemy', 'pyopencl', 'networkx')\n"
        "print([name for name in absent if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_how_such_predictions_fared_is_said(run: Run, kernel: Path) -> None:
    words = ("predict", kernel, "-d", "h200", "--shipped", "--no-measure")
    fared = json.loads(run(*words, "-f", "json").out)["fared"]
    (line,) = (each for each in run(*words).out.splitlines() if each.startswith("How such predictions fared"))
    assert f"on {fared['cases']} cases of families left out of training: {fared['gain']:.2f} over" in line
    assert f"the best launch gives {fared['best']:.2f}; {fared['losses']:.0%} ran at less than 0.95 of it" in line
