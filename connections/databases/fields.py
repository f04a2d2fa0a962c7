"""What may be written into the fields of a connection: names, never parameters."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping

from cryptography import x509

from connections.databases.base import DatabaseError

HOST = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
# What a driver's connection text is made of, and what ends a C string or a line.
NOT_IN_NAMES = re.compile(r"[\s=,;'\"`\\\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]")
PLAIN = "Write the plain name: no connection text, no spaces, no = , ; quotes or ://."


def wrong_fields(values: Mapping[str, object]) -> dict[str, str]:
    """Return what is wrong with the fields of a connection, by their names."""
    return dict(_wrong(values))


def check_fields(values: Mapping[str, object]) -> None:
    """Raise `DatabaseError` where a field holds what it must not."""
    if wrong := wrong_fields(values):
        raise DatabaseError(" ".join(f"{name}: {said}" for name, said in wrong.items()))


def _wrong(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    host = str(values.get("host") or "")
    if not _is_host(host):
        yield "host", _about_host(host)
    for name in ("database", "user"):
        text = str(values.get(name) or "")
        if not text or NOT_IN_NAMES.search(text) or "://" in text:
            yield name, PLAIN
    certificate = str(values.get("certificate") or "")
    if said := _about_certificate(certificate):
        yield "certificate", said


def _is_host(host: str) -> bool:
    if len(host) <= 253 and HOST.fullmatch(host):
        return True
    try:
        is_bracketed = host[:1] == "[" and host[-1:] == "]"
        six = ipaddress.IPv6Address(host[1:-1] if is_bracketed else host)
    except ValueError:
        return False
    return not six.scope_id


def _about_host(host: str) -> str:
    if host[:1] in ("/", "@"):
        return "Unix sockets are not connected to: write a host name or an IP address."
    if "," in host:
        return "Write one host, not several."
    return (
        "Write a host name in ASCII letters or an IP address, without a port: no "
        "connection text, no spaces, no = or ://."
    )


def _about_certificate(text: str) -> str:
    if not text.strip():
        return ""
    if "PRIVATE KEY" in text:
        return "This holds a private key: paste only certificates, and guard the key."
    try:
        x509.load_pem_x509_certificates(text.encode())
    except ValueError:
        return "Paste one or more certificates in PEM (-----BEGIN CERTIFICATE-----)."
    return ""
