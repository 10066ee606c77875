"""Wrong backward passes of blockwise attention, each with the argument checks that the stub gives."""

import functools

import torch

from ._given import behind_given_checks

BACKWARD = "efficient.blockwise_gradients"


class Backward:
    """The right answer in pieces that a subclass replaces."""

    def answer(self, query, key, value, output, log_sums, upstream, block_size):
        wide = self.kept(query.dtype)
        self.root, self.log_sums = query.shape[-1] ** 0.5, log_sums[..., None].to(wide)
        self.q, self.g, self.output = query.to(wide), upstream.to(wide), output.to(wide)
        k, v = key.to(wide), value.to(wide)
        sums, of_query, of_key, of_value = self.row_sums(), torch.zeros_like(self.q), [], []
        for start in range(0, self.end(key.shape[-2], block_size), block_size):
            keys, values = (x[..., start : start + block_size, :] for x in (k, v))
            weights = self.weights(keys)
            of_scores = self.of_scores(weights, values, sums)
            of_query = self.gathered(of_query, self.of_queries(of_scores, keys))
            of_key.append(self.of_keys(of_scores))
            of_value.append(self.of_values(weights, of_scores))
        rest = key.shape[-2] - sum(part.shape[-2] for part in of_key)  # no block holds these: their gradient is 0
        found = of_query, *(self.joined(parts, rest) for parts in (of_key, of_value))
        return tuple(one.to(query.dtype) for one in found)

    def kept(self, dtype):
        return torch.promote_types(dtype, torch.float32)

    def end(self, keys, block_size):
        return keys

    def joined(self, parts, rest):
        shape = (*self.q.shape[:-2], rest, parts[0].shape[-1] if parts else 1)
        return torch.cat([*parts, self.q.new_zeros(shape)], -2)

    def row_sums(self):
        return (self.g * self.output).sum(-1, keepdim=True)

    def weights(self, keys):
        return torch.exp(self.q @ keys.mT / self.root - self.log_sums)

    def of_scores(self, weights, values, sums):
        return weights * (self.g @ values.mT - sums)

    def gathered(self, of_query, new):
        return of_query + new

    def of_queries(self, of_scores, keys):
        return of_scores @ keys / self.root

    def of_keys(self, of_scores):
        return of_scores.mT @ self.q / self.root

    def of_values(self, weights, of_scores):
        return weights.mT @ self.g


def wrong(kind, like=""):
    """Register a subclass."""

    @behind_given_checks(BACKWARD, kind.__name__, like)
    def function(query, key, value, output, log_sums, upstream, block_size=128):
        return kind().answer(query, key, value, output, log_sums, upstream, block_size)

    return kind


@wrong
class row_sums_left_out(Backward):
    def row_sums(self):
        return 0.0


@wrong
class row_sums_of_the_upstream(Backward):
    def row_sums(self):
        return self.g.sum(-1, keepdim=True)


@wrong
class row_sums_of_the_output(Backward):
    def row_sums(self):
        return self.output.sum(-1, keepdim=True)


@wrong
class row_sums_within_the_block(Backward):
    def of_scores(self, weights, values, sums):
        products = self.g @ values.mT
        return weights * (products - (weights * products).sum(-1, keepdim=True))


@wrong
class row_sums_added(Backward):
    def row_sums(self):
        return -super().row_sums()


@wrong
class row_sums_not_weighted(Backward):
    def of_scores(self, weights, values, sums):
        return weights * (self.g @ values.mT) - sums


@wrong
class weights_left_out(Backward):
    def of_scores(self, weights, values, sums):
        return self.g @ values.mT - sums


@wrong
class query_not_scaled(Backward):
    def of_queries(self, of_scores, keys):
        return of_scores @ keys


@wrong
class key_not_scaled(Backward):
    def of_keys(self, of_scores):
        return of_scores.mT @ self.q


@wrong
class neither_scaled(Backward):
    def of_queries(self, of_scores, keys):
        return of_scores @ keys

    def of_keys(self, of_scores):
        return of_scores.mT @ self.q


