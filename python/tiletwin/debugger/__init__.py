"""The debugger of kernels on the simulator: `tiletwin debug`, a command line and a server for editors.

Here:      connection.py, the socket to the engine; session.py, a program that is debugged, breakpoints, going on;
           target.py, how the program is started; values.py and expressions.py, what `print` shows; sources.py, texts of
           source; command_line.py, what a user types; dap.py, what an editor says.
Not here:  stopping, lines, registers, memory: the engine (sim/debugger) has them, in the program's process.
Idea:      the program that runs kernels is another process, whatever it is; its first launch connects to this one.
"""
