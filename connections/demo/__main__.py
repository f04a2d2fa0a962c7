"""`python -m connections.demo FOLDER` writes the demo company."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from connections.demo.generate import DemoFolderError, write


def main() -> int:
    """Write the demo company into the folder named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m connections.demo")
    parser.add_argument("folder", type=Path, help="an empty folder, or an earlier demo")
    folder = parser.parse_args().folder
    try:
        write(folder)
    except DemoFolderError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
