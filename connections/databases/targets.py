"""Where a database may be: a host resolved once, each of its addresses checked.

Whoever connects, connects to what is returned here, so that a name that leads elsewhere
a moment later leads nowhere.
"""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from connections.databases.addresses import (
    Address,
    Entry,
    denials,
    parse_entries,
    parse_networks,
)
from connections.databases.failures import Unreachable
from connections.models import Database

POSTGRES_PORT = 5432


@dataclass(frozen=True, slots=True)
class Service:
    """A server that Fabric itself relies on; a broker has no name of a database."""

    host: str
    port: int
    name: str


def checked_addresses(database: Database, *, seconds: float) -> tuple[str, ...]:
    """Return the addresses of a database's host, all of which may be asked.

    Raises `Unreachable` where the name leads nowhere, and where one of its addresses is
    denied: a name with one good address and one bad is not a company's database.
    """
    host = bare(database.host)
    found = _resolved(host, database.port, seconds)
    if not found:
        raise Unreachable(database, f"The name {host} was not resolved.")
    services = tuple(own_services())
    for address in found:
        if why := _denial(database, host, address):
            raise Unreachable(database, why)
        if why := _is_ours(database, host, address, services):
            raise Unreachable(database, why)
    return tuple(map(str, found))


def bare(host: str) -> str:
    """Return a host in lower case, without brackets or a dot at its end."""
    return host.strip("[]").rstrip(".").lower()


def own_services() -> Iterator[Service]:
    """Yield the servers that Fabric keeps its own data and tasks in."""
    for each in settings.DATABASES.values():
        port = int(each.get("PORT") or POSTGRES_PORT)
        yield Service(str(each.get("HOST") or ""), port, str(each["NAME"]))
    broker = urlsplit(str(settings.CELERY_BROKER_URL or ""))
    if broker.hostname and broker.port:
        yield Service(broker.hostname, broker.port, "")


def _entries() -> tuple[Entry, ...]:
    return parse_entries(tuple(settings.FABRIC["DATABASE_TARGETS"]))


def _denial(database: Database, host: str, address: Address) -> str:
    """Return why an address is denied; empty where it is ordinary or was named."""
    also = parse_networks(tuple(settings.FABRIC["DATABASE_DENIED"]))
    for form, reason in denials(address, also):
        named = (
            entry.opens(reason) and entry.names(host, form, database.port)
            for entry in _entries()
            if entry.database in ("", database.database)
        )
        if not any(named):
            return (
                f"{address} is denied: {form} is {reason}, and "
                f"FABRIC_DATABASE_TARGETS does not name it with port {database.port}."
            )
    return ""


def _is_ours(
    database: Database, host: str, address: Address, services: Iterable[Service]
) -> str:
    """Return why an address is denied as one of a server of ours; empty if it is none.

    Of our own server only a database that an entry names is open, and never our own.
    """
    here = [each for each in services if _is_place(each, address, database.port)]
    if not here:
        return ""
    if any(each.name in ("", database.database) for each in here):
        return f"{address}:{database.port}/{database.database} is Fabric's own."
    named = (
        entry.database == database.database
        and entry.names(host, address, database.port)
        for entry in _entries()
    )
    if any(named):
        return ""
    return (
        f"{address}:{database.port} is the server of Fabric's own database, and "
        f"FABRIC_DATABASE_TARGETS does not name {database.database} there."
    )


def _is_place(service: Service, address: Address, port: int) -> bool:
    """Return whether a service of ours is there, however its host is written."""
    if service.port != port:
        return False
    plain = _plain(address)
    theirs = [_plain(each) for each in _resolved(bare(service.host), port, 5)]
    if plain in theirs:
        return True
    # One that listens on a socket or on loopback may listen on every address of ours.
    is_here = service.host[:1] in ("", "/", "@") or any(map(_is_local, theirs))
    return is_here and _is_local(plain)


def _plain(address: Address) -> Address:
    return getattr(address, "ipv4_mapped", None) or address


def _is_local(address: Address) -> bool:
    """Return whether this machine has that address: only then can it be bound."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def _resolved(host: str, port: int, seconds: float) -> tuple[Address, ...]:
    """Return the addresses of a host; none where it has none within that time."""
    if not host or host[0] in "/@":
        return ()
    answer: queue.SimpleQueue[Sequence[tuple[Any, ...]]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        answer.put(found)

    # The system's resolver knows no time limit; a thread that waits on is left behind.
    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        found = answer.get(timeout=seconds)
    except queue.Empty:
        return ()
    texts = dict.fromkeys(str(row[4][0]).partition("%")[0] for row in found)
    return tuple(ipaddress.ip_address(text) for text in texts)
