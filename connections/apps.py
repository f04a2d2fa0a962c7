from django.apps import AppConfig


class ConnectionsConfig(AppConfig):
    name = "connections"
    verbose_name = "Connections"

    def ready(self) -> None:
        # A connector registers itself, its node types and its relations on import.
        from connections.sources import load_connectors

        load_connectors()

        # Its signals' receivers write rows, so models have to be there first.
        from connections.signing_in import connect

        connect()
