"""Address, organisation and title of the course come from book/_config.yml alone."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from autograder.build import notebooks, urls
from autograder.build.book_index import BookIndex
from autograder.course.paths import BOOK

sys.path.insert(0, str(BOOK / "_extensions"))
from found_and_cited import name_front_page, set_addresses  # noqa: E402
from page_head import describe  # noqa: E402

OWN = "https://courses.example.org/attention"


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Settings of another course; to be called with what it changes in them."""

    def configure(**changes: object) -> None:
        settings = yaml.safe_load(urls.CONFIG.read_text("utf-8")) | changes
        (tmp_path / "_config.yml").write_text(yaml.safe_dump(settings), "utf-8")
        monkeypatch.setattr(urls, "CONFIG", tmp_path / "_config.yml")
        urls._settings.cache_clear()

    yield configure
    urls._settings.cache_clear()
    urls.moved_pages.cache_clear()


def test_a_course_with_a_site_of_its_own_has_it_in_every_link_of_a_notebook(configured) -> None:
    public = urls.site_url()
    configured(title="Our course", html={"baseurl": OWN})
    assert BookIndex().page("/chapters/04-masks").address == f"{OWN}/chapters/04-masks.html"
    released = "".join(cell.source for cell in notebooks.source_notebook("ps3").cells)
    assert f"{OWN}/chapters/04-masks.html" in released and public not in released
    opened = notebooks._written(notebooks._open_notebook("problem-sets/ps3", BookIndex()))
    assert f"of [Our course]({OWN}/)" in opened and public not in opened


def test_another_organisation_moves_site_and_notebooks(configured) -> None:
    configured(repository={"url": "https://github.com/our-faculty/course", "branch": "main", "path_to_book": "book"})
    assert urls.site_url() == "https://our-faculty.github.io/course/"
    assert urls.colab_url("ps1").startswith("https://colab.research.google.com/github/our-faculty/course/blob/main/")
    assert urls.binder_url("ps1").startswith("https://mybinder.org/v2/gh/our-faculty/course/main?")


def test_a_hub_of_the_course_fetches_the_notebook_with_nbgitpuller(configured) -> None:
    assert urls.hub_url("04-masks") is None
    services = yaml.safe_load(urls.CONFIG.read_text("utf-8"))["launch_buttons"]
    configured(
        repository={"url": "https://github.com/our-faculty/course", "branch": "next", "path_to_book": "book"},
        launch_buttons=services | {"jupyterhub_url": "https://hub.example.org/"},
    )
    address = urlsplit(urls.hub_url("04-masks"))
    assert (address.netloc, address.path) == ("hub.example.org", "/hub/user-redirect/git-pull")
    assert dict(parse_qsl(address.query)) == {
        "repo": "https://github.com/our-faculty/course",
        "branch": "next",
        "urlpath": "lab/tree/course/book/notebooks/04-masks.ipynb",
    }


def test_the_front_page_and_the_name_beside_the_logo_are_the_title(configured) -> None:
    front = (BOOK / "index.md").read_text("utf-8")
    configured(title="Our course \\1", html={"baseurl": OWN})
    source, app = [front], SimpleNamespace(config=SimpleNamespace(root_doc="index"))
    name_front_page(app, "index", source)
    assert re.findall(r"(?m)^# .*", source[0]) == ["# Our course \\1"] and source[0] != front
    other = ["# Masks"]
    name_front_page(app, "chapters/04-masks", other)
    assert other == ["# Masks"]
    settings = yaml.safe_load(urls.CONFIG.read_text("utf-8"))["sphinx"]["config"]["html_theme_options"]
    more = {"html_theme_options": settings, "notfound_context": {"body": "{root}"}}
    config = SimpleNamespace(html_baseurl=OWN, html_title="Our course", **more)
    set_addresses(app, config)
    assert config.html_theme_options["logo"]["text"] == "Our course \\1" and config.html_baseurl == f"{OWN}/"


def test_no_page_has_the_courses_name_in_its_description_but_by_the_title(configured) -> None:
    title, texts = (
        urls.course_title(),
        [path.read_text("utf-8") for path in BOOK.rglob("*.md") if "_build" not in path.parts],
    )
    described = [line for text in texts for line in re.findall(r"(?m)^ +description: .*", text)]
    assert not [line for line in described if title in line]
    configured(title="Ours & theirs")
    context = {"metatags": '<meta name="description" content="Problem set 1 of {title}." />'}
    describe(SimpleNamespace(config=SimpleNamespace(root_doc="index")), "problem-sets/ps1", "", context, None)
    assert 'content="Problem set 1 of Ours &amp; theirs."' in context["metatags"] and len(described) > 20
