"""An argument of a wrong kind is refused by the package itself, or taken: no message comes from inside torch."""

import traceback
from pathlib import Path

import pytest
import torch
from torch import nn

import attention
from attention.classifier import PairMatcher, TextClassifier, masked_mean, train_step
from attention.decoder import (
    DecoderLayer,
    EncoderDecoder,
    LanguageModel,
    generate,
    next_token_loss,
    next_token_probabilities,
)
from attention.dot_product import scaled_dot_product_attention
from attention.efficient import (
    KeyValueCache,
    blockwise_attention,
    blockwise_gradients,
    grouped_query_attention,
    merge_partials,
    modified_attention,
    online_softmax,
    triton_attention,
)
from attention.encoder import Encoder, EncoderLayer, FeedForward, RMSNorm, SwiGLU, attention_columns, layer_norm
from attention.masks import (
    causal_mask,
    combine_masks,
    document_mask,
    masked_softmax,
    padding_mask,
    sliding_window_mask,
    to_additive,
)
from attention.multi_head import MultiHeadAttention, load_torch_weights, merge_heads, split_heads
from attention.positions import (
    LearnedPositionalEmbedding,
    PositionalEncoding,
    alibi_bias,
    apply_rotary,
    apply_rotary_at,
    half_split,
    interleaved,
    longer_base,
    shift_matrix,
    sinusoidal_encoding,
)
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from attention.sequence_to_sequence import (
    AttentionDecoder,
    HierarchicalAttention,
    attend,
    hard_attention,
    local_attention_weights,
)

pytestmark = pytest.mark.proof()
PACKAGE = Path(attention.__file__).parent
X, X4, ROW, IDS = torch.ones(2, 3, 4), torch.ones(2, 2, 3, 4), torch.ones(2, 3), torch.ones(2, 3, dtype=torch.long)
HALF, SQUARE, REAL, PAIRS = X4.repeat(1, 1, 1, 4).half(), torch.ones(4, 4), ROW.bool(), torch.ones(2, 3, 3).bool()
Q = {"query": X, "key": X}
QKV = Q | {"value": X}
HEADS = {"d_model": 4, "num_heads": 2}
LAYER = HEADS | {"d_ff": 8, "dropout": 0.0}
MODEL = LAYER | {"num_layers": 1, "max_length": 5}
WRITER = LanguageModel(7, 4, 2, 8, 1, 5, 0.0)


def of(module, **given):
    """A module's forward, under the module's name."""
    return f"{type(module).__name__}.forward", module.forward, given


def the(function, **given):
    """A function or a class, under its own name."""
    return function.__qualname__, function, given


def step(**given):
    """train_step with a module of its own."""
    model = nn.Linear(4, 4)
    sgd = torch.optim.SGD(model.parameters(), 0.1)
    return train_step(**{"model": model, "batch": (X, X), "optimizer": sgd, "loss_fn": nn.MSELoss()} | given)


