"""The command line as `python -m coarsen`: for whoever has this Python, but not its scripts, on their PATH."""

from __future__ import annotations

import sys

from coarsen.cli.console_script import main

if __name__ == "__main__":
    sys.exit(main())
