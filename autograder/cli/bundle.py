"""`bundle`: makes what Gradescope or GitHub Classroom takes."""

from __future__ import annotations

from pathlib import Path

import click

from ..console import console, plain, show, working
from ..course.folder import Course
from .course import course_command

FORMS = ("gradescope", "github-classroom")
SEEN = ("visible", "after_due_date", "after_published")


@course_command
@click.option("--for", "platform", required=True, type=click.Choice(FORMS), help="The platform.")
@click.option("--to", "target", type=click.Path(dir_okay=False, path_type=Path), help="Default: in the course folder.")
@click.option(
    "--seen", default=SEEN[1], type=click.Choice(SEEN), show_default=True, help="Gradescope: when by learners."
)
@click.option("--isolation", default="bubblewrap", type=click.Choice(["bubblewrap", "auto", "none"]), show_default=True)
def bundle(course: Course, problem_set: str, platform: str, target: Path | None, seen: str, isolation: str) -> None:
    """Make a zip of PS for Gradescope or GitHub Classroom.

    It is an autograder for Gradescope, a template repository for GitHub Classroom.
    """
    from ..deploy.bundle import bundle

    target = target or course.root / f"{problem_set}-{platform}.zip"
    with working(f"the bundle of {problem_set} for {platform}"):
        points = bundle(course, problem_set, platform, target, isolation, seen)
    console.print(plain(f"written: {target}"))
    if platform == "gradescope":
        show("  it holds solutions and the course's secret: give it to Gradescope, and to nobody else", style="red")
        show(f"  Autograder points there: {points}; choose the base image Ubuntu 24.04. Questions are read by people.")
    if platform == "gradescope" and isolation != "bubblewrap":
        show(f"  --isolation {isolation}: submitted code may run with the autograder's own rights", style="bold red")
