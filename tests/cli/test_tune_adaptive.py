"""`coarsen tune adaptive-NAME`: a kernel of the package that adapts, tuned over its own inputs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.cli.tune_inputs_options import InputsRequest
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import tune_inputs
from coarsen.opencl_bench.inputs.adaptive_tuning import AdaptiveSample
from coarsen.opencl_bench.records.measurement import Method
from tests.cli.conftest import Run

SHORT = Method(repetitions=1, minimum_repetitions=1)
REQUEST = InputsRequest(None, None, None, 3, None)


@pytest.mark.compiled_devices
def test_a_sample_is_measured_and_judged(
    run: Run, device: DeviceDescription, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sample = InputsRequest.sample
    monkeypatch.setattr(InputsRequest, "sample", lambda *given: replace(sample(*given), method=SHORT))
    words = ("-d", device.index, "--inputs", 2, "--versions", 2, "--store", "s.sqlite")
    made = run("tune", "adaptive-transpose", *words)
    assert made.code == 0, made.err
    assert "measuring 2 versions at 2 inputs" in made.err
    assert "wrote adaptive-transpose.tuned.json" in made.out and "2 inputs of 2 different sizes" in made.out
    found = TunedFile.read(tmp_path / "adaptive-transpose.tuned.json")
    # The rows are stored, so that Python finds the same without measuring.
    again = tune_inputs(
        "adaptive-transpose", device.index, inputs=2, versions=2, method=SHORT, store=tmp_path / "s.sqlite"
    )
    assert found.to_bytes() == again.to_bytes()
    told = run("tune", "adaptive-transpose", *words, "--most", 2, "-o", "other.json", "--format", "json")
    assert told.code == 0, told.err
    content = json.loads(told.out)
    assert content["tuned_file"] == "other.json" and content["description"] is None
    assert content["versions"] == len(found.versions) and content["versions_tried"] == content["inputs"] == 2
    assert set(content["coverage"]) == {"width", "height"}
    assert run("tune", "show", "other.json").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("adaptive-transpos", "--inputs", "2"),
            "no benchmark 'adaptive-transpos' (did you mean adaptive-transpose",
        ),
        (("adaptive-transpose", "--search", "guided"), "the inputs and versions of adaptive-transpose are listed"),
        (("adaptive-transpose", "--no-distinct"), "--cold-check and --no-distinct are for a description"),
        (("adaptive-transpose", "--inputs-from", "launches"), "--inputs-from, --search, --budget, --cold-check"),
        (("adaptive-transpose", "--seconds", "3"), "--seconds, --trials, --levels and --no-wide-accesses are for"),
        (
            ("adaptive-transpose", "--preset", "test", "--inputs", "2"),
            "are for tuning at one size, not over inputs",
        ),
        (("adaptive-transpose", "--preset", "none"), "adaptive-transpose: no preset 'none'"),
        (("adaptive-transpose", "--layouts", "--versions", "2"), "leave out --inputs, --inputs-from, --versions"),
        (("adaptive-transpose", "-o", "found.txt"), "the tuned file's name must end with .json"),
        (("own.toml", "--versions", "2"), "--versions is for adaptive-NAME; those of a description are searched"),
        (("mt", "--versions", "2"), "name a description, KERNEL.toml, or adaptive-NAME"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, words: tuple[str, ...], message: str) -> None:
    refused = run("tune", *words)
    assert refused.code == 2 and message in refused.error


def test_a_request_says_what_is_measured() -> None:
    usual = AdaptiveSample(seed=3)
    assert REQUEST.sample("adaptive-mt") == usual
    asked = replace(REQUEST, inputs=4, versions=5, most=2, is_cold=True)
    assert asked.sample("adaptive-mt") == AdaptiveSample(4, 5, Method(cold_cache=True), 3, 2)
    assert asked.is_asked_for and replace(REQUEST, versions=1).is_asked_for and not REQUEST.is_asked_for
    with pytest.raises(InvalidInputError, match="the inputs and versions of adaptive-mt are listed"):
        replace(REQUEST, cold_check=True).sample("adaptive-mt")
