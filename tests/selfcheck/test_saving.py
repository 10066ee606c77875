"""Keeping a learner's modules beyond the session: nothing is lost, nothing newer is overwritten in silence."""

import os
import sys
import types
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.build import stubs
from selfcheck import check, restore, save, saving
from selfcheck.commands import main
from selfcheck.untouched import is_untouched

MASK = "\n\ndef causal_mask(query_length, key_length=None, device=None):\n    return {}\n"


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """A learner's stubs in a fresh folder, which is the current one; the home is elsewhere."""
    monkeypatch.chdir(_session(tmp_path / "first"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(saving.VARIABLE, raising=False)
    return tmp_path / "first" / "attention"


def _session(folder):
    stubs.write_stubs(folder / "attention")
    return folder


def _edit(package, text="None", module="masks", age=0):
    path = package / f"{module}.py"
    path.write_text(path.read_text("utf-8") + MASK.format(text), "utf-8")
    _age(path, age)
    return path.read_text("utf-8")


def _age(path, seconds):
    """Makes a file that many seconds older, so that no test waits for a clock."""
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - int(seconds * 1e9)))


def _colab(monkeypatch, tmp_path, mount):
    """A fake google.colab whose Drive is mounted by calling `mount` with the folder."""
    colab, drive = types.ModuleType("google.colab"), types.ModuleType("google.colab.drive")
    drive.mount = colab.mount = mount
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    monkeypatch.setitem(sys.modules, "google.colab.drive", drive)
    monkeypatch.setattr(saving, "DRIVE", tmp_path / "drive")
    return tmp_path / "drive" / "MyDrive" / saving.NAME


def test_a_lost_session_loses_nothing(package, tmp_path, monkeypatch, capsys):
    mine = _edit(package)
    save()
    kept = tmp_path / "home" / saving.NAME
    assert sorted(path.name for path in kept.iterdir()) == ["masks.py"]
    said = capsys.readouterr().out
    assert f"saved masks.py in {kept}, 20" in said
    monkeypatch.chdir(_session(tmp_path / "second"))
    restore()
    assert Path("attention/masks.py").read_text("utf-8") == mine
    said = capsys.readouterr().out
    assert f"restored from {kept}: masks.py (saved 20" in said
    assert not list(Path("attention").glob("*.before"))


def test_what_was_restored_is_what_check_sees(package, tmp_path, monkeypatch):
    _edit(package, "torch.ones(query_length, key_length or query_length, dtype=torch.bool).tril()")
    save()
    monkeypatch.chdir(_session(tmp_path / "second"))
    assert not check("masks.causal_mask").passed
    restore()
    assert "attention" not in sys.modules
    assert check("masks.causal_mask").results[0].started
    assert check("masks.causal_mask").results[0].points > 0


def test_untouched_stubs_are_not_saved_and_overwrite_no_saved_work(package, tmp_path, monkeypatch, capsys):
    save()
    assert "nothing to save" in capsys.readouterr().out
    mine = _edit(package)
    save()
    monkeypatch.chdir(_session(tmp_path / "second"))
    capsys.readouterr()
    save()
    assert "not saved, for here it is the untouched stub: masks.py" in capsys.readouterr().out
    assert (tmp_path / "home" / saving.NAME / "masks.py").read_text("utf-8") == mine


def test_a_stub_is_recognised_by_its_own_header():
    for name, text in stubs.all_stubs().items():
        assert is_untouched(text.encode()), name
        assert is_untouched(text.replace("\n", "\r\n").encode()), name
        assert not is_untouched(text.encode() + b"\n"), name
    assert not is_untouched(b"")


def test_a_second_save_keeps_the_last_versions(package, tmp_path, capsys):
    kept = tmp_path / "home" / saving.NAME
    texts = []
    for number in range(saving.VERSIONS + 3):
        texts.append(_edit(package, str(number)))
        save()
    assert (kept / "masks.py").read_text("utf-8") == texts[-1]
    older = {path.read_text("utf-8") for path in (kept / "earlier").iterdir()}
    assert older == set(texts[-1 - saving.VERSIONS : -1])
    capsys.readouterr()
    save()
    assert "unchanged since it was saved" in capsys.readouterr().out
    assert len(list((kept / "earlier").iterdir())) == saving.VERSIONS


def test_saving_over_a_newer_copy_keeps_it_and_says_so(package, tmp_path, capsys):
    other = _edit(package, "'from another session'")
    save()
    _edit(package, "'older'", age=60)
    save()
    assert "the copy there was newer; it is kept as earlier/masks." in capsys.readouterr().out
    (older,) = (tmp_path / "home" / saving.NAME / "earlier").iterdir()
    assert older.read_text("utf-8") == other


