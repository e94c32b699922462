"""libdevice functions of the target; the same as `extra.cuda.libdevice`, which has the details."""

from tiletwin.language.extra.cuda import libdevice as _cuda

for _name in _cuda.FUNCTIONS:
    globals()[_name] = getattr(_cuda, _name)
del _name

FUNCTIONS = _cuda.FUNCTIONS
