"""Gives nbgrader the late policy of a course: its own methods, a percentage for each day, or the course's plugin."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from nbgrader.plugins import BasePlugin, LateSubmissionPlugin
from traitlets.config import Config

from ..course.late_policy import LatePolicy
from ..course.settings import SETTINGS_FILE, SettingsError


class PercentPerDay(LateSubmissionPlugin):
    """Takes a percentage of the points off for each day begun."""

    policy: LatePolicy

    @property
    def description(self) -> str:
        """What the log calls the policy."""
        return str(self.policy)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """Points, of a score in points and a lateness in seconds."""
        return score * self.policy.share(total_seconds_late)


def configure_late_policy(c: Config, root: Path, policy: LatePolicy | None) -> None:
    """Put a policy into nbgrader's settings; None leaves it to nbgrader_config.py.

    Raises SettingsError for a plugin that cannot be used.
    """
    if policy is None:
        return
    if policy.plugin:
        c.AssignLatePenalties.plugin_class = _plugin(root, *policy.plugin)
    elif policy.method == "percent":
        c.AssignLatePenalties.plugin_class = type("PercentPerDay", (PercentPerDay,), {"policy": policy})
    else:
        c.LateSubmissionPlugin.penalty_method = policy.method


def _plugin(root: Path, file: str, name: str) -> type:
    """The class in a file of the course folder, which runs with the instructor's rights."""
    path, expected = root / file, f"expected a class {name}(LateSubmissionPlugin) there"
    try:
        module = _module(path)
    except FileNotFoundError:
        raise SettingsError(f"{root / SETTINGS_FILE}: late_policy names {path}, where no file is: {expected}") from None
    except (Exception, SystemExit) as error:  # it is a program
        raise SettingsError(f"{path}, which late_policy names, stops: {type(error).__name__}: {error}") from error
    plugin = getattr(module, name, None)
    if not (isinstance(plugin, type) and issubclass(plugin, BasePlugin)):
        raise SettingsError(f"{path}, which late_policy names, has no plugin {name}: {expected}")
    return plugin


def _module(path: Path) -> ModuleType:
    module = ModuleType(f"late_policy_of_{path.parent.name}")
    module.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)  # noqa: S102
    return module
