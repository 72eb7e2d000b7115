"""The figures that the README cites are those of the rows that come with the package."""

from __future__ import annotations

from pathlib import Path

from tests.published import best_of_sweeps, tuned_from_nothing

README = Path(__file__).parents[2] / "README.md"


def cells(heading: str) -> list[str]:
    """The cells of the README's table line that begins so."""
    line = next(
        line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {heading}")
    )
    return [cell.strip() for cell in line.strip("| ").split("|")][1:]


def test_readme_cites_what_tuning_found() -> None:
    found = tuned_from_nothing().xs("suite", level="kernels").loc[["intel", "pocl", "h200"]]
    assert cells("speed-up over the suite's own launch") == [f"{value:.2f}" for value in found["over_own"]]
    assert cells("speed-up over the best uncoarsened local size") == [f"{x:.2f}" for x in found["over_local_size"]]


def test_readme_cites_the_best_of_sweeps() -> None:
    found = best_of_sweeps().reset_index().drop_duplicates("sweep").set_index("sweep")
    for heading, prefix in (("replication alone", ""), ("all transforms", "larger_")):
        of = found.loc[[f"{prefix}{name}" for name in ("intel", "pocl", "h200")]]
        expected = [
            f"{mean:.2f}" + ("" if kernels == 17 else f" ({kernels} kernels)")
            for mean, kernels in zip(of["mean"], of["of"], strict=True)
        ]
        assert cells(heading) == expected
