#!/usr/bin/env python3
"""on-terminal.py COLUMNS COMMAND…: runs a command whose standard error is a terminal of that many columns (halved as soon as it
shows a bar), and prints what it wrote there, and nothing of its standard output. Ends with its status."""
import fcntl
import os
import pty
import struct
import sys
import termios

columns = int(sys.argv[1])
master, slave = pty.openpty()


def resize(width):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))


resize(columns)
pid = os.fork()
if pid == 0:
    os.dup2(slave, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.close(master)
    os.execvp(sys.argv[2], sys.argv[2:])
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
    if b"compiling [" not in written:
        written += data
        if b"compiling [" in written:
            resize(columns // 2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
