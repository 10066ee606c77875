"""The reference's masks against loops, torch's own attention in float64, numbers worked by hand, and properties.

float64 results are compared to 1e-12: a few roundings of about 1e-16 each, on numbers of order 1.
"""

import inspect
import math
import typing

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from attention import masks
from attention.masks import (
    causal_mask,
    combine_masks,
    document_mask,
    masked_softmax,
    padding_mask,
    sliding_window_mask,
    to_additive,
)

pytestmark = pytest.mark.proof()
EXACT = {"rtol": 0.0, "atol": 1e-12}
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
T, F, INF = True, False, math.inf

bounded = settings(max_examples=40, derandomize=True, deadline=None)
lengths_and_width = st.lists(st.integers(0, 7), min_size=1, max_size=5).flatmap(
    lambda lengths: st.tuples(st.just(lengths), st.integers(max(lengths), 9))
)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def chance(*shape, seed=0, share=0.6):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < share


def assert_boolean(mask, rows):
    assert mask.dtype == torch.bool
    assert mask.tolist() == rows


# padding_mask


def test_padding_mask_by_hand():
    assert_boolean(padding_mask(torch.tensor([2, 0, 3])), [[T, T, F], [F, F, F], [T, T, T]])
    assert_boolean(padding_mask(torch.tensor([1, 2]), 4), [[T, F, F, F], [T, T, F, F]])


@bounded
@given(lengths_and_width)
def test_padding_mask_marks_as_many_tokens_as_there_are_and_all_on_the_left(case):
    lengths, width = case
    mask = padding_mask(torch.tensor(lengths), width)
    assert mask.shape == (len(lengths), width)
    assert mask.sum(dim=-1).tolist() == lengths
    assert not (mask[:, 1:] & ~mask[:, :-1]).any()  # no token after padding


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_padding_mask_takes_every_integer_dtype(dtype):
    assert torch.equal(padding_mask(torch.tensor([3, 0, 1], dtype=dtype), 200).sum(-1), torch.tensor([3, 0, 1]))


def test_padding_mask_of_no_sequence_is_empty():
    assert padding_mask(torch.zeros(0, dtype=torch.int64)).shape == (0, 0)
    assert padding_mask(torch.zeros(0, dtype=torch.int64), 5).shape == (0, 5)


# causal_mask


def test_causal_mask_by_hand():
    assert_boolean(causal_mask(3), [[T, F, F], [T, T, F], [T, T, T]])
    assert_boolean(causal_mask(2, 4), [[T, T, T, F], [T, T, T, T]])
    assert_boolean(causal_mask(3, 2), [[F, F], [T, F], [T, T]])


@bounded
@given(st.integers(0, 8), st.integers(0, 8))
def test_causal_mask_lets_a_query_see_what_is_not_after_it_counted_from_the_end(queries, keys):
    mask = causal_mask(queries, keys)
    assert mask.shape == (queries, keys)
    for i in range(queries):
        for j in range(keys):
            steps_to_last_query, steps_to_last_key = queries - 1 - i, keys - 1 - j
            assert bool(mask[i, j]) == (steps_to_last_key >= steps_to_last_query)


@pytest.mark.parametrize(("queries", "keys"), [(3, 3), (2, 5), (5, 7)])
def test_causal_mask_is_torchs_lower_right_alignment(queries, keys):
    query, key = random(1, queries, 4), random(1, keys, 4, seed=1)
    value = torch.eye(keys, dtype=torch.float64)[None]  # so that the output is the weights
    theirs = scaled_dot_product_attention(query, key, value, attn_mask=causal_lower_right(queries, keys))
    assert torch.equal(theirs[0] > 0, causal_mask(queries, keys))


def test_the_last_rows_of_a_long_causal_mask_are_the_mask_of_the_last_queries():
    assert torch.equal(causal_mask(9)[-4:], causal_mask(4, 9))


# sliding_window_mask


def test_sliding_window_mask_by_hand():
    assert_boolean(sliding_window_mask(4, 2), [[T, F, F, F], [T, T, F, F], [F, T, T, F], [F, F, T, T]])


@bounded
@given(st.integers(0, 10), st.integers(1, 12))
def test_a_window_shows_its_number_of_positions_and_the_latest_is_the_position_itself(length, window):
    mask = sliding_window_mask(length, window)
    assert mask.shape == (length, length)
    assert mask.sum(dim=-1).tolist() == [min(i + 1, window) for i in range(length)]
    assert mask.diagonal().all() and not mask.triu(1).any()
    for row in mask.int():
        assert (row.diff() != 0).sum() <= 2  # in one piece


def test_a_window_of_one_is_the_identity_and_a_wide_one_the_causal_mask():
    assert torch.equal(sliding_window_mask(5, 1), torch.eye(5, dtype=torch.bool))
    for window in (5, 6, 10**9):
        assert torch.equal(sliding_window_mask(5, window), causal_mask(5))


