def scaled_dot_scores(query, key):
    check_floating(query=query, key=key)
    check_sequence(query=query, key=key)
    check_batch(query=query, key=key)
    check_same_width(query, key)
    return query @ key.transpose(-2, -1)
