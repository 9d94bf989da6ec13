#!/usr/bin/env python3
"""The members of state.json, in which jitwarm remembers things of a machine.

    state.py FOLDER put NAME JSON       replaces the member
    state.py FOLDER get NAME            prints the member; status 1 if there is none
    state.py FOLDER remove NAME         removes the member
"""

import json
import pathlib
import sys

folder, action, name = sys.argv[1:4]
path = pathlib.Path(folder) / "state.json"
document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"schema": "jitwarm.state/1"}
if action == "get":
    if name not in document:
        sys.exit(1)
    print(json.dumps(document[name], separators=(",", ":")))
else:
    document.pop(name, None)
    if action == "put":
        document[name] = json.loads(sys.argv[4])
    path.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")
