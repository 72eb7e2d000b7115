"""The process that tunes a captured launch, with something about it that is not so by itself."""
