"""Broken text gives a diagnostic with a line, never a crash: real TTIR with tokens deleted, doubled or exchanged."""

import pathlib
import random
import re
import subprocess

import pytest
from test_roundtrip import load

TOKEN = re.compile(r'"[^"]*"|[%#!@^]?[\w.$-]+|->|\s+|.', re.S)


def mutate(text: str, rng: random.Random, vocabulary: list[str]) -> str:
    """One to three edits of tokens; `vocabulary` holds tokens of other modules."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(tokens))
        kind = rng.randrange(4)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] += tokens[at]
        elif kind == 2:
            tokens[at] = rng.choice(vocabulary)
        else:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


def check(tool: pathlib.Path, text: str) -> str:
    """Runs the passes over `text`; returns the diagnostics if it was turned down."""
    command = [str(tool), "-", "--tt-make-ttir", "--mlir-disable-threading"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert result.returncode in (0, 1), f"crashed ({result.returncode}):\n{result.stderr[-3000:]}\n{text}"
    assert result.returncode == 0 or re.search(r":\d+:\d+: error: |error: ", result.stderr), result.stderr
    return result.stderr


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 40))])
def test_mutations(tiletwin_opt, seed):
    rng = random.Random(seed)
    texts = [re.sub(r" loc\([^()]*(\([^()]*\))?\)", "", text) for text in load("source").values()]
    vocabulary = [token for text in rng.sample(texts, 20) for token in TOKEN.findall(text) if not token.isspace()]
    for _ in range(40):
        check(tiletwin_opt, mutate(rng.choice(texts), rng, vocabulary))


@pytest.mark.parametrize(
    "text",
    [
        "tt.func @f(%x: i32) { %0 = tt.unsplat %x : i32 tt.return }",
        "tt.func @f(%x: i32) { %0 = tt.load %x : i32 tt.return }",
        "tt.func @f(%x: tensor<*xf32>) { %0 = tt.splat %x : tensor<*xf32> -> tensor<4xf32> tt.return }",
        "tt.func @f() { %0 = tt.splat %0 : i32 -> tensor<4xi32> tt.return }",
        'tt.func @f(%x: tensor<4xf32>) { %0 = "tt.reduce"(%x) <{axis = 0 : i32}> '
        "({}) : (tensor<4xf32>) -> f32 tt.return }",
        'tt.func @f(%x: tensor<4xf32>) { %0 = "tt.reduce"(%x) ({^bb0: }) : (tensor<4xf32>) -> f32 tt.return }',
        'tt.func @f() { "tt.reduce"() <{axis = 0 : i32}> '
        '({^bb0: "tt.reduce.return"() : () -> ()}) : () -> () tt.return }',
        "tt.func @f(%x: !tt.ptr<!tt.ptr<vector<2xf32>>>) { tt.return }",
        "tt.func @f(%x: !tt.tensordesc<x>) { tt.return }",
        "tt.func @f() { %0 = tt.make_range {end = 2147483647 : i32, start = -2147483648 : i32} "
        ": tensor<4xi32> tt.return }",
        "tt.func private @f()  tt.func @g() { tt.call @f() : () -> () tt.return }",
        "tt.return",
        "",
    ],
    ids=range(13),
)
def test_by_hand(tiletwin_opt, text):
    check(tiletwin_opt, text)
