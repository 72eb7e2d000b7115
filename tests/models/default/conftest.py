"""A model fitted on made-up kernels, for all tests of the folder."""

from __future__ import annotations

import pytest

from coarsen.models.default.training import Fitted, train
from coarsen.models.examples import Example
from tests.models.default.made_up import made_up_examples


@pytest.fixture(scope="session")
def examples() -> tuple[Example, ...]:
    """Sixty kernels on three devices."""
    return made_up_examples(60, seed=0)


@pytest.fixture(scope="session")
def fitted(examples: tuple[Example, ...]) -> Fitted:
    """The default model, with all its trees, fitted on them."""
    return train(examples)
