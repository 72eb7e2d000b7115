"""Imports go only in the direction that the design allows, and light commands stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import coarsen

ROOT = Path(__file__).parent.parent
BASE = {"errors", "limits"}
LINE = {"ir", "frontend", "analysis", "transform", "backend"}
MAY_IMPORT = {
    "errors": set(),
    "limits": {"errors"},
    "files": BASE,
    "ir": BASE,
    "frontend": BASE | {"ir"},
    "analysis": BASE | {"ir"},
    "transform": BASE | {"ir", "analysis"},
    "backend": BASE | {"ir", "analysis"},
    "features": BASE | {"ir", "analysis", "transform"},
    "models": BASE | {"files", "features", "lazy_names"},
    "pipeline": BASE | {"ir", "frontend", "transform"},
    "explanation": BASE | {"ir", "analysis", "transform"},
    "codes": BASE,
    "distribution": set(),
    "lazy_names": set(),
    "source_places": BASE | {"ir"},
    "report": BASE | {"ir", "analysis", "features", "transform", "source_places"},
    "prediction": BASE | {"ir", "features", "models", "runtime"},
    "api": BASE | LINE | {"pipeline", "explanation", "features", "models", "prediction"},
    "runtime": BASE | LINE | {"pipeline", "features", "models", "api"},
    "opencl_bench": BASE
    | LINE
    | {
        "files",
        "distribution",
        "lazy_names",
        "pipeline",
        "explanation",
        "prediction",
        "report",
        "features",
        "models",
        "api",
        "runtime",
    },
    "__init__": BASE | LINE | {"api", "distribution", "explanation", "lazy_names", "runtime", "models"},
    "__main__": {"cli"},
    "cli": BASE
    | LINE
    | {
        "files",
        "pipeline",
        "explanation",
        "report",
        "source_places",
        "prediction",
        "api",
        "features",
        "models",
        "runtime",
        "opencl_bench",
    },
}
FOLDERS = {"features": ROOT / "features", "models": ROOT / "models", "opencl_bench": ROOT / "opencl_bench"}
HEAVY = ("torch", "pandas", "matplotlib", "sklearn", "scipy")


def modules() -> Iterator[tuple[str, Path]]:
    """Each source file with the part of the package that it belongs to."""
    for path in (ROOT / "coarsen").rglob("*.py"):
        relative = path.relative_to(ROOT / "coarsen")
        yield relative.parts[0].removesuffix(".py"), path
    for part, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            yield part, path


def imported_parts(part: str, path: Path) -> Iterator[str]:
    """The parts of the package that a file imports, also inside functions and for type checking."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = (
                [f"coarsen.{alias.name}" for alias in node.names] if node.module == "coarsen" else [node.module]
            )
        else:
            continue
        for name in names:
            if name.startswith("coarsen."):
                yield name.split(".")[1]


@pytest.mark.parametrize(
    ("part", "path"), [pytest.param(part, path, id=str(path.relative_to(ROOT))) for part, path in modules()]
)
def test_import_direction(part: str, path: Path) -> None:
    assert part in MAY_IMPORT, f"{path} belongs to no part of the design"
    wrong = set(imported_parts(part, path)) - MAY_IMPORT[part] - {part}
    assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


def loaded_by(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after some code."""
    report = f"import sys\n{code}\nprint(*(m for m in {HEAVY!r} if m in sys.modules), file=sys.__stdout__)"
    result = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(result.stdout.split("\n")[-2].split())


def test_importing_the_package_is_light() -> None:
    assert not loaded_by("import coarsen")


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "--device", "tahiti"],
        ["predict", "--device", "tahiti", "--model", "cascade"],
        ["features", "--mechanism"],
    ],
)
def test_predicting_is_light(words: list[str]) -> None:
    kernel = ROOT / "opencl_bench" / "kernels" / "sgemm.cl"
    code = (
        "from coarsen.cli.main import main\n"
        f"sys.argv = {['coarsen', *words, str(kernel)]!r}\n"
        "try:\n    main()\nexcept SystemExit as exit:\n    assert not exit.code, exit.code"
    )
    assert not loaded_by(code)


def test_the_package_is_the_one_of_this_checkout() -> None:
    assert Path(coarsen.__file__).parent == ROOT / "coarsen"
