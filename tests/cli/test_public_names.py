"""What `import coarsen` offers."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import coarsen


@pytest.mark.parametrize("name", coarsen.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(coarsen, name) is getattr(coarsen, name)
    assert name in dir(coarsen)


def test_names_are_what_they_say() -> None:
    assert coarsen.__version__ == version("coarsen")
    assert callable(coarsen.coarsen)
    assert issubclass(coarsen.RefusalError, coarsen.CoarsenError)
    assert coarsen.Program.__module__ == "coarsen.runtime.program"
    assert str(coarsen.Coarsening(4, 1)) == "factor 4 along dimension 1"


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'coarsen' has no attribute 'kernel'"):
        coarsen.kernel  # noqa: B018
