"""The rules find what they are for, and nothing else."""

from __future__ import annotations

import pytest

from tests.notebooks.normal_form import normalise
from tests.notebooks.rules import MOST_BYTES, complaints
from tests.notebooks.samples import WORDS, code, picture, printed, sample

IMPORT = "from coarsen.opencl_bench import plots, read_results\n"


def test_a_good_notebook_has_no_complaints() -> None:
    notebook = sample(
        code(f"import coarsen\n{IMPORT}print(coarsen.__version__)", printed("0.1.0\n")),
        code("figure = plots.draw_curves(frame)\nfigure", picture(alt="Coarsening helps")),
        code("kept = 1"),
    )
    assert complaints(notebook) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import coarsen.analysis", "the module coarsen.analysis is not one"),
        ("from coarsen.pipeline import Observer", "the module coarsen.pipeline is not one"),
        ("from coarsen import pipeline", "coarsen.pipeline is not public"),
        ("import coarsen\ncoarsen.pipeline.lower", "coarsen.pipeline is not public"),
        (
            "import coarsen.opencl_bench as bench\nbench.suite.SUITE",
            "coarsen.opencl_bench.suite is not public",
        ),
        (
            "from coarsen.opencl_bench import plots\nplots.styled()",
            "coarsen.opencl_bench.plots.styled is not public",
        ),
        ("import matplotlib.pyplot as pyplot", "the module matplotlib.pyplot is not one"),
        ("from matplotlib import pyplot", "matplotlib.pyplot is not public"),
        ("import requests", "the module requests is not one"),
        ("program = found._kernel", "the attribute _kernel is not public"),
    ],
)
def test_private_names_are_found(source: str, complaint: str) -> None:
    found = complaints(sample(code(source, printed("shown"))))
    assert len(found) == 1
    assert complaint in found[0]


@pytest.mark.parametrize(
    "source",
    [
        "import coarsen.opencl_bench\ncoarsen.opencl_bench.plots.draw_curves(frame)",
        "import coarsen as c\nc.lower(text)",
    ],
)
def test_public_names_may_be_used_through_their_modules(source: str) -> None:
    assert complaints(sample(code(source, printed("shown")))) == []


def test_words_are_missing() -> None:
    found = complaints(
        sample(
            code("1 + 1", printed("2")),
            words=(WORDS, "# A heading, however long it may be, says nothing of what to see\nSee:"),
        )
    )
    assert found == ["no words before the cell that begins with '1 + 1'"]


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ("quick = True", "the parameter quick is True in the file, not False"),
        ("size = 4", "there is no parameter quick"),
        (
            "quick = False\npublished_runtimes = 'a.csv'",
            "the parameter published_runtimes is 'a.csv' in the file, not ''",
        ),
    ],
)
def test_parameters(parameters: str, complaint: str) -> None:
    assert complaints(sample(parameters=parameters)) == [complaint]


def test_the_first_cell_must_be_the_parameters() -> None:
    notebook = sample()
    notebook.cells[1].metadata = {}
    assert complaints(notebook) == ["the first code cell isn't tagged parameters"]


@pytest.mark.parametrize("text", ["stored in /opt/store.sqlite", "'/usr/lib/x.so'", "File /home/me/a.py"])
def test_paths_of_a_machine(text: str) -> None:
    assert [line[:21] for line in complaints(sample(code("print(x)", printed(text))))] == ["a path of one machine"]


@pytest.mark.parametrize(
    "text", ["https://example.org/a/b", "and/or/not", "</td></tr>", "a /b", "// see below", "/* a/b */"]
)
def test_what_only_looks_like_a_path(text: str) -> None:
    assert complaints(sample(code("print(x)", printed(text)))) == []


def test_outputs() -> None:
    warned = complaints(sample(code("run()", printed("careful", "stderr"))))
    assert warned == ["an error or a warning after the cell that begins with 'run()'"]
    assert complaints(sample(code("x = 1\nx"))) == ["there is no output of the cell that begins with 'x = 1'"]
    assert complaints(sample(code("for x in y:\n    print(x)")))[0].startswith("there is no output")
    assert complaints(sample(code("figure", picture())))[0].startswith("a picture without words")


def test_order() -> None:
    notebook = sample(code("x = 1"))
    notebook.cells[-1].execution_count = 7
    assert "the cells did not run from top to bottom: [1, 7]" in complaints(notebook)
    notebook.cells[-1].execution_count = None
    assert complaints(notebook) == ["the cells did not run from top to bottom: [1, None]"]


def test_size() -> None:
    found = complaints(sample(code("print(x)", printed("x" * MOST_BYTES))))
    assert [line[:12] for line in found] == ["the file has"]


def test_a_notebook_that_an_editor_saved_is_not_in_its_normal_form() -> None:
    notebook = sample(code("x = 1"))
    notebook.metadata.language_info.version = "3.11.2"
    assert complaints(notebook) == ["the file is not in its normal form: store it with python -m tests.notebooks"]
    assert complaints(normalise(notebook)) == []
