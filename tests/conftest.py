"""Shares the tests out among the workers: file by file, and the proofs of the exercises module by module."""

import re

import pytest
from xdist.scheduler import LoadScopeScheduling


class Groups(LoadScopeScheduling):
    """What belongs together runs in one worker, where it shares what is costly to make."""

    def _split_scope(self, nodeid):
        path, _, test = nodeid.partition("::")
        module = re.search(r"([a-z_]+)\.[A-Za-z]\w*\]$", test)
        return module[1] if module and path.endswith("test_proofs.py") else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)
