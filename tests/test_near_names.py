"""A message about an unknown name says which one is spelled almost so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.api import coarsen
from coarsen.base.names import did_you_mean
from coarsen.cli.main import main
from coarsen.devices.selection import select_device
from coarsen.errors import CoarsenError
from coarsen.models.evaluation.evaluation import entrant
from coarsen.opencl_bench.results.results import shipped_results
from coarsen.opencl_bench.workloads.described.distributions import parse_distribution
from coarsen.opencl_bench.workloads.lookup import SUITE, benchmark
from coarsen.targets import target_of
from coarsen.tuning.workload.element_types import element_type
from tests.devices.described_devices import TAHITI

KERNELS = """\
kernel __attribute__((reqd_work_group_size(64, 4, 1))) void left(global int *o) { o[get_global_id(2)] = 1; }
kernel void tree(global int *o) { o[get_global_id(0)] = 1; }
"""


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("sgem", ("sgemm", "mt"), " (did you mean sgemm?)"),
        (" SGEMM", ("sgemm", "mt"), " (did you mean sgemm?)"),
        ("mvcaol", ("mvCoal", "mvUncoal"), " (did you mean mvCoal or mvUncoal?)"),
        ("unlike", ("sgemm", "mt"), ""),
        ("", ("sgemm", "mt"), ""),
    ],
)
def test_the_hint(name: str, known: tuple[str, ...], hint: str) -> None:
    assert did_you_mean(name, known) == hint


@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (lambda: benchmark("sobl"), "no benchmark 'sobl' (did you mean sobel?); there are"),
        (lambda: SUITE["mt"].preset("tset"), "mt: no preset 'tset' (did you mean test?); there are"),
        (lambda: target_of("tahitti"), "(did you mean tahiti?); known: "),
        (
            lambda: entrant("cascad"),
            "no method 'cascad' (did you mean cascade?)",
        ),
        (lambda: shipped_results("intell"), "(did you mean intel"),
        (lambda: element_type("flaot"), "'flaot' is no type (did you mean float?)"),
        (lambda: parse_distribution("unifrom(0, 1)"), "is no distribution (did you mean uniform?)"),
        (lambda: coarsen(KERNELS, kernel="tre", factor=2), "there is no kernel 'tre' (did you mean tree?)"),
    ],
)
def test_names_in_python(ask: Callable[[], object], hint: str) -> None:
    with pytest.raises(CoarsenError) as raised:
        ask()
    assert hint in str(raised.value)


def test_a_device_is_found_by_any_word_that_it_says() -> None:
    device = replace(TAHITI, platform_version="OpenCL 3.0 PoCL 3.1")
    with pytest.raises(CoarsenError, match=r"no OpenCL device is called 'pocel' \(did you mean PoCL\?\)"):
        select_device("pocel", [device], lambda _: True)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["aply"], "no such command 'aply' (did you mean apply?) (try 'coarsen --help')"),
        (["results", "lst"], "results has no action 'lst' (did you mean ls?)"),
        (["devices", "-f", "jsn"], "is not one of 'table', 'json' (did you mean json?)"),
        (["xyzzy"], "no such command 'xyzzy' (try"),
    ],
)
def test_words_of_the_command_line(words: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert hint in capsys.readouterr().err


def test_a_demanded_local_size_that_does_not_divide_names_ways_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "left.cl"
    path.write_text(KERNELS)
    words = ["apply", str(path), "-k", "left", "--factor", "2"]
    assert main([*words, "--dim", "2"]) == 2
    said = capsys.readouterr().err
    assert "a local size of 1 in dimension 2, which factor 2 does not divide" in said
    assert "it divides the 64 of --dim 0; it divides the 4 of --dim 1; --level group merges" in said
    for way_out in (["--dim", "0"], ["--dim", "1"], ["--dim", "2", "--level", "group"]):
        assert main([*words, *way_out]) == 0, way_out
