import torch


def softmax(x):
    return torch.softmax(x, -1)


def get_inputs():
    return [torch.randn(64, 781)]
