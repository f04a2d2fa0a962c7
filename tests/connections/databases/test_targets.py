"""Where a database may be: every address checked, by whatever name or spelling."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from connections.databases import targets
from connections.databases.addresses import denials, forms, parse_entry
from connections.databases.failures import Unreachable
from connections.databases.fields import wrong_fields
from connections.databases.targets import checked_addresses
from connections.models import Database
from fabric_site import options

V4 = st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address)
DENIED = (
    "127.0.0.1", "127.8.9.10", "169.254.169.254", "169.254.170.2", "169.254.1.1",
    "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "255.255.255.255",  # noqa: S104
    "240.0.0.1", "192.0.0.192", "100.100.100.200", "168.63.129.16",
    "::1", "::", "fe80::1", "fec0::1", "ff02::1", "fd00:ec2::254", "fd20:ce::254",
    "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1:7f00:0:100::",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::",
    "fd00::5efe:7f00:1", "2001:db8::200:5efe:a9fe:a9fe",
)  # fmt: skip
ORDINARY = (
    "10.0.0.5", "172.16.3.4", "192.168.1.9", "100.64.0.1", "8.8.8.8", "fd12::5",
    "2a00:1450::1", "::ffff:10.0.0.5", "64:ff9b::808:808",
)  # fmt: skip
# Spellings that the system's resolver reads as addresses.
LOOPBACK = (
    "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.1", "localhost",
    "LOCALHOST", "localhost.", "[::1]", "::1", "::ffff:7f00:1", "0",
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch):
    monkeypatch.setitem(settings.FABRIC, "DATABASE_TARGETS", ())
    monkeypatch.setitem(settings.FABRIC, "DATABASE_DENIED", ())


@pytest.fixture
def name(monkeypatch):
    def named(*entries):
        monkeypatch.setitem(settings.FABRIC, "DATABASE_TARGETS", entries)

    return named


@pytest.fixture
def resolve(monkeypatch):
    """Let names lead where a test says; the answers of one name follow each other."""
    real, asked = socket.getaddrinfo, []

    def to(**answers):
        left = {host.replace("_", "."): list(each) for host, each in answers.items()}

        def resolved(host, port, *args, **options):
            if host not in left:
                return real(host, port, *args, **options)
            asked.append(host)
            found = left[host].pop(0) if len(left[host]) > 1 else left[host][0]
            if found is None:
                raise socket.gaierror("no such host")
            each = found if isinstance(found, (list, tuple)) else [found]
            return [(2, 1, 6, "", (address, port)) for address in each]

        monkeypatch.setattr(socket, "getaddrinfo", resolved)
        return asked

    return to


def at(host, port=5432, database="shop", **fields):
    return Database(host=host, port=port, database=database, name="shop", **fields)


def addresses(*args, **fields):
    return checked_addresses(at(*args, **fields), seconds=5)


def refused(*args, **fields):
    with pytest.raises(Unreachable) as error:
        addresses(*args, **fields)
    return error.value


@pytest.mark.parametrize("address", DENIED)
def test_what_no_company_database_has_for_an_address_is_denied(address):
    assert list(denials(ipaddress.ip_address(address)))
    assert "is denied" in refused(address).why


@pytest.mark.parametrize("address", ORDINARY)
def test_public_and_private_addresses_are_open(address):
    assert not list(denials(ipaddress.ip_address(address)))
    assert addresses(address) == (str(ipaddress.ip_address(address)),)


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_is_denied_however_it_is_spelt(host):
    assert "denied" in refused(host, 5999).why


@given(V4)
def test_what_hides_in_an_ipv6_address_is_judged_as_itself(address):
    number = int(address)
    base = int(ipaddress.IPv6Address("64:ff9b:1::"))
    hiding = [
        ipaddress.IPv6Address(f"::ffff:{address}"),
        ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) + number),
        ipaddress.IPv6Address(int(ipaddress.IPv6Address("2002::")) + (number << 80)),
        ipaddress.IPv6Address(base + number),
        # RFC 6052, section 2.2: behind a prefix of 48 bits, around bits 64 to 71.
        ipaddress.IPv6Address(base + (number >> 16 << 64) + ((number & 0xFFFF) << 40)),
        ipaddress.IPv6Address(int(ipaddress.IPv6Address("fd00::5efe:0:0")) + number),
    ]
    for outer in hiding:
        assert address in forms(outer)
        if list(denials(address)):
            assert list(denials(outer))


def test_every_address_of_a_name_is_checked(resolve):
    resolve(
        db_example=[("10.0.0.5", "127.0.0.1")], ok_example=[("10.0.0.5", "10.0.0.6")]
    )
    assert "127.0.0.1 is denied" in refused("db.example").why
    assert addresses("ok.example") == ("10.0.0.5", "10.0.0.6")


def test_a_name_is_resolved_once(resolve):
    asked = resolve(db_example=["10.0.0.5", "127.0.0.1"])
    assert addresses("db.example") == ("10.0.0.5",)
    assert asked == ["db.example"]


def test_a_name_that_leads_nowhere_reads_the_same_as_one_that_is_denied(resolve):
    resolve(none_example=[None], bad_example=["169.254.169.254"])
    nowhere, denied = refused("none.example"), refused("bad.example")
    assert str(nowhere) == str(denied)
    assert nowhere.code == denied.code
    assert nowhere.why != denied.why
    for secret in ("169.254", "example"):
        assert secret not in str(denied)


def test_a_resolver_that_does_not_answer_is_not_waited_for(monkeypatch):
    import threading
    import time

    hang = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **o: hang.wait(30) or [])
    began = time.monotonic()
    with pytest.raises(Unreachable):
        checked_addresses(at("slow.example"), seconds=0.2)
    assert time.monotonic() - began < 2
    hang.set()


@pytest.mark.parametrize("host", ["/var/run/postgresql", "@abstract", ""])
def test_unix_sockets_are_no_hosts(host):
    assert "not resolved" in refused(host).why
    assert "host" in wrong_fields({"host": host, "database": "d", "user": "u"})


@pytest.mark.parametrize(
    ("entry", "host", "port", "is_open"),
    [
        ("127.0.0.1:5999", "127.0.0.1", 5999, True),
        ("127.0.0.1:5999", "127.0.0.1", 5998, False),
        ("127.0.0.1:*", "127.1", 5998, True),
        ("127.0.0.0/8:5999", "127.9.9.9", 5999, True),
        ("localhost:5999", "LocalHost.", 5999, True),
        ("localhost:5999", "127.0.0.1", 5999, False),
        ("[::1]:5999", "[::1]", 5999, True),
        ("[fe80::/10]:*", "fe80::1", 1, True),
        ("127.0.0.1:5999/shop", "127.0.0.1", 5999, True),
        ("127.0.0.1:5999/other", "127.0.0.1", 5999, False),
        ("169.254.169.254:*", "169.254.169.254", 80, True),
        ("10.0.0.5:5432", "127.0.0.1", 5432, False),
        ("127.0.0.1:5999", "::ffff:127.0.0.1", 5999, True),
    ],
)
def test_what_is_named_is_open(name, resolve, entry, host, port, is_open):
    resolve(localhost=["127.0.0.1"])
    name(entry)
    if is_open:
        assert addresses(host, port)
    else:
        refused(host, port)


def test_a_name_that_is_open_does_not_open_cloud_metadata(name, resolve):
    """Whoever answers for the name could point it there."""
    resolve(db_example=["127.0.0.1", "169.254.169.254", "0.0.0.1", "224.0.0.1"])
    name("db.example:5999")
    assert addresses("db.example", 5999) == ("127.0.0.1",)
    for _ in range(3):
        assert "is denied" in refused("db.example", 5999).why


def test_the_operator_denies_networks_and_may_open_single_targets(monkeypatch, name):
    monkeypatch.setitem(settings.FABRIC, "DATABASE_DENIED", ("0.0.0.0/0", "::/0"))
    assert "FABRIC_DATABASE_DENIED" in refused("10.0.0.5").why
    name("10.0.0.5:5432", "db.example:5432")
    assert addresses("10.0.0.5") == ("10.0.0.5",)
    refused("10.0.0.5", 3306)
    refused("fd12::5")


@pytest.mark.parametrize(
    "text",
    ["db", "db:", ":5", "db:0", "db:65536", "db:x", "::1:5432", "10.0.0.0/33:1", "a b:1",
     "[db]:1", "[::1", "db:1/", "10.0.0.0/8/shop", "db:-1"],
)  # fmt: skip
def test_an_unusable_entry_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        parse_entry(text)


class TestOurOwn:
    """Fabric's own database is never asked, whatever is named and however spelt."""

    @pytest.fixture(autouse=True)
    def ours(self, monkeypatch):
        one = {"HOST": "127.0.0.1", "PORT": "5999", "NAME": "fabric"}
        monkeypatch.setattr(settings, "DATABASES", {"default": one})
        self.one = one

    @pytest.mark.parametrize("host", [*LOOPBACK, "127.0.0.2"])
    def test_it_is_denied_though_its_address_is_named(self, name, host):
        name("127.0.0.0/8:*", "[::/96]:*", "[::ffff:0:0/96]:*", "localhost:*",
             "0.0.0.0/8:*", "127.0.0.0/8:5999/fabric")  # fmt: skip
        assert "own" in refused(host, 5999, "fabric").why

    def test_of_its_server_only_what_is_named_exactly_is_open(self, name):
        name("127.0.0.1:*")
        assert (
            "does not name postgres there" in refused("127.0.0.1", 5999, "postgres").why
        )
        name("127.0.0.1:5999/fabric_demo")
        assert addresses("127.0.0.1", 5999, "fabric_demo")
        assert addresses("localhost", 5999, "fabric_demo")
        for other in ("postgres", "template1", "Fabric_demo", "fabric_demo2", "fabric"):
            refused("127.0.0.1", 5999, other)

    def test_it_is_known_by_another_name_and_by_every_address_of_ours(
        self, name, resolve
    ):
        resolve(
            db_internal=["10.0.0.5"],
            alias_example=["10.0.0.5"],
            box_example=["127.0.0.1"],
        )
        self.one["HOST"] = "db.internal"
        assert "own" in refused("10.0.0.5", 5999, "fabric").why
        assert "own" in refused("alias.example", 5999, "fabric").why
        assert addresses("10.0.0.6", 5999, "fabric")
        self.one["HOST"] = ""
        name("127.0.0.0/8:*")
        assert "own" in refused("box.example", 5999, "fabric").why

    @pytest.mark.parametrize("host", ["/var/run/postgresql", ""])
    def test_one_behind_a_socket_is_on_every_address_of_this_machine(self, host, name):
        self.one["HOST"] = host
        name("127.0.0.0/8:*")
        assert "own" in refused("127.0.0.1", 5999, "fabric").why

    def test_the_broker_is_ours_too(self, monkeypatch):
        broker = "redis://10.0.0.7:6379/0"
        monkeypatch.setattr(settings, "CELERY_BROKER_URL", broker)
        assert "own" in refused("10.0.0.7", 6379, "0").why
        assert addresses("10.0.0.7", 5432)


