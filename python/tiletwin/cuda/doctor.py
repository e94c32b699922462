"""What `tiletwin doctor` says of GPUs and of the programs that make and read their code."""

from __future__ import annotations

from tiletwin import toolkit


def _driver_rows() -> list[tuple[str, str]]:
    from tiletwin.native import cuda as extension

    try:
        cuda = extension()
        driver = cuda.driver()
    except RuntimeError as error:  # no such extension in this build, or no driver on this machine
        return [("cuda driver", str(error))]
    version, ptx = driver["version"], driver["ptx_version"]
    rows = [
        (
            "cuda driver",
            f"CUDA {version // 1000}.{version % 1000 // 10}, PTX up to {ptx // 10}.{ptx % 10} ({driver['path']})",
        )
    ]
    for number in range(cuda.device_count()):
        facts = cuda.device(number)
        rows.append((
            f"gpu {number}",
            f"{facts['name']}, sm_{facts['capability']}, {facts['memory_bytes'] / 2**30:.0f} GiB, "
            f"{facts['multiprocessor_count']} multiprocessors, {facts['max_shared_mem']} bytes shared a block",
        ))  # fmt: skip
    return rows


def _tool_row(name: str) -> tuple[str, str, bool]:
    """A line, and whether all is well: a program that a variable names has to be there, others need not."""
    try:
        tool = toolkit.find(name)
    except RuntimeError as error:
        return name, str(error), False
    return name, str(tool) if tool else f"not found; looked at:\n{toolkit.where_looked(name)}", True


def rows() -> tuple[list[tuple[str, str]], bool]:
    """(what, what was found) for each line, and whether all that was asked for is there. Nothing here is needed to run
    kernels on the CPU."""
    tools = [_tool_row("ptxas"), _tool_row("nvdisasm")]
    return [*_driver_rows(), *((name, text) for name, text, _ in tools)], all(well for *_, well in tools)
