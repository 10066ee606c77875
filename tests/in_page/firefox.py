"""Firefox, as far as tests need it: a tab that goes, types, clicks and tells what it shows."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.course.paths import ROOT

DRIVER = Path(__file__).with_suffix(".mjs")


class Firefox:
    """A tab; every method of Puppeteer's Page is one of this too, and beside them fill, press, type and version."""

    def __init__(self, running: subprocess.Popen[str]) -> None:
        self.running = running

    def __getattr__(self, method: str) -> Any:
        return lambda *given: self.ask(method, *given)

    def ask(self, method: str, *given: Any) -> Any:
        """What the driver answers to one method."""
        assert self.running.stdin and self.running.stdout
        print(json.dumps([method, *given]), file=self.running.stdin, flush=True)
        line = self.running.stdout.readline()
        if not line:
            raise RuntimeError(f"Firefox ended at {method}{given}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{method}{given}: {answer['error']}")
        return answer["got"]

    def text(self, selector: str) -> str:
        """What an element shows."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def wait_for(self, condition: str) -> None:
        """condition: an expression of JavaScript"""
        self.waitForFunction(condition)


@contextmanager
def firefox(program: str) -> Iterator[Firefox]:
    """A tab of a Firefox that runs meanwhile; program: its path"""
    command = ["node", str(DRIVER), program]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield Firefox(running)
        assert running.stdin
        running.stdin.close()
