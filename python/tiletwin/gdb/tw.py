"""What gdb runs when it sees tiletwin_gdb.so: makes the other files of this folder importable and registers everything.

Runs inside gdb (Python 3.8 and later), not in the program that is debugged.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import tw_commands
    import tw_picks
    import tw_printers
finally:
    sys.path.pop(0)

tw_printers.register()
tw_commands.register()
tw_picks.register()
