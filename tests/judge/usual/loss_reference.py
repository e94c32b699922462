import torch
import torch.nn.functional as F


def cross_entropy(logits, targets):
    return F.cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.1, reduction="none")


def get_inputs():
    targets = torch.randint(0, 1000, (37,))
    targets[5] = -100
    return [torch.randn(37, 1000), targets]
