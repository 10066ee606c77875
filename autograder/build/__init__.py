"""Generates what is generated: stubs, recorded answers, notebooks and the site.

`generate.build` writes it, `generate.stale` compares; `site.build_book` builds the site.
"""
