"""Makes “python -m jitwarm” run the program jitwarm."""

import os
import signal
import subprocess
import sys

from . import program

command = [program(), *sys.argv[1:]]
if os.name != "nt":
    os.execv(command[0], command)
# Ctrl-C reaches the program, too, which handles it.
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.exit(subprocess.call(command))
