"""`python -m tiletwin` is the command `tiletwin`."""

from tiletwin.cli import main

main()
