"""`coarsen predict`: the best launch, or factor, by the model that answers for a device."""

from coarsen.cli.predict.command import predict as predict
