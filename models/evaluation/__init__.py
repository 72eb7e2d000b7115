"""How good a predictor is, on kernels that it has not seen."""
