"""Generates what is generated: stubs, recorded answers, the notation page, notebooks and the site.

`generate.build` writes it, `generate.stale` compares; `site.build_book` builds the site.
"""
