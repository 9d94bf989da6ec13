#!/bin/bash
# startup works for all accounts of one PC if elevated, and is refused otherwise; services' caches are listed.
. "$(dirname "$0")/lib.sh"
has_command startup || exit 77
fresh_user
users=$home/..
service=$users/../windows/system32/config/systemprofile
state=$home/AppData/Local/jitwarm
clean() { rm -rf "$service/AppData/Roaming/NVIDIA"; }
clean
trap clean EXIT

jitwarm prime --quiet "$sample_dll"
exits 0 prime

# --cache names a service's cache.
mkdir -p "$service/AppData/Roaming/NVIDIA"
cp -r "$cache" "$service/AppData/Roaming/NVIDIA/"
jitwarm cache list --json --cache "$(windows_path "$service/AppData/Roaming/NVIDIA/ComputeCache")"
exits 0 'cache list of LocalSystem'
json_is 'len(d["entries"])' 8

# The group Users' task runs as the account that logs on. It is registered from a folder to which only administrators write, which the
# build's folder need not be.
installed=$build/wine/$user/drive_c/installed
mkdir -p "$installed"
cp "$build/src/"jitwarm*.exe "$installed/"
chmod 755 "$build/wine/$user/drive_c" "$installed" "$installed/"*
from_there() { under "$gpus" "$installed/jitwarm.exe" "$@"; }
from_there startup enable --all-users "$(windows_path "$sample_dll")"
exits 0 'startup enable --all-users'
jitwarm startup status --all-users
exits 0 'startup status --all-users'
says 'jitwarm prime (all users)'
jitwarm startup status
exits 0 'startup status, which names what is set up for all'
python3 - "$state/startup-task-all.xml" <<'PYTHON' || fail 'the XML is not as it should be'
import sys
import xml.etree.ElementTree as tree
root = tree.fromstring(open(sys.argv[1], "rb").read())
space = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
find = lambda path: root.find("/".join(space + name for name in path.split("/")))
assert find("Principals/Principal/GroupId").text == "S-1-5-32-545"
assert find("Principals/Principal/RunLevel").text == "LeastPrivilege"
assert find("Settings/MultipleInstancesPolicy").text == "Parallel"
for path in "Principals/Principal/UserId", "Principals/Principal/LogonType", "Triggers/LogonTrigger/UserId":
    assert find(path) is None, path
PYTHON
jitwarm startup disable --all-users
exits 0 'startup disable --all-users'
jitwarm startup status --all-users
exits 1 'startup status --all-users after'
from_there startup enable --all-users
exits 0 'startup enable --all-users again'
jitwarm uninstall
[ ! -e "$state/startup-task-all.xml" ] || fail 'uninstall leaves the task of everyone'

# A program that others may replace is not registered for all accounts.
mkdir "$work/open"
cp "$build/src/jitwarm.exe" "$work/open/"
for open in jitwarm.exe .; do
	chmod 755 "$work/open" "$work/open/jitwarm.exe"
	chmod 777 "$work/open/$open"
	under "$gpus" "$work/open/jitwarm.exe" startup enable --all-users
	exits 3 "startup enable --all-users, $open writable by everyone"
	complains 'may be changed by'
	complains 'install it where only administrators may write'
	[ ! -e "$state/startup-task-all.xml" ] || fail 'it is registered'
done
chmod 755 "$work/open"

# Without elevation the command is refused, with what to do.
lesser() { under "$gpus" "$build/tests/windows/lesser.exe" "$(windows_path "$build/src/jitwarm.exe")" "$@"; }
lesser --version
exits 0 'lesser --version'
for command in 'startup enable --all-users' 'startup disable --all-users'; do
	# shellcheck disable=SC2086
	lesser $command
	exits 3 "$command without elevation"
	complains 'Run as administrator'
done
lesser status
[ "$status" = 2 ] || fail 'status needs no elevation, and there is no Python'
