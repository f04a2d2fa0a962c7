"""What the matrix expects: of every address, who may write there.

An address without an entry turns the test red: whoever adds one says here who may.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from connections.models import Role

NOBODY, MEMBER, OWNER, OPERATOR, ANYONE = (
    "nobody",
    "member",
    "owner",
    "operator",
    "anyone",
)
VIEWER, EDITOR, REVIEWER, ADMIN = Role
# Whose it is, and an admin of the project that it is shared with.
KEEPER = "keeper"
# Signed in, of a project or not.
SIGNED_IN = "signed in"

# By the name of the model: who adds, who changes, who deletes rows; by name, actions.
MODELS: dict[str, dict[str, object]] = {
    "memory.feedback": {"resolve": REVIEWER},
    "memory.conversation": {},
    "memory.verifiedexample": {"verify_selected": REVIEWER, "reject_selected": REVIEWER},
    "memory.observation": {
        # Their own to everybody; what is shared to reviewers.
        "pin_selected": MEMBER,
        "unpin_selected": MEMBER,
        "restore_selected": MEMBER,
        "forget_selected": MEMBER,
    },
    "graph.node": {},
    "graph.edge": {},
    "graph.embeddingmodel": {},
    "graph.refusedtext": {},
    "graph.person": {"merge": REVIEWER},
    "graph.identity": {"split": REVIEWER},
    "graph.identitydecision": {},
    "graph.record": {},
    "graph.erasure": {"source": ADMIN, "person": ADMIN},
    "graph.stalethreshold": {"set": ADMIN},
    "graph.reviewitem": {
        # Opening an item holds it for its reader.
        "change": REVIEWER,
        "bulk": REVIEWER, "decide": REVIEWER, "leave": REVIEWER, "undo": REVIEWER,
        "keep_them": REVIEWER, "prune_them": REVIEWER, "snooze_them": REVIEWER,
        "assign_them": REVIEWER,
    },
    "graph.trashed": {"restore": REVIEWER, "put_back": REVIEWER},
    "retrieval.community": {},
    "connections.audit": {"export": ADMIN},
    "connections.database": {
        "add": ADMIN, "change": ADMIN, "delete": ADMIN, "delete_selected": ADMIN,
    },
    "connections.modelcredential": {
        "add": ADMIN, "change": ADMIN, "delete": ADMIN, "delete_selected": ADMIN,
    },
    "connections.modelusage": {},
    "connections.user": {
        "add": ADMIN, "change": OWNER, "password": OWNER, "delete": OPERATOR,
        "delete_selected": OPERATOR,
    },
    "connections.membership": {
        "add": ADMIN, "change": ADMIN, "delete": ADMIN, "delete_selected": ADMIN,
    },
    "connections.databasequery": {},
    "connections.source": {},
    "connections.syncrun": {},
    "connections.databasetable": {"expose": ADMIN, "discover": ADMIN},
    "connections.apitoken": {"add": ADMIN, "revoke": OWNER},
    "connections.tenant": {"add": OPERATOR, "change": OPERATOR},
    "connections.project": {"add": OPERATOR, "change": ADMIN},
    "connections.audience": {},
    # A list kept for oneself; sharing it with a project asks for an editor there.
    "connections.savedview": {
        "keep": SIGNED_IN, "change": OWNER, "delete": KEEPER, "delete_selected": KEEPER,
    },
}  # fmt: skip
# Of other packages: rows of the installation, which operators alone see.
OTHERS = ("django_celery_beat", "django_celery_results", "axes")

# Beside the models: pages, the API, and the admin's own.
ROUTES: dict[str, object] = {
    "admin/": NOBODY,
    "admin/search/": NOBODY,
    "admin/login/": ANYONE,
    "admin/logout/": ANYONE,
    "admin/password_change/": SIGNED_IN,
    "admin/password_change/done/": NOBODY,
    "admin/autocomplete/": NOBODY,
    "admin/jsi18n/": NOBODY,
    "admin/r/<path:rest>": NOBODY,
    "admin/r/<path:content_type_id>/<path:object_id>/": NOBODY,
    "admin/(?P<url>.*)$": NOBODY,
    "login/": ANYONE,
    "logout/": ANYONE,
    "healthz": NOBODY,
    "readyz": NOBODY,
    "metrics": NOBODY,
    "": NOBODY,
    "ask/": MEMBER,
    "search/": NOBODY,
    "search/neighbourhood/<int:pk>/": NOBODY,
    "nodes/<int:pk>/": NOBODY,
    "nodes/<int:pk>/timeline/": NOBODY,
    "nodes/<int:pk>/paths/": NOBODY,
    "nodes/<int:pk>/provenance/": NOBODY,
    "edges/<int:pk>/provenance/": NOBODY,
    "records/<int:pk>/caused/": NOBODY,
    "graph/": NOBODY,
    "memory/": NOBODY,
    "memory/graph/": NOBODY,
    "memory/<int:pk>/<slug:act>/": MEMBER,
    "conversations/": NOBODY,
    "conversations/<uuid:pk>/": OWNER,
    "conversations/<uuid:pk>/rename/": OWNER,
    "conversations/<uuid:pk>/pin/": OWNER,
    "conversations/<uuid:pk>/delete/": OWNER,
    "turns/<int:pk>/": OWNER,
    "turns/<int:pk>/answer.md": NOBODY,
    "turns/<int:pk>/provenance/": NOBODY,
    "turns/<int:pk>/feedback/": OWNER,
    "turns/<int:pk>/remembered/": NOBODY,
    "turns/<int:pk>/tables/<int:place>/result.csv": OWNER,
    "turns/<int:pk>/tables/<int:place>/verdict/": OWNER,
    "databases/": NOBODY,
    "databases/<uuid:pk>/": NOBODY,
    "databases/<uuid:pk>/schema/": NOBODY,
    "databases/<uuid:pk>/runs/": NOBODY,
    "databases/<uuid:pk>/run/": MEMBER,
    "databases/<uuid:pk>/ask/": MEMBER,
    "databases/<uuid:pk>/cancel/": MEMBER,
    "databases/<uuid:pk>/result.csv": MEMBER,
    "databases/<uuid:pk>/saved/": MEMBER,
    "databases/<uuid:pk>/saved/<uuid:saved>/delete/": OWNER,
    "api/v1/projects/": NOBODY,
    "api/v1/connections/databases/": (ADMIN, "admin"),
    "api/v1/connections/databases/<uuid:pk>/": (ADMIN, "admin"),
    "api/v1/connections/databases/<uuid:pk>/test/": (ADMIN, "admin"),
    "api/v1/connections/databases/<uuid:pk>/schema/": NOBODY,
    "api/v1/connections/databases/<uuid:pk>/discover/": (EDITOR, "write"),
    "api/v1/connections/databases/<uuid:pk>/exposures/": (ADMIN, "admin"),
    "api/v1/connections/databases/<uuid:pk>/query/": (VIEWER, "ask"),
    "api/v1/connections/databases/<uuid:pk>/ask/": (VIEWER, "ask"),
    "api/v1/connections/queries/": NOBODY,
    "api/v1/connections/queries/<uuid:pk>/": NOBODY,
    "api/v1/connections/queries/<uuid:pk>/cancel/": (VIEWER, "ask"),
    "api/v1/connections/saved-queries/": (VIEWER, "write"),
    "api/v1/connections/saved-queries/<uuid:pk>/": (OWNER, "write"),
    "api/v1/graph/nodes/": (EDITOR, "write"),
    "api/v1/graph/nodes/<int:pk>/": (EDITOR, "write"),
    "api/v1/graph/nodes/<int:pk>/neighbours/": NOBODY,
    "api/v1/graph/nodes/<int:pk>/provenance/": NOBODY,
    "api/v1/graph/nodes/<int:pk>/timeline/": NOBODY,
    "api/v1/graph/edges/": (EDITOR, "write"),
    "api/v1/graph/edges/<int:pk>/": (EDITOR, "write"),
    "api/v1/graph/edges/<int:pk>/provenance/": NOBODY,
    "api/v1/graph/paths/": NOBODY,
    "api/v1/graph/picture/": NOBODY,
    "api/v1/graph/picture/path/": NOBODY,
    "api/v1/graph/statistics/": NOBODY,
    "api/v1/memory/conversations/": NOBODY,
    "api/v1/memory/conversations/<uuid:pk>/": (OWNER, "write"),
    "api/v1/memory/conversations/<uuid:pk>/end/": (OWNER, "write"),
    "api/v1/memory/observations/": (VIEWER, "write"),
    "api/v1/memory/observations/<int:pk>/": (VIEWER, "write"),
    "api/v1/memory/observations/<int:pk>/restore/": (VIEWER, "write"),
    "api/v1/memory/observations/<int:pk>/provenance/": NOBODY,
    "api/v1/memory/turns/<int:turn>/provenance/": NOBODY,
    "api/v1/memory/context/": NOBODY,
    "api/v1/memory/sync/": (VIEWER, "write"),
    "api/v1/memory/graph": NOBODY,
    "api/v1/memory/graph/": NOBODY,
    "api/v1/memory/environments": NOBODY,
    "api/v1/memory/environments/": NOBODY,
    "api/v1/search/": NOBODY,
    "api/v1/chat/": (VIEWER, "ask"),
    "api/v1/chat/turns/<int:turn>/stop/": (OWNER, "ask"),
    "api/v1/review/items/": NOBODY,
    "api/v1/review/items/<int:pk>/": NOBODY,
    "api/v1/review/items/<int:pk>/assign/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/edit/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/hold/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/keep/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/merge/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/prune/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/release/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/snooze/": (REVIEWER, "review"),
    "api/v1/review/items/<int:pk>/undo/": (REVIEWER, "review"),
    "api/v1/review/trash/": NOBODY,
    "api/v1/review/trash/<int:pk>/restore/": (REVIEWER, "review"),
    "api/v1/review/thresholds/": (ADMIN, "admin"),
    "api/v1/review/report/": NOBODY,
    "api/v1/schema/": NOBODY,
    "api/v1/docs/": NOBODY,
    "api/v1/": NOBODY,
}
# Open to whoever is not signed in.
PUBLIC = {
    "admin/login/",
    "login/",
    "logout/",
    "healthz",
    "readyz",
    "metrics",
    "admin/jsi18n/",
    # What the API is, which holds no row.
    "api/v1/schema/",
    "api/v1/docs/",
}

# Of databases that are closed to them, too, admins of the project see the structure
# and choose what is seen of it; the values are the audience's.
STRUCTURE = "admin/connections/databasetable/"
SQL = {"sql": "SELECT 1", "question": "How many?"}
# What is sent, by address; without an entry nothing but what every form has.
BODIES: dict[str, dict[str, object]] = {
    "ask/": {"question": "zz launch"},
    "conversations/<uuid:pk>/rename/": {"title": "other"},
    "turns/<int:pk>/feedback/": {"verdict": "wrong", "note": "no"},
    "databases/<uuid:pk>/run/": SQL,
    "databases/<uuid:pk>/ask/": SQL,
    "databases/<uuid:pk>/result.csv": SQL,
    "databases/<uuid:pk>/saved/": {**SQL, "title": "mine"},
    "api/v1/search/": {"project": "acme/main", "query": "launch"},
    "api/v1/chat/": {"project": "acme/main", "question": "launch", "stream": False},
    "api/v1/connections/databases/<uuid:pk>/query/": {"sql": "SELECT 1"},
    "api/v1/connections/databases/<uuid:pk>/ask/": {"question": "How many?"},
    "api/v1/connections/databases/<uuid:pk>/": {"title": "other"},
    "api/v1/connections/databases/": {
        "project": "acme/main", "name": "new", "engine": "postgres", "host": "db.test",
        "port": 5432, "database": "d", "user": "u", "password": "p",
    },
    "api/v1/memory/observations/": {
        "project": "acme/main", "text": "A new one is here.", "type": "fact",
    },
    "api/v1/memory/observations/<int:pk>/": {"text": "Other words are here."},
    "api/v1/memory/conversations/<uuid:pk>/": {"title": "other"},
    "api/v1/memory/sync/": {"project": "acme/main"},
    "api/v1/graph/nodes/": {"project": "acme/main", "type": "topic", "title": "Newly so"},
    "api/v1/graph/edges/": {
        "project": "acme/main", "source": "zzopenzz:1", "relation": "follows",
        "target": "zzopenzz:2",
    },
    "api/v1/graph/nodes/<int:pk>/": {"content": "Other words are here."},
    "api/v1/graph/edges/<int:pk>/": {"quote": "Other words are here."},
    "api/v1/connections/databases/<uuid:pk>/exposures/": {
        "exposure": "hidden", "schema": "public",
    },
    "api/v1/review/items/<int:pk>/assign/": {"assignee": None},
    "api/v1/review/items/<int:pk>/edit/": {"text": "Other words are here."},
    "api/v1/review/items/<int:pk>/keep/": {"reason": "It holds."},
    "api/v1/review/items/<int:pk>/prune/": {"reason": "It is gone."},
    "api/v1/review/items/<int:pk>/snooze/": {
        "until": (timezone.now() + timedelta(days=9)).isoformat(),
    },
    "api/v1/review/thresholds/": {"project": "acme/main", "type": "default", "days": 77},
    "admin/graph/stalethreshold/<int:pk>/set/": {"days-default": "77"},
    "admin/graph/erasure/person/": {"name": "nobody@x.test", "typed": "no"},
    "admin/connections/savedview/keep/": {
        "model": "graph.node", "name": "kept", "query": "",
    },
}  # fmt: skip
# What follows the address, where it needs something to answer.
QUERIES = {
    "search/": "?q=launch",
    "api/v1/graph/statistics/": "?project=acme/main",
    "api/v1/memory/context/": "?project=acme/main",
    "api/v1/memory/graph": "?project=acme/main",
    "api/v1/memory/graph/": "?project=acme/main",
    "databases/<uuid:pk>/runs/": "?whose=all",
    "admin/search/": "?s=zz",
    "api/v1/graph/picture/": "?project=acme/main",
    "api/v1/graph/picture/path/": (
        "?project=acme/main&from=zzprivatezz:1&to=zzprivatezz:person"
    ),
    "api/v1/graph/paths/": "?project=acme/main&from=zzprivatezz:1&to=zzopenzz:1",
    "api/v1/review/items/": "?state=any",
    "api/v1/review/report/": "?project=acme/main",
    "api/v1/review/thresholds/": "?project=acme/main&type=default",
    "graph/": "?project=acme/main",
}
