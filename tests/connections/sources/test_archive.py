from __future__ import annotations

import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from connections.sources import archive
from connections.sources.archive import Limits, UnreadableEntry, open_archive
from connections.sources.base import SourceError


def make_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, raw in files.items():
            packed.writestr(name, raw)
    return path


def read_all(location: Path, limits: Limits | None = None) -> dict[str, bytes]:
    with open_archive(location, limits) as found:
        return {entry.name: found.read(entry, 1000) for entry in found.entries}


def refused(location: Path, limits: Limits | None = None) -> dict[str, str]:
    with open_archive(location, limits) as found:
        return {failure.item: failure.error for failure in found.refused}


def test_a_zip_and_the_folder_it_unpacks_to_read_alike(tmp_path):
    files = {"b/2.json": b"2", "a.json": b"1"}
    packed = make_zip(tmp_path / "x.zip", files)
    folder = tmp_path / "x"
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(folder)

    assert read_all(packed) == read_all(folder) == files


def test_litter_of_operating_systems_is_ignored(tmp_path):
    files = {"__MACOSX/._a.json": b"", ".DS_Store": b"", "a.json": b"1"}

    assert list(read_all(make_zip(tmp_path / "x.zip", files))) == ["a.json"]


@pytest.mark.parametrize(
    "name", ["../a.json", "/etc/a.json", "x/../../a.json", "C:/a.json", "..\\a.json"]
)
def test_a_name_that_leads_out_of_the_zip_is_refused_and_the_rest_read(tmp_path, name):
    packed = make_zip(tmp_path / "x.zip", {name: b"evil", "good.json": b"1"})

    assert read_all(packed) == {"good.json": b"1"}
    assert "leads out" in next(iter(refused(packed).values()))


def test_a_link_in_a_zip_is_refused(tmp_path):
    info = zipfile.ZipInfo("link.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr(info, "/etc/hostname")

    assert refused(tmp_path / "x.zip") == {"link.json": "Refused: a link or a device."}


def test_links_and_pipes_in_a_folder_are_not_followed(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "link.json").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.json")

    assert read_all(folder) == {}
    assert sorted(refused(folder)) == ["link.json", "pipe.json", "up"]


def test_a_file_that_became_a_link_after_listing_is_not_followed(tmp_path):
    (tmp_path / "x").mkdir()
    victim = tmp_path / "x" / "a.json"
    victim.write_text("1")
    (tmp_path / "secret").write_text("secret")
    with open_archive(tmp_path / "x") as found:
        victim.unlink()
        victim.symlink_to(tmp_path / "secret")
        with pytest.raises(UnreadableEntry):
            found.read(found.entries[0], 100)


def test_an_encrypted_entry_is_refused(tmp_path):
    packed = make_zip(tmp_path / "x.zip", {"a.json": b"1"})
    raw = bytearray(packed.read_bytes())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(signature) + at] |= 1
    packed.write_bytes(raw)

    assert "encrypted" in refused(packed)["a.json"]


def test_a_truncated_zip_says_that_it_was_cut_short(tmp_path):
    packed = make_zip(tmp_path / "x.zip", {"a.json": os.urandom(5000)})
    packed.write_bytes(packed.read_bytes()[:3000])

    with pytest.raises(SourceError, match="cut short"):
        read_all(packed)


def test_a_damaged_entry_is_unreadable_and_the_next_is_not(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr("a.json", b"AAAA")
        packed.writestr("b.json", b"BBBB")
    raw = (tmp_path / "x.zip").read_bytes().replace(b"AAAA", b"AXXA")
    (tmp_path / "x.zip").write_bytes(raw)

    with open_archive(tmp_path / "x.zip") as found:
        first, second = found.entries
        with pytest.raises(UnreadableEntry, match="damaged"):
            found.read(first, 100)
        assert found.read(second, 100) == b"BBBB"


def test_a_compression_nobody_knows_makes_the_entry_unreadable(tmp_path):
    packed = make_zip(tmp_path / "x.zip", {"a.json": b"1"})
    raw = bytearray(packed.read_bytes())
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", raw, raw.index(signature) + at, 97)
    packed.write_bytes(raw)

    with open_archive(packed) as found, pytest.raises(UnreadableEntry, match="opened"):
        found.read(found.entries[0], 100)


def test_an_entry_that_unpacks_to_far_too_much_is_refused_and_the_rest_read(tmp_path):
    files = {"bomb.json": b"A" * 100_000, "good.json": b"1"}
    packed = make_zip(tmp_path / "x.zip", files)
    limits = Limits(ratio_from=10_000)

    assert read_all(packed, limits) == {"good.json": b"1"}
    assert "250 times" in refused(packed, limits)["bomb.json"]


def test_many_small_bombs_together_are_refused(tmp_path):
    files = {f"{n}.json": b"A" * 9_000 for n in range(200)}
    packed = make_zip(tmp_path / "x.zip", files)

    with pytest.raises(SourceError, match="zip bomb"):
        read_all(packed, Limits(ratio=100, ratio_from=10_000))


def test_an_entry_that_lies_about_its_size_is_not_read_past_it(tmp_path):
    packed = make_zip(tmp_path / "x.zip", {"a.json": b"A" * 50_000})
    raw = bytearray(packed.read_bytes())
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", raw, raw.index(signature) + at, 10)
    packed.write_bytes(raw)

    with open_archive(packed) as found, pytest.raises(UnreadableEntry, match="damaged"):
        found.read(found.entries[0], 100_000)


def test_too_many_entries_and_too_large_a_total_refuse_the_archive(tmp_path):
    packed = make_zip(tmp_path / "x.zip", {"a": b"1" * 9, "b": b"2" * 9})

    with pytest.raises(SourceError, match="more than 1 files"):
        read_all(packed, Limits(entries=1))
    with pytest.raises(SourceError, match="split it"):
        read_all(packed, Limits(total_bytes=10))
    assert "larger" in refused(packed, Limits(entry_bytes=5))["a"]


def test_a_folder_with_too_many_files_is_refused_without_listing_all(tmp_path):
    for n in range(20):
        (tmp_path / str(n)).write_text("x")

    with pytest.raises(SourceError, match="more than 3 files"):
        read_all(tmp_path, Limits(entries=3))


def test_reading_past_the_limit_fails_before_it_fills_memory(tmp_path):
    (tmp_path / "a.json").write_bytes(b"x" * 2000)

    with (
        open_archive(tmp_path) as found,
        pytest.raises(UnreadableEntry, match="larger"),
    ):
        found.read(found.entries[0], 1000)


def test_what_is_no_file_is_named_in_the_error(tmp_path):
    with pytest.raises(SourceError, match="nowhere"):
        read_all(tmp_path / "nowhere")


def test_an_empty_zip_file_is_no_zip(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"")

    with pytest.raises(SourceError, match="no complete zip"):
        read_all(tmp_path / "x.zip")


def test_the_default_limits_admit_a_large_export_and_no_bomb():
    assert archive.LIMITS.ratio < 1_000 < archive.LIMITS.entries
