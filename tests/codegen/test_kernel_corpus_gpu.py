"""Every kernel of tests/data/kernels, compiled for the GPU that is here and run there: what the interpreter gives,
within bounds that are derived from the kernel, and where an H200's bits for Triton's code are known, those bits.

test_kernel_corpus.py does the same on the simulator and has the lists of what is the compiler's to choose.
"""

from __future__ import annotations

import functools
import sys

import children
import corpus_cases
import corpus_launches
import ptx_cases
import pytest
import test_kernel_corpus as corpus
from tiletwin import cuda, diff
from tiletwin.diff.backends import InterpBackend, Outcome
from tiletwin.diff.launches import Launch

pytestmark = pytest.mark.gpu


@functools.cache
def _architecture() -> str:
    capability = cuda.device_facts(cuda.current_device())["capability"]
    for name in corpus_cases.ARCHITECTURES:
        if int(name.removeprefix("sm_").rstrip("a")) == capability:
            return name
    pytest.skip(f"sm_{capability} is none of the corpus's architectures: {', '.join(corpus_cases.ARCHITECTURES)}")


def _launched(name: str) -> tuple[Launch, Outcome]:
    launch = corpus_launches.launch_of(name)
    return launch, corpus_launches.GpuCode(corpus_cases.compile_case(name, _architecture())).run(launch)


@pytest.mark.parametrize("name", corpus.NAMES)
def test_agrees_with_the_interpreter(name: str) -> None:
    if corpus_launches.reaches_tables(name):
        pytest.skip("its table holds addresses of the host's memory")
    if InterpBackend().run(corpus_launches.launch_of(name)).error:
        # A trap takes the process's GPU with it.
        child = children.run(__file__, name)
        assert (child.returncode, child.stdout) == (0, "failed\n"), child.stderr
        return
    launch, outcome = _launched(name)
    assert not outcome.unsupported and not outcome.error, (outcome.kind, outcome.error or outcome.unsupported)
    if name in corpus.OTHER:
        return
    report = corpus_launches.compare(launch, outcome, corpus_launches.GpuCode)
    assert report.verdict != diff.DIFFERENT, str(report)
    recorded = corpus_cases.recorded_case(name, _architecture())
    if name in corpus.ORDER:
        assert not corpus_launches.reference_differences(name, launch, outcome)
    elif recorded is not None:
        assert not ptx_cases.differences(recorded, corpus_launches.written(launch, outcome))


if __name__ == "__main__":
    print("failed" if _launched(sys.argv[1])[1].error else "ended")
