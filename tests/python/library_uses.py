"""A small piece of each public library on device "cuda", without any download (test_public_libraries.py).

Run as a program with names of libraries: it prints {name: what went wrong, or ""} as JSON.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings

import torch


def gpt2(**more):
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=50, n_positions=32, **more)).cuda()


def transformers():
    from transformers import GPT2Model

    model, ids = gpt2(), torch.randint(0, 50, (1, 8), device="cuda")
    out = model(ids, labels=ids)
    out.loss.backward()
    assert out.logits.is_cuda and all(p.grad is None or p.grad.is_cuda for p in model.parameters())
    assert isinstance(model.transformer, GPT2Model)
    longer = model.generate(ids, max_new_tokens=3, do_sample=False, pad_token_id=0)
    assert longer.is_cuda and longer.shape == (1, 11)


def accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator()
    model = torch.nn.Linear(4, 4)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 4)), batch_size=2)
    model, optimizer, data = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), data)
    assert accelerator.device.type == "cuda"
    for (x,) in data:
        assert x.is_cuda
        accelerator.backward(model(x).sum())
        optimizer.step()


def peft():
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(gpt2(), LoraConfig(target_modules=["c_attn"], r=2, fan_in_fan_out=True)).cuda()
    assert model(torch.randint(0, 50, (1, 8), device="cuda")).logits.is_cuda


def trl():
    from trl import SFTConfig, SFTTrainer  # noqa: F401


def sentence_transformers():
    from sentence_transformers import util

    x = torch.eye(3, device="cuda")
    found = util.cos_sim(x, x)
    assert found.is_cuda and torch.equal(found, x)


def diffusers():
    from diffusers import UNet2DModel

    model = UNet2DModel(
        sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8,), norm_num_groups=4,
        down_block_types=("DownBlock2D",), up_block_types=("UpBlock2D",),
    ).cuda()  # fmt: skip
    assert model(torch.randn(1, 1, 8, 8, device="cuda"), 1).sample.is_cuda


def lightning():
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, index):
            assert batch[0].is_cuda and self.device.type == "cuda"
            return self.layer(batch[0]).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 4)), batch_size=2)
    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    lightning.Trainer(accelerator="gpu", devices=1, max_steps=2, precision="bf16-mixed", **quiet).fit(Module(), data)


def torchmetrics():
    from torchmetrics.classification import MulticlassAccuracy

    found = MulticlassAccuracy(num_classes=3).to("cuda")(torch.eye(3, device="cuda"), torch.arange(3, device="cuda"))
    assert found.item() == 1 and found.is_cuda


def torchao():
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    model = torch.nn.Sequential(torch.nn.Linear(64, 64)).cuda()
    quantize_(model, Int8WeightOnlyConfig())
    assert model(torch.randn(2, 64, device="cuda")).is_cuda


def liger_kernel():
    from liger_kernel.transformers import LigerCrossEntropyLoss, LigerRMSNorm

    x = torch.randn(4, 16, device="cuda", requires_grad=True)
    y = LigerRMSNorm(16).cuda()(x)
    y.sum().backward()
    assert y.is_cuda and x.grad.is_cuda
    reference = torch.nn.functional.rms_norm(x, (16,), eps=1e-6)
    assert torch.allclose(y, reference, atol=1e-5)
    logits, target = torch.randn(4, 16, device="cuda", requires_grad=True), torch.arange(4, device="cuda")
    expected = torch.nn.functional.cross_entropy(logits, target)  # Liger's puts the gradient into the logits
    assert torch.allclose(LigerCrossEntropyLoss()(logits, target), expected, atol=1e-5)


def bitsandbytes():
    import bitsandbytes  # noqa: F401


def xformers():
    import xformers.ops  # noqa: F401


def main() -> None:
    warnings.simplefilter("ignore")
    results = {}
    for name in sys.argv[1:]:
        try:
            globals()[name]()
            results[name] = ""
        except BaseException:
            results[name] = traceback.format_exc()
    print("\n" + json.dumps(results))


if __name__ == "__main__":
    main()
