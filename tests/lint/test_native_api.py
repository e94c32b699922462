"""C++ fetches Python objects of the package through tiletwin/_native_api.py alone."""

import importlib
import re

import pytest
from test_layers import ROOT, tracked
from tiletwin._native_api import OBJECTS

SOURCES = {p.relative_to(ROOT).as_posix(): p.read_text() for p in tracked("frontend/*", "python/*.cpp", "python/*.h")}
IMPORT = re.compile(r'\b(?:imported|PyImport_\w+)\("(tiletwin[\w.]*)"')


def test_no_other_module_is_named():
    named = {(path, name) for path, text in SOURCES.items() for name in IMPORT.findall(text)}
    assert named == {("frontend/PackageObject.h", "tiletwin._native_api")}


def test_every_row_is_fetched():
    text = "\n".join(SOURCES.values())
    unused = [name for name in OBJECTS if f'"{name}"' not in text]
    assert not unused, f"no C++ file names {unused}"


def test_every_fetch_has_a_row():
    fetched = {name for text in SOURCES.values() for name in re.findall(r'\bpackageObject\("(\w+)"', text)}
    assert fetched and fetched <= OBJECTS.keys()


@pytest.mark.parametrize("name", OBJECTS)
def test_a_row_leads_to_an_object(name):
    module, attribute = OBJECTS[name]
    try:
        found = importlib.import_module(module)
    except ImportError:
        pytest.skip(f"{module} cannot be imported here")
    assert hasattr(found, attribute)
