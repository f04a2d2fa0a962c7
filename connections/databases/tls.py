"""Certificates of databases: who is trusted, and which one a server has."""

from __future__ import annotations

import hashlib
import socket
import ssl
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connections.models import Database

BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
CLIENT_PROTOCOL_41, CLIENT_SSL, CLIENT_SECURE_CONNECTION = 0x200, 0x800, 0x8000
UTF8MB4 = 45
PROTOCOL_10, GREETING_MOST = 10, 1024


class TlsFailure(Exception):
    """A server that offers no TLS, or a system without certificate authorities."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a folder that only this user may read, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="fabric-tls-") as folder:
        yield Path(folder)


def authorities(database: Database, folder: Path) -> Path:
    """Return a file of the authorities that a database's certificate may be of."""
    if database.certificate.strip():
        own = folder / "authorities.pem"
        own.write_text(database.certificate, encoding="ascii", errors="replace")
        return own
    given = ssl.get_default_verify_paths().cafile
    for path in (given, *BUNDLES):
        if path and Path(path).is_file():
            return Path(path)
    raise TlsFailure(
        "This system has no file of certificate authorities: install ca-certificates, "
        "or enter the authority with the connection."
    )


def mysql_certificate(
    address: str, port: int, host: str, trusted: Path | None, *, seconds: float
) -> bytes:
    """Return the certificate (DER) of a MySQL server, checked against `host`.

    Without `trusted` it is whichever the server has.

    The driver checks it against what it connects to, which is an address. So this asks
    first, and the driver then takes exactly this certificate. Raises OSError (TLS
    errors among them) or `TlsFailure`.
    """
    context = ssl.create_default_context(cafile=str(trusted) if trusted else None)
    if trusted is None:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((address, port), seconds) as plain:
        greeting = _packet(plain, time.monotonic() + seconds)
        if not _offers_tls(greeting):
            raise TlsFailure("The server offers no TLS.")
        plain.sendall(_tls_request())
        with context.wrap_socket(plain, server_hostname=host) as sealed:
            found = sealed.getpeercert(binary_form=True)
    if not found:
        raise TlsFailure("The server showed no certificate.")
    return found


def fingerprint(certificate: bytes, algorithm: str) -> str:
    """Return the digest of a certificate as MariaDB's client writes it."""
    digest = hashlib.new(algorithm, certificate, usedforsecurity=False).digest()
    return digest.hex(":").upper()


def _packet(plain: socket.socket, deadline: float) -> bytes:
    size = int.from_bytes(_exactly(plain, 4, deadline)[:3], "little")
    if size > GREETING_MOST:
        raise ConnectionError("This is no MySQL server.")
    return _exactly(plain, size, deadline)


def _exactly(plain: socket.socket, size: int, deadline: float) -> bytes:
    found = b""
    while len(found) < size:
        # A server that sends a byte now and then must not hold us longer.
        plain.settimeout(max(0.01, deadline - time.monotonic()))
        piece = plain.recv(size - len(found))
        if not piece:
            raise ConnectionError("The server closed the connection.")
        found += piece
    return found


def _offers_tls(greeting: bytes) -> bool:
    """Return whether a server's first packet says that it speaks TLS."""
    if not greeting or greeting[0] != PROTOCOL_10:
        raise ConnectionError("This is no MySQL server, or one that lets nobody in.")
    # Version, NUL, number of the connection (4), salt (8), filler (1), capabilities.
    start = greeting.index(0, 1) + 1 + 4 + 8 + 1
    return bool(int.from_bytes(greeting[start : start + 2], "little") & CLIENT_SSL)


def _tls_request() -> bytes:
    able = CLIENT_PROTOCOL_41 | CLIENT_SSL | CLIENT_SECURE_CONNECTION
    body = able.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little")
    body += bytes([UTF8MB4]) + bytes(23)
    return len(body).to_bytes(3, "little") + b"\x01" + body
