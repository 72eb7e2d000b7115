"""`coarsen predict --model cascade`: the factor, the steps that led there, the reasons; which cascade it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coarsen
from coarsen.cli.output import Format
from coarsen.cli.predict.output import held_out_text, print_cascade
from coarsen.models import CascadeModel, Contribution, Prediction, Step
from coarsen.opencl_bench.workloads.lookup import SUITE
from tests.cli.conftest import Run

SGEMM = SUITE["sgemm"].kernel_file
CASCADE = ("--model", "cascade")


def test_the_steps_lead_to_the_factor(run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", "tahiti", *CASCADE, "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert (found["kernel"], found["dimension"], found["model"]) == ("sgemm", 0, "tahiti")
    assert [step["factor"] for step in found["steps"]] == [1, 2, 4, 8, 16][: len(found["steps"])]
    assert [step["coarsen_further"] for step in found["steps"]] == [
        step["probability"] > 0.5 for step in found["steps"]
    ]
    last = found["steps"][-1]
    assert found["factor"] == (2 * last["factor"] if last["coarsen_further"] else last["factor"])


def test_the_table_shows_the_same(run: Run) -> None:
    predicted = coarsen.predict(SGEMM, device="tahiti", model="cascade")
    outcome = run("predict", "sgemm", "--device", "TAHITI", *CASCADE)
    assert isinstance(predicted, Prediction)
    lines = outcome.out.splitlines()
    assert lines[0] == f"kernel sgemm on tahiti, along dimension 0: factor {predicted.factor}"
    assert lines[1].startswith("sgemm is one of the model's training kernels")
    # As table 5 and the leave-one-out evaluation in the card have it.
    assert lines[2] == (
        "How far to believe it: for kernels left out of its training it finds the best factor of 3 of 17; never "
        "coarsening finds 5, one factor for all kernels 5, the paper's own prediction 8; so it is no better than "
        "leaving kernels as they are"
    )
    assert lines[3] == (
        "It is doubtful: the step at factor 4 has the probability 0.66; with --risk cautious the factor is 1"
    )
    assert lines[5].split() == ["at", "factor", "coarsen", "further?", "probability", "examples"]
    for line, step in zip(lines[6:], predicted.steps, strict=False):
        answer = "yes" if step.coarsen_further else "no"
        assert line.split() == [str(step.factor), answer, f"{step.probability:.2f}", str(step.examples)]
    assert run("predict", "sgemm", "--device", "TAHITI").out == outcome.out, "the device's own model answers"


@pytest.mark.parametrize(
    ("kernel", "gpu", "neutral"), [("sgemm", "tahiti", 8), ("mt", "fermi", 16), ("mvCoal", "kepler", 1)]
)
def test_with_caution_a_doubtful_answer_is_1(kernel: str, gpu: str, neutral: int, run: Run) -> None:
    words = ("predict", kernel, "--device", gpu, "-f", "json")
    bold, careful = (json.loads(run(*words, *more).out) for more in ((), ("--risk", "cautious")))
    doubtful = any(1 / 3 < step["probability"] < 2 / 3 for step in bold["steps"])
    assert (bold["risk"], bold["factor"]) == ("neutral", neutral)
    assert (careful["risk"], careful["factor"]) == ("cautious", 1 if doubtful else neutral)
    assert careful["steps"] == bold["steps"]
    assert careful["held_out"] != bold["held_out"], "each is believed as it did itself"


def test_what_is_doubtful_is_said(run: Run) -> None:
    lines = run("predict", "sgemm", "--device", "tahiti", "--risk", "cautious").out.splitlines()
    assert lines[0].endswith("factor 1")
    assert "finds the best factor of 5 of 17" in lines[2]
    assert lines[3] == "It is doubtful: the step at factor 4 has the probability 0.66"
    # A doubtful answer that is 1 already would be no other with caution.
    assert (
        "It is doubtful: the step at factor 1 has the probability 0.43"
        in run("predict", "sobel", "--device", "tahiti").out.splitlines()
    )
    refused = run("predict", "sgemm", "--device", "tahiti", "--risk", "bold")
    assert (refused.code, refused.error) == (
        2,
        "--risk bold is for the launch model: a cascade has neutral and cautious",
    )


REASONS = (Contribution("uniform_loads", 3.0, 0.25), Contribution("barriers", 2.0, -0.5))


@pytest.mark.parametrize(
    ("contributions", "sentences"),
    [
        (
            REASONS,
            [
                "What moved the answer at factor 1 most:",
                "  uniform loads 3: for coarsening further (+0.25)",
                "  barriers 2: against coarsening further (-0.50)",
            ],
        ),
        (
            (),
            [
                "Why the answer at factor 1: the kernels that it learned from leave no choice, "
                "so it is the same for all kernels."
            ],
        ),
    ],
)
def test_why(
    contributions: tuple[Contribution, ...],
    sentences: list[str],
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = Prediction("tahiti", 1, (Step(1, 0.25, False, 17, contributions),))
    monkeypatch.setattr(CascadeModel, "predict", lambda *_: answer)
    outcome = run("predict", SGEMM, "--device", "tahiti", *CASCADE)
    assert outcome.out.splitlines()[-len(sentences) :] == sentences


def test_shipped_and_a_folder_exclude_each_other(tmp_path: Path, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", "tahiti", *CASCADE, "--shipped", "--models", tmp_path)
    assert (outcome.code, outcome.error) == (2, "--shipped and --models FOLDER exclude each other")


@pytest.mark.parametrize("dimension", [0, 1])
def test_both_dimensions_can_be_asked_for(dimension: int, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", "fermi", *CASCADE, "--dim", dimension, "-f", "json")
    expected = coarsen.predict(SGEMM, device="fermi", model="cascade", dim=dimension)
    assert json.loads(outcome.out)["factor"] == expected.factor


def test_a_device_without_a_cascade(tmp_path: Path, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", "h200", *CASCADE)
    assert (outcome.code, outcome.out) == (4, "")
    hint = "`coarsen train --device NAME` makes one"
    assert outcome.error == (
        f"there is no cascade of h200 (NVIDIA H200); cascades: cypress, fermi, kepler, tahiti; {hint}"
    )
    (tmp_path / "default.safetensors").touch()
    outcome = run("predict", SGEMM, "--device", "fermi", *CASCADE, "--models", tmp_path)
    assert outcome.error == f"there is no cascade of fermi (NVIDIA GTX 480) in {tmp_path}; cascades: none; {hint}"


@pytest.mark.parametrize(
    ("evaluation", "text"),
    [
        (
            {"scores": {"cascade": {"exact": 6.5, "kernels": 9}, "never": {"exact": 2, "kernels": 9}}},
            "for kernels left out of its training it finds the best factor of 6.5 of 9; never coarsening finds "
            "2; so it is better than leaving kernels as they are",
        ),
        ({"scores": {"never": {"exact": 2, "kernels": 9}}}, ""),
        ({"scores": {"cascade": {"exact": "many", "kernels": 9}, "never": {"exact": 2}}}, ""),
        ({"scores": [1]}, ""),
        ({"scores": {"cascade": 3}}, ""),
        (None, ""),
    ],
)
def test_how_far_a_card_lets_one_believe(evaluation: object, text: str) -> None:
    assert held_out_text(evaluation) == text


def test_an_effect_that_rounds_to_nothing_has_no_sign(capsys: pytest.CaptureFixture[str]) -> None:
    contributions = (Contribution("loads", 3.0, -0.0001), Contribution("stores", 1.0, 0.125))
    prediction = Prediction("tahiti", 1, (Step(1, 0.2, False, 17, contributions),))
    print_cascade("scale", 0, prediction, None, {}, Format.TABLE)
    lines = capsys.readouterr().out.splitlines()
    assert "  loads 3: against coarsening further (less than 0.01)" in lines
    assert "  stores 1: for coarsening further (+0.12)" in lines
