def softmax(scores, axis=-1):
    scores = np.asarray(scores, dtype=float)
    if not -scores.ndim <= axis < scores.ndim:
        raise ValueError("no such axis")
    axis = 0
    largest = scores.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0.0, largest)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0.0, 1.0, total)