def test_restoring_leaves_newer_work_alone_unless_told_otherwise(package, tmp_path, capsys):
    saved = _edit(package)
    save()
    _age(tmp_path / "home" / saving.NAME / "masks.py", 60)
    mine = _edit(package, "'newer'")
    restore()
    assert (package / "masks.py").read_text("utf-8") == mine
    assert "left alone, for what you have here is edited and newer: masks.py" in capsys.readouterr().out
    restore(replace=True)
    assert (package / "masks.py").read_text("utf-8") == saved
    assert (package / "masks.py.before").read_text("utf-8") == mine
    assert "yours is kept as masks.py.before" in capsys.readouterr().out


def test_restoring_over_older_work_keeps_it_beside_the_file_each_time(package):
    saved = _edit(package)
    save()
    texts = []
    for text in ("'one'", "'two'"):
        (package / "masks.py").write_text(saved, "utf-8")
        texts.append(_edit(package, text, age=60))
        restore()
        assert (package / "masks.py").read_text("utf-8") == saved
    assert {path.read_text("utf-8") for path in package.glob("masks.py.before*")} == set(texts)


def test_a_module_of_ones_own_is_kept_too(package, tmp_path, monkeypatch):
    (package / "helpers.py").write_text("x = 1\n", "utf-8")
    save()
    monkeypatch.chdir(_session(tmp_path / "second"))
    restore()
    assert Path("attention/helpers.py").read_text("utf-8") == "x = 1\n"


def test_the_folder_is_the_argument_then_the_variable(package, tmp_path, monkeypatch):
    _edit(package)
    monkeypatch.setenv(saving.VARIABLE, str(tmp_path / "named"))
    save()
    save(tmp_path / "given")
    assert (tmp_path / "named" / "masks.py").is_file() and (tmp_path / "given" / "masks.py").is_file()
    assert not (tmp_path / "home").exists()


def test_on_colab_work_goes_to_drive_which_is_mounted_once(package, tmp_path, monkeypatch, capsys):
    mounted = []
    kept = _colab(
        monkeypatch, tmp_path, lambda folder: (mounted.append(folder), (Path(folder) / "MyDrive").mkdir(parents=True))
    )
    mine = _edit(package)
    save()
    save()
    assert mounted == [str(tmp_path / "drive")]
    assert str(kept) in capsys.readouterr().out
    monkeypatch.chdir(_session(tmp_path / "second"))
    restore()
    assert Path("attention/masks.py").read_text("utf-8") == mine


def test_a_declined_drive_is_named_and_a_folder_of_the_session_used(package, tmp_path, monkeypatch, capsys):
    def declined(folder):
        raise ValueError("mount failed")

    _colab(monkeypatch, tmp_path, declined)
    _edit(package)
    save()
    said = capsys.readouterr().out
    assert "Google Drive is not there (ValueError: mount failed)" in said and "vanishes with this session" in said
    assert (package.parent / saving.NAME / "masks.py").is_file()


@pytest.mark.parametrize("act", [save, restore])
def test_links_are_not_followed(act, package, tmp_path, capsys):
    kept = tmp_path / "home" / saving.NAME
    kept.mkdir(parents=True)
    secret = tmp_path / "secret.py"
    secret.write_text("secret\n", "utf-8")
    _edit(package)
    ((package if act is save else kept) / "linked.py").symlink_to(secret)
    ((kept if act is save else package) / "masks.py").unlink(missing_ok=True)
    ((kept if act is save else package) / "masks.py").symlink_to(secret)
    if act is restore:
        (kept / "masks.py").write_text("saved\n", "utf-8")
    act()
    assert "left out, for it is a link" in capsys.readouterr().out
    assert secret.read_text("utf-8") == "secret\n"
    arrived = (kept if act is save else package) / "masks.py"
    assert not arrived.is_symlink() and arrived.is_file()
    assert not list((kept if act is save else package).glob("linked*"))


def test_a_write_that_fails_leaves_the_saved_copy_whole(package, tmp_path, monkeypatch):
    saved = _edit(package)
    save()
    _edit(package, "'lost?'")

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        save()
    kept = tmp_path / "home" / saving.NAME
    assert (kept / "masks.py").read_text("utf-8") == saved
    assert not [path for path in kept.rglob(".*")]


def test_nothing_saved_is_said(tmp_path, capsys):
    restore()
    assert "nothing to restore: no module is saved in" in capsys.readouterr().out


def test_the_terminal_saves_and_restores(package, tmp_path, monkeypatch):
    runner = CliRunner()
    mine = _edit(package)
    assert "saved masks.py" in runner.invoke(main, ["save"]).output
    monkeypatch.chdir(_session(tmp_path / "second"))
    assert "restored" in runner.invoke(main, ["restore"]).output
    assert Path("attention/masks.py").read_text("utf-8") == mine
    monkeypatch.setenv(saving.VARIABLE, str(tmp_path / "second" / "attention" / "masks.py"))
    _edit(tmp_path / "second" / "attention", "'more'")
    refused = runner.invoke(main, ["save"])
    assert refused.exit_code == 2 and "is no folder" in refused.output
