"""`python -m tests.notebooks`: what is stored, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import v4

from tests.notebooks import files
from tests.notebooks.__main__ import main
from tests.notebooks.execution import LeftBehindError, execute
from tests.notebooks.files import code_cells, read
from tests.notebooks.rules import as_text, complaints
from tests.notebooks.samples import code, sample

PARAMETERS = "quick = False\npublished_runtimes = ''"
SHOWS_BOTH = "print(quick, bool(published_runtimes), end=' ', flush=True)\nprint('done')"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is taken for that of the notebooks, with one that isn't executed yet."""
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    notebook = sample(code(SHOWS_BOTH), parameters=PARAMETERS)
    notebook.cells[1].metadata["trusted"] = True
    (tmp_path / "small.ipynb").write_text(as_text(notebook))
    return tmp_path


def test_a_notebook_is_stored_with_its_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runtimes = folder / "runtimes.csv"
    runtimes.touch()
    assert main(["small", "--published-runtimes", str(runtimes)]) == 0
    assert "small.ipynb: stored after" in capsys.readouterr().out
    stored = read(folder / "small.ipynb")
    assert complaints(stored) == []
    first, second = code_cells(stored)
    assert first.source == PARAMETERS
    assert second.outputs == [v4.new_output("stream", text="False True done\n")]


def test_quick_and_draft(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "small.ipynb").read_text()
    assert main(["small.ipynb", "--quick"]) == 0
    assert "not stored" in capsys.readouterr().out
    assert (folder / "small.ipynb").read_text() == before
    assert main(["--draft"]) == 0
    assert "trusted" not in (folder / "small.ipynb").read_text()
    assert all(cell.execution_count is None for cell in code_cells(read(folder / "small.ipynb")))


def test_what_is_refused_is_not_stored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.ipynb").write_text(as_text(sample(code("import tomllib\nfrom coarsen import pipeline"))))
    before = (folder / "bad.ipynb").read_text()
    assert main(["bad"]) == 2
    assert "error: bad.ipynb is not stored:\n  coarsen.pipeline is not public\n" in capsys.readouterr().err
    assert (folder / "bad.ipynb").read_text() == before
    assert main(["other"]) == 2
    assert "error: no notebook 'other'; there are bad, small\n" in capsys.readouterr().err


def test_files_left_behind_are_found(tmp_path: Path) -> None:
    path = tmp_path / "untidy.ipynb"
    path.write_text(as_text(sample(code("from pathlib import Path\nwritten = Path('left.txt').write_text('x')"))))
    (tmp_path / "empty").mkdir()
    with pytest.raises(LeftBehindError, match=r"untidy.ipynb leaves behind: left.txt"):
        execute(path, tmp_path / "empty", {"quick": True})
