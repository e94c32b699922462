"""Commands and printers for gdb. gdb itself runs tw.py, with the Python that is inside gdb: nothing here is imported.

See docs/debugging/gdb.md.
"""
