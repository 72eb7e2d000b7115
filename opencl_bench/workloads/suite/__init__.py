"""One host driver per benchmark; each module defines `BENCHMARK`."""
