"""The daily figures: exact numbers, days, tenants, and counting twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from connections.models import Project
from graph.figures.counters import counters
from graph.figures.keeping import DAYS_BEFORE, count_figures
from graph.figures.reading import counted_at, course_of, latest_of
from graph.models import DailyFigure, Edge, Node, Record, StaleThreshold
from graph.removal import remove_project
from tests.factories import make_edge, make_node, make_review_item

pytestmark = pytest.mark.django_db


@pytest.fixture
def star(project: Project) -> list[Node]:
    """A node that three others lead to, and one that is alone."""
    nodes = [make_node(project, f"k:{n}", "words") for n in range(5)]
    for node in nodes[1:4]:
        make_edge(node, nodes[0])
    return nodes


def latest(project: Project, name: str) -> dict[str, float]:
    return latest_of(project, [name])[name]


def made(model: type, days_ago: int, *pks: int, field: str = "created_at") -> None:
    moment = timezone.now() - timedelta(days=days_ago)
    model.objects.filter(pk__in=pks).update(**{field: moment})


def test_nodes_and_edges_are_counted_to_the_end_of_each_day(
    project: Project, star: list[Node]
) -> None:
    made(Node, 10, star[0].pk, star[1].pk)
    made(Node, DAYS_BEFORE + 300, star[2].pk)
    count_figures(project)
    course = course_of(project, ["nodes"], 12)["nodes"]
    assert list(course.values) == ["message"]
    assert course.values["message"] == [1.0, *[3.0] * 10, 5.0]
    assert latest(project, "edges") == {"mentions": 3.0}


def test_degrees_are_counted_by_powers_of_two_and_hubs_by_name(
    project: Project, star: list[Node]
) -> None:
    count_figures(project)
    degrees = latest(project, "degrees")
    hubs = {label: n for label, n in degrees.items() if label.startswith("hub:")}
    assert {k: n for k, n in degrees.items() if k not in hubs} == {
        "0": 1,
        "1": 3,
        "2": 1,
    }
    assert hubs == {f"hub:{star[0].pk}": 3, **{f"hub:{n.pk}": 1 for n in star[1:4]}}


def test_an_edge_that_ended_counts_for_no_degree(
    project: Project, star: list[Node]
) -> None:
    Edge.objects.update(valid_to=timezone.now() - timedelta(days=1))
    count_figures(project)
    assert latest(project, "degrees") == {"0": 5.0}
    assert latest(project, "edges") == {}


def test_records_that_came_in_are_counted_on_their_day_by_source(
    project: Project, star: list[Node]
) -> None:
    first = star[0].record
    assert first is not None
    made(Record, 2, first.pk, field="first_fetched_at")
    count_figures(project)
    course = course_of(project, ["records"], 3)["records"]
    assert dict(course.values) == {str(first.source_id): [1.0, None, 4.0]}


@pytest.mark.parametrize(
    ("days", "threshold", "stale"),
    [(90, None, 0), (92, None, 1), (92, 100, 0), (20, 7, 1)],
)
def test_stale_is_what_its_types_threshold_says(
    project: Project, days: int, threshold: int | None, stale: int
) -> None:
    said = timezone.now() - timedelta(days=days)
    make_node(project, "k:1", node_type="decision", occurred_at=said)
    make_node(project, "k:2", node_type="agent", occurred_at=said - timedelta(days=999))
    if threshold:
        StaleThreshold.objects.create(
            tenant_id=project.tenant_id,
            project=project,
            node_type="decision",
            days=threshold,
        )
    count_figures(project)
    assert latest(project, "stale") == ({"decision": 1.0} if stale else {})


def test_open_items_are_counted_by_kind(project: Project, star: list[Node]) -> None:
    make_review_item(project, star[0])
    make_review_item(project, star[1], state="decided")
    make_review_item(project, star[2], kind="orphan")
    count_figures(project)
    assert latest(project, "queue") == {"orphan": 1.0, "stale": 1.0}


def test_counting_twice_changes_nothing_and_forgets_what_is_gone(
    project: Project, star: list[Node]
) -> None:
    figures = DailyFigure.objects.order_by("name", "day", "label")
    made(Edge, DAYS_BEFORE, *Edge.objects.values_list("pk", flat=True))
    count_figures(project)
    before = list(figures.values_list("name", "day", "label", "value"))
    assert len(before) > DAYS_BEFORE
    count_figures(project)
    assert list(figures.values_list("name", "day", "label", "value")) == before
    Edge.objects.all().delete()
    count_figures(project)
    assert latest(project, "edges")["mentions"] == 3.0  # of yesterday and before
    today = figures.filter(day=timezone.localdate())
    assert not today.filter(name="edges").exists()
    assert dict(today.filter(name="degrees").values_list("label", "value")) == {"0": 5}


def test_days_that_were_missed_are_counted_later(
    project: Project, star: list[Node]
) -> None:
    count_figures(project)
    since = timezone.now() - timedelta(days=3)
    DailyFigure.objects.update(counted_at=since)
    DailyFigure.objects.filter(
        day__gt=timezone.localdate() - timedelta(days=3)
    ).delete()
    made(
        Record,
        1,
        *Record.objects.values_list("pk", flat=True)[:2],
        field="first_fetched_at",
    )
    count_figures(project, reads_all=False)
    assert list(course_of(project, ["records"], 2)["records"].values.values()) == [
        [2.0, 3.0]
    ]
    assert counted_at(project) is not None


def test_a_tenant_is_counted_without_the_other(
    project: Project, other_project: Project, star: list[Node]
) -> None:
    make_node(other_project, "k:1", "foreign", node_type="decision")
    count_figures(project)
    count_figures(other_project)
    assert latest(project, "nodes") == {"message": 5.0}
    assert latest(other_project, "nodes") == {"decision": 1.0}


def test_an_empty_project_has_no_figures_and_no_error(project: Project) -> None:
    assert count_figures(project) == 0
    assert latest_of(project, list(counters)) == {name: {} for name in counters}
    assert len(counters) >= 10


def test_the_command_counts_one_project_or_says_that_there_is_none(
    project: Project, star: list[Node], capsys
) -> None:
    call_command("count_figures", project="acme/main")
    assert "acme/main" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no project 'acme/none'"):
        call_command("count_figures", project="acme/none")
    with pytest.raises(CommandError, match="from 1 on"):
        call_command("count_figures", days=0)


def test_a_project_that_goes_takes_its_figures(
    project: Project, star: list[Node]
) -> None:
    count_figures(project)
    assert DailyFigure.objects.exists()
    remove_project(project)
    assert not DailyFigure.objects.exists()
