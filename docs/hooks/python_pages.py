"""The reference of a package: what mkdocstrings is asked for so that it shows the public names and no others."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

PACKAGES = (
    "coarsen",
    "coarsen.features",
    "coarsen.models",
    "coarsen.opencl_bench",
    "coarsen.opencl_bench.plots",
)
# As `::: coarsen.models` stands in a page, with the names that the package offers.
_PACKAGE = """\
::: {package}
    options:
      members: [{members}]
      show_root_heading: false
      show_root_toc_entry: false
      summary: {{attributes: true, classes: true, functions: true, modules: false}}
"""
# What is asked for by itself: a function with the name of a module, which is what the sources have under it, and a
# class of many fields, which a table of the page lists.
_APART = """\
::: {origin}.{name}
    options:
      show_signature: {has_signature}
"""
_WITHOUT_SIGNATURE = ("Features", "MechanismFeatures")


def package_in_markdown(package: str) -> str:
    """The names in `__all__` of a package, each with its signature and its docstring."""
    module = import_module(package)
    names = [name for name in module.__all__ if not name.startswith("_")]
    apart = [name for name in names if name in _WITHOUT_SIGNATURE or _is_shadowed(package, name)]
    # YAML reads a word in quotes as text, whatever it is.
    members = ", ".join(f'"{name}"' for name in names if name not in apart)
    requests = [_PACKAGE.format(package=package, members=members), *(_apart(module, name) for name in apart)]
    return "\n".join(requests)


def _is_shadowed(package: str, name: str) -> bool:
    return f"{package}.{name}" in sys.modules


def _apart(module: ModuleType, name: str) -> str:
    origin = getattr(module, name).__module__
    return _APART.format(origin=origin, name=name, has_signature=str(name not in _WITHOUT_SIGNATURE).lower())
