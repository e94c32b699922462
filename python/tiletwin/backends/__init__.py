"""Targets of compilation."""
