"""Only what nobody else can listen to is taken for a scheduler, unless the user says otherwise."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.cluster import Scheduler, connected
from tests.opencl_bench.sweep.dask_cluster import cluster


@pytest.mark.parametrize(
    "address",
    [
        "tcp://127.0.0.1:8786",
        "tcp://localhost:8786",
        "127.0.0.1:8786",
        "tcp://[::1]:8786",
        "tls://far.example:8786",
    ],
)
def test_addresses_that_are_taken(address: str) -> None:
    Scheduler(address).check()


@pytest.mark.parametrize(
    "address",
    ["tcp://192.0.2.1:8786", "far.example:8786", "tcp://far.example:1", "ws://far.example:1", "tcp://0.0.0.0:1"],
)
def test_addresses_that_anybody_could_listen_to(address: str) -> None:
    with pytest.raises(InvalidInputError, match=r"not encrypted: .* Use TLS .* SSH tunnel"):
        Scheduler(address).check()
    with pytest.raises(InvalidInputError, match="not encrypted"), connected(Scheduler(address)):
        pass


def test_certificates_are_for_tls(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="are for tls://, not tcp://"):
        Scheduler("tcp://127.0.0.1:1", ca_file=tmp_path / "ca.pem").check()


def test_certificates_that_are_missing_are_one_line(tmp_path: Path) -> None:
    for scheduler in (Scheduler("tls://127.0.0.1:1"), Scheduler("tls://127.0.0.1:1", ca_file=tmp_path / "ca.pem")):
        with pytest.raises(InvalidInputError, match=r"needs certificates: give|can't be used: .*No such file"):
            scheduler.security()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes the certificate")
def test_a_scheduler_with_certificates(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    files = ("-keyout", str(key), "-out", str(certificate))
    new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost")
    subprocess.run([*new, *files], check=True, capture_output=True)
    tls = ("--tls-ca-file", str(certificate), "--tls-cert", str(certificate), "--tls-key", str(key))
    with cluster(tmp_path, options=("--protocol", "tls", *tls)) as dask:
        assert dask.address.startswith("tls://")
        with connected(Scheduler(dask.address, certificate, certificate, key)) as client:
            assert client.scheduler_info()["workers"] == {}
