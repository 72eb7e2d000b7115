"""An array on a device that lies as a layout says: packed when it is made, unpacked when it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.runtime.layouts.layout import Layout
from coarsen.variant.data_layout import Arrangement


class LaidOutArray:
    """An array of the host's, packed in a buffer of its own on the device.

    Args:
        queue: by which it is copied.
        layout: how it is to lie there.
        host: its contents.

    Attributes:
        layout: how it lies.
        shape: of the host's array.
        data: the buffer, of `Layout.pack`'s bytes.

    Raises:
        InvalidInputError: the host's array is of another type, or its shape does not fit the order.
    """

    def __init__(self, queue: pyopencl.CommandQueue, layout: Layout, host: NDArray[Any]) -> None:
        self.layout = layout
        self.shape = host.shape
        packed = layout.pack(host)
        self.data = pyopencl.Buffer(queue.context, pyopencl.mem_flags.READ_WRITE, packed.nbytes)
        pyopencl.enqueue_copy(queue, self.data, packed)

    @property
    def arrangement(self) -> Arrangement:
        """Return where each byte lies."""
        return self.layout.arrangement(self.shape)

    def get(self, queue: pyopencl.CommandQueue) -> NDArray[Any]:
        """Read the array and unpack it, once all that the queue was given has finished; padding is zero."""
        packed = np.empty(self.data.size, np.uint8)
        pyopencl.enqueue_copy(queue, packed, self.data)
        return self.layout.unpack(packed, self.shape)

    def set(self, queue: pyopencl.CommandQueue, host: NDArray[Any]) -> None:
        """Pack other contents into the buffer. Raises InvalidInputError if they have another type or shape."""
        if host.shape != self.shape:
            raise InvalidInputError(f"the array has the shape {self.shape}, the new contents {host.shape}")
        pyopencl.enqueue_copy(queue, self.data, self.layout.pack(host))
