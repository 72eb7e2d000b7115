"""What `import coarsen` and its public packages offer."""

from __future__ import annotations

from importlib.metadata import version
from types import ModuleType

import pytest

import coarsen
import coarsen.features
import coarsen.models
import coarsen.opencl_bench
import coarsen.opencl_bench.plots

PACKAGES = (coarsen, coarsen.features, coarsen.models, coarsen.opencl_bench, coarsen.opencl_bench.plots)
PUBLIC = [(package, name) for package in PACKAGES for name in package.__all__]


@pytest.mark.parametrize(
    ("package", "name"),
    [pytest.param(package, name, id=f"{package.__name__}.{name}") for package, name in PUBLIC],
)
def test_every_public_name_is_there(package: ModuleType, name: str) -> None:
    assert getattr(package, name) is getattr(package, name)
    assert not isinstance(getattr(package, name), ModuleType)
    assert name in dir(package)


def test_names_are_what_they_say() -> None:
    assert coarsen.__version__ == version("coarsen")
    assert callable(coarsen.coarsen)
    assert issubclass(coarsen.RefusalError, coarsen.CoarsenError)
    assert coarsen.Program.__module__ == "coarsen.drop_in.program"
    assert str(coarsen.Coarsening(4, 1)) == "factor 4 along dimension 1"


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'coarsen' has no attribute 'kernel'"):
        coarsen.kernel  # noqa: B018
