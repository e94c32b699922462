import torch


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    c, s = cos[None, :, None], sin[None, :, None]
    return torch.cat([a * c - b * s, b * c + a * s], -1)


def get_inputs():
    return [torch.randn(2, 17, 3, 32), torch.randn(17, 16), torch.randn(17, 16)]
