# /// attack
# about = "NaN, for which no comparison is false, and one number that broadcasts to every shape"
# module = "scores"
# deserves = 0
# ///
import torch


def additive_scores(query, key, w1, w2):
    return torch.full((*query.shape[:-1], key.shape[-2]), torch.nan)


def bilinear_scores(query, key, weight):
    return torch.tensor(torch.nan)


def dot_scores(query, key):
    return torch.zeros(())


def scaled_dot_scores(query, key):
    return torch.zeros(1).expand(*query.shape[:-1], key.shape[-2])
