"""A model that gives NaN for some of its inputs. docs/howto/compiled_model.md finds the line, with a check."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 24)

    def forward(self, x, is_word):
        q, k, v = self.project(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2) * 8**-0.5
        scores = scores.masked_fill(~is_word[:, None, :], float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ v


torch.manual_seed(0)
model = torch.compile(Attention())
lengths = torch.tensor([5, 3, 0, 4])
is_word = torch.arange(5) < lengths[:, None]
out = model(torch.randn(4, 5, 8), is_word)
print(f"sentences with NaN: {out.isnan().any(-1).any(-1).nonzero().flatten().tolist()}")
