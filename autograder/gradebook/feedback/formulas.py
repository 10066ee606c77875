"""Sets the formulas of pages as MathML, with the KaTeX of the book and without a network."""

from __future__ import annotations

import json
import select
import shutil
import subprocess
import time
from pathlib import Path

import psutil
from markupsafe import Markup

from ...course.paths import ROOT
from ...course.printable import printable
from ...intake.notebook import KEPT_SIGNS as KEPT_IN_ANSWERS

KATEX = ROOT / "node_modules" / "katex"
PROGRAM = Path(__file__).with_name("typeset.cjs")
MOST_TEX = 4_000  # characters of a formula
MOST_MADE = 2**20  # characters of all formulas of one text: a macro of its own makes thousands of one
#: Signs without a picture that languages are written with, and those that KaTeX writes itself. By its `char` a learner
#: can have any other, and surrogates, which no file can hold.
KEPT_SIGNS = f"{KEPT_IN_ANSWERS}\u2061\u2062\u2063\u2064\u200b"
SECONDS = 5.0  # of the processor, for the formulas of one text; those of honest answers take a millisecond each
WALL_SECONDS = 60.0  # by the clock: a busy machine answers late, and the same
LOOK_SECONDS = 0.1  # between two looks at what a formula has taken


def version() -> str:
    """The version of KaTeX that sets formulas here; "" where there is none, or no Node.js."""
    try:
        settings = json.loads((KATEX / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(settings.get("version", "")) if shutil.which("node") else ""


class Formulas:
    """Sets formulas one by one; in a with statement. The program starts with the first of them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], Markup | None] = {}
        #: Whole texts with their formulas, as they were rendered: questions are the same for everybody.
        self.texts: dict[str, Markup] = {}
        self._program: subprocess.Popen[bytes] | None = None
        self._is_there = bool(version())
        self._left, self._seconds = MOST_MADE, SECONDS

    def __enter__(self) -> Formulas:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def begin_text(self) -> None:
        """What comes now is another text's: what earlier ones have taken costs it nothing."""
        self._left, self._seconds = MOST_MADE, SECONDS

    def html(self, tex: str, display: bool) -> Markup | None:
        """A formula as MathML; None for what KaTeX cannot set, or where there is no KaTeX.

        None also where this text has had its share already, of the page or of time.
        """
        wanted = (" ".join(tex.split()), display)
        if len(tex) > MOST_TEX or self._left <= 0 or self._seconds <= 0:
            return None
        if wanted not in self._known:
            try:
                answer = self._asked(*wanted)
            except (OSError, ValueError):  # the program has ended, or takes too long
                self._end()
                self._seconds = 0.0
                return None
            self._known[wanted] = Markup(answer) if answer and printable(answer, KEPT_SIGNS) == answer else None
        made = self._known[wanted]
        self._left -= len(made or "")
        return made if self._left >= 0 else None

    def _asked(self, tex: str, display: bool) -> str | None:
        if self._program is None and self._is_there:
            self._start()
        if self._program is None:
            return None
        assert self._program.stdin
        before = _seconds_of(self._program.pid)
        self._program.stdin.write(json.dumps({"tex": tex, "display": display}).encode() + b"\n")
        answer = self._line()
        self._seconds -= _seconds_of(self._program.pid) - before
        return answer if isinstance(answer, str) else None

    def _start(self) -> None:
        try:
            self._program = subprocess.Popen(
                ["node", str(PROGRAM), str(KATEX / "dist" / "katex.js")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
            self._line()
        except (OSError, ValueError):
            self._end()
            self._is_there = False

    def _line(self) -> object:
        """What the program says next; raises ValueError where it takes too long over it, and OSError."""
        assert self._program and self._program.stdout
        end, answer = time.monotonic() + WALL_SECONDS, b""
        seconds = _seconds_of(self._program.pid) + self._seconds
        while not answer.endswith(b"\n"):
            if select.select([self._program.stdout], [], [], LOOK_SECONDS)[0]:
                part = self._program.stdout.read(1 << 16)
                if not part:
                    raise ValueError("the program has ended")
                answer += part
            elif time.monotonic() > end or _seconds_of(self._program.pid) > seconds:
                raise ValueError("the program takes too long")
        return json.loads(answer)

    def _end(self) -> None:
        if self._program:
            self._program.kill()
            self._program.communicate()
            self._program = None


def _seconds_of(pid: int) -> float:
    """Seconds of the processor that a process has used; raises OSError where it has gone."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error as error:
        raise ProcessLookupError(str(error)) from None
    return float(times.user + times.system)
