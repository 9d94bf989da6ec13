#!/usr/bin/env python3
"""widths.py: the words of what status, check and doctor print fit 80 columns, and those of which 100, or continue for half a line.

Reads the stored outputs of the command cases. The commands and paths of a line cannot be shorter, so they do not count: the rest of a
line may have one and a half times the columns.
"""
import pathlib
import re
import sys
import unicodedata

COLUMNS = {"status": 80, "check": 80, "doctor": 80, "which": 100}
COMMAND = re.compile(r"[“\"](?:jitwarm|docker|grep|pip|sudo) [^”\"]*[”\"]|(?<=: )(?:jitwarm|docker|pip|sudo) .*$")
PATH = re.compile(r"\$[A-Z]+/.*?\.(?:ptx|so)(?=[:,) ]|$)|'[^']*/[^']*'|[^\s(]*(?:\$[A-Z]+|~|\w)?/[^\s:,;)]*|[^\s(]+\.(?:whl|so|pyd|ptx|cubin)[.\d]*")


def columns(text):
    """The columns that a text takes; a Hangul syllable takes two."""
    return sum(0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def command_of(line):
    """The command of COLUMNS that a line “$ jitwarm …” runs for people; None if it is another one."""
    words = line.split()[2:]
    if {"--json", "--help"} & set(words):
        return None
    first = next((word for word in words if not word.startswith("-")), "status")
    return first if first in COLUMNS else None


def main():
    lines, wide = dict.fromkeys(COLUMNS, 0), []
    for path in sorted(pathlib.Path(__file__).resolve().parents[1].glob("*/snapshots/*.text")):
        command = None
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if line.startswith("$ "):
                command = command_of(line)
            elif command and line and not line.startswith("! "):
                width = columns(PATH.sub("", COMMAND.sub("", line)))
                lines[command] += 1
                if width > COLUMNS[command] * 3 // 2:
                    wide.append(f"{path.name}:{number}: {width} columns without commands and paths: {line}")
    print(*wide, f"{len(wide)} of {sum(lines.values())} lines are too wide", sep="\n")
    return 1 if wide or not all(lines.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