def test_the_installation_as_it_is_opens_exactly_the_demo_database():
    demo = settings.FABRIC["DEMO_DATABASE"]
    host, port = demo["HOST"], int(demo["PORT"])
    entry = f"{host}:{port}/{demo['NAME']}"
    assert options.databases(demo)["DATABASE_TARGETS"] == (entry,)
    settings.FABRIC["DATABASE_TARGETS"] = (entry,)
    own = settings.DATABASES["default"]["NAME"]
    assert addresses(host, port, demo["NAME"])
    for name in (own, "fabric", "postgres", "template1"):
        refused(host, port, name)


WRONG = {
    "host": ("a b", "a=b", "postgres://x", "a,b", "a\0b", "a\nb", "a:5432", "-a", "ä.de",
             "a/b", "/run", "@x", "[::1", "fe80::1%eth0", "a..b", "host=x",
             "\uff11\uff12\uff17.0.0.1"),
    "database": ("a b", "dbname=x", "postgres://h/d", "a,b", "a\0", "a\x1b", "", "a;b",
                 "x'y", "service=a", "a\u202eb"),
    "user": ("a b", "user=x", "u,v", "u\0", "u\r", "mysql://u", 'u"'),
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "text"), [(field, text) for field in WRONG for text in WRONG[field]]
)
def test_connection_text_is_refused_at_its_field(field, text):
    values = {"host": "db.example", "database": "shop", "user": "reader"}
    assert list(wrong_fields({**values, field: text})) == [field]


@pytest.mark.parametrize(
    "values",
    [
        {"host": "db-1.eu.example.", "user": "reader@server", "database": "Shop_2-x"},
        {"host": "10.0.0.5", "user": "läser", "database": "größe"},
        {"host": "[fd12::5]", "user": "r", "database": "s"},
    ],
)
def test_plain_names_pass(values):
    assert wrong_fields(values) == {}


def test_certificates_are_taken_and_keys_are_not():
    values = {"host": "h", "database": "d", "user": "u"}
    said = wrong_fields({**values, "certificate": "-----BEGIN PRIVATE KEY-----"})
    assert "private key" in said["certificate"]
    assert "PEM" in wrong_fields({**values, "certificate": "x"})["certificate"]


def test_there_are_own_services_in_the_real_settings():
    assert len(list(targets.own_services())) >= 2
