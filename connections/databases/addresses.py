"""Which addresses a database may have: rules over addresses, no names resolved."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

# What no database of a company's has for an address. Private ranges are not among it:
# there they live.
DENIED: dict[str, tuple[str, ...]] = {
    # Before the link-local ones that hold some of it, for the reason that is told.
    "an address of cloud metadata": (
        "169.254.169.254/32",  # AWS, Google, Azure, Oracle, DigitalOcean
        "169.254.170.0/24",  # AWS, credentials of containers
        "fd00:ec2::/32",  # AWS
        "fd20:ce::254/128",  # Google
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure's agent
    ),
    "a loopback address": ("127.0.0.0/8", "::1/128"),
    "a link-local address": ("169.254.0.0/16", "fe80::/10", "fec0::/10"),
    "an unspecified address": ("0.0.0.0/8", "::/128"),
    "a multicast address": ("224.0.0.0/4", "ff00::/8"),
    "a reserved address": ("240.0.0.0/4", "192.0.0.0/24", "100::/64"),
}
LOOPBACK = "a loopback address"
BY_OPERATOR = "in FABRIC_DATABASE_DENIED"
# Whoever answers for a name could point it at the others.
OPENED_BY_NAME = frozenset({LOOPBACK, BY_OPERATOR})

NAT64 = ipaddress.ip_network("64:ff9b::/96")
NAT64_LOCAL = ipaddress.ip_network("64:ff9b:1::/48")
COMPATIBLE = ipaddress.ip_network("::/96")
ISATAP = (0x00005EFE, 0x02005EFE)

_PARTS = re.compile(
    r"(?:\[(?P<six>[0-9a-fA-F:.]+(?:/\d{1,3})?)\]|(?P<host>[^\s\[\]:/]+(?:/\d{1,2})?))"
    r":(?P<port>\*|\d{1,5})(?:/(?P<database>\S.*))?"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of FABRIC_DATABASE_TARGETS: what it names may be asked."""

    host: str
    network: Network | None
    port: int | None
    database: str

    def names(self, host: str, address: Address, port: int) -> bool:
        """Return whether it names `address`, itself or by the name of its host."""
        if self.port not in (None, port):
            return False
        if self.network is not None:
            return address in self.network
        return self.host == host

    def opens(self, denial: str) -> bool:
        return self.network is not None or denial in OPENED_BY_NAME


def parse_entry(text: str) -> Entry:
    """Return an entry as host:port, CIDR:port or either with /database; port may be *.

    An IPv6 address stands in brackets. Raises ValueError.
    """
    found = _PARTS.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    port = None if found["port"] == "*" else int(found["port"])
    if port is not None and not 0 < port < 65_536:
        raise ValueError(text)
    host = (found["six"] or found["host"]).lower().rstrip(".")
    network = _network(host, must=bool(found["six"]) or "/" in host)
    return Entry(host, network, port, found["database"] or "")


def _network(host: str, *, must: bool) -> Network | None:
    try:
        return ipaddress.ip_network(host, strict=False)
    except ValueError:
        if must:
            raise
        return None


@lru_cache(maxsize=8)
def parse_entries(texts: tuple[str, ...]) -> tuple[Entry, ...]:
    """Return the entries of FABRIC_DATABASE_TARGETS, or raise ValueError."""
    return tuple(parse_entry(text) for text in texts)


@lru_cache(maxsize=8)
def parse_networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Return the networks of FABRIC_DATABASE_DENIED, or raise ValueError."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def denials(
    address: Address, also: Iterable[Network] = ()
) -> Iterator[tuple[Address, str]]:
    """Yield why an address is denied: each form that hides in it, with the reason."""
    for form in forms(address):
        for reason, networks in DENIED.items():
            if any(form in network for network in parse_networks(networks)):
                yield form, reason
        if any(form in network for network in also):
            yield form, BY_OPERATOR


def forms(address: Address) -> tuple[Address, ...]:
    """Return the address and every IPv4 address that it leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return (address,)
    return (address, *dict.fromkeys(_hidden(address)))


def _hidden(address: ipaddress.IPv6Address) -> Iterator[Address]:
    number = int(address)
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    # ::, ::1 are addresses of their own.
    is_compatible = address in COMPATIBLE and number > 1
    if is_compatible or address in NAT64 or number >> 32 & 0xFFFF_FFFF in ISATAP:
        yield _v4(number)
    if address in NAT64_LOCAL:
        yield _v4(number)
        # RFC 6052 splits the address around bits 64 to 71, which are zero.
        yield _v4((number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF)
        yield _v4((number >> 64 & 0xFF) << 24 | number >> 32 & 0xFF_FFFF)
        yield _v4(number >> 24)


def _v4(number: int) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(number & 0xFFFF_FFFF)
