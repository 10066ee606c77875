"""nbgrader's settings of a course, with nbgrader's own interfaces opened by them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

import nbgrader.api
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from selfcheck.catalogue import modules_of, problem_sets

from ..course.folder import Course
from ..course.late_policy import LatePolicy
from ..course.settings import SettingsError
from ..sandbox.sight import EXCHANGE, require_out_of_sight
from .database import Address
from .late_policy_plugin import configure_late_policy

USUAL_EXCHANGE = f"{EXCHANGE}/exchange"


def configure_storage(c: Config, root: Path) -> None:
    """Where nbgrader keeps a course, what it overwrites and how it shows and exports what it has."""
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.course_id = "attention-by-hand"
    # The learner's modules stay as submitted; everything else beside the notebook is the release's.
    c.Autograde.exclude_overwriting = {
        name: [f"attention/{module}.py" for other in problem_sets() for module in modules_of(other)]
        for name in problem_sets()
    }
    # A course.toml that cannot be read is reported by the preprocessor: an error here would have nbgrader go on without
    # these settings, and run what was submitted.
    with suppress(SettingsError):
        configure_late_policy(c, root, Course(root).settings.late_policy)
    c.ExportApp.plugin_class = "autograder.gradebook.exports.QuotedCsv"
    c.HTMLExporter.sanitize_html = True
    # nbgrader's own templates do not sanitise Markdown: what a learner wrote would run as the instructor.
    c.HTMLExporter.filters = {
        "markdown2html": "autograder.gradebook.safe_html.answer_html",
        "strip_files_prefix": "autograder.gradebook.safe_html.unchanged",
        "clean_html": "autograder.gradebook.formgrader_guide.cleaned",
    }
    c.HTMLExporter.preprocessors = ["autograder.gradebook.formgrader_guide.GuideBesideAnswers"]


def course_of(config: Config) -> Course:
    """The course that a command of nbgrader's works on; RuntimeError where a relative path says which.

    nbgrader works in other folders than the one that it was started in, where the path would lead elsewhere.
    """
    root = config.CourseDirectory.get("root")
    if isinstance(root, str) and not Path(root).is_absolute():
        raise RuntimeError(
            f"--CourseDirectory.root is {root}: name the course's folder by its whole path. Nothing is written"
        )
    return Course.open(CourseDirectory(config=config).root)


def configuration(course: Course) -> Config:
    """What a course's nbgrader_config.py says, as `nbgrader autograde` reads it; RuntimeError for one that stops.

    Raises SettingsError for a course.toml that is not in order, and InSight for a gradebook or an exchange that
    submissions would see.
    """
    path = course.root / "nbgrader_config.py"
    policy = course.settings.late_policy
    plugin = course.root / policy.plugin[0] if policy and policy.plugin else None
    return _configuration(course.root, _written(path), policy, _written(plugin) if plugin else None)


def place_of(config: Config) -> str:
    """The file of the gradebook that a course's settings name, or its address."""
    return Address.of(CourseDirectory(config=config)).place


def _written(path: Path) -> int | None:
    """When a file was written, in nanoseconds; None where there is none."""
    return path.stat().st_mtime_ns if path.exists() else None


@lru_cache(maxsize=16)
def _configuration(root: Path, written: int | None, policy: LatePolicy | None, plugin: int | None) -> Config:
    """written: when, for a file may change while a grader waits; policy, plugin: of course.toml, likewise"""
    c = Config()
    configure_storage(c, root)
    configure_late_policy(c, root, policy)  # once more, for an error in it to be told
    if written is not None:
        try:
            c.merge(PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config())
        except (Exception, SystemExit) as error:  # it is a program
            raise RuntimeError(f"{root / 'nbgrader_config.py'} stops: {type(error).__name__}: {error}") from error
    require_out_of_sight(places_of(c))
    return c


def places_of(c: Config) -> Iterator[Path]:
    """Where these settings put the gradebook and nbgrader's exchange, as far as that is in files."""
    for section in ("Exchange", "ExchangeFactory"):
        root = c[section].get("root") if section in c else None
        if isinstance(root, str) and root:  # else nbgrader's usual one, which is hidden
            yield Path(root).expanduser()
    with suppress(ArgumentError):  # it is reported where the gradebook is opened
        address = make_url(str(c.CourseDirectory.get("db_url") or "sqlite://"))
        if address.drivername.startswith("sqlite") and address.database not in (None, "", ":memory:"):
            yield Path(str(address.database))


def inbound_folder(course: Course) -> Path | None:
    """Where nbgrader's exchange holds what was handed in to a course; None where its settings do not say."""
    try:
        config = configuration(course)
    except (RuntimeError, ValueError):  # it is reported where results are entered
        return None
    roots = [config[name].get("root") for name in ("Exchange", "ExchangeFactory") if name in config]
    root = next((root for root in roots if isinstance(root, str) and root), USUAL_EXCHANGE)
    return Path(root).expanduser() / str(config.CourseDirectory.course_id) / "inbound"


def gradebook(course: Course) -> Gradebook:
    """nbgrader's database of a course, to be used in a with statement."""
    return api(course).gradebook


def api(course: Course) -> NbGraderAPI:
    """nbgrader's own interface on a course."""
    prepare_process()
    config = configuration(course)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def prepare_process() -> None:
    """Give nbgrader what it needs of this process."""
    nbgrader.api.get_alembic_version = _newest_schema  # its own starts a program for each new gradebook, 0.7 s
    # nbgrader's own queries flush half-built objects; its users need not read of it.
    warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")


@cache
def _newest_schema() -> str:
    """The version of the gradebook's tables that this nbgrader writes."""
    from alembic.script import ScriptDirectory  # a tenth of a second, for a new gradebook alone

    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())
