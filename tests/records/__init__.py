"""Proofs on record: an expensive test that has passed is run again only when something it depends on has changed.

`@pytest.mark.proof(depends=…)` marks one; `plugin` tells how it is used, `digest` what it depends on.
"""
