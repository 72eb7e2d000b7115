"""The notebooks: run quickly by the tests, in full by `python -m tests.notebooks`, which stores them."""
