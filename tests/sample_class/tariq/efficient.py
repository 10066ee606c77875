def online_softmax(chunks):
    m, total, parts = None, 0.0, []
    for chunk in checked_chunks(chunks):
        top = chunk.max(dim=-1, keepdim=True).values
        new = top if m is None else torch.maximum(m, top)
        part = torch.exp(chunk - new)
        if m is not None:
            total = total * torch.exp(m - new)
        total = total + part.sum(dim=-1, keepdim=True)
        parts.append((part, new))
        m = new
    return torch.cat([part * torch.exp(old - m) for part, old in parts], dim=-1) / total


class KeyValueCache:
    def __init__(self, max_length):
        check_length("max_length", max_length, least=1)
        self.max_length = max_length
        self.n = 0

    @property
    def length(self):
        return self.n

    def append(self, key, value):
        check_floating(key=key, value=value)
        check_sequence(key=key, value=value)
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError("key and value must agree but for their last axis")
        if self.n == 0:
            self.k = key.new_zeros(*key.shape[:-2], self.max_length, key.shape[-1])
            self.v = value.new_zeros(*value.shape[:-2], self.max_length, value.shape[-1])
        for one, held in ((key, self.k), (value, self.v)):
            if (one.shape[:-2], one.shape[-1]) != (held.shape[:-2], held.shape[-1]):
                raise ValueError("not like those in the cache")
        if self.n + key.shape[-2] > self.max_length:
            raise ValueError("the cache is full")
        end = self.n + key.shape[-2]
        self.k, self.v = self.k.clone(), self.v.clone()
        self.k[..., self.n : end, :] = key
        self.v[..., self.n : end, :] = value
        self.n = end
        return self.k, self.v
