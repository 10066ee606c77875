"""Derives the web addresses of the course from book/_config.yml."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

import yaml

from ..course.paths import BOOK

__all__ = [
    "NOTEBOOK_FOLDERS",
    "Repository",
    "binder_url",
    "colab_url",
    "course_title",
    "hub_query",
    "hub_url",
    "moved_pages",
    "notebook_name",
    "repository",
    "site_url",
]

CONFIG = BOOK / "_config.yml"
#: The folders of book/ whose pages become notebooks.
NOTEBOOK_FOLDERS = ("chapters", "deeper", "problem-sets", "measuring")


@dataclass(frozen=True)
class Repository:
    """The public home of the course."""

    url: str  # https://github.com/OWNER/NAME
    branch: str

    @property
    def owner(self) -> str:
        return self.url.rstrip("/").split("/")[-2]

    @property
    def name(self) -> str:
        return self.url.rstrip("/").split("/")[-1]


@cache
def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load(CONFIG.read_text("utf-8"))
    return settings


def repository() -> Repository:
    """What book/_config.yml says about the repository."""
    settings = _settings()["repository"]
    return Repository(url=settings["url"].rstrip("/"), branch=settings["branch"])


def course_title() -> str:
    """What book/_config.yml calls the course."""
    return str(_settings()["title"])


def site_url() -> str:
    """The address of the published book, with a slash at its end: html.baseurl, else the repository's GitHub Pages."""
    own = _settings().get("html", {}).get("baseurl")
    if own:
        return str(own).rstrip("/") + "/"
    home = repository()
    return f"https://{home.owner}.github.io/{home.name}/"


def _launched_at(service: str) -> str:
    """The address that book/_config.yml gives for a launch button, without a slash at its end, or nothing."""
    return str(_settings()["launch_buttons"].get(service) or "").rstrip("/")


def colab_url(notebook: str) -> str:
    """The Colab address of book/notebooks/<notebook>.ipynb."""
    home = repository()
    place = f"github/{home.owner}/{home.name}/blob/{home.branch}/book/notebooks/{notebook}.ipynb"
    return f"{_launched_at('colab_url')}/{place}"


def binder_url(notebook: str) -> str:
    """The Binder address of book/notebooks/<notebook>.ipynb, in JupyterLab."""
    home = repository()
    path = f"lab/tree/book/notebooks/{notebook}.ipynb"
    return f"{_launched_at('binderhub_url')}/v2/gh/{home.owner}/{home.name}/{home.branch}?urlpath={path}"


def hub_query(notebook: str) -> dict[str, str]:
    """What nbgitpuller is asked for: the repository, and book/notebooks/<notebook>.ipynb of it in JupyterLab."""
    home = repository()
    path = f"lab/tree/{home.name}/book/notebooks/{notebook}.ipynb"
    return {"repo": home.url, "branch": home.branch, "urlpath": path}


def hub_url(notebook: str) -> str | None:
    """The address of book/notebooks/<notebook>.ipynb on the course's own JupyterHub; None where it names none."""
    hub = _launched_at("jupyterhub_url")
    return f"{hub}/hub/user-redirect/git-pull?{urlencode(hub_query(notebook), safe='/')}" if hub else None


@cache
def moved_pages() -> dict[str, str]:
    """Of each page that has moved, its former name and where it is now, as book/_config.yml says."""
    moved = _settings()["sphinx"]["config"]["moved_pages"]
    return {old: now for old, now in moved.items() if "#" not in old}


def notebook_name(page: str) -> str | None:
    """The notebook of a page: "chapters/04-masks" has "04-masks"; None for a page that has none."""
    folder, _, name = page.rpartition("/")
    return name if folder in NOTEBOOK_FOLDERS else None
