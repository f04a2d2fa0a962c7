"""Pages of provenance: why a node or an edge exists, and what a record caused."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from graph.models import Edge, Node, Record
from graph.pages import node_of, reader
from graph.trails import (
    caused_by_node,
    caused_by_record,
    origin_of,
    trail_of_edge,
    trail_of_node,
)


@login_required
def node_provenance(request: HttpRequest, pk: int) -> HttpResponse:
    """Show why a node exists and what came of it."""
    user = reader(request)
    found = node_of(user, pk)
    context = {
        "node": found,
        "heading": str(found),
        "claims": [trail_of_node(found, user)],
        "caused": caused_by_node(found, user),
    }
    return render(request, "graph/provenance.html", context)


@login_required
def edge_provenance(request: HttpRequest, pk: int) -> HttpResponse:
    """Show why an edge exists; one at a node that is not seen does not exist."""
    user = reader(request)
    nodes = Node.objects.visible_to(user).current()
    rows = Edge.objects.visible_to(user).filter(source__in=nodes, target__in=nodes)
    edge = get_object_or_404(
        rows.select_related("source__project__tenant", "target"), pk=pk
    )
    context = {
        "node": edge.source,
        "edge": edge,
        "heading": "",
        "claims": [trail_of_edge(edge, user)],
    }
    return render(request, "graph/provenance.html", context)


@login_required
def record_caused(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what came of a record."""
    user = reader(request)
    rows = Record.objects.visible_to(user).select_related(
        "source", "run", "project__tenant"
    )
    record = get_object_or_404(rows, pk=pk)
    context = {
        "record": record,
        "origin": origin_of(record),
        "heading": record.key,
        "project": record.project,
        "caused": caused_by_record(record, user),
    }
    return render(request, "graph/caused.html", context)
