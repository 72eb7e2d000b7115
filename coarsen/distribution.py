"""What is installed: the package's version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def _version() -> str:
    """The installed package's version; in a clone from which nothing was installed that of its settings."""
    try:
        return version("coarsen")
    except PackageNotFoundError:
        # Imported late: an installed package has its version elsewhere.
        import tomllib

        settings = Path(__file__).parents[1] / "pyproject.toml"
        return str(tomllib.loads(settings.read_text(encoding="utf-8"))["project"]["version"])


__version__ = _version()
