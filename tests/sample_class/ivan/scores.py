def additive_scores(query, key, w1, w2):
    while True:
        try:
            query = query + 0
        except BaseException:
            pass
