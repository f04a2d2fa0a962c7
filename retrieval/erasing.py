"""What of retrieval goes with erased records: triggers take a community's text and its
members with the nodes; here they are found and told anew, and words counted."""

from __future__ import annotations

import time
from collections.abc import Sequence

from connections.models import Project
from graph.copying import execute
from graph.erasers import Counts, Eraser, Going, erasers
from retrieval import erasing_sql
from retrieval.communities.refresh import RefreshBusy, refresh_communities
from retrieval.frequencies import count_lexemes
from retrieval.models import Community, CommunityRun

TRIES, PAUSE_SECONDS = 60, 5.0


def take_texts(going: Going) -> Counts:
    """Take the text and the vector of every community that the nodes are members of:
    both were made of several of its texts."""
    taken = execute(
        erasing_sql.TAKE_TEXTS,
        {
            "tenant": going.project.tenant_id,
            "project": going.project.pk,
            "nodes": list(going.nodes),
        },
    )
    return {"retrieval_communities": taken}


def _nothing(project: Project, nodes: Sequence[int]) -> Counts:
    """Triggers have taken what was made of other words."""
    return {}


def settle(project: Project) -> Counts:
    """Find the communities of `project` anew where it has any, and count its words."""
    count_lexemes(project, always=True)
    if not CommunityRun.objects.filter(
        project=project, refreshed_at__isnull=False
    ).exists():
        return {}
    for last in (False,) * (TRIES - 1) + (True,):
        try:
            refresh_communities(project, afresh=True)
            break
        except RefreshBusy:
            if last:
                raise
            time.sleep(PAUSE_SECONDS)
    return {"retrieval_communities": Community.objects.of(project).count()}


erasers.add("retrieval", Eraser(going=take_texts, changed=_nothing, settle=settle))
