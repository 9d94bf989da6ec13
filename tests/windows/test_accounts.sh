#!/bin/bash
# import and startup work for all accounts of one PC if elevated, and are refused otherwise; services' caches are listed.
. "$(dirname "$0")/lib.sh"
has_command import || exit 77
fresh_user
pack=$(windows_path "$work/모두.jwpack")
list='HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList'
users=$home/..
service=$users/../windows/system32/config/systemprofile
state=$home/AppData/Local/jitwarm
reg() { under "$gpus" reg "$@"; }
clean() {
	rm -rf "$users/이서연 😀" "$users/moved" "$service/AppData/Roaming/NVIDIA"
	for id in 1001 1002 1003 1004.bak 1005; do reg delete "$list\\S-1-5-21-9-8-7-$id" /f; done
	reg delete 'HKU\S-1-5-21-9-8-7-1005' /f
}
clean
trap clean EXIT
cached() { (cd "$1" && find . -path './?/?/*' -type f -exec sha256sum {} + | sort -k2); }

jitwarm prime --quiet "$sample_dll"
exits 0 prime
jitwarm export -o "$pack"
exits 0 export
cached "$cache" > "$work/wanted"

# The accounts: one that was logged on, one whose folder is gone, one that Windows has set aside, and one whose folder is nowhere.
mkdir -p "$users/이서연 😀"
reg add "$list\\S-1-5-21-9-8-7-1001" /f /v ProfileImagePath /t REG_EXPAND_SZ /d '%SystemDrive%\users\이서연 😀'
exits 0 'reg add'
reg add "$list\\S-1-5-21-9-8-7-1002" /f /v ProfileImagePath /t REG_EXPAND_SZ /d '%SystemDrive%\users\gone'
reg add "$list\\S-1-5-21-9-8-7-1003" /f /v ProfileImagePath /t REG_SZ /d 'relative'
reg add "$list\\S-1-5-21-9-8-7-1004.bak" /f /v ProfileImagePath /t REG_EXPAND_SZ /d '%SystemDrive%\users\이서연 😀'
jitwarm import --all-users "$pack"
exits 3 'import --all-users of an unsigned pack'
jitwarm import --all-users --allow-unsigned --json "$pack"
exits 0 'import --all-users'
json_is 'sorted(a["account"] for a in d["accounts"])' "['김지원', '이서연 😀']"
json_is '[a["import"]["added"] > 0 for a in d["accounts"] if a["account"] != "김지원"]' '[True]'
cached "$users/이서연 😀/AppData/Roaming/NVIDIA/ComputeCache" > "$work/theirs"
cmp "$work/wanted" "$work/theirs" || fail 'not the same entries'

# This account is logged on, and its %APPDATA% was moved.
mkdir -p "$users/moved"
reg add "$list\\S-1-5-21-9-8-7-1005" /f /v ProfileImagePath /t REG_EXPAND_SZ /d '%SystemDrive%\users\moved'
reg add 'HKU\S-1-5-21-9-8-7-1005\Software\Microsoft\Windows\CurrentVersion\Explorer\User Shell Folders' /f /v AppData \
	/t REG_EXPAND_SZ /d '%USERPROFILE%\다른 곳'
jitwarm import --all-users --allow-unsigned --dry-run "$pack"
exits 0 'import --all-users --dry-run'
says '8 entries would be added'
[ -z "$(find "$users/moved" -mindepth 1)" ] || fail 'a dry run has written something'
jitwarm import --all-users --allow-unsigned "$pack"
exits 0 'import --all-users into a moved folder'
cached "$users/moved/다른 곳/NVIDIA/ComputeCache" > "$work/theirs"
cmp "$work/wanted" "$work/theirs" || fail 'not the same entries in the moved folder'
[ ! -e "$users/moved/AppData" ] || fail 'and in the usual folder too'

# This account has moved it to a place that is not a drive, or to a server: it is not opened, and the others get their entries.
for place in '\\.\C:\users\moved\device' '\\?\C:\users\moved\device' '\\server\share'; do
	reg add 'HKU\S-1-5-21-9-8-7-1005\Software\Microsoft\Windows\CurrentVersion\Explorer\User Shell Folders' /f /v AppData \
		/t REG_EXPAND_SZ /d "$place"
	jitwarm import --all-users --allow-unsigned "$pack"
	exits 1 "import --all-users into $place"
	complains 'not on a drive of this machine'
	says '김지원'
	[ ! -e "$users/moved/device" ] || fail "the administrator wrote to $place"
done
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
for command in "import --all-users --allow-unsigned $pack" 'startup enable --all-users' 'startup disable --all-users'; do
	# shellcheck disable=SC2086
	lesser $command
	exits 3 "$command without elevation"
	complains 'Run as administrator'
done
lesser status
[ "$status" = 2 ] || fail 'status needs no elevation, and there is no Python'
