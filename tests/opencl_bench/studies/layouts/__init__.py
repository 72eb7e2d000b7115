"""The study of layouts, on rows of made-up times: nothing is run."""
