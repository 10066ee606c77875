"""Wrong answers of attention that scales, each as somebody would really write it."""

from . import (
    _efficient_attached,  # noqa: F401
    _efficient_backward,  # noqa: F401
    _efficient_blockwise,  # noqa: F401
    _efficient_blockwise_blocks,  # noqa: F401
    _efficient_blockwise_ends,  # noqa: F401
    _efficient_blockwise_masks,  # noqa: F401
    _efficient_blockwise_numbers,  # noqa: F401
    _efficient_cache,  # noqa: F401
    _efficient_cache_axes,  # noqa: F401
    _efficient_cache_results,  # noqa: F401
    _efficient_grouped,  # noqa: F401
    _efficient_grouped_heads,  # noqa: F401
    _efficient_grouped_masks,  # noqa: F401
    _efficient_online,  # noqa: F401
    _efficient_online_parts,  # noqa: F401
    _efficient_partials,  # noqa: F401
    _efficient_partials_parts,  # noqa: F401
)
