"""Right losses, probabilities and ways to write in other styles; each keeps the argument checks of the stub."""

import functools

import torch
from torch import nn
from torch.nn import functional as F

from . import (
    _decoder_layer,  # noqa: F401  (registers the classes' answers)
    _decoder_models,  # noqa: F401
    alternative,
)

LOSS, CHANCES, TEXT = "decoder.next_token_loss", "decoder.next_token_probabilities", "decoder.generate"


def loss_of(function):
    @functools.wraps(function)
    def whole(logits, token_ids, key_mask=None):
        from attention._decoder_arguments import check_targets

        check_targets(logits, token_ids, key_mask)
        return function(logits, token_ids, key_mask)

    return alternative(LOSS)(whole)


@loss_of
def labels_ignored(logits, token_ids, key_mask):
    """torch's cross_entropy with ignore_index, and a sum of nothing where nothing is left."""
    labels = token_ids[:, 1:] if key_mask is None else token_ids[:, 1:].masked_fill(~key_mask[:, 1:], -100)
    if not (labels != -100).any():
        return logits.nan_to_num().sum() * 0.0
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), labels)


@loss_of
def real_ones_picked(logits, token_ids, key_mask):
    real = torch.ones_like(token_ids).bool() if key_mask is None else key_mask
    predicted, targets = logits[:, :-1][real[:, 1:]], token_ids[:, 1:][real[:, 1:]]
    losses = torch.logsumexp(predicted, dim=-1) - predicted[torch.arange(len(targets)), targets]
    return losses.sum() / max(len(targets), 1)


@loss_of
def one_target_after_the_other(logits, token_ids, key_mask):
    total, count = logits[:, :0].sum(), 0
    for b in range(len(token_ids)):
        for t in range(1, token_ids.shape[1]):
            if key_mask is None or key_mask[b, t]:
                total = total + F.cross_entropy(logits[b, t - 1], token_ids[b, t])
                count += 1
    return total / max(count, 1)


@loss_of
def nll_of_filled_logits(logits, token_ids, key_mask):
    weight = torch.ones_like(token_ids, dtype=torch.bool) if key_mask is None else key_mask
    weight = weight[:, 1:].reshape(-1)
    flat = logits[:, :-1].reshape(-1, logits.shape[-1]).masked_fill(~weight[:, None], 0)
    losses = F.nll_loss(flat.double().log_softmax(-1), token_ids[:, 1:].reshape(-1), reduction="none")
    return ((losses * weight).sum() / weight.sum().clamp_min(1)).to(logits.dtype)


def chances_of(function):
    @functools.wraps(function)
    def whole(logits, temperature=1.0, top_k=None, top_p=None):
        from attention._decoder_arguments import check_logits, check_sampling

        check_logits(logits)
        check_sampling(temperature, top_k, top_p)
        nothing = (logits == -torch.inf).all(dim=-1, keepdim=True)  # such a row gives zeros
        return function(logits.masked_fill(nothing, 0.0), temperature, top_k, top_p).masked_fill(nothing, 0.0)

    return alternative(CHANCES)(whole)


@chances_of
def row_by_row_in_lists(logits, temperature, top_k, top_p):
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]).double():
        order = sorted(range(len(row)), key=lambda place: -float(row[place]))  # noqa: B023
        order = order[: 1 if temperature == 0 else top_k]
        weights = torch.softmax(row[order] / (temperature or 1.0), dim=-1).tolist()
        if top_p is not None and top_p < 1:
            reached = [sum(weights[: place + 1]) >= top_p for place in range(len(weights))]
            order = order[: (reached.index(True) if any(reached) else len(reached)) + 1]
            weights = [weight / sum(weights[: len(order)]) for weight in weights[: len(order)]]
        made = [0.0] * len(row)
        for place, weight in zip(order, weights, strict=True):
            made[place] = weight
        rows.append(made)
    return torch.tensor(rows, dtype=torch.float64).reshape(logits.shape).to(logits.dtype)


@chances_of
def logits_masked_in_turn(logits, temperature, top_k, top_p):
    """As the libraries do: -inf into the logits, one softmax at the end."""
    scores = logits.double()
    if temperature == 0:
        return F.one_hot(scores.argmax(-1), scores.shape[-1]).to(logits.dtype)
    scores = scores / temperature
    if top_k is not None:
        kept = scores.topk(min(top_k, scores.shape[-1]), dim=-1)
        scores = torch.full_like(scores, -torch.inf).scatter(-1, kept.indices, kept.values)
    if top_p is not None and top_p != 1:
        rising, order = scores.sort(dim=-1)
        out = rising.softmax(-1).cumsum(-1) <= 1 - top_p + 1e-12
        out[..., -1:] = False
        scores = scores.masked_fill(out.scatter(-1, order, out), -torch.inf)
    return scores.softmax(-1).to(logits.dtype)


