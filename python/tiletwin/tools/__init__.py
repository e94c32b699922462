"""Helpers on the host side, under the names of `triton.tools`."""