#: One valid call each: the name, what is called, the arguments of which one at a time is replaced.
CALLS = [
    the(additive_scores, **Q, w1=torch.ones(5, 8), w2=torch.ones(5)),
    the(bilinear_scores, **Q, weight=SQUARE),
    the(dot_scores, **Q),
    the(scaled_dot_scores, **Q),
    the(scaled_dot_product_attention, **QKV, attn_mask=PAIRS, dropout_p=0.0),
    the(padding_mask, lengths=torch.tensor([1, 2]), max_length=3),
    the(causal_mask, query_length=2, key_length=3),
    the(sliding_window_mask, length=3, window=2),
    the(document_mask, document_ids=IDS),
    ("combine_masks", lambda first, second: combine_masks(first, second), {"first": REAL, "second": REAL}),
    the(to_additive, mask=REAL, dtype=torch.float32),
    the(masked_softmax, scores=X, mask=X.bool(), dim=-1),
    the(split_heads, x=X, num_heads=2),
    the(merge_heads, x=X4),
    the(MultiHeadAttention, **HEADS, dropout=0.0),
    of(MultiHeadAttention(4, 2), **QKV, attn_mask=PAIRS[:, None], key_mask=REAL),
    the(load_torch_weights, module=MultiHeadAttention(4, 2), reference=nn.MultiheadAttention(4, 2)),
    the(sinusoidal_encoding, max_length=3, d_model=4, base=10.0),
    the(shift_matrix, offset=1, d_model=4, base=10.0),
    the(PositionalEncoding, d_model=4, max_length=3, dropout=0.0),
    of(PositionalEncoding(4, 3), x=X),
    the(LearnedPositionalEmbedding, d_model=4, max_length=3),
    of(LearnedPositionalEmbedding(4, 3), x=X),
    the(apply_rotary, x=X, base=10.0, offset=1),
    the(apply_rotary_at, x=X, position_ids=IDS, base=10.0),
    the(longer_base, base=10.0, factor=2.0, d_head=4),
    the(half_split, x=X),
    the(interleaved, x=X),
    the(alibi_bias, num_heads=2, query_length=3, key_length=3),
    the(layer_norm, x=X, weight=torch.ones(4), bias=torch.ones(4), eps=1e-5),
    the(FeedForward, d_model=4, d_ff=8, dropout=0.0, activation="relu"),
    of(FeedForward(4, 8), x=X),
    the(RMSNorm, d_model=4, eps=1e-5),
    of(RMSNorm(4), x=X),
    the(SwiGLU, d_model=4, d_ff=8, dropout=0.0),
    of(SwiGLU(4, 8), x=X),
    the(EncoderLayer, **LAYER, activation="relu"),
    of(EncoderLayer(4, 2, 8), x=X, attn_mask=PAIRS[:, None], key_mask=REAL),
    the(Encoder, num_layers=1, **LAYER, activation="relu"),
    of(Encoder(1, 4, 2, 8), x=X, attn_mask=PAIRS[:, None], key_mask=REAL),
    the(attention_columns, x=torch.ones(4, 3), w_query=SQUARE, w_key=SQUARE, w_value=SQUARE),
    the(masked_mean, x=X, key_mask=REAL),
    the(TextClassifier, vocab_size=7, num_classes=2, **MODEL, padding_id=0),
    of(TextClassifier(7, 2, 4, 2, 8, 1, 5), token_ids=IDS),
    the(PairMatcher, vocab_size=7, **MODEL, padding_id=0),
    of(PairMatcher(7, 4, 2, 8, 1, 5), left_ids=IDS, right_ids=IDS),
    ("train_step", step, dict.fromkeys(("model", "batch", "optimizer", "loss_fn"))),
    the(attend, query=X, keys=X, values=X, score=dot_scores, mask=PAIRS),
    the(local_attention_weights, scores=ROW, center=torch.ones(2), window=1.0),
    the(hard_attention, scores=ROW, values=X),
    the(HierarchicalAttention, d_model=4),
    of(HierarchicalAttention(4), x=X4, mask=torch.ones(2, 2, 3).bool()),
    the(AttentionDecoder, vocab_size=7, d_model=4, score="dot"),
    of(AttentionDecoder(7, 4), token_ids=IDS, encoder_states=X, mask=REAL),
    the(DecoderLayer, **LAYER, activation="gelu"),
    of(DecoderLayer(4, 2, 8, cross_attention=True), x=X, memory=X, key_mask=REAL, memory_key_mask=REAL),
    ("DecoderLayer.forward, cache", DecoderLayer(4, 2, 8).forward, {"x": X, "cache": KeyValueCache(99)}),
    the(LanguageModel, vocab_size=7, **MODEL),
    of(WRITER, token_ids=IDS, caches=None),
    the(EncoderDecoder, source_vocab_size=7, target_vocab_size=7, **MODEL, padding_id=0),
    of(EncoderDecoder(7, 7, 4, 2, 8, 1, 5), source_ids=IDS, target_ids=IDS),
    the(next_token_loss, logits=X, token_ids=IDS, key_mask=REAL),
    the(next_token_probabilities, logits=X, temperature=1.0, top_k=2, top_p=0.5),
    the(
        generate, model=WRITER, prompt=IDS, max_new_tokens=1, temperature=1.0, top_k=2, top_p=0.5, end_id=3,
        generator=torch.Generator(),
    ),
    the(online_softmax, chunks=[X, X]),
    the(merge_partials, first=(ROW, ROW, X), second=(ROW, ROW, X)),
    the(blockwise_attention, **QKV, block_size=2, attn_mask=PAIRS),
    the(blockwise_gradients, **QKV, output=X, log_sums=ROW, upstream=X, block_size=2),
    the(grouped_query_attention, query=X4, key=X4, value=X4, attn_mask=PAIRS[:, None]),
    the(modified_attention, **QKV, attn_mask=PAIRS, scale=0.5, softcap=2.0, bias=X[..., :3]),
    the(KeyValueCache, max_length=3),
    ("KeyValueCache.append", lambda key, value: KeyValueCache(3).append(key, value), {"key": X, "value": X}),
    the(triton_attention, query=HALF, key=HALF, value=HALF),
]  # fmt: skip
#: What no argument is, or only some are.
KINDS = {
    "a text": "a",
    "a number": 3.5,
    "a whole number": 3,
    "None": None,
    "a list": [0, 1],
    "a list of lists": [[0.0, 1.0]],
    "nothing": [],
    "an object": object(),
    "a dictionary": {},
    "a tensor of no axes": torch.tensor(1.0),
    "a whole tensor of no axes": torch.tensor(1),
    "a tensor of one axis": torch.ones(3),
    "a whole tensor": torch.ones(2, 2, dtype=torch.long),
    "a mask of no axes": torch.tensor(True),
    "a complex tensor": torch.ones(2, 3, 4, dtype=torch.complex64),
}
#: Two things to unpack: what they are is for the model to judge.
OF_BATCHES = ("a list", "a tensor of one axis", "a whole tensor", "a complex tensor")


