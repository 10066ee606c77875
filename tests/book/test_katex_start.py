"""KaTeX's server may be slow to listen."""

import importlib.util

import pytest

from autograder.course.paths import BOOK


@pytest.fixture
def extension():
    spec = importlib.util.spec_from_file_location("katex_files", BOOK / "_extensions" / "katex_files.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_server_that_does_not_listen_yet_is_started_again(extension, monkeypatch, tmp_path):
    tried = []

    def start(folder, timeout):
        tried.append(folder)
        assert folder.is_dir()
        if len(tried) < 3:
            raise ConnectionRefusedError
        return "process", "socket"

    monkeypatch.setattr(extension, "START", start)
    assert extension._start_and_try_again(tmp_path, 1.0) == ("process", "socket")
    assert len(set(tried)) == 3


def test_a_server_that_never_listens_is_an_error(extension, monkeypatch, tmp_path):
    def start(folder, timeout):
        raise ConnectionRefusedError

    monkeypatch.setattr(extension, "START", start)
    with pytest.raises(ConnectionRefusedError):
        extension._start_and_try_again(tmp_path, 1.0)