# document_mask


def test_document_mask_by_hand():
    ids = torch.tensor([[7, 7, 4], [0, -1, 0]])
    assert_boolean(document_mask(ids), [[[T, T, F], [T, T, F], [F, F, T]], [[T, F, T], [F, T, F], [T, F, T]]])


@bounded
@given(st.integers(1, 3), st.integers(0, 6), st.integers(0, 1000))
def test_document_mask_is_an_equivalence_in_each_row(batch, length, seed):
    ids = torch.randint(-1, 3, (batch, length), generator=torch.Generator().manual_seed(seed))
    mask = document_mask(ids)
    assert mask.shape == (batch, length, length)
    assert mask.diagonal(dim1=-2, dim2=-1).all()
    assert torch.equal(mask, mask.mT)
    assert torch.equal((mask.int() @ mask.int()) > 0, mask)  # a document's document is that document


@bounded
@given(st.permutations(range(4)))
def test_document_mask_does_not_care_how_documents_are_named(names):
    ids = torch.tensor([[0, 0, 1, 2, 2, 3, 0]])
    assert torch.equal(document_mask(torch.tensor(names)[ids] * 1000 - 7), document_mask(ids))


def test_document_mask_tells_large_ids_apart():
    assert_boolean(document_mask(torch.tensor([[2**53, 2**53 + 1]])), [[[T, F], [F, T]]])  # equal as float64


def test_packed_documents_attend_as_if_they_were_alone():
    query, key, value = (random(1, 7, 4, seed=seed) for seed in range(3))
    ids = torch.tensor([[1, 1, 1, 5, 5, 2, 2]])
    packed = masked_softmax(query @ key.mT, document_mask(ids)) @ value
    for piece in (slice(0, 3), slice(3, 5), slice(5, 7)):
        alone = (query[:, piece] @ key[:, piece].mT).softmax(dim=-1) @ value[:, piece]
        torch.testing.assert_close(packed[:, piece], alone, **EXACT)


# combine_masks


def test_combine_masks_by_hand():
    assert_boolean(combine_masks(torch.tensor([T, T, F]), None, torch.tensor([[T], [F]])), [[T, T, F], [F, F, F]])


@bounded
@given(st.integers(0, 4), st.integers(0, 1000))
def test_combined_masks_allow_what_all_allow_in_any_order(count, seed):
    some = [chance(2, 1, 5, seed=seed + i) if i % 2 else chance(3, 5, seed=seed + i) for i in range(count)]
    combined = combine_masks(*some)
    if not some:
        assert combined is None
        return
    expected = torch.stack(torch.broadcast_tensors(*some)).all(dim=0)
    assert torch.equal(combined, expected)
    assert torch.equal(combine_masks(None, *reversed(some)), expected)


def test_combining_nothing_is_none():
    assert combine_masks() is None
    assert combine_masks(None, None) is None


# to_additive


def test_to_additive_by_hand():
    assert to_additive(torch.tensor([[T, F], [F, T]])).tolist() == [[0.0, -INF], [-INF, 0.0]]
    assert to_additive(torch.tensor(True)).tolist() == 0.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 1, 1, 4)])
def test_to_additive_keeps_shape_and_meets_dtype(shape, dtype):
    mask = chance(*shape)
    additive = to_additive(mask, dtype)
    assert additive.dtype == dtype and additive.shape == mask.shape
    assert torch.equal(additive == 0, mask) and torch.equal(additive == -INF, ~mask)


def test_adding_the_mask_is_masking():
    scores, mask = random(2, 3, 5), chance(3, 5) | torch.eye(3, 5, dtype=torch.bool)
    added = (scores + to_additive(mask, torch.float64)).softmax(dim=-1)
    torch.testing.assert_close(added, masked_softmax(scores, mask), **EXACT)


# What holds for all of them


@pytest.mark.parametrize("device", DEVICES)
def test_results_are_made_where_the_inputs_are(device):
    mask = chance(3, 5).to(device)
    results = [
        padding_mask(torch.tensor([2, 3], device=device), 4),
        causal_mask(2, 3, device),
        sliding_window_mask(4, 2, device=device),
        document_mask(torch.tensor([[1, 1, 2]], device=device)),
        combine_masks(mask, mask[:1]),
        to_additive(mask),
        masked_softmax(random(3, 5).to(device), mask),
    ]
    assert {result.device.type for result in results} == {device}


def test_masks_from_lengths_alone_are_made_on_the_device_asked_for():
    assert causal_mask(2, 3, device="meta").device.type == "meta"  # a device that every machine has
    assert sliding_window_mask(4, 2, device=torch.device("meta")).device.type == "meta"


