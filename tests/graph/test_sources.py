from __future__ import annotations

import pytest

from connections.models import Audience, Audit, Source
from connections.registry import UnknownName
from connections.sources.base import SourceError
from graph.sources import connect_source
from tests.factories import make_member

pytestmark = pytest.mark.django_db


def connect(project, tmp_path, kind="slack", **options):
    return connect_source(project=project, kind=kind, location=tmp_path, **options)


def members(source):
    return {str(m) for m in source.audience.members.all()}


def test_a_source_is_named_after_its_kind_and_place_and_found_again(project, tmp_path):
    source = connect(project, tmp_path / ".")
    assert source.name == f"slack-{tmp_path.name}"
    assert connect(project, tmp_path).pk == source.pk
    assert list(Audit.objects.order_by("id").values_list("verb", flat=True)) == [
        "source.connected",
        "source.changed",
    ]


def test_a_source_moves_with_its_name(project, tmp_path):
    (tmp_path / "b").mkdir()
    first = connect(project, tmp_path, name="export")
    again = connect(project, tmp_path / "b", name="export")
    assert first.pk == again.pk
    assert Source.objects.get().location == str(tmp_path / "b")


def test_a_mailbox_is_its_owner_s_alone_unless_somebody_opens_it(project, tmp_path):
    owner = make_member(project, "ann@acme.test")
    other = make_member(project, "bob@acme.test")
    box = connect(project, tmp_path, "mail", owner=owner)
    assert members(box) == {"ann@acme.test"}
    assert box.audience.pk in Audience.objects.ids_of(owner)
    assert box.audience.pk not in Audience.objects.ids_of(other)
    opened = connect(project, tmp_path, "mail", audience="project")
    assert opened.audience.kind == "public"


def test_a_mailbox_of_nobody_is_closed_to_all(project, tmp_path):
    box = connect(project, tmp_path, "mail")
    assert (box.audience.kind, members(box)) == ("members", set())


def test_other_sources_say_themselves_who_may_see_what(project, tmp_path):
    for kind in ("slack", "folder", "transcripts"):
        assert connect(project, tmp_path, kind).audience_draft is None


def test_an_audience_may_be_addresses(project, tmp_path):
    source = connect(project, tmp_path, audience="Ann@acme.test, bob@acme.test,")
    assert members(source) == {"ann@acme.test", "bob@acme.test"}
    assert source.audience_draft.members is None
    assert members(connect(project, tmp_path, audience="eve@acme.test")) == {
        "eve@acme.test"
    }
    assert members(connect(project, tmp_path)) == {"eve@acme.test"}


def test_what_is_no_address_is_refused_before_anything_is_written(project, tmp_path):
    with pytest.raises(SourceError, match="'everyone' is not an address"):
        connect(project, tmp_path, audience="everyone")
    assert not Source.objects.exists()


def test_only_the_first_folder_s_files_go_without_its_name(project, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    prefixes = [
        connect(project, tmp_path / n, "folder", name=n).file_prefix
        for n in ("one", "two")
    ]
    assert prefixes == ["", "two/"]
    assert connect(project, tmp_path / "one", "folder", name="one").file_prefix == ""
    assert connect(project, tmp_path, "slack").file_prefix == ""


@pytest.mark.parametrize(
    ("kind", "where", "error", "message"),
    [
        ("slack", "nowhere", SourceError, "does not exist"),
        ("telegraph", "", UnknownName, "no connector 'telegraph'"),
    ],
)
def test_what_cannot_be_connected_says_why(
    project, tmp_path, kind, where, error, message
):
    with pytest.raises(error, match=message):
        connect(project, tmp_path / where, kind)


def test_a_name_is_of_one_kind(project, tmp_path):
    connect(project, tmp_path, "slack", name="x")
    with pytest.raises(SourceError, match="kind slack, not folder"):
        connect(project, tmp_path, "folder", name="x")
