"""A verdict as text.

Not here:  the page (html.py), JSON (json_text.py).
"""

from __future__ import annotations

from collections import Counter

from tiletwin.judge.verdicts import Facts, Reason


def text(verdict: Facts) -> str:
    """Several lines without a newline at the end."""
    lines = [f"{verdict.submission}: {verdict.word}"]
    for reason in verdict.reasons:
        lines += of_reason(reason)
    outcomes = Counter(case.outcome for case in verdict.cases)
    counted = ", ".join(f"{count} {word}" for word, count in outcomes.items()) or "none"
    lines.append(f"  cases: {counted}; {verdict.refused} that the reference refuses; {verdict.launches} launches")
    if verdict.cases:
        lines.append(
            f"  tolerance that allclose would have needed: atol {verdict.atol:.2g} alone or rtol {verdict.rtol:.2g} "
            f"alone; the largest error is {verdict.worst:.2g} of its bound"
        )
    # A process that did not get as far as its sandbox has not said either.
    unknown = "nothing" if verdict.open else "not known, no process got that far"
    lines.append(f"  isolated by: {', '.join(verdict.isolation) or unknown}")
    lines += [f"  not isolated: {text}" for text in verdict.open]
    lines.append(f"  seed {verdict.seed}, {verdict.seconds:.1f} s")
    return "\n".join(lines)


def of_reason(reason: Reason) -> list[str]:
    """Lines of one reason."""
    place = f"{reason.file}:{reason.line}: " if reason.line else ""
    who = f"{reason.kernel}: " if reason.kernel and reason.kernel not in reason.text else ""
    program = f"program {reason.program}: " if reason.program else ""
    lines = [f"  {reason.verdict or 'note'}: {place}{who}{program}{reason.text}"]
    if reason.source:
        lines.append(f"      {reason.source}")
    if reason.case >= 0:
        lines.append(f"    case {reason.case}, {reason.inputs}")
    if reason.verdict:
        lines.append(f"    again: {reason.command}")
    return lines
