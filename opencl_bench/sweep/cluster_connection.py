"""The way to a Dask scheduler: loopback or TLS, since whoever reaches a scheduler can run code on its workers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from distributed import Client
from distributed.security import Security

from coarsen.errors import InvalidInputError

CONNECTING_SECONDS = 10
ENCRYPTED = ("tls", "wss")


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A Dask scheduler and how it may be reached.

    `ca_file`, `certificate` and `key` are files in the PEM format for `tls://` addresses; where they are left out,
    Dask's own configuration has them.
    """

    address: str
    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def is_encrypted(self) -> bool:
        """Return True if both ends show certificates, and nobody between them can read or change anything."""
        return self._scheme in ENCRYPTED

    @property
    def worker_options(self) -> str:
        """The options that `dask worker ADDRESS` needs besides."""
        if self.is_encrypted:
            return "--tls-ca-file CA.pem --tls-cert CERTIFICATE.pem --tls-key KEY.pem"
        return "--host 127.0.0.1"

    def check(self) -> None:
        """Raise InvalidInputError for an address that anybody could listen to."""
        if not (self.is_encrypted or _is_loopback(self.address)):
            raise InvalidInputError(
                f"the scheduler {self.address} is on another machine and not encrypted: whoever reaches it can "
                "run code on all workers. Use TLS (tls://HOST:PORT with --tls FOLDER), or have it listen to "
                "127.0.0.1 alone and reach it by an SSH tunnel"
            )

    @property
    def _scheme(self) -> str:
        return self.address.partition("://")[0].lower() if "://" in self.address else "tcp"

    def security(self) -> Security | None:
        """Return Dask's TLS settings; None where there is no TLS. Raises InvalidInputError for missing files."""
        if not self.is_encrypted:
            return None
        files = {"tls_ca_file": self.ca_file, "tls_client_cert": self.certificate, "tls_client_key": self.key}
        given = {name: str(path) for name, path in files.items() if path is not None}
        security = Security(require_encryption=True, **given)
        try:
            complete = security.get_connection_args("client").get("ssl_context") is not None
        except OSError as error:  # also what SSL says of a file that is none
            raise InvalidInputError(f"the certificates for {self.address} can't be used: {error}") from None
        if not complete:
            raise InvalidInputError(f"{self.address} needs certificates: give --tls FOLDER")
        return security


@contextmanager
def connected(scheduler: Scheduler) -> Iterator[Client]:
    """Provide a client of the scheduler while the context lasts.

    Raises:
        InvalidInputError: it can't be reached, or anybody could listen.
    """
    scheduler.check()
    security = scheduler.security()
    try:
        client = Client(scheduler.address, timeout=CONNECTING_SECONDS, set_as_default=False, security=security)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"the scheduler {scheduler.address} can't be reached: {reason}") from None
    with client:
        yield client


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address if "://" in address else f"tcp://{address}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
