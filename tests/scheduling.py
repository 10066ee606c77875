"""Shares the tests out among the workers: what belongs together runs in one worker, and a worker may die.

xdist's own `--dist loadgroup` would do the former by marks, but xdist 3.8.0 writes the group to `_nodeid`, which pytest
9.2 no longer reads. Its `loadscope` does not do the latter: of a worker that has died it hands on the groups that are
done as well, and whoever gets such an empty group waits for ever.
"""

from __future__ import annotations

import re

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

#: Groups that take a minute or more, the longest first: they are begun first, so that small ones share out the end.
#: Others wait for what the first three make: the class that is graded, the released course, the site.
LONGEST = (
    "tests/autograder/test_course.py",
    "tests/autograder/test_cluster.py",
    "tests/book/test_class_report.py",
    "tests/attacks/test_attacks.py",
    "tests/attacks/test_output.py",
    "tests/repository/test_types.py",
)
EXERCISE = re.compile(r"([a-z_]+)(?:\.[A-Za-z]\w*)?\]$")


class Groups(LoadScopeScheduling):
    """One group per file; of the proofs of the exercises, one per module of the course."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, test = nodeid.partition("::")
        module = EXERCISE.search(test) if path.startswith("tests/exercises/") else None
        return module[1] if module else path

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Hand a worker the group that is next: xdist's order, by the number of tests, after those that are long."""
        first = next((scope for scope in LONGEST if scope in self.workqueue), None)
        if first is not None:
            self.workqueue.move_to_end(first, last=False)
        group = next(iter(self.workqueue))
        try:
            super()._assign_work_unit(node)
        except OSError:  # it has just died, which is reported next: another worker gets the group
            self.workqueue[group] = self.assigned_work[node].pop(group)
            self.workqueue.move_to_end(group, last=False)

    def remove_node(self, node: WorkerController) -> str | None:
        """Hand on what a worker has left over, but for the test in which it died; returns that test."""
        groups = self.assigned_work.pop(node)
        left = {scope: [test for test, done in tests.items() if not done] for scope, tests in groups.items()}
        died_in = next((test for tests in left.values() for test in tests), None)
        if died_in is None:
            return None
        for scope, tests in left.items():
            remaining = {test: False for test in tests if test != died_in}
            if remaining:
                self.workqueue[scope] = remaining
        for other in self.nodes:
            self._reschedule(other)
        return died_in

    def _reschedule(self, node: WorkerController) -> None:
        """Hand a worker more, but not while one that stands in for a dead worker collects: it is asked again then."""
        if node in self.registered_collections:
            super()._reschedule(node)