@chances_of
def by_ranks(logits, temperature, top_k, top_p):
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    order = wide.argsort(dim=-1, descending=True, stable=True)
    rank = order.argsort(dim=-1)
    if temperature == 0:
        return (rank == 0).to(logits.dtype)
    chances = torch.softmax(wide / temperature, dim=-1)
    if top_k is not None:
        chances = chances * (rank < top_k)
        chances = chances / chances.sum(-1, keepdim=True)
    if top_p is not None and top_p < 1:
        ahead = rank.unsqueeze(-1) > rank.unsqueeze(-2)  # (..., V, V): who is more probable than I
        before = (chances.unsqueeze(-2) * ahead).sum(-1)
        chances = chances.where(before < top_p, 0)
        chances = chances / chances.sum(-1, keepdim=True)
    return chances.to(logits.dtype)


def text_of(function):
    @functools.wraps(function)
    def whole(model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, end_id=None, generator=None):
        from attention._decoder_arguments import check_prompt, check_sampling

        check_prompt(prompt, max_new_tokens, end_id)
        check_sampling(temperature, top_k, top_p)
        return function(model, prompt, max_new_tokens, (temperature, top_k, top_p), end_id, generator)

    return alternative(TEXT)(whole)


@text_of
@torch.no_grad()
def room_made_at_once(model, prompt, count, settings, end_id, generator):
    """A tensor for the whole text, and a list of the rows that still write."""
    from attention.decoder import next_token_probabilities

    batch, start = prompt.shape
    text = torch.full((batch, start + count), 0 if end_id is None else end_id, dtype=prompt.dtype)
    text[:, :start] = prompt
    alive, end = list(range(batch)), start
    is_module = isinstance(model, nn.Module)
    was = model.training if is_module else False
    if is_module:
        model.train(False)
    while end < start + count and alive:
        chances = next_token_probabilities(model(text[:, :end])[:, -1, :], *settings)
        new = chances.max(-1).indices if settings[0] == 0 else torch.multinomial(chances, 1, generator=generator)[:, 0]
        for row in alive:
            text[row, end] = new[row]
        alive = [row for row in alive if end_id is None or int(new[row]) != end_id]
        end += 1
    if is_module:
        model.train(was)
    return text[:, :end]


@text_of
def row_after_row_in_lists(model, prompt, count, settings, end_id, generator):
    from attention.decoder import next_token_probabilities

    rows, written = prompt.tolist(), 0
    was = getattr(model, "training", None)
    if was:
        model.eval()
    try:
        with torch.inference_mode():
            while written < count and not (
                end_id is not None and written and all(ends(row, written, end_id) for row in rows)
            ):
                logits = model(torch.tensor(rows))
                for row, scores in zip(rows, logits[:, -1], strict=True):
                    if end_id is not None and ends(row, written, end_id):
                        row.append(end_id)
                        continue
                    chances = next_token_probabilities(scores, *settings)
                    row.append(int(chances.argmax() if settings[0] == 0 else drawn(chances, generator)))
                written += 1
    finally:
        if was:
            model.train()
    return torch.tensor(rows, dtype=prompt.dtype)


def ends(row, written, end_id):
    return written > 0 and end_id in row[-written:]


def drawn(chances, generator):
    return torch.multinomial(chances, 1, generator=generator)


@text_of
def by_the_largest_of_races(model, prompt, count, settings, end_id, generator):
    """Draws by exponential races: the token whose p / e is largest, with e from the generator."""
    from attention.decoder import next_token_probabilities

    module = model if isinstance(model, nn.Module) else nn.Identity()
    mode = module.training
    module.eval()
    text, ended = prompt.clone(), torch.zeros(len(prompt), 1, dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            chances = next_token_probabilities(model(text)[:, -1].double(), *settings)
            if settings[0] > 0:
                chances = chances / torch.empty_like(chances).exponential_(generator=generator)
            new = chances.argmax(dim=1, keepdim=True).to(prompt.dtype)
            if end_id is not None:
                new = torch.where(ended, torch.full_like(new, end_id), new)
                ended |= new.eq(end_id)
            text = torch.hstack([text, new])
            if end_id is not None and bool(ended.all()):
                break
    module.train(mode)
    return text
