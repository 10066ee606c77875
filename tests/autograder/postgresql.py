"""A PostgreSQL server for a test: of its own, in a temporary folder, reached by a socket there and by nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psycopg2

from autograder.prerequisites import POSTGRESQL, path_of

NOBODY = 65534
#: A test's data need not outlive the machine; no port is open, and whoever can reach the socket may in.
SETTINGS = {"listen_addresses": "", "fsync": "off", "full_page_writes": "off", "max_connections": "20"}
PATIENCE = 60  # seconds


class Server:
    """Started by `start`, which may follow a `stop`; `remove` takes everything away."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a socket's path has to be short
        self._programs = Path(path_of(POSTGRESQL) or "").resolve().parent
        self._running: subprocess.Popen[bytes] | None = None
        # Nobody: the server refuses to run as root. It ends with the program that started it.
        self._wall = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            self._wall += [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        self._run("initdb", "--pgdata", self.data, "--username=grader", "--auth=trust", "--encoding=UTF8", "--no-sync")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def make(self, database: str, template: str = "template1") -> str:
        """Make a database, as a copy of another that nobody is connected with; returns its address."""
        self.sql(f"CREATE DATABASE {database} TEMPLATE {template}")
        return f"postgresql+psycopg2://grader@/{database}?host={self.folder}"

    def sql(self, statement: str, database: str = "postgres") -> list[tuple]:
        """What a statement answers, outside any transaction."""
        with closing(self.connection(database)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []

    def connection(self, database: str) -> psycopg2.extensions.connection:
        return psycopg2.connect(host=str(self.folder), user="grader", dbname=database)

    def start(self) -> None:
        options = [f"--{name}={value}" for name, value in SETTINGS.items()]
        command = [*self._wall, self._programs / "postgres", "-D", self.data, "-k", self.folder, *options]
        with (self.folder / "log").open("ab") as log:
            self._running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        end = time.monotonic() + PATIENCE
        while not self._ready():
            assert self._running.poll() is None and time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.05)

    def _ready(self) -> bool:
        file = self.data / "postmaster.pid"
        return file.exists() and file.read_text().rstrip().endswith("ready")

    def stop(self) -> None:
        """End it at once, whoever is connected."""
        if self._running:
            self._run("pg_ctl", "stop", "--pgdata", self.data, "--mode=immediate")
            self._running.wait(PATIENCE)
            self._running = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [*self._wall, self._programs / program, *arguments]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
