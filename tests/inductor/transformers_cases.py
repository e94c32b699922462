"""Models of `transformers` at small sizes with random weights, eager beside compiled: for test_transformers.py.

    python transformers_cases.py cpu llama bert      # prints a JSON object, a row for each model

Here:      the models, and the comparison of results and gradients.
Not here:  which compiler runs: that is torch.compile's, as the environment sets it.
Invariant: the judge is the same model in float64. A compiled model may be off by a few times what eager float32 is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers as hf

SMALL: dict[str, Any] = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 96}
WORDS: dict[str, Any] = {"vocab_size": 99, "max_position_embeddings": 64, "pad_token_id": 0}
FACTOR, FLOOR = 4.0, 1e-5
"""A result may be FACTOR times as far from float64 as eager's is, and FLOOR of the largest value more."""


def _words(rows: int = 2, count: int = 17) -> torch.Tensor:
    return torch.randint(3, 99, (rows, count))


def _text(**more: Callable[[], torch.Tensor]) -> Callable[[], dict[str, torch.Tensor]]:
    def make() -> dict[str, torch.Tensor]:
        tokens = _words()
        mask = torch.ones_like(tokens)
        mask[1, 11:] = 0
        return {"input_ids": tokens, "attention_mask": mask, **{name: value() for name, value in more.items()}}

    return make


def _llama() -> Any:
    return hf.LlamaForCausalLM(hf.LlamaConfig(**SMALL, **WORDS, num_key_value_heads=2))


def _gpt2() -> Any:
    return hf.GPT2LMHeadModel(hf.GPT2Config(n_layer=2, n_embd=64, n_head=4, vocab_size=99, n_positions=64))


def _bert() -> Any:
    return hf.BertForMaskedLM(hf.BertConfig(**SMALL, **WORDS))


def _t5() -> Any:
    sizes = {"d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 2, "num_heads": 4, "vocab_size": 99}
    return hf.T5ForConditionalGeneration(hf.T5Config(**sizes, decoder_start_token_id=0))


def _mamba() -> Any:
    # PyTorch says that its associative scan has no gradients; on CUDA they are wrong without a word, with any backend.
    sizes = {"hidden_size": 48, "num_hidden_layers": 2, "vocab_size": 99, "state_size": 8}
    return hf.MambaForCausalLM(hf.MambaConfig(**sizes, use_associative_scan=False))


def _vit() -> Any:
    return hf.ViTForImageClassification(hf.ViTConfig(**SMALL, image_size=32, patch_size=8, num_labels=7))


def _convnext() -> Any:
    sizes = {"hidden_sizes": [16, 24, 32, 40], "depths": [1, 1, 2, 1], "num_labels": 7}
    return hf.ConvNextForImageClassification(hf.ConvNextConfig(**sizes))


def _whisper() -> Any:
    sizes = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4}
    more = {"decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "num_mel_bins": 20}
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    lengths = {"max_source_positions": 32, "max_target_positions": 32, "vocab_size": 99}
    return hf.WhisperForConditionalGeneration(hf.WhisperConfig(**sizes, **more, **ends, **lengths))


def _mixtral() -> Any:
    experts = {"num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2}
    return hf.MixtralForCausalLM(hf.MixtralConfig(**SMALL, **WORDS, **experts))


def _qwen3() -> Any:
    return hf.Qwen3ForCausalLM(hf.Qwen3Config(**SMALL, **WORDS, num_key_value_heads=2, head_dim=16))


def _image() -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(2, 3, 32, 32)}


def _sound() -> dict[str, torch.Tensor]:
    return {"input_features": torch.randn(2, 20, 64), "decoder_input_ids": _words(2, 9)}


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], dict[str, torch.Tensor]]]] = {
    "llama": (_llama, _text()),
    "gpt2": (_gpt2, _text()),
    "qwen3": (_qwen3, _text()),
    "bert": (_bert, _text()),
    "t5": (_t5, _text(decoder_input_ids=lambda: _words(2, 9))),
    "mamba": (_mamba, lambda: {"input_ids": _words()}),
    "vit": (_vit, _image),
    "convnext": (_convnext, _image),
    "whisper": (_whisper, _sound),
    "mixtral": (_mixtral, _text()),
}
"""Decoders, an encoder, encoder-decoders, a state space, vision, audio, a mixture of experts."""


def build(name: str, device: str) -> tuple[Any, dict[str, Any]]:
    """A model and its inputs, the same in each process."""
    torch.manual_seed(7)
    make, inputs = MODELS[name]
    model = make().to(device).eval()  # dropout would draw other numbers when compiled
    return model, {key: value.to(device) for key, value in inputs().items()}


def step(model: Any, forward: Callable[..., Any], inputs: dict[str, Any]) -> list[torch.Tensor]:
    """Results of a forward and a backward: logits, then the gradient of each parameter."""
    model.zero_grad()
    logits = forward(**inputs, use_cache=False).logits if takes_cache(model) else forward(**inputs).logits
    weights = torch.linspace(-1, 1, logits.numel(), dtype=torch.float64).reshape(logits.shape)
    (logits * weights.to(logits.dtype).to(logits.device)).sum().backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    return [logits.detach(), *(gradient.clone() for gradient in gradients if gradient is not None)]


def takes_cache(model: Any) -> bool:
    return hasattr(model.config, "use_cache")


def distance(found: torch.Tensor, true: torch.Tensor, least: float) -> float:
    """The largest difference, as a part of the largest value, or of `least`: some gradients are sums that cancel."""
    off = (found.cpu().double() - true.cpu()).abs().max().item()
    return off / max(true.abs().max().item(), least)


def measure(name: str, device: str, rounds: int) -> dict[str, Any]:
    """Times in seconds, and the worst distances from float64 of eager and compiled results."""
    model, inputs = build(name, device)
    eager = step(model, model, inputs)
    begin = time.perf_counter()
    compiled = torch.compile(model)
    found = step(model, compiled, inputs)
    row: dict[str, Any] = {"compile_s": time.perf_counter() - begin}
    for kind, forward in (("eager_s", model), ("compiled_s", compiled)):
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            step(model, forward, inputs)
            times.append(time.perf_counter() - begin)
        row[kind] = min(times, default=0.0)
    wide = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")  # the grouped product of experts knows no float64
    true = step(model.double(), model, wide)
    assert len(true) == len(found) == len(eager)
    least = 1e-4 * max(t.abs().max().item() for t in true)
    pairs = [(distance(f, t, least), distance(e, t, least)) for f, e, t in zip(found, eager, true)]
    row["compiled_off"], row["eager_off"] = max(f for f, _ in pairs), max(e for _, e in pairs)
    row["wrong"] = [number for number, (f, e) in enumerate(pairs) if not f <= FACTOR * e + FLOOR]
    return row


def main() -> None:
    device, *names = sys.argv[1:]
    rounds = int(os.environ.get("TEST_ROUNDS", "0"))
    rows = {}
    for name in names or MODELS:
        try:
            rows[name] = measure(name, device, rounds)
        except Exception as error:
            import traceback

            traceback.print_exc()
            rows[name] = {"error": f"{type(error).__name__}: {error}"[:2000]}
        torch._dynamo.reset()
    print(json.dumps({"results": rows}))


if __name__ == "__main__":
    main()
