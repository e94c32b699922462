"""Every port of python/tiletwin/ports.py is connected, to a function that is there."""

import importlib

import pytest
from tiletwin import ports, wiring

PORTS = {name: port for name, port in vars(ports).items() if isinstance(port, ports.Port)}


def test_every_port_is_connected():
    assert set(wiring.CONNECTIONS) == set(PORTS.values())


@pytest.mark.parametrize("name", PORTS)
def test_a_port_leads_to_a_function(name):
    module, _, function = wiring.CONNECTIONS[PORTS[name]].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