def ids(one):
    return one if isinstance(one, str) else ""


@pytest.mark.parametrize(("name", "call", "valid"), CALLS, ids=ids)
def test_a_valid_call_is_answered(name, call, valid):
    try:
        call(**valid) if name != "train_step" else call()
    except RuntimeError as error:
        if name != "triton_attention":
            raise
        assert "use blockwise_attention" in str(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "call", "valid"), CALLS, ids=ids)
def test_a_wrong_kind_is_refused_by_the_package_itself_or_taken(name, call, valid, kind):
    complaints = []
    for argument in valid:
        if argument == "batch" and kind in OF_BATCHES:
            continue
        given = {} if name == "train_step" else dict(valid)
        try:
            call(**given | {argument: KINDS[kind]})
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            own = Path(last.filename).parent == PACKAGE and (last.line or "").startswith("raise")
            if not own or not isinstance(error, (TypeError, ValueError)):
                where = f"{Path(last.filename).name}:{last.lineno}"
                complaints.append(f"{argument}: {type(error).__name__} {str(error)[:90]} ({where})")
    assert not complaints, "\n".join(complaints)


def test_layers_without_the_projections_of_attention_are_refused_by_name():
    ours, theirs = MultiHeadAttention(4, 2), nn.MultiheadAttention(4, 2)
    with pytest.raises(TypeError, match="reference must be torch's nn.MultiheadAttention, got MultiHeadAttention"):
        load_torch_weights(ours, ours)
    with pytest.raises(TypeError, match="must have the linear layers .*, got MultiheadAttention, whose q_proj is None"):
        load_torch_weights(theirs, theirs)
    ours.out_proj = nn.Identity()
    with pytest.raises(TypeError, match=r"whose out_proj is Identity\(\)"):
        load_torch_weights(ours, theirs)
