"""Runs MkDocs as where only the extra `docs` is installed: what other extras bring can't be imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from mkdocs.__main__ import cli

LEFT_OUT = frozenset({"torch", "sklearn", "scipy", "hypothesis", "pytest", "papermill"})


class LeftOut(MetaPathFinder):
    """Refuses to import what is left out."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in LEFT_OUT:
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)
        return None


if __name__ == "__main__":
    sys.meta_path.insert(0, LeftOut())
    cli()
