#!/usr/bin/env bash
# test-report.sh BUILD-FOLDER   prints the end of the output of each test that failed in the last run of ctest there
#
# The last line names them. Prints nothing if all passed.
set -euo pipefail

[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
python3 - "$1/Testing/Temporary" <<'P'
import re, sys
LINES, WIDTH = 40, 400
folder = sys.argv[1]
read = lambda name: open(folder + "/" + name, encoding="utf-8", errors="replace").read()
try:
    failed = [line.split(":", 1)[1] for line in read("LastTestsFailed.log").splitlines()]
except OSError:
    sys.exit()
outputs = {}
for part in re.split(r"^\d+/\d+ Testing: ", read("LastTest.log"), flags=re.M)[1:]:
    name, rest = part.split("\n", 1)
    output = re.search(r"^Output:\n-+\n(.*?)^<end of output>", rest, re.M | re.S)
    outputs[name] = output[1].splitlines() if output else []
for name in failed:
    lines = [line[:WIDTH] for line in outputs.get(name, []) if line.strip()]
    # What cmocka says of tests that pass
    lines = [line for line in lines if not re.match(r"\[ +(RUN|OK) +\]", line)]
    print("---- %s failed%s" % (name, ", at the end:" if len(lines) > LINES else ":"))
    print("\n".join(lines[-LINES:]))
print("failed: " + " ".join(failed))
P
