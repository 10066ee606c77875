"""Rebuilds the notebook that is graded: the released one with the learner's written answers put in.

Deleted, doubled or edited cells, outputs and metadata of the submitted notebook change nothing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..course.printable import printable
from ..course.releases import by_grade_id
from ..sandbox.limited import LIMITS_TEXT, items_of

MOST_ANSWER_CHARACTERS = 100_000
MOST_CELLS = 5000
MOST_READ_HERE = 2**20  # bytes of a notebook, which take a tenth of a second at most
UNANSWERED = "the written questions count as unanswered, the modules are graded"
#: Signs without a picture that languages are written with: spaces of several widths, joiners of letters and of emoji.
KEPT_SIGNS = "\n\t\u00a0\u00ad\u2009\u200c\u200d\u202f\u3000"


def rebuild_within_limits(
    released: dict[str, Any], submitted: bytes | None, earlier: Sequence[dict[str, Any]] = ()
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """As `rebuild`, in a process of its own where the submitted notebook is large: it could take gigabytes to parse."""
    if submitted is None or len(submitted) <= MOST_READ_HERE:
        return rebuild(released, submitted, earlier)
    rebuilt = items_of(_rebuilt, released, submitted, list(earlier))
    if rebuilt.complete:
        return rebuilt.items[0]
    return copy.deepcopy(released), (f"the notebook takes more than {LIMITS_TEXT} to read: {UNANSWERED}",)


def _rebuilt(
    released: dict[str, Any], submitted: bytes, earlier: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    yield rebuild(released, submitted, earlier)


def rebuild(
    released: dict[str, Any], submitted: bytes | None, earlier: Sequence[dict[str, Any]] = ()
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The released notebook with the submitted written answers in it, and remarks on what was odd.

    earlier: notebooks of earlier releases, from which nothing is odd either
    """
    notebook = copy.deepcopy(released)
    if submitted is None:
        return notebook, ("there is no notebook: the written questions count as unanswered",)
    cells, trouble = cells_of(submitted)
    if trouble:
        return notebook, (f"{trouble}: {UNANSWERED}",)
    by_id: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        grade_id = _grade_id(cell)
        if grade_id:
            by_id.setdefault(grade_id, []).append(cell)
    remarks = []
    before = [by_grade_id(release) for release in earlier]
    texts = [source_of(cell).strip() for cell in released["cells"]]
    known = {*texts, *(source_of(cell).strip() for release in earlier for cell in release["cells"])}
    graded = by_grade_id(notebook)
    for cell, question in zip(notebook["cells"], texts[:1] + texts, strict=False):
        grade_id = _grade_id(cell)
        if grade_id is None or graded.get(grade_id) is not cell:
            continue
        given = by_id.get(grade_id, [])
        versions = [cell, *(release.get(grade_id) for release in before)]
        behind = 0
        if cell["metadata"]["nbgrader"].get("solution"):
            answer, behind = _answer(cell, *_answer_cells(cells, given, question, known))
            cell["source"] = printable(answer[:MOST_ANSWER_CHARACTERS].replace("\r\n", "\n"), keep=KEPT_SIGNS)
        if not given and all(versions):
            remarks.append(f"the cell {grade_id} was deleted: put back")
        if behind:
            remarks.append(f"the answer {grade_id} goes on in other cells ({behind}): they are taken with it")
        elif len(given) > 1:
            remarks.append(f"the cell {grade_id} is there {len(given)} times: the first counts")
        if given and all(_edited(version, given[0]) for version in versions if version):
            remarks.append(f"the cell {grade_id} is not as it was released: put back")
    return notebook, tuple(remarks)


def _answer_cells(
    cells: list[dict[str, Any]], given: list[dict[str, Any]], question: str, known: set[str]
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The cell that a written answer stands in, None where it is lost, and the learner's cells behind it.

    Whoever splits the cell, answers below it or loses its metadata has answered: what stands behind it, or, where it
    is lost, behind its question, is the learner's, up to the next cell that was released.
    cells: that were handed in; given: those of them that have the answer's grade id
    question: the text of the cell before the answer's; known: the texts of all cells that were released
    """
    own = next((one for one in given if source_of(one).strip() not in known), given[0] if given else None)
    own_id = _grade_id(given[0]) if given else None
    starts = (at for at, one in enumerate(cells) if one is own or own is None and source_of(one).strip() == question)
    behind = []
    for one in cells[next(starts, len(cells)) + 1 :]:
        is_known, grade_id = source_of(one).strip() in known, _grade_id(one)
        if one.get("cell_type") == "code" or (is_known if grade_id is None else grade_id != own_id):
            break
        if source_of(one).strip() and not is_known:
            behind.append(one)
    return own, behind


def _answer(blank: dict[str, Any], own: dict[str, Any] | None, behind: list[dict[str, Any]]) -> tuple[str, int]:
    """A written answer, and how many cells behind its own it takes; of a copy of a cell, which says nothing new, none.

    blank: the cell as it was released; own, behind: as of `_answer_cells`
    """
    parts = [source_of(own)] if own is not None and source_of(own).strip() != source_of(blank).strip() else []
    count = len(parts)
    parts = list(dict.fromkeys([*parts, *map(source_of, behind)]))
    return "\n\n".join(parts) if parts else source_of(own or blank), len(parts) - count


def cells_of(data: bytes) -> tuple[list[dict[str, Any]], str]:
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return [], "the notebook is no valid JSON"
    cells = tree.get("cells") if isinstance(tree, dict) else None
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        return [], "the notebook has no list of cells, or one too long"
    return [cell for cell in cells if isinstance(cell, dict)], ""


def _grade_id(cell: dict[str, Any]) -> str | None:
    metadata = cell.get("metadata")
    settings = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = settings.get("grade_id") if isinstance(settings, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def _edited(released: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether a cell's kind, settings or, where no answer is written into it, text are others than the released."""
    settings = released["metadata"]["nbgrader"]
    if given.get("cell_type") != released["cell_type"] or settings != {
        name: given["metadata"]["nbgrader"].get(name) for name in settings
    }:
        return True
    return not settings.get("solution") and source_of(given).strip() != source_of(released).strip()


def source_of(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