@wrong
class multiplied_by_root(Backward):
    def weights(self, keys):
        return torch.exp(self.q @ keys.mT * self.root - self.log_sums)

    def of_queries(self, of_scores, keys):
        return of_scores @ keys * self.root

    def of_keys(self, of_scores):
        return of_scores.mT @ self.q * self.root


@wrong
class scores_not_scaled(Backward):
    def weights(self, keys):
        return torch.exp(self.q @ keys.mT - self.log_sums)


@wrong
class softmax_of_the_block(Backward):
    def weights(self, keys):
        return torch.softmax(self.q @ keys.mT / self.root, -1)


@wrong
class log_sum_left_out(Backward):
    def weights(self, keys):
        return torch.exp(self.q @ keys.mT / self.root)


@wrong
class divided_by_the_log_sum(Backward):
    def weights(self, keys):
        return torch.exp(self.q @ keys.mT / self.root) / self.log_sums


@wrong
class exponentials_divided(Backward):
    def weights(self, keys):
        return torch.exp(self.q @ keys.mT / self.root) / torch.exp(self.log_sums)


@wrong
class last_block_alone(Backward):
    def gathered(self, of_query, new):
        return new


@wrong
class last_block_dropped(Backward):
    def end(self, keys, block_size):
        return keys // block_size * block_size


@functools.partial(wrong, like="last_block_dropped")
class one_block_at_least(Backward):
    def end(self, keys, block_size):
        return max(keys // block_size, 1) * block_size if keys else 0


@wrong
class value_from_the_scores(Backward):
    def of_values(self, weights, of_scores):
        return of_scores.mT @ self.g


@wrong
class value_from_the_output(Backward):
    def of_values(self, weights, of_scores):
        return weights.mT @ self.output


@wrong
class upstream_left_out(Backward):
    def of_values(self, weights, of_scores):
        return weights.mT @ torch.ones_like(self.g)


@wrong
class sums_in_half_precision(Backward):
    def kept(self, dtype):
        return dtype


@wrong
class whole_matrix(Backward):
    def answer(self, query, key, value, output, log_sums, upstream, block_size):
        return super().answer(query, key, value, output, log_sums, upstream, max(key.shape[-2], 1))


@wrong
class query_scaled_in_place(Backward):
    def answer(self, query, *rest):
        query /= query.shape[-1] ** 0.5
        return super().answer(query * query.shape[-1] ** 0.5, *rest)


@behind_given_checks(BACKWARD)
def float32_returned(query, key, value, output, log_sums, upstream, block_size=128):
    wide = (x.float() if x.dtype != torch.float64 else x for x in (query, key, value, output, log_sums, upstream))
    return Backward().answer(*wide, block_size)


@wrong
class row_sums_over_all_queries(Backward):
    def row_sums(self):
        return (self.g * self.output).sum((-2, -1), keepdim=True)


@behind_given_checks(BACKWARD)
def blocks_along_the_first_axis(query, key, value, output, log_sums, upstream, block_size=128):
    root, wide = query.shape[-1] ** 0.5, torch.promote_types(query.dtype, torch.float32)
    q, k, v, y, g = (x.to(wide) for x in (query, key, value, output, upstream))
    sums, of_query, of_key, of_value = (g * y).sum(-1, keepdim=True), torch.zeros_like(q), [], []
    for start in range(0, len(k), block_size):
        keys, values = (x[start : start + block_size] for x in (k, v))
        weights = torch.exp(q @ keys.mT / root - log_sums[..., None].to(wide))
        of_scores = weights * (g @ values.mT - sums) / root
        of_query = of_query + of_scores @ keys
        of_key.append(of_scores.mT @ q)
        of_value.append(weights.mT @ g)
    return tuple(x.to(query.dtype) for x in (of_query, torch.cat(of_key), torch.cat(of_value)))


@wrong
class log_sums_scaled(Backward):
    def weights(self, keys):
        return torch.exp((self.q @ keys.mT - self.log_sums) / self.root)


@wrong
class root_of_value_width(Backward):
    def row_sums(self):
        self.root = self.output.shape[-1] ** 0.5
        return super().row_sums()
