def document_mask(document_ids):
    return torch.zeros(200_000, 200_000, dtype=torch.float64)[: document_ids.shape[0]]
