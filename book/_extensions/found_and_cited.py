"""What makes the site found and cited: the address that other extensions ask for, the feed of changes, the version."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as Xml

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from autograder.build.urls import course_title, site_url
from autograder.course.paths import ROOT

ATOM = "http://www.w3.org/2005/Atom"
FEED = "changes.xml"
FIRST_HEADING = re.compile(r"(?m)^# .*$")
RELEASE = re.compile(r"(?ms)^## (?P<version>[\d.]+) \((?P<date>[\d-]+)\)\n(?P<text>.*?)(?=^## |\Z)")


def set_addresses(app: Sphinx, config: Config) -> None:
    """Every address follows from the repository, every name of the course from its title: _config.yml has each once."""
    config.html_baseurl = site_url()
    config.ogp_site_url = config.html_baseurl
    config.ogp_site_name = config.html_title
    config.html_theme_options.setdefault("logo", {}).setdefault("text", course_title())
    config.notfound_urls_prefix = root = urlsplit(config.html_baseurl).path
    config.notfound_context["body"] = config.notfound_context["body"].format(root=root)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    version = f"Version {citation['version']} of {citation['date-released']}."
    config.html_theme_options["extra_footer"] = f"{version} {config.html_theme_options.get('extra_footer', '')}"


def name_front_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """The front page is called what the course is."""
    if docname == app.config.root_doc:
        source[0] = FIRST_HEADING.sub(lambda _: f"# {course_title()}", source[0], count=1)


def link_feed(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    link = f'<link rel="alternate" type="application/atom+xml" title="Changes" href="{site_url()}{FEED}" />'
    context["metatags"] = f"{context.get('metatags', '')}\n{link}"


def feed(changelog: str, address: str) -> Xml.Element:
    """The Atom feed of a changelog's releases, the newest first; address: of the site, with a slash at its end."""
    Xml.register_namespace("", ATOM)
    root = Xml.Element(f"{{{ATOM}}}feed")
    releases = list(RELEASE.finditer(changelog))
    about = {"title": f"{course_title()}: changes", "id": f"{address}{FEED}"}
    about["updated"] = f"{releases[0]['date']}T00:00:00Z"
    _write(root, about, address)
    for release in releases:
        entry = Xml.SubElement(root, f"{{{ATOM}}}entry")
        name = release["version"]
        about = {"title": f"Version {name}", "id": f"{address}{FEED}#{name}", "updated": f"{release['date']}T00:00:00Z"}
        _write(entry, {**about, "summary": " ".join(release["text"].split())}, address)
    return root


def _write(parent: Xml.Element, texts: dict[str, str], address: str) -> None:
    for name, text in texts.items():
        Xml.SubElement(parent, f"{{{ATOM}}}{name}").text = text
    Xml.SubElement(parent, f"{{{ATOM}}}link", href=address)
    Xml.SubElement(Xml.SubElement(parent, f"{{{ATOM}}}author"), f"{{{ATOM}}}name").text = course_title()


def write_feed(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        tree = Xml.ElementTree(feed((ROOT / "CHANGELOG.md").read_text("utf-8"), site_url()))
        tree.write(Path(app.outdir) / FEED, encoding="utf-8", xml_declaration=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", set_addresses, priority=100)
    app.connect("source-read", name_front_page)
    app.connect("html-page-context", link_feed)
    app.connect("build-finished", write_feed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
