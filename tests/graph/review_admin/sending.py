"""Requests to the admin's pages of the review queue and of the trash."""

from __future__ import annotations

from django.test import Client

QUEUE = "/admin/graph/reviewitem/"

TRASH = "/admin/graph/trashed/"


def signed_in(user, **options) -> Client:
    user.is_staff = True
    user.save()
    client = Client(**options)
    client.force_login(user)
    return client


def page_of(item) -> str:
    return f"{QUEUE}{item.pk}/change/"


def send(client, item, verb, **more):
    item.refresh_from_db()
    given = {"verb": verb, "version": item.version, "reason": "It is so.", **more}
    return client.post(f"{QUEUE}{item.pk}/decide/", given)


def token_in(response) -> str:
    return str(response.context["found"].token)


def bulk(client, verb, items, **more):
    asked = client.post(
        QUEUE,
        {
            "action": f"{verb}_them",
            "_selected_action": [item.pk for item in items],
            "index": 0,
        },
    )
    given = {"verb": verb, "chosen": asked.context["chosen"], "reason": "All so."}
    if asked.context["found"]:
        given["token"] = token_in(asked)
    return asked, client.post(f"{QUEUE}bulk/", given | more)
