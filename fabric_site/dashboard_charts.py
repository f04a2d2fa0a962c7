"""The dashboard's charts, made of the daily figures of one project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from connections.models import Audit, ModelUsage, Project, Source
from fabric_site.dashboard_parts import Cell, Chart, Head, Row, listed, said
from graph.figures.reading import Course
from graph.models import Edge, Node, Record
from memory.models import Feedback
from retrieval.arms.base import arms

# More lines than these are not told apart; what is left is one line, "other".
LINES_MOST = 7
DAY_ENDS = ("00:00", "23:59:59")
OTHER = "other"

Linked = Callable[[str], str]
LinkedDay = Callable[[str, date], str]


def came_in(course: Course, project: Project, sources: Sequence[Source]) -> Chart:
    """Return what each source brought on each day."""
    names = {str(source.pk): source.name for source in sources}

    def records(label: str, day: date | None = None) -> str:
        query: dict[str, object] = {"project": project.pk}
        if label:
            query["source__id__exact"] = label
        return listed(Record, **query, **_of_day("first_fetched_at", day))

    total = sum(course.totals.values())
    return _daily(
        course,
        title="What came in",
        kind="stacked",
        unit="records",
        says=f"{said(total)} records in {len(course.days)} days, by source",
        name=lambda label: names.get(label, f"source {label}, removed"),
        link=records,
        link_day=records,
        whole=records(""),
        empty="No record came in. Connect a source with manage.py ingest.",
    )


def growth(course: Course, project: Project, *, of_nodes: bool) -> Chart:
    """Return how many nodes or edges there were at the end of each day."""

    def rows(label: str) -> str:
        model, parameter = (Node, "node_type") if of_nodes else (Edge, "relation")
        query = {parameter: label} if label else {}
        return listed(model, project=project.pk, **query)

    total = sum(course.latest.values())
    what, by = ("Nodes", "type") if of_nodes else ("Edges", "relation")
    return _daily(
        course,
        title=f"{what} by {by}",
        kind="lines",
        unit=what.lower(),
        says=f"{said(total)} {what.lower()} now, by {by}, over {len(course.days)} days",
        name=lambda label: label.replace("_", " "),
        link=rows,
        link_day=lambda label, day: "",
        whole=rows(""),
        empty="The graph is empty. Read a source, and it is counted within the hour.",
        by_latest=True,
    )


def degrees(latest: Mapping[str, float], project: Project) -> Chart:
    """Return how many nodes have how many edges."""
    counts = {
        int(label): value
        for label, value in latest.items()
        if not label.startswith("hub:")
    }
    orphans = listed(Node, project=project.pk, flagged="orphan")
    alone = counts.get(0, 0)
    rows = [
        Row(
            Head(_range(least), "" if least else orphans),
            (Cell(number, "" if least else orphans),),
        )
        for least, number in sorted(counts.items())
    ]
    return Chart(
        title="Edges of a node",
        kind="bars",
        unit="nodes",
        says=f"nodes by how many live edges they have; {said(alone)} have none",
        axis="edges",
        heads=(Head("nodes"),),
        rows=rows,
        note="The scale is logarithmic.",
        logarithmic=True,
    )


def _range(least: int) -> str:
    most = 2 * least - 1
    return f"{least:,}" if most <= least else f"{least:,} to {most:,}"


def hubs(
    latest: Mapping[str, float], visible: Mapping[int, tuple[str, str]], most: int = 10
) -> Chart:
    """Return the nodes with the most edges, of those the reader may see."""
    found = [
        (number, *visible[pk])
        for label, number in latest.items()
        if label.startswith("hub:") and (pk := int(label[4:])) in visible
    ]
    found.sort(key=lambda hub: (-hub[0], hub[1]))
    rows = [
        Row(Head(title, link), (Cell(number, link),))
        for number, title, link in found[:most]
    ]
    return Chart(
        title="Hubs",
        kind="bars",
        unit="edges",
        says="the nodes with the most live edges, of those you may see",
        axis="node",
        heads=(Head("edges"),),
        rows=rows,
        empty="No node with an edge is one that you may see.",
    )


def stale(
    latest: Mapping[str, float], there: Mapping[str, float], project: Project
) -> Chart:
    """Return of each type how many nodes are older than the project allows."""
    names = sorted(latest, key=lambda name: -latest[name])[:12]
    rows = []
    for name in names:
        link = listed(Node, project=project.pk, node_type=name)
        fresh = max(0, there.get(name, 0) - latest[name])
        rows.append(
            Row(
                Head(name.replace("_", " "), link),
                (Cell(latest[name], f"{link}&flagged=stale"), Cell(fresh, link)),
            )
        )
    return Chart(
        title="Older than allowed",
        kind="stacked",
        unit="nodes",
        says=f"{said(sum(latest.values()))} nodes are older than their type's threshold",
        axis="type",
        heads=(
            Head("stale", listed(Node, project=project.pk, flagged="stale")),
            Head("fresh", listed(Node, project=project.pk)),
        ),
        rows=rows,
        note="Records and structure are counted too; only claims enter the queue.",
        empty="Nothing is older than its type's threshold.",
    )


def answers(course: Course, project: Project, *, reads_audit: bool) -> Chart:
    """Return how many questions were answered on each day, by how that ended.

    The questions themselves are their readers'; whoever reads the audit finds there
    who asked when.
    """

    def asked(day: date | None = None) -> str:
        if not reads_audit:
            return ""
        query = {"project__id__exact": project.pk, "verb": "question.asked"}
        return listed(Audit, **query, **_of_day("at", day))

    return _daily(
        course,
        title="Answers",
        kind="stacked",
        unit="answers",
        says=f"{said(sum(course.totals.values()))} answers, by how they ended",
        name=lambda label: "with sources" if label == "grounded" else label,
        link=lambda label: "",
        link_day=lambda label, day: "",
        link_row=asked,
        whole=asked(),
        empty="Nobody has asked a question yet.",
    )


def feedback(course: Course) -> Chart:
    """Return what readers said of answers, by reason."""
    words = dict(Feedback.Verdict.choices)
    rows = [
        Row(
            Head(words.get(label, label).capitalize(), link),
            (Cell(number, link),),
        )
        for label, number in course.totals.items()
        for link in (listed(Feedback, verdict__exact=label),)
    ]
    return Chart(
        title="Feedback on answers",
        kind="bars",
        unit="answers",
        says=f"what readers said in {len(course.days)} days, by reason",
        axis="reason",
        heads=(Head("answers", listed(Feedback)),),
        rows=rows,
        link=listed(Feedback),
        empty="No reader has said anything of an answer yet.",
    )


def contributions(course: Course) -> Chart:
    """Return how many cited passages each retriever arm had found."""
    found = course.totals
    named = [name for name in arms if name not in found]
    rows = [Row(Head(label), (Cell(number),)) for label, number in found.items()]
    silent = f" Nothing cited came from: {', '.join(sorted(named))}." if named else ""
    return Chart(
        title="What each way of searching found",
        kind="bars",
        unit="cited passages",
        says=f"cited passages of {len(course.days)} days by the way they had been found",
        axis="way",
        heads=(Head("cited passages"),),
        rows=rows,
        note=f"A passage counts for each way that had found it.{silent}",
        empty="No answer has cited a passage yet.",
    )


def spend(days: Sequence[date], project: Project) -> Chart:
    """Return the tokens that models read and wrote, by day and model."""
    used = ModelUsage.objects.filter(project=project, day__gte=days[0])
    values: dict[str, list[float | None]] = {}
    place = {day: n for n, day in enumerate(days)}
    for row in used:
        if row.day in place:
            at = values.setdefault(row.model, [0.0] * len(days))
            at[place[row.day]] = (
                (at[place[row.day]] or 0) + row.tokens_read + row.tokens_written
            )

    def rows(label: str, day: date | None = None) -> str:
        query: dict[str, object] = {"project__id__exact": project.pk}
        if label:
            query["q"] = label
        if day:
            query |= {"day_from": day.isoformat(), "day_to": day.isoformat()}
        return listed(ModelUsage, **query)

    course = Course(days, values)
    return _daily(
        course,
        title="Tokens of models",
        kind="stacked",
        unit="tokens",
        says=f"{said(sum(course.totals.values()))} tokens read and written, by model",
        name=str,
        link=rows,
        link_day=rows,
        whole=rows(""),
        empty="No model was asked. Without one, answers are made of quotations.",
    )


def _of_day(field: str, day: date | None) -> dict[str, str]:
    """Return the range of a list's filter that is one day; nothing without a day."""
    if day is None:
        return {}
    return {
        f"{field}_{end}_{n}": value
        for end, hour in zip(("from", "to"), DAY_ENDS, strict=True)
        for n, value in enumerate((day.isoformat(), hour))
    }


