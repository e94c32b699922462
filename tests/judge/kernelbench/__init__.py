"""Models of ours for problems of KernelBench, whose references are not here (scripts/judge_public.py).

Here:      which class of which file is for which problem.
Not here:  the references, judging.
"""

MODELS = {
    "activations.py": {
        "level1/19": "ReLU", "level1/20": "LeakyReLU", "level1/21": "Sigmoid", "level1/22": "Tanh",
        "level1/25": "Swish", "level1/26": "GELU", "level1/27": "SELU", "level1/28": "HardSigmoid",
        "level1/29": "Softplus", "level1/30": "Softsign", "level1/31": "ELU", "level1/32": "HardTanh",
        "level1/88": "NewGELU", "level1/5": "Scaled",
    },
    "rows.py": {
        "level1/23": "Softmax", "level1/24": "LogSoftmax", "level1/34": "InstanceNorm", "level1/35": "GroupNorm",
        "level1/36": "RMSNorm", "level1/37": "Frobenius", "level1/38": "L1Norm", "level1/39": "L2Norm",
        "level1/40": "LayerNorm",
    },
    "reductions.py": {
        "level1/47": "Sum", "level1/48": "Mean", "level1/49": "Max", "level1/51": "ArgMax", "level1/52": "ArgMin",
        "level1/53": "Min", "level1/89": "Scan", "level1/91": "Reversed",
        "level1/92": "Exclusive", "level1/93": "Masked",
    },
    "products.py": {
        "level1/1": "MatMul", "level1/2": "MatMul", "level1/3": "MatMul", "level1/4": "MatMul", "level1/6": "MatMul",
        "level1/7": "MatMul", "level1/8": "MatMul", "level1/9": "MatMul", "level1/10": "Flattened",
        "level1/11": "Flattened", "level1/12": "Diagonal", "level1/13": "MatMul", "level1/14": "Upper",
        "level1/15": "Lower", "level1/16": "TransposedA", "level1/17": "TransposedB", "level1/18": "TransposedBoth",
        "level2/9": "SubtractMultiplyReLU", "level2/12": "MultiplyLeakyReLU", "level2/29": "MishMish",
        "level2/40": "ScalingResidual", "level2/53": "ScalingHardtanhGELU", "level2/59": "SwishScaling",
        "level2/63": "ReLUDivide", "level2/70": "SigmoidScalingResidual", "level2/76": "AddReLU",
        "level2/81": "SwishDivideClampTanh", "level2/86": "DivideGELU", "level2/95": "AddSwishTanhGELU",
    },
    "losses.py": {
        "level1/94": "MSE", "level1/95": "CrossEntropy", "level1/96": "Huber", "level1/98": "KL",
        "level1/99": "Triplet", "level1/100": "Hinge",
    },
    "windows.py": {
        "level1/41": "MaxPool1d", "level1/42": "MaxPool2d", "level1/44": "AvgPool1d", "level1/45": "AvgPool2d",
        "level1/63": "Conv2d", "level1/82": "Depthwise", "level1/87": "Pointwise", "level2/1": "ConvReLUBias",
    },
}  # fmt: skip
"""By file: the class of a problem, which has its level and number."""
