"""Certificates for tests, made by the program ``openssl``."""

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

NEW = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")  # a new key


class Signed(NamedTuple):
    """A certificate and its key, in PEM; they are in one file, too."""

    certificate: Path
    key: Path
    both: Path


class Authority:
    """An authority that signs certificates for 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("the program openssl is absent")
        self.folder = folder
        self.file, key = folder / "ca.pem", folder / "ca.key"
        _openssl(
            "req", "-x509", *NEW, "-nodes", "-subj", "/CN=authority", "-days", "3650",
            "-keyout", key, "-out", self.file,
        )  # fmt: skip
        self._key = key

    def sign(self, name: str, password: str = "") -> Signed:
        """Return a new certificate."""
        key, request, file = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem"))
        secret = ("-passout", f"pass:{password}") if password else ("-nodes",)
        subject = f"/CN={name}"
        _openssl("req", *NEW, *secret, "-subj", subject, "-keyout", key, "-out", request)
        names = self.folder / "names"
        names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost")
        _openssl(
            "x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self._key,
            "-CAcreateserial", "-days", "3650", "-extfile", names, "-out", file,
        )  # fmt: skip
        both = self.folder / f"{name}.both"
        both.write_text(file.read_text() + key.read_text())
        return Signed(file, key, both)

    def context(self, *, clients: bool = False) -> ssl.SSLContext:
        """Return the side of a server; with ``clients``, it asks clients for certificates."""
        server = self.sign("server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server.certificate, server.key)
        if clients:
            context.load_verify_locations(self.file)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
