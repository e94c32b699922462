"""The functions of `extra.cuda.libdevice`."""

from tiletwin.language.extra.cuda.libdevice import *
