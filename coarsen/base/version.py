"""The version of this package: that of the installed one, or of a clone from which nothing was installed."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path


def installed_version() -> str:
    """Return the installed package's version; in a clone from which nothing was installed that of its settings."""
    try:
        # `metadata.version` reads all of it, the description too, as an e-mail. Builds in a clone leave PKG-INFO.
        found = metadata.distribution("coarsen")
        head = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
        return head.partition("\nVersion: ")[2].partition("\n")[0]
    except metadata.PackageNotFoundError:
        # Imported late: an installed package has its version elsewhere.
        import tomllib

        settings = Path(__file__).parents[2] / "pyproject.toml"
        return str(tomllib.loads(settings.read_text(encoding="utf-8"))["project"]["version"])


__version__ = installed_version()
