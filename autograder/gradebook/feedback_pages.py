"""Has nbgrader write a student's feedback beside the folder whose place it then takes."""

from __future__ import annotations

import copy
import shutil

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from ..course.atomic_folders import take_place
from ..course.faults import fault_in_text, machine_fault
from ..course.folder import Course
from .nbgrader import configuration, prepare_process

DRAFTS = ".feedback-drafts"


def write_pages(course: Course, problem_set: str, student: str) -> str:
    """Write the feedback of a student; why it could not be written, "" where it was. The former pages stay then."""
    prepare_process()
    config = copy.deepcopy(configuration(course))
    config.CourseDirectory.feedback_directory = DRAFTS
    drafts = course.root / DRAFTS
    try:
        nbgrader = NbGraderAPI(CourseDirectory(config=config), config=config)
        done = nbgrader.generate_feedback(problem_set, student, force=True)
        if not done["success"]:
            lines = (done.get("error") or done.get("log") or "no reason given").strip().splitlines()
            return fault_in_text(f"{done.get('error')}\n{done.get('log')}") or lines[-1]
        target = course.feedback(student, problem_set)
        target.parent.mkdir(parents=True, exist_ok=True)
        for path in take_place(drafts / student / problem_set, target):
            shutil.rmtree(path, ignore_errors=True)
        return ""
    except OSError as error:
        return machine_fault(error) or str(error)
    finally:
        shutil.rmtree(drafts, ignore_errors=True)
