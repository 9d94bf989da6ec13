"""python -m jitwarm is the program"""
import os, signal, subprocess, sys

from . import program

command = [program(), *sys.argv[1:]]
if os.name != "nt":
    os.execv(command[0], command)
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's
sys.exit(subprocess.call(command))
