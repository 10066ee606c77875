"""Takes proofs from the record, proves what is not on it, and tells how many were which.

`--records=ignore` (the default) runs what it is asked to; `take` does not run a proof whose record matches; `write`
takes likewise, and writes what it has proven; `check` runs everything and tells which record was wrong.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autograder.build.import_closure import Closure

from .digest import Digests, UnknownDependency, environment
from .record import Record

MODES = ("ignore", "take", "write", "check")
FOLDER = Path(__file__).parent / "proven"
OPTIONS = ("depends", "ignores", "collects", "area")
OPTIONS_TEXT = "depends=, ignores=, collects= and area="
ON_RECORD, ANEW = "on record", "proven anew"


@dataclass(frozen=True)
class Proof:
    """A test that is a proof: what it depends on, and where its record stands.

    declared: files, folders and globs; ignores: those that it may open though its outcome does not depend on them
    collects: those that it may open while tests are collected, which choose its parameters alone
    files: the test's own and its fixtures'; area: the record's file, such as "exercises/masks"
    """

    test: str
    area: str
    declared: tuple[str, ...]
    ignores: tuple[str, ...]
    collects: tuple[str, ...]
    files: tuple[Path, ...]


def proof_of(item: pytest.Item) -> Proof | None:
    """What the marks of a test declare, the nearest first; None for a test that is no proof."""
    marks = list(item.iter_markers("proof"))
    if not marks:
        return None
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    for mark in marks:
        unknown = mark.kwargs.keys() - {"depends", "ignores", "collects", "area"}
        if unknown or mark.args:
            raise pytest.UsageError(
                f"{item.nodeid}: a proof is marked with depends=, ignores=, collects= and area= alone"
            )

    def named(option: str) -> tuple[str, ...]:
        values = [_applied(mark.kwargs.get(option, ()), parameters) for mark in marks]
        lists = ([value] if isinstance(value, str) else value for value in values)
        return tuple(dict.fromkeys(name for names in lists for name in names))

    default = item.path.relative_to(item.config.rootpath / "tests").with_suffix("").as_posix()
    areas = [_applied(mark.kwargs["area"], parameters) for mark in marks if "area" in mark.kwargs]
    area, options = areas[0] if areas else default, map(named, ("depends", "ignores", "collects"))
    return Proof(item.nodeid, area, *options, (item.path, *_fixtures(item)))


def _applied(value: Any, parameters: dict[str, Any]) -> Any:
    if not callable(value):
        return value
    return value(**{name: parameters[name] for name in inspect.signature(value).parameters})


def _fixtures(item: pytest.Item) -> set[Path]:
    """The files of the repository that define the fixtures of a test."""
    definitions = getattr(item, "_fixtureinfo", None)
    fixtures = (
        [each for same_name in definitions.name2fixturedefs.values() for each in same_name] if definitions else []
    )
    functions = [inspect.unwrap(fixture.func) for fixture in fixtures]
    paths = {Path(function.__code__.co_filename) for function in functions if hasattr(function, "__code__")}
    installed = item.config.rootpath / ".venv"
    return {path for path in paths if path.is_relative_to(item.config.rootpath) and not path.is_relative_to(installed)}


@functools.cache
def digests(root: Path) -> Digests:
    """The digests of a repository as it stands when they are first asked for."""
    return Digests(root)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--records", choices=MODES, default="ignore", help="what to do with proofs on record")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "proof(depends=, ignores=, collects=, area=): deterministic; taken from the record until a dependency changes",
    )
    config.addinivalue_line("markers", "full: run by `make test-all` alone, or by name")
    config.pluginmanager.register(Keeper(config), "records")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mode = config.getoption("--records")
    if mode in ("take", "write"):
        full = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=full)
        items[:] = [item for item in items if item not in full]
    record = Record(FOLDER, environment())
    for item in items:
        proof, known = proof_of(item), digests(config.rootpath)
        if not proof:
            continue
        try:
            item.stash[_CLOSURE] = known.closure(proof.declared, proof.files)
            key = known.key(proof.declared, proof.files)
        except UnknownDependency as unknown:
            raise pytest.UsageError(f"{item.nodeid}: {unknown}") from None
        on_record = record.key(proof.area, proof.test) == key
        taken = on_record and mode in ("take", "write")
        if taken:
            _take(item)
        status = {"area": proof.area, "key": key, "on_record": on_record, "taken": taken}
        item.user_properties.append(("proof", status))


def _take(item: pytest.Item) -> None:
    """Leave a test nothing to do: it passes without its fixtures."""
    item.fixturenames = []
    item.runtest = lambda: None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Any:
    status, mode = dict(item.user_properties).get("proof"), item.config.getoption("--records")
    if status and mode == "write" and call.when == "teardown" and not status["taken"]:
        status["changed"] = bool(digests(item.config.rootpath).changed(item.stash[_CLOSURE]))
    report = yield
    if status and mode == "check" and report.failed and status["on_record"]:
        report.sections.append(("record", f"the record of {item.nodeid} was wrong: it says that this passes"))
    return report


@dataclass
class _Outcome:
    status: dict[str, Any]
    phases: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return "failed" in self.phases.values()

    @property
    def passed(self) -> bool:
        return len(self.phases) == 3 and set(self.phases.values()) == {"passed"}


class Keeper:
    """Counts what becomes of the proofs, and writes the record: with xdist, in the controller alone."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.mode = config.getoption("--records")
        self.outcomes: dict[str, _Outcome] = {}
        self.written: list[Path] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        status = dict(report.user_properties).get("proof")
        if status:
            outcome = self.outcomes.setdefault(report.nodeid, _Outcome(status))
            outcome.status = status  # the last report says whether a dependency changed while the test ran
            outcome.phases[report.when] = "skipped" if hasattr(report, "wasxfail") else report.outcome

    def pytest_sessionfinish(self) -> None:
        if self.mode != "write" or hasattr(self.config, "workerinput"):
            return
        proven: dict[str, dict[str, str]] = defaultdict(dict)
        removed = []
        for test, outcome in self.outcomes.items():
            if outcome.status["taken"]:
                continue
            if outcome.passed and not outcome.status.get("changed"):
                proven[outcome.status["area"]][test] = outcome.status["key"]
            elif outcome.phases:
                removed.append((outcome.status["area"], test))
        record = Record(FOLDER, environment())
        if self._everything():
            ran = {(outcome.status["area"], test) for test, outcome in self.outcomes.items()}
            removed += [
                (area, test) for area in record.areas() for test in record.tests(area) if (area, test) not in ran
            ]
        self.written = record.change(proven, removed)

    def _everything(self) -> bool:
        """Whether the whole suite was run to its end, so that a proof that did not run no longer exists."""
        option = self.config.option
        chosen = option.keyword or option.markexpr or option.deselect or getattr(option, "lf", False)
        return (
            not chosen and self.config.args == self.config.getini("testpaths") and self.config.stash.get(_ENDED, False)
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Any:
        result = yield
        self.config.stash[_ENDED] = not (session.shouldstop or session.shouldfail)
        return result

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        kinds = Counter(self._kind(outcome) for outcome in self.outcomes.values())
        if self.mode == "ignore" or not kinds:
            return
        counted = ", ".join(f"{kinds[kind]:,} {kind}" for kind in (ON_RECORD, ANEW, "failed", "skipped") if kinds[kind])
        terminalreporter.write_sep("=", f"proofs: {counted}")
        if self.mode == "take" and kinds[ANEW]:
            terminalreporter.write_line("`make record` proves what is not on record and writes it down")
        for path in self.written:
            terminalreporter.write_line(f"written: {path.relative_to(self.config.rootpath)}")
        for test, outcome in self.outcomes.items():
            if outcome.status.get("changed"):
                terminalreporter.write_line(f"not written down: what {test} depends on has changed in the meantime")
        wrong = [test for test, outcome in self.outcomes.items() if outcome.failed and outcome.status["on_record"]]
        for test in wrong:
            terminalreporter.write_line(f"the record of {test} was wrong")

    @staticmethod
    def _kind(outcome: _Outcome) -> str:
        if outcome.failed:
            return "failed"
        if outcome.status["taken"]:
            return ON_RECORD
        return ANEW if outcome.passed else "skipped"


_CLOSURE = pytest.StashKey[Closure]()
_ENDED = pytest.StashKey[bool]()
