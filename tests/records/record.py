"""The files that hold the record: which tests have passed, by the key of what they depended on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path


class Record:
    """Proofs by the place they hold in: one file per area, `proven/<area>.json`.

    In a file: environment → key → names of tests, so that the change of one dependency changes few lines.
    """

    def __init__(self, folder: Path, environment: str) -> None:
        self.folder = folder
        self.environment = environment
        self._read: dict[str, dict[str, str]] = {}

    def key(self, area: str, test: str) -> str | None:
        """The key a test was proven with here; None where it was not."""
        if area not in self._read:
            self._read[area] = {name: key for key, names in self._here(area).items() for name in names}
        return self._read[area].get(test)

    def areas(self) -> list[str]:
        """Every area that has a file."""
        return sorted(path.relative_to(self.folder).with_suffix("").as_posix() for path in self.folder.rglob("*.json"))

    def tests(self, area: str) -> list[str]:
        """The tests of an area that are on record here."""
        return sorted(name for names in self._here(area).values() for name in names)

    def change(self, proven: dict[str, dict[str, str]], removed: Iterable[tuple[str, str]] = ()) -> list[Path]:
        """Write proofs, by area and test, and take others away; what was proven elsewhere with other keys goes too.

        Returns the files that have changed.
        """
        gone = defaultdict(set)
        for area, test in removed:
            gone[area].add(test)
        return [
            path
            for area in sorted(proven.keys() | gone)
            if (path := self._change(area, proven.get(area, {}), gone[area]))
        ]

    def _change(self, area: str, proven: dict[str, str], removed: set[str]) -> Path | None:
        path, old = self._path(area), self._all(area)
        new: dict[str, dict[str, list[str]]] = {}
        for environment, keys in (old | {self.environment: old.get(self.environment, {})}).items():
            tests = {test: key for key, names in keys.items() for test in names if test not in removed}
            if environment == self.environment:
                tests |= proven
            else:
                tests = {test: key for test, key in tests.items() if proven.get(test, key) == key}
            grouped = defaultdict(list)
            for test, key in sorted(tests.items()):
                grouped[key].append(test)
            if grouped:
                new[environment] = dict(sorted(grouped.items(), key=lambda item: item[1]))
        self._read.pop(area, None)
        if new == old:
            return None
        if not new:
            path.unlink()
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(dict(sorted(new.items())), indent=1, ensure_ascii=False)
        part = path.with_suffix(".part")
        part.write_text(f"{text}\n", encoding="utf-8")
        part.replace(path)
        return path

    def _here(self, area: str) -> dict[str, list[str]]:
        return self._all(area).get(self.environment, {})

    def _all(self, area: str) -> dict[str, dict[str, list[str]]]:
        path = self._path(area)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def _path(self, area: str) -> Path:
        return self.folder / f"{area}.json"
