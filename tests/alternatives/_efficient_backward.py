"""Right backward passes of blockwise attention in other styles."""

import functools

import torch

from attention._arguments import check_backward, check_length

from . import alternative


def below_given_checks(function):
    @functools.wraps(function)
    def whole(query, key, value, output, log_sums, upstream, block_size=128):
        check_backward(query, key, value, output, log_sums, upstream)
        check_length("block_size", block_size, least=1)
        return function(query, key, value, output, log_sums, upstream, block_size)

    return alternative("efficient.blockwise_gradients")(whole)


def wide(x):
    return x if x.dtype == torch.float64 else x.float()


@below_given_checks
def split_and_joined(query, key, value, output, log_sums, upstream, block_size):
    q, k, v, o, ls, g = map(wide, (query, key, value, output, log_sums, upstream))
    root = q.shape[-1] ** 0.5
    d = torch.einsum("...lv,...lv->...l", g, o)
    dq, dk, dv = torch.zeros_like(q), [], []
    for kb, vb in zip(k.split(block_size, -2), v.split(block_size, -2), strict=True):
        p = (torch.einsum("...ld,...sd->...ls", q, kb) / root - ls.unsqueeze(-1)).exp()
        ds = p * (torch.einsum("...lv,...sv->...ls", g, vb) - d.unsqueeze(-1))
        dq = dq + torch.einsum("...ls,...sd->...ld", ds, kb) / root
        dk.append(torch.einsum("...ls,...ld->...sd", ds, q) / root)
        dv.append(torch.einsum("...ls,...lv->...sv", p, g))
    return tuple(x.to(query.dtype) for x in (dq, torch.cat(dk, -2), torch.cat(dv, -2)))


@below_given_checks
def tiles_of_queries_and_keys(query, key, value, output, log_sums, upstream, block_size):
    q, k, v, o, ls, g = map(wide, (query, key, value, output, log_sums, upstream))
    scale = q.shape[-1] ** -0.5
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(0, q.shape[-2], block_size):
        rows = slice(i, min(i + block_size, q.shape[-2]))
        qi, gi, li = q[..., rows, :], g[..., rows, :], ls[..., rows].unsqueeze(-1)
        di = (gi * o[..., rows, :]).sum(-1, keepdim=True)
        for j in range(0, k.shape[-2], block_size):
            cols = slice(j, min(j + block_size, k.shape[-2]))
            kj, vj = k[..., cols, :], v[..., cols, :]
            p = torch.exp(scale * (qi @ kj.transpose(-1, -2)) - li)
            ds = scale * p * (gi @ vj.transpose(-1, -2) - di)
            dq[..., rows, :] += ds @ kj
            dk[..., cols, :] += ds.transpose(-1, -2) @ qi
            dv[..., cols, :] += p.transpose(-1, -2) @ gi
    return dq.to(query.dtype), dk.to(query.dtype), dv.to(query.dtype)


@below_given_checks
def heads_one_after_the_other(query, key, value, output, log_sums, upstream, block_size):
    lead, root = query.shape[:-2], query.shape[-1] ** 0.5
    flat = [wide(x).reshape(-1, *x.shape[len(lead) :]) for x in (query, key, value, output, log_sums, upstream)]
    found = []
    for q, k, v, o, ls, g in zip(*flat, strict=True):
        d, dq, dk, dv = (g * o).sum(1), torch.zeros_like(q), torch.empty_like(k), torch.empty_like(v)
        for places in torch.arange(len(k)).split(block_size):
            scores = k[places] @ q.T / root  # transposed: a row for each key
            weights = torch.exp(scores - ls)
            ds = weights * (v[places] @ g.T - d) / root
            dq.addmm_(ds.T, k[places])
            dk[places], dv[places] = ds @ q, weights @ g
        found.append((dq, dk, dv))
    shaped = zip(zip(*found, strict=True), (query, key, value), strict=True)
    return tuple(torch.stack(parts).reshape(like.shape).to(query.dtype) for parts, like in shaped)


@below_given_checks
def parts_of_all_blocks_summed_at_the_end(query, key, value, output, log_sums, upstream, block_size):
    """Scores transposed, a row for each key; what each block adds to the gradient of query is kept till the end."""
    q, g, o, ls = map(wide, (query, upstream, output, log_sums))
    root, sums = q.shape[-1] ** 0.5, (g * o).sum(-1).unsqueeze(-2)
    found = []
    for k, v in zip(wide(key).split(block_size, -2), wide(value).split(block_size, -2), strict=True):
        weights = torch.exp(k @ q.mT / root - ls.unsqueeze(-2))
        of_scores = weights * (v @ g.mT - sums) / root
        found.append((of_scores.mT @ k, of_scores @ q, weights @ g))
    of_query, of_key, of_value = zip(*found, strict=True)
    joined = torch.stack(of_query).sum(0), torch.cat(of_key, -2), torch.cat(of_value, -2)
    return tuple(x.to(query.dtype) for x in joined)
