"""Shares the tests out among the workers: file by file, and the proofs of the exercises module by module."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        exercise = item.callspec.params.get("exercise") if hasattr(item, "callspec") else None
        group = exercise.module if item.path.name == "test_proofs.py" and exercise else item.path.name
        item.add_marker(pytest.mark.xdist_group(group))
