"""The default version of a tuned file, built: what a launch runs for which nothing else may be chosen.

the source as it stands has its macros                     ─▶ the program's own kernel
other macros, and its sizes or no sizes of the file        ─▶ the kernel as it is written, with these macros
other macros, and sizes of which nobody can say for which  ─▶ refused: either could be wrong
"""

from __future__ import annotations

from collections.abc import Callable

import pyopencl

from coarsen.dispatch.launch_sizes import VersionSizes, size_inputs, sizes_function
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.sizes import PassedSizes
from coarsen.runtime.tuned_checks import Problem
from coarsen.runtime.tuned_decision import Decision
from coarsen.runtime.tuned_macros import definition_options
from coarsen.runtime.tuned_versions import BuiltVersion


class BuiltDefault:
    """The default version of one tuned file, for one program.

    Args:
        file: the tuned file.
        built: the version with its own macros; None where it isn't built.
        is_own: whether the program's source has these macros as it stands.
        problem: why the file can't be used at all; None if it can.
        say_once: logs a warning the first time.
    """

    def __init__(
        self,
        file: TunedFile,
        built: BuiltVersion | None,
        is_own: bool,
        problem: Problem | None,
        say_once: Callable[[object, str], None],
    ) -> None:
        self._kernel = file.kernel
        self._built = built
        self._is_own = is_own
        self._is_of_other_code = problem is not None and problem.is_other_code
        self._has_sizes = file.has_sizes
        self._macros = " ".join(definition_options(file.default_version.definitions))
        self._say_once = say_once
        # Returns what it is launched with, of the numbers that `size_inputs` names.
        self.sizes = sizes_function(file, file.default_version.version, size_inputs(file))

    def decision(self, passed: PassedSizes | None, sizes: VersionSizes | None, reason: str) -> Decision:
        """Return how it is launched, and say once why.

        Args:
            passed: the caller's sizes; None where they are to be its own.
            sizes: its own, from `sizes`.
            reason: why nothing else is launched.

        Raises:
            InvalidInputError: there are no sizes; or macros and sizes that may not belong together.
        """
        if passed is None:
            return self._with_own_sizes(sizes, reason)
        if self._is_own:
            self._say(f"runs as it is written, not as its tuned file chooses: {reason}", reason)
            return Decision(None, *passed, passed, DividedLaunch(*passed, ()))
        is_of_these = sizes is not None and passed == (sizes.global_size, sizes.local_size)
        if self._is_of_other_code or (self._has_sizes and not is_of_these):
            self.check_own(reason)
        version = self._version(reason)
        self._say(f"runs in its default version, not as its tuned file chooses: {reason}", reason)
        return Decision(version, *passed, passed, DividedLaunch(*passed, ()))

    def check_own(self, reason: str) -> None:
        """Raise InvalidInputError unless the program's own kernel, called with some sizes, is the default version.

        Args:
            reason: why nothing else is launched.
        """
        if not self._is_own:
            raise InvalidInputError(
                f"kernel {self._kernel}: the default version of its tuned file has {self._macros}, and the source "
                f"as it stands hasn't; for which of them these sizes are can't be told ({reason}): pass the "
                "default version's sizes, or set these macros in the source"
            )

    def _with_own_sizes(self, sizes: VersionSizes | None, reason: str) -> Decision:
        if sizes is None or sizes.global_size is None or self._is_of_other_code:
            raise InvalidInputError(
                f"kernel {self._kernel}: the tuned file gives no sizes for this launch ({reason}): pass them"
            )
        version = None if self._is_own else self._version(reason)
        self._say(f"runs in its default version, not as its tuned file chooses: {reason}", reason)
        memory = {index: pyopencl.LocalMemory(size) for index, size in sizes.local_memory.items()}
        own = sizes.global_size, sizes.local_size
        return Decision(version, *own, own, DividedLaunch(*own, ()), None, (), memory)

    def _version(self, reason: str) -> BuiltVersion:
        if self._built is None:
            raise InvalidInputError(
                f"kernel {self._kernel}: the default version of its tuned file, with {self._macros}, isn't built "
                f"({reason}): set these macros in the source, or tune again"
            )
        return self._built

    def _say(self, what: str, reason: str) -> None:
        self._say_once(("as written", self._kernel, reason), f"kernel {self._kernel}: {what} (said once)")
