"""Results: stored measurements, files of them, frames, curves and the best configurations."""
