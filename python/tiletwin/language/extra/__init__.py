"""Parts of the language that belong to one vendor, and the libdevice functions."""

from tiletwin.language.extra import cuda, hip, libdevice

__all__ = ["cuda", "hip", "libdevice"]
