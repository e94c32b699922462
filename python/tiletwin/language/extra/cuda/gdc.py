"""Dependent launches, under the name that Triton's own file has."""

from tiletwin.language.extra.cuda import gdc_launch_dependents, gdc_wait

__all__ = ["gdc_launch_dependents", "gdc_wait"]
