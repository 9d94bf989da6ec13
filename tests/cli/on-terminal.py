#!/usr/bin/env python3
"""on-terminal.py [--both | --answer LINE] COLUMNS COMMAND…: runs a command whose standard error is a terminal of that many columns (halved as soon
as it shows a bar), and prints what it wrote there, and nothing of its standard output; with --both that is at the terminal too,
which stays as wide; with --answer standard input as well, where LINE is typed behind a question. Ends with its status."""
import fcntl
import os
import pty
import struct
import sys
import termios

arguments = sys.argv[1:]
both, answer = arguments[0] in ("--both", "--answer"), None
if both and arguments.pop(0) == "--answer":
    answer = arguments.pop(0)
columns = int(arguments.pop(0))
master, slave = pty.openpty()


def resize(width):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))


resize(columns)
pid = os.fork()
if pid == 0:
    os.dup2(slave, 2)
    if answer is not None:
        os.dup2(slave, 0)
    os.dup2(slave if both else os.open(os.devnull, os.O_WRONLY), 1)
    os.close(master)
    os.execvp(arguments[0], arguments)
os.close(slave)
written = b""
while True:
    try:
        data = os.read(master, 65536)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
    if answer is not None and b"? " in data:
        os.write(master, answer.encode() + b"\n")
        answer = None
    if not both and b"compiling [" not in written:
        written += data
        if b"compiling [" in written:
            resize(columns // 2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
