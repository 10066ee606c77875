# einsum, torch.distributions, a GRU cell in a loop, parameters in a dictionary of shapes.
import math

from .masks import combine_masks


def attend(query, keys, values, score, mask=None):
    check_floating(query=query, keys=keys, values=values)
    check_sequence(query=query, keys=keys, values=values)
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError("as many keys as values")
    check_batch(query=query, keys=keys, values=values)
    energies = score(query, keys)
    if mask is not None:
        check_mask("mask", mask, energies.shape)
        energies = torch.where(mask, energies, -math.inf)
    nothing = energies.isneginf().all(-1, keepdim=True)
    weights = torch.softmax(energies.masked_fill(nothing, 0.0), -1).masked_fill(nothing, 0.0)
    return torch.einsum("...ls,...sd->...ld", weights, values), weights


def local_attention_weights(scores, center, window):
    check_floating(scores=scores, center=center)
    if scores.dim() == 0 or scores.shape[:-1] != center.shape:
        raise ValueError("one center per row of scores")
    if not window > 0:
        raise ValueError("a window above 0")
    columns = []
    for s in range(scores.shape[-1]):
        bell = torch.exp(-((s - center) ** 2) / (2 * (window / 2) ** 2))
        columns.append(bell * ((center - s).abs() <= window))
    bells = torch.stack(columns, dim=-1)
    seen = torch.where(bells.detach() > 0, scores, -math.inf)
    highest = torch.nan_to_num(seen.amax(-1, keepdim=True).detach(), neginf=0.0)
    powers = torch.exp(seen - highest)
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total > 0, total, 1.0) * bells


def hard_attention(scores, values, generator=None):
    check_floating(scores=scores, values=values)
    if scores.dim() == 0 or scores.shape != values.shape[:-1]:
        raise ValueError("one vector per score")
    wide = scores.double().flatten(0, -2) if scores.dim() > 1 else scores.double()[None]
    hopeless = wide.isneginf().all(-1)
    choice = torch.distributions.Categorical(logits=wide.masked_fill(hopeless[:, None], 0.0), validate_args=False)
    uniform = torch.rand(len(wide), 1, generator=generator, dtype=torch.float64)
    place = (choice.probs.detach().cumsum(-1) <= uniform).sum(-1)
    last = wide.shape[-1] - 1 - wide.isneginf().flip(-1).long().argmin(-1)  # the last that may be drawn
    place = torch.minimum(place, last)
    taken = values.reshape(-1, *values.shape[-2:])[range(len(wide)), place]
    log_p = choice.log_prob(place).masked_fill(hopeless, 0.0)
    shape = scores.shape[:-1]
    return taken.masked_fill(hopeless[:, None], 0.0).reshape(*shape, -1), log_p.to(scores.dtype).reshape(shape)


class HierarchicalAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        check_length("d_model", d_model, least=1)
        self.d_model = d_model
        for level in ("word", "sentence"):
            self.add_module(f"{level}_proj", nn.Linear(d_model, d_model))
            self.register_parameter(f"{level}_query", nn.Parameter(torch.zeros(d_model)))

    def forward(self, x, mask=None):
        check_floating(x=x)
        if x.dim() != 4:
            raise ValueError("(B, n_sentences, n_words, d_model)")
        check_width(self, self.d_model, x=x)
        if mask is not None:
            check_mask("mask", mask, tuple(x.shape[:3]))
        mask = x.new_ones(x.shape[:3], dtype=torch.bool) if mask is None else mask.broadcast_to(x.shape[:3])
        for level in ("word", "sentence"):
            asked, proj = getattr(self, f"{level}_query"), getattr(self, f"{level}_proj")

            def score(query, keys, proj=proj):
                return query @ torch.tanh(proj(keys)).mT

            x = attend(asked[None], x, x, score, mask.unsqueeze(-2))[0].squeeze(-2)
            mask = mask.any(-1)
        return x


class AttentionDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__()
        check_length("vocab_size", vocab_size, least=1)
        check_length("d_model", d_model, least=1)
        d = d_model
        shapes = {
            "additive": {"score_w1": (d, 2 * d), "score_w2": (d,)},
            "bilinear": {"score_weight": (d, d)},
            "dot": {},
            "scaled": {},
        }
        if score not in shapes:
            raise ValueError("additive, bilinear, dot or scaled")
        self.d_model, self.kind = d_model, score
        self.embedding, self.gru = nn.Embedding(vocab_size, d), nn.GRU(d, d, batch_first=True)
        self.combine, self.output = nn.Linear(2 * d, d), nn.Linear(d, vocab_size)
        for name, shape in shapes[score].items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-0.3, 0.3)))

    def forward(self, token_ids, encoder_states, mask=None):
        check_integers("token_ids", token_ids, dimensions=2)
        check_floating(encoder_states=encoder_states)
        check_batched(encoder_states=encoder_states)
        check_width(self, self.d_model, encoder_states=encoder_states)
        if len(token_ids) != len(encoder_states):
            raise ValueError("one batch size")
        if mask is not None:
            check_key_mask(mask, encoder_states.shape[:2])
        state, steps = None, []
        for token in token_ids.split(1, dim=1):
            out, state = self.gru(self.embedding(token), state)
            allowed = combine_masks(mask[:, None] if mask is not None else None, None)
            context, weights = attend(out, encoder_states, encoder_states, self.energy, allowed)
            steps.append((self.output(self.combine(torch.cat((context, out), -1)).tanh()), weights))
        logits, weights = zip(*steps, strict=True)
        return torch.cat(logits, dim=1), torch.cat(weights, dim=1)

    def energy(self, query, key):
        if self.kind == "additive":
            of_query, of_key = self.score_w1.chunk(2, dim=1)
            both = (query @ of_query.T).unsqueeze(-2) + (key @ of_key.T).unsqueeze(-3)
            return torch.tanh(both) @ self.score_w2
        if self.kind == "bilinear":
            query = query @ self.score_weight
        return query @ key.mT / (self.d_model**0.5 if self.kind == "scaled" else 1)
