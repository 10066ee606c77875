"""Runnable wrong answers of the decoder, each as somebody would really write it."""

from . import (  # noqa: F401  (registers them)
    _decoder_caches,
    _decoder_chances,
    _decoder_chances_cuts,
    _decoder_chances_forms,
    _decoder_layer,
    _decoder_layer_masks,
    _decoder_layer_orders,
    _decoder_loss,
    _decoder_loss_forms,
    _decoder_models,
    _decoder_models_parts,
    _decoder_text,
    _decoder_text_settings,
    _decoder_translators,
    _decoder_translators_parts,
)
