from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from connections.databases.base import Column, ForeignKey, Schema, Table
from connections.databases.joins import as_ddl, join_paths, names_only, with_bridges


def table(name, *targets, columns=("id",), **more):
    keys = tuple(
        ForeignKey(
            name=f"{name}_{n}", columns=(f"{target}_id",), target_schema="s",
            target_table=target, target_columns=("id",),
        )
        for n, target in enumerate(targets)
    )  # fmt: skip
    found = tuple(
        Column(name=c, data_type="integer", family="number")
        for c in (*columns, *(f"{t}_id" for t in targets))
    )
    return Table(schema="s", name=name, columns=found, foreign_keys=keys, **more)


def schema(*tables):
    return Schema(flavour="postgres", version="18.1", default_schema="s", tables=tables)


SHOP = schema(
    table("artist"),
    table("album", "artist"),
    table("track", "album"),
    table("playlist"),
    table("playlist_track", "playlist", "track"),
    table("lonely"),
)


def test_the_path_goes_along_keys_in_both_directions():
    (path,) = join_paths(SHOP, [("s", "artist"), ("s", "album")])
    assert [step.condition for step in path.steps] == [
        "s.artist.id = s.album.artist_id"
    ]
    (path,) = join_paths(SHOP, [("s", "album"), ("s", "artist")])
    assert [step.condition for step in path.steps] == [
        "s.album.artist_id = s.artist.id"
    ]


def test_bridge_tables_are_on_the_path():
    (path,) = join_paths(SHOP, [("s", "playlist"), ("s", "album")])
    assert path.bridges == (("s", "playlist_track"), ("s", "track"))
    assert path.ends == (("s", "playlist"), ("s", "album"))
    assert with_bridges(SHOP, [("s", "playlist"), ("s", "track")]) == (
        ("s", "playlist"), ("s", "track"), ("s", "playlist_track"),
    )  # fmt: skip


def test_two_keys_to_one_table_are_two_paths():
    flights = schema(table("airport"), table("flight", "airport", "airport"))
    assert len(join_paths(flights, [("s", "flight"), ("s", "airport")])) == 2


def test_composite_keys_join_every_pair():
    key = ForeignKey(
        name="k", columns=("a", "b"), target_schema="s", target_table="two",
        target_columns=("c", "d"),
    )  # fmt: skip
    one = Table(schema="s", name="one", foreign_keys=(key,))
    (path,) = join_paths(
        schema(one, Table(schema="s", name="two")), [("s", "one"), ("s", "two")]
    )
    assert path.steps[0].condition == "s.one.a = s.two.c AND s.one.b = s.two.d"


def test_what_has_no_way_has_no_path_and_unknown_tables_are_left_out():
    assert join_paths(SHOP, [("s", "artist"), ("s", "lonely")]) == ()
    assert join_paths(SHOP, [("s", "artist"), ("s", "nothing")]) == ()
    assert join_paths(SHOP, []) == ()
    assert join_paths(SHOP, [("s", "artist"), ("s", "playlist")], most_steps=3) == ()


def test_a_key_to_itself_or_to_a_hidden_table_does_not_lead_astray():
    staff = schema(table("staff", "staff"), table("sale", "staff", "hidden"))
    assert len(join_paths(staff, [("s", "sale"), ("s", "staff")])) == 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14),
    st.integers(0, 7),
    st.integers(0, 7),
)
def test_a_path_is_connected_as_short_as_back_and_of_shortest_length(keys, a, b):
    tables = [table(f"t{n}", *(f"t{y}" for x, y in keys if x == n)) for n in range(8)]
    found = schema(*tables)
    there = join_paths(found, [("s", f"t{a}"), ("s", f"t{b}")], most_steps=8)
    back = join_paths(found, [("s", f"t{b}"), ("s", f"t{a}")], most_steps=8)
    assert len(there) == len(back)
    near = {a}
    for distance in range(1, 9):
        if b in near or a == b:
            break
        near |= {y for x, y in keys if x in near} | {x for x, y in keys if y in near}
        if b in near:
            assert {len(path.steps) for path in there} == {distance}
    for path in there:
        for first, second in zip(path.steps, path.steps[1:], strict=False):
            assert first.right == second.left


def test_ddl_says_types_keys_comments_and_values():
    orders = Table(
        schema="s",
        name="Order Line",
        comment="What was\nbought; DROP",
        rows=1200,
        columns=(
            Column(name="id", data_type="bigint", family="number", is_key=True,
                   nullable=False),
            Column(name="state", data_type="text", family="text", comment="Where",
                   values=("open", "it's", "c", "d", "e", "f", "g")),
            Column(name="mail", data_type="text", family="text", exposure="masked"),
        ),
        foreign_keys=SHOP.tables[1].foreign_keys,
    )  # fmt: skip
    assert as_ddl(orders).splitlines() == [
        'CREATE TABLE s."Order Line" (  -- What was bought; DROP; about 1200 rows',
        "  id bigint NOT NULL,",
        "  state text,  -- Where; values: 'open', 'it''s', 'c', 'd', 'e' and 2 more",
        "  mail text,  -- masked: only in the output list, as itself",
        "  PRIMARY KEY (id),",
        "  FOREIGN KEY (artist_id) REFERENCES s.artist (id)",
        ");",
    ]
    assert as_ddl(orders, full=False) == 's."Order Line"(id, state, mail)'


def test_names_only_leaves_out_what_is_told_in_full():
    lines = names_only(SHOP, besides=[("s", "artist")]).splitlines()
    assert lines[0] == "s.album(id, artist_id)"
    assert len(lines) == len(SHOP.tables) - 1
