"""Forms that prove: they hold for all inputs, whatever wraps, so they may decide what is legal."""
