"""What each empty list of the admin says, and what to do next."""

from __future__ import annotations

from dataclasses import replace

from connections.empty_lists import EMPTY, Empty

READ_A_SOURCE = "manage.py ingest folder PATH --project TENANT/PROJECT"

TEXTS = {
    "graph.reviewitem": Empty(
        "Nothing waits for you.",
        "The next scan runs at night; manage.py scan_stale does it now.",
        "",
        "manage.py scan_stale --project TENANT/PROJECT",
    ),
    "graph.trashed": Empty(
        "The trash is empty.",
        "What a review prunes lies here for 30 days and can be put back.",
        "admin:graph_reviewitem_changelist",
    ),
    "graph.stalethreshold": Empty(
        "Every type has its published threshold.",
        "After how many days what a project knows is looked at again is set here.",
        "admin:graph_reviewitem_changelist",
    ),
    "graph.erasure": Empty(
        "Nothing was erased.",
        "A person is erased by their address, a source from its own page. Each "
        "erasure stays here with the proof that nothing is left.",
        "admin:graph_erasure_person",
    ),
    "graph.node": Empty(
        "No node is here that you may see.",
        "Nodes come from sources: read a folder, a mailbox or an export.",
        "admin:connections_source_changelist",
        READ_A_SOURCE,
    ),
    "graph.edge": Empty(
        "No edge is here that you may see.",
        "Edges come with the nodes of a source; read one first.",
        "admin:graph_node_changelist",
        READ_A_SOURCE,
    ),
    "graph.person": Empty(
        "Nobody is here yet.",
        "Persons are found in the accounts and addresses that sources name.",
        "admin:connections_source_changelist",
        READ_A_SOURCE,
    ),
    "graph.identity": Empty(
        "No identity is here yet.",
        "An identity is an address, an account or a name that a source mentions.",
        "admin:connections_source_changelist",
        READ_A_SOURCE,
    ),
    "graph.identitydecision": Empty(
        "Nobody has merged or split persons.",
        "Choose two persons in their list and merge them, if they are one.",
        "admin:graph_person_changelist",
    ),
    "graph.record": Empty(
        "No record is here that you may see.",
        "A record is what a source said, whole. Read a source, and they come.",
        "admin:connections_source_changelist",
        READ_A_SOURCE,
    ),
    "graph.embeddingmodel": Empty(
        "No model makes vectors.",
        "The installation sets one up when it migrates.",
        "",
        "manage.py migrate --database owner",
    ),
    "graph.refusedtext": Empty(
        "No text was refused.",
        "All is well: every text has its vector, or waits for it.",
        "admin:graph_embeddingmodel_changelist",
    ),
    "retrieval.community": Empty(
        "No community was found yet.",
        "They are found in the graph by themselves once it has a few hundred edges.",
        "admin:graph_node_changelist",
        "manage.py communities",
    ),
    "connections.source": Empty(
        "No source is connected.",
        "An operator connects one by reading it; runs and errors show here.",
        "",
        READ_A_SOURCE,
    ),
    "connections.syncrun": Empty(
        "No source was read yet.",
        "Each reading of a source is a run, with what it saw and what failed.",
        "admin:connections_source_changelist",
        READ_A_SOURCE,
    ),
    "connections.database": Empty(
        "No database is connected.",
        "Add one with a login that only reads: it is tested before it is asked.",
        "admin:connections_database_add",
    ),
    "connections.databasetable": Empty(
        "No schema was discovered.",
        "Connect a database; its tables and columns are read by themselves.",
        "admin:connections_database_changelist",
        "manage.py discover",
    ),
    "connections.databasequery": Empty(
        "No statement was run.",
        "Ask a database in plain words, and its statements are kept here.",
        "databases",
    ),
    "memory.observation": Empty(
        "Nothing is remembered that you may see.",
        "Facts, decisions and commitments are learned from conversations.",
        "chat",
    ),
    "memory.conversation": Empty(
        "You have asked nothing yet.",
        "Ask a question; you alone see your conversations until you share one.",
        "chat",
    ),
    "memory.feedback": Empty(
        "Nobody complains.",
        "What readers say of answers, good or bad, is worked off here.",
        "chat",
    ),
    "memory.verifiedexample": Empty(
        "No example was verified.",
        "Mark a right answer of a database as verified, and it teaches the next.",
        "databases",
    ),
    "connections.modelcredential": Empty(
        "No key of a model is stored.",
        "Without one, answers are made of quotations. Add a provider's key.",
        "admin:connections_modelcredential_add",
    ),
    "connections.modelusage": Empty(
        "No model was asked.",
        "What each model reads and writes is counted by day, once there is a key.",
        "admin:connections_modelcredential_changelist",
    ),
    "connections.user": Empty(
        "There is nobody.", "Add the first person.", "admin:connections_user_add"
    ),
    "connections.tenant": Empty(
        "There is no company.", "Add one.", "admin:connections_tenant_add"
    ),
    "connections.project": Empty(
        "You are in no project.",
        "Add one, or ask an admin of one to make you a member.",
        "admin:connections_project_add",
    ),
    "connections.membership": Empty(
        "Nobody is a member of your projects.",
        "Make people members, each with a role.",
        "admin:connections_membership_add",
    ),
    "connections.audience": Empty(
        "There is no audience yet.",
        "They come with sources: a private channel brings one, an open one another.",
        "admin:connections_source_changelist",
    ),
    "connections.apitoken": Empty(
        "There is no token.",
        "Make one for a program that reads or asks; it is shown once.",
        "admin:connections_apitoken_add",
    ),
    "connections.audit": Empty(
        "Nothing was done yet.",
        "Sign-ins, changes, questions and exports are written here as they happen.",
    ),
    "connections.savedview": Empty(
        "No list is kept.",
        "Filter and sort a list, then “Keep this list” above it.",
        "admin:graph_node_changelist",
    ),
}

# What stands on the link to a page.
LINKS = {
    "admin:graph_erasure_person": "Erase a person",
    "admin:connections_source_changelist": "Open the sources",
    "admin:connections_database_changelist": "Open the databases",
    "admin:connections_modelcredential_changelist": "Open the model keys",
    "admin:graph_node_changelist": "Open the nodes",
    "admin:graph_person_changelist": "Open the persons",
    "admin:graph_embeddingmodel_changelist": "Open the embedding models",
    "chat": "Ask a question",
    "databases": "Ask a database",
}

for _label, _text in TEXTS.items():
    EMPTY.add(_label, replace(_text, link=LINKS.get(_text.address, _text.link)))
