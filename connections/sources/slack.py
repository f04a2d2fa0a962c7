"""Slack from an export: accounts, channels, messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from connections.records import Failure, Record
from connections.sources.base import Pull, connectors
from connections.sources.slack_directory import (
    account_records,
    channel_records,
    read_directory,
)
from connections.sources.slack_export import Export, open_export
from connections.sources.slack_messages import BadMessage, Drafter


@connectors.register("slack")
class SlackConnector:
    """Reads a Slack export: the zip as Slack made it, or the folder unpacked."""

    kind: ClassVar[str] = "slack"
    label: ClassVar[str] = "Slack export"
    source_kind: ClassVar[str] = "slack"
    complete: ClassVar[bool] = False
    personal: ClassVar[bool] = False

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        """Yield accounts, then channels, then messages by folder and day."""
        with open_export(request.location) as export:
            yield from export.archive.refused
            yield from export.odd
            directory = read_directory(export)
            yield from directory.failures
            yield from account_records(directory, request)
            yield from channel_records(directory, request)
            drafter = Drafter(directory, request)
            for folder in export.folders:
                yield from _conversation(export, folder, drafter)


def _conversation(
    export: Export, folder: str, drafter: Drafter
) -> Iterator[Record | Failure]:
    channel = drafter.directory.folders[folder]
    for where, item in export.messages(folder):
        if isinstance(item, Failure):
            yield item
            continue
        try:
            record = drafter.record(item, channel)
        except BadMessage as error:
            yield Failure(where, str(error))
        except RecursionError:
            yield Failure(where, "Nested too deeply to be a message.")
        else:
            yield from drafter.newcomers(record)
            yield record
