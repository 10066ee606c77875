def one_more_try(scores:
    return scores