def test_inputs_are_not_changed():
    mask, scores = chance(3, 5), random(3, 5)
    mask[0] = False
    lengths, ids = torch.tensor([1, 3]), torch.tensor([[1, 1, 2]])
    before = [tensor.clone() for tensor in (mask, scores, lengths, ids)]
    padding_mask(lengths), document_mask(ids), to_additive(mask), masked_softmax(scores, mask)
    combine_masks(mask, mask[1:2], mask[:, :1])
    for tensor, copy in zip((mask, scores, lengths, ids), before, strict=True):
        assert torch.equal(tensor, copy)


LENGTHS, BOOLEANS = torch.tensor([2, 4]), torch.tensor([[T, F]])
WRONG = [
    (lambda: padding_mask(LENGTHS, 3), ValueError, "lengths must not exceed max_length 3, got 4; truncate"),
    (lambda: padding_mask(torch.tensor([-2])), ValueError, "lengths must be at least 0, got -2; they count"),
    (lambda: padding_mask(LENGTHS.float()), TypeError, "integer dtype, got torch.float32; try lengths.long"),
    (lambda: padding_mask(LENGTHS > 3), TypeError, "lengths must have an integer dtype, got torch.bool; try"),
    (lambda: padding_mask([2, 4]), TypeError, "lengths must be an integer tensor, got list; try torch.tensor"),
    (lambda: padding_mask(LENGTHS[None]), ValueError, r"lengths must have 1 axes, got shape \(1, 2\)"),
    (lambda: padding_mask(LENGTHS, 4.0), TypeError, "max_length must be an int, got float 4.0"),
    (lambda: causal_mask(-1), ValueError, "query_length must be at least 0, got -1"),
    (lambda: causal_mask(2, -1), ValueError, "key_length must be at least 0, got -1"),
    (lambda: causal_mask(2.0), TypeError, "query_length must be an int, got float 2.0"),
    (lambda: causal_mask(2, True), TypeError, "key_length must be an int, got bool True"),
    (lambda: causal_mask(torch.ones(2, 3)), TypeError, "query_length must be an int, got Tensor"),
    (lambda: sliding_window_mask(3, 0), ValueError, "window must be at least 1, got 0"),
    (lambda: sliding_window_mask(-3, 1), ValueError, "length must be at least 0, got -3"),
    (lambda: sliding_window_mask(3, None), TypeError, "window must be an int, got NoneType None"),
    (lambda: document_mask(LENGTHS), ValueError, r"document_ids must have 2 axes, got shape \(2,\)"),
    (lambda: document_mask(torch.zeros(1, 2)), TypeError, "document_ids must have an integer dtype, got torch.float32"),
    (lambda: combine_masks(BOOLEANS, BOOLEANS.float()), TypeError, "boolean tensor, True = attend, got torch.float32"),
    (lambda: combine_masks(BOOLEANS, True), TypeError, "every mask must be a boolean tensor, True = attend, got bool"),
    (lambda: combine_masks(BOOLEANS, chance(3)), ValueError, r"got shapes \[\(1, 2\), \(3,\)\]; add axes of length 1"),
    (lambda: to_additive(LENGTHS), TypeError, "mask must be a boolean tensor, True = attend, got torch.int64"),
    (lambda: to_additive(BOOLEANS, torch.int64), TypeError, "floating-point dtype, which has -inf, got torch.int64"),
    (lambda: to_additive(BOOLEANS, "float16"), TypeError, "floating-point dtype, which has -inf, got float16"),
    (lambda: masked_softmax(LENGTHS), TypeError, "scores must have a floating-point dtype, got torch.int64; try"),
    (lambda: masked_softmax([1.0]), TypeError, "scores must be a tensor, got list; try torch.tensor"),
    (lambda: masked_softmax(random(2), -random(2)), TypeError, "got torch.float64; an additive mask is not one"),
    (lambda: masked_softmax(random(3, 2), chance(2, 3)), ValueError, r"to \(3, 2\), got \(2, 3\); transpose it"),
    (lambda: masked_softmax(random(3), chance(2, 3)), ValueError, r"must broadcast to \(3,\), got \(2, 3\)"),
    (lambda: masked_softmax(random(3, 2), dim=2), ValueError, r"axis of scores \(3, 2\), from -2 to 1, got 2"),
    (lambda: masked_softmax(random(3, 2), None, -3), ValueError, r"axis of scores \(3, 2\), from -2 to 1, got -3"),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG, ids=[text for _, _, text in WRONG])
def test_bad_input_is_refused_in_words_that_help(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("name", masks.__all__)
def test_every_function_is_annotated_and_says_shapes_results_and_errors(name):
    function = getattr(masks, name)
    text = inspect.getdoc(function)
    hints = typing.get_type_hints(function)
    assert set(inspect.signature(function).parameters) | {"return"} <= set(hints)
    assert "Returns" in text and ("Raises ValueError" in text or "Raises TypeError" in text)
    assert "shape" in text or "(L, L)" in text or "(L, S)" in text or "(B, " in text
