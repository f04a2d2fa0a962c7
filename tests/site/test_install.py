"""`deploy/install` with stand-ins for uv, pip's Python and the system's installer."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-mysql.lock")
# A uv that makes an environment of a link, and notes what it was asked to install.
UV = """\
#!/bin/sh
echo "uv $*" >> "$CALLS"
case $1 in
    --version) exit 0 ;;
    venv) for venv; do :; done; mkdir -p "$venv/bin"
          ln -sf "$PYTHON" "$venv/bin/python"; exit 0 ;;
esac
[ ! -e "$BROKEN" ]
"""
# A Python that is recent, and whose pip fails where uv does.
PYTHON = """\
#!/bin/sh
[ "$1" = -c ] || echo "python $*" >> "$CALLS"
[ "$*" != "${*#*pip install}" ] && [ -e "$BROKEN" ] && exit 1
exit 0
"""
# What the script itself calls; nothing else of the real machine is in its PATH.
COMMANDS = [
    "sh",
    "cat",
    "cksum",
    "dirname",
    "flock",
    "grep",
    "id",
    "ln",
    "mkdir",
    "mv",
    "rm",
    "tr",
]
NOTED = '#!/bin/sh\necho "{name} $*" >> "$CALLS"\nexit {code}\n'


@dataclass
class Machine:
    """A checkout without its code, on a machine whose tools are stand-ins."""

    folder: Path

    @property
    def marks(self) -> dict[str, str]:
        found = (self.folder / ".venv").glob(".fabric-*")
        return {path.name: path.read_text() for path in found}

    def tool(self, name: str, code: int = 0, text: str | None = None) -> None:
        program = self.folder / "bin" / name
        program.write_text(text or NOTED.format(name=name, code=code))
        program.chmod(0o755)

    def calls(self) -> list[str]:
        """Return what the tools were asked since the last question."""
        log = self.folder / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line for line in lines if "--version" not in line]

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.folder / "bin"),
            "PYTHON": str(self.folder / "bin" / "python3.11"),
            "CALLS": str(self.folder / "calls"),
            "BROKEN": str(self.folder / "broken"),
        }
        return subprocess.run(
            [self.folder / "deploy" / "install", *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(CHECKOUT / "deploy" / "install", tmp_path / "deploy" / "install")
    for lock in LOCKS:
        (tmp_path / lock).write_text(f"{lock.replace('.', '-')}==1\n")
    made = Machine(tmp_path)
    for command in COMMANDS:
        if real := shutil.which(command):
            (tmp_path / "bin" / command).symlink_to(real)
    made.tool("uv", text=UV)
    made.tool("python3.11", text=PYTHON)
    for name in ("gcc", "pkg-config", "mariadbd", "chromium"):
        made.tool(name)
    # Never the real ones.
    made.tool("apt-get", code=1)
    made.tool("sudo", code=1)
    return made


def installed(calls: list[str]) -> list[str]:
    """Return the lock files that were installed, in order."""
    return [call.split()[-1] for call in calls if call.startswith("uv pip")]


def test_the_first_run_installs_and_the_second_has_nothing_to_do(
    machine: Machine,
) -> None:
    assert machine.install("site").returncode == 0
    assert installed(machine.calls()) == [LOCKS[0], LOCKS[2]]
    again = machine.install("site")
    assert (again.returncode, again.stderr) == (0, "")
    assert not installed(machine.calls())


def test_a_changed_lock_is_installed_again(machine: Machine) -> None:
    machine.install("site")
    (machine.folder / LOCKS[0]).write_text("other==2\n")
    machine.calls()
    assert machine.install("site").returncode == 0
    assert LOCKS[0] in installed(machine.calls())


def test_what_the_tests_need_is_kept_by_a_later_run(machine: Machine) -> None:
    assert machine.install("tests").returncode == 0
    assert installed(machine.calls())[0] == LOCKS[1]
    assert machine.install("site").returncode == 0
    assert not installed(machine.calls())


def test_a_failed_install_leaves_no_mark_and_the_next_run_completes_it(
    machine: Machine,
) -> None:
    (machine.folder / "broken").touch()
    failed = machine.install("site")
    assert failed.returncode != 0
    assert "run the same command again" in failed.stderr
    assert ".fabric-installed" not in machine.marks
    (machine.folder / "broken").unlink()
    assert machine.install("site").returncode == 0
    assert ".fabric-installed" in machine.marks


def test_without_the_packages_of_mysqlclient_it_goes_on_and_prints_their_line(
    machine: Machine,
) -> None:
    machine.tool("pkg-config", code=1)
    done = machine.install("site")
    assert done.returncode == 0
    assert re.search(r"sudo apt-get install .*libmariadb-dev pkg-config", done.stderr)
    assert installed(machine.calls()) == [LOCKS[0]]
    assert machine.install("site").stderr == ""
    machine.tool("pkg-config")
    machine.calls()
    machine.install("site")
    assert installed(machine.calls()) == [LOCKS[2]]


def test_a_missing_package_of_the_tests_is_installed_or_its_command_printed(
    machine: Machine,
) -> None:
    (machine.folder / "bin" / "chromium").unlink()
    refused = machine.install("tests")
    assert "sudo apt-get install --no-install-recommends chromium" in refused.stderr
    machine.tool("apt-get")
    machine.tool("sudo", text='#!/bin/sh\nshift\n"$@"\n')
    machine.calls()
    allowed = machine.install("tests")
    assert "sudo apt-get" not in allowed.stderr
    asked = [call for call in machine.calls() if call.startswith("apt-get")]
    assert [call.split()[-1] for call in asked] == ["chromium"]


def test_where_uv_fails_pip_installs_the_same_lock_by_its_hashes(
    machine: Machine,
) -> None:
    machine.tool("uv", text=UV.replace('[ ! -e "$BROKEN" ]', "exit 1"))
    assert machine.install("site").returncode == 0
    asked = [
        call for call in machine.calls() if "pip install" in call and "uv" not in call
    ]
    assert [call.split()[-1] for call in asked] == [LOCKS[0], LOCKS[2]]
    assert all("--require-hashes" in call for call in asked)


def test_an_unknown_request_is_answered_with_the_usage(machine: Machine) -> None:
    refused = machine.install("everything")
    assert refused.returncode == 1
    assert refused.stderr == "Usage: deploy/install [site|tests]\n"


def test_make_alone_lists_every_target_with_a_line_on_each() -> None:
    shown = subprocess.run(
        ["make"],  # noqa: S607
        check=True,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    ).stdout
    targets = re.findall(r"^  make (\w+) +\S", shown, re.MULTILINE)
    assert targets == ["help", "install", "run", "test", "lint", "bench"]
