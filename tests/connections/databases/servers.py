"""Servers of tests: certificates, a TLS front of a PostgreSQL, lines that go silent."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SSL_REQUEST = bytes.fromhex("0000000804d2162f")


@dataclass(frozen=True)
class Authority:
    """An authority of certificates, made for one test session."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, *names: str) -> tuple[Path, Path]:
        """Return the files of a certificate for host names or addresses and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        signed = _builder(names[0], self.certificate.subject, key.public_key())
        signed = signed.add_extension(
            x509.SubjectAlternativeName([_general(name) for name in names]), False
        ).sign(self.key, hashes.SHA256())
        stem = self.folder / names[0].replace(":", "_")
        stem.with_suffix(".crt").write_bytes(
            signed.public_bytes(serialization.Encoding.PEM)
        )
        stem.with_suffix(".key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return stem.with_suffix(".crt"), stem.with_suffix(".key")


def make_authority(folder: Path, name: str = "test authority") -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = _builder(name, subject, key.public_key()).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), True
    )
    return Authority(folder, key, certificate.sign(key, hashes.SHA256()))


def _builder(name: str, issuer: x509.Name, key) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@contextmanager
def listening(serve) -> Iterator[int]:
    """Yield the port of a server that gives each caller to `serve`."""
    server = socket.create_server(("127.0.0.1", 0))

    def loop() -> None:
        with suppress(OSError):
            while True:
                caller, _ = server.accept()
                threading.Thread(
                    target=_served, args=(serve, caller), daemon=True
                ).start()

    threading.Thread(target=loop, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def _served(serve, caller: socket.socket) -> None:
    with suppress(OSError), caller:
        serve(caller)


@contextmanager
def tls_front(port: int, files: tuple[Path, Path]) -> Iterator[int]:
    """Yield the port of a PostgreSQL that speaks TLS: the one on `port` behind it.

    The embedded server is built without TLS.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)

    def serve(caller: socket.socket) -> None:
        if caller.recv(8) != SSL_REQUEST:
            return
        caller.sendall(b"S")
        with (
            context.wrap_socket(caller, server_side=True) as sealed,
            socket.create_connection(("127.0.0.1", port)) as behind,
        ):
            back = threading.Thread(target=_pump, args=(behind, sealed), daemon=True)
            back.start()
            _pump(sealed, behind)
            back.join(5)

    with listening(serve) as found:
        yield found


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
