"""What a notebook's code uses that isn't public."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator

PUBLIC_MODULES = (
    "coarsen",
    "coarsen.features",
    "coarsen.models",
    "coarsen.opencl_bench",
    "coarsen.opencl_bench.plots",
    "coarsen.stream",
)
# Beside Python's own modules: what `pip install '.[notebooks]'` brings, and a reader may know.
_OTHERS = frozenset({"IPython", "matplotlib", "numpy", "pandas", "pyopencl", "sklearn"})
# It keeps figures, and settings, for the whole process.
_STATEFUL = "matplotlib.pyplot"


def private_uses(code: str) -> list[str]:
    """What is imported or used in the code that is not public, one line each.

    Raises:
        SyntaxError: the code is not plain Python; a notebook's magics aren't.
    """
    tree = ast.parse(code)
    modules: dict[str, str] = {}
    return [*_of_imports(tree, modules), *_of_attributes(tree, modules)]


def _of_imports(tree: ast.AST, modules: dict[str, str]) -> Iterator[str]:
    """Complaints about imports. Names that stand for our public modules go to `modules`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _of_module(alias.name)
                bound = alias.name if alias.asname else alias.name.partition(".")[0]
                if bound in PUBLIC_MODULES:
                    modules[alias.asname or bound] = bound
        elif isinstance(node, ast.ImportFrom):
            yield from _of_names(node, modules)


def _of_names(node: ast.ImportFrom, modules: dict[str, str]) -> Iterator[str]:
    module = node.module or ""
    yield from _of_module(module)
    for alias in node.names:
        full = f"{module}.{alias.name}"
        if full in PUBLIC_MODULES:
            modules[alias.asname or alias.name] = full
        elif full == _STATEFUL or (module in PUBLIC_MODULES and not _offers(module, alias.name)):
            yield f"{full} is not public"


def _of_module(name: str) -> Iterator[str]:
    package = name.partition(".")[0]
    ours = package == "coarsen" and name in PUBLIC_MODULES
    if name == _STATEFUL or not (ours or package in sys.stdlib_module_names or package in _OTHERS):
        yield f"the module {name} is not one for notebooks"


def _of_attributes(tree: ast.AST, modules: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        module = _module_of(node.value, modules)
        if module is not None:
            if not _offers(module, node.attr) and f"{module}.{node.attr}" not in PUBLIC_MODULES:
                yield f"{module}.{node.attr} is not public"
        elif node.attr.startswith("_"):
            yield f"the attribute {node.attr} is not public"


def _module_of(node: ast.expr, modules: dict[str, str]) -> str | None:
    """The public module of ours that an expression stands for."""
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    if isinstance(node, ast.Attribute):
        outer = _module_of(node.value, modules)
        if outer is not None and f"{outer}.{node.attr}" in PUBLIC_MODULES:
            return f"{outer}.{node.attr}"
    return None


def _offers(module: str, name: str) -> bool:
    return name in importlib.import_module(module).__all__
