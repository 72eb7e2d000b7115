"""From branches to `if`, `while` and `for`, with each variable declared where it belongs."""
