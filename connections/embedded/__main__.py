"""`python -m connections.embedded start|stop|status [postgres|valkey]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from connections.embedded import (
    EmbeddedError,
    ensure_postgres,
    ensure_valkey,
    postgres_runs,
    stop_postgres,
    stop_valkey,
    valkey_runs,
)

SERVERS: dict[str, dict[str, Callable[[], object]]] = {
    "valkey": {"start": ensure_valkey, "stop": stop_valkey, "status": valkey_runs},
    "postgres": {
        "start": ensure_postgres,
        "stop": stop_postgres,
        "status": postgres_runs,
    },
}


def main() -> int:
    """Do one verb to one embedded server, or to both; 1 when one fails or is down."""
    parser = argparse.ArgumentParser(prog="python -m connections.embedded")
    parser.add_argument("verb", choices=["start", "stop", "status"])
    parser.add_argument("server", nargs="*", choices=[*SERVERS, []])
    chosen = parser.parse_args()
    down = False
    for name in chosen.server or SERVERS:
        try:
            SERVERS[name][chosen.verb]()
        except EmbeddedError as error:
            sys.exit(str(error))
        runs = bool(SERVERS[name]["status"]())
        down |= runs == (chosen.verb == "stop")
        sys.stdout.write(f"{name} {'runs' if runs else 'is stopped'}\n")
    return int(down)


if __name__ == "__main__":
    sys.exit(main())
