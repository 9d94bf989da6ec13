"""server_start.py PACKAGE   says at a server's start why it cannot run, and compiles before the first request"""
import sys

import jitwarm

package = sys.argv[1]
found = jitwarm.check(package)
try:
    found.raise_for_status()
except jitwarm.WillFailError as why:
    sys.exit(f"{package} cannot run here: {why}")
if not found.warm:
    print(f"compiling {found.cold} modules before the first request")
    jitwarm.prime(package)
print("ready")
