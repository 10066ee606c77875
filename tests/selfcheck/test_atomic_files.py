"""A file is written completely or not at all."""

import os
import stat

import pytest

from selfcheck.atomic_files import write_atomically


def test_a_content_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "new" / "masks.py"
    write_atomically(path, "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    write_atomically(path, b"\xff")
    assert path.read_bytes() == b"\xff"
    assert [one.name for one in path.parent.iterdir()] == ["masks.py"]


def test_where_writing_fails_the_old_content_stays_and_nothing_is_left_over(tmp_path, monkeypatch):
    path = tmp_path / "masks.py"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["masks.py"]


def test_a_link_in_the_place_of_a_file_is_replaced_and_what_it_leads_to_stays(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (tmp_path / "link").symlink_to(elsewhere)
    write_atomically(tmp_path / "link", "new")
    assert elsewhere.read_text() == "mine"
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_text() == "new"


def test_permissions_are_those_asked_for_less_the_umask(tmp_path):
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "open", "")
        write_atomically(tmp_path / "secret", "", 0o600)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
