"""The functions that users call: coarsen a kernel, see what differs between its work-items, predict its factor."""

from __future__ import annotations

from coarsen.api.coarsening import coarsen as coarsen
from coarsen.api.coarsening import explain as explain
from coarsen.api.predicting import predict as predict