def _daily(
    course: Course,
    *,
    title: str,
    kind: str,
    unit: str,
    says: str,
    name: Callable[[str], str],
    link: Linked,
    link_day: LinkedDay,
    link_row: Callable[[date], str] = lambda day: "",
    whole: str = "",
    empty: str,
    by_latest: bool = False,
) -> Chart:
    """Return a chart with a row for each day and a column for each large label."""
    order = list(course.latest if by_latest else course.totals)
    shown, rest = order[:LINES_MOST], order[LINES_MOST:]
    heads = [Head(name(label), link(label)) for label in shown]
    if rest:
        heads.append(Head(OTHER, whole))
    rows = []
    for n, day in enumerate(course.days):
        cells = [
            Cell(value, link_day(label, day) if value else "")
            for label in shown
            for value in (course.values[label][n],)
        ]
        if rest:
            left = [course.values[label][n] for label in rest]
            cells.append(Cell(sum(v for v in left if v) if any(left) else None))
        rows.append(Row(Head(day.isoformat(), link_row(day)), cells))
    return Chart(
        title=title,
        kind=kind,  # type: ignore[arg-type] # each caller names one of the three
        unit=unit,
        says=says,
        axis="day",
        heads=heads,
        rows=rows,
        link=whole,
        empty=empty,
    )
