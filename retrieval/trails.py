"""What retrieval makes of nodes: the communities they are in, and their texts."""

from __future__ import annotations

from collections.abc import Sequence

from connections.models import User
from graph.trails import MOST, Caused, Claim, Start, trail_steps
from retrieval.models import Community, CommunityMember


@trail_steps.register("communities")
def communities_of(start: Start, reader: User) -> Sequence[Caused]:
    """Return the communities that the nodes are part of."""
    scope = {"tenant_id": start.tenant_id, "project_id": start.project_id}
    members = CommunityMember.objects.filter(**scope, node_id__in=start.nodes)
    every = Community.objects.filter(**scope, pk__in=members.values("community_id"))
    seen = every.visible_to(reader)
    count = seen.count()
    quoted = set(
        members.filter(is_evidence=True).values_list("community_id", flat=True)
    )
    examples = [
        Claim(
            kind="community",
            name=str(community),
            address="",
            icon="forum",
            detail="its text quotes this" if community.pk in quoted else "",
        )
        for community in seen.defer("embedding").order_by("pk")[:MOST]
    ]
    return [
        Caused(
            sort="communities",
            title="Communities it is part of",
            count=count,
            hidden=every.count() - count,
            examples=examples,
        )
    ]
