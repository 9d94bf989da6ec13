#!/bin/bash
# The logon task: the XML that schtasks is handed, its command run, its log shown, everything taken back. Wine's Task
# Scheduler stores a task without trigger and principal, and runs nothing.
. "$(dirname "$0")/lib.sh"
has_command startup enable || exit 77
fresh_user
state=$home/AppData/Local/jitwarm
mkdir -p "$work/라이브러리 모음"
cp "$sample_dll" "$work/라이브러리 모음/"
folder=$(windows_path "$work/라이브러리 모음")

jitwarm startup status
exits 1 'startup status before'
jitwarm startup enable "$folder"
exits 0 'startup enable'
jitwarm startup enable "$folder"
exits 0 'startup enable again'
says 'jitwarm runs two minutes after each logon'
says 'jitwarmw.exe: if you move'
mkdir -p "$work/Downloads"
cp "$build/src/jitwarm.exe" "$build/src/jitwarmw.exe" "$work/Downloads/"
under "$gpus" "$work/Downloads/jitwarm.exe" startup enable "$folder"
exits 0 'startup enable of a downloaded program'
complains 'files in this folder are often deleted'
jitwarm startup enable "$folder"
exits 0 'startup enable of the program in its place'
jitwarm startup status --json
exits 0 'startup status'
json_is 'd["enabled"]' True
task=$(json 'd["items"][0]["where"]')
[[ $task =~ ^'jitwarm prime S-1-5-'[0-9-]+$ ]] || fail "the task of an account is named $task"
sid=${task#jitwarm prime }
python3 - "$state/startup-task.xml" "$work/command" "$folder" <<'PYTHON' || fail 'the XML is not as it should be'
import re, sys
import xml.etree.ElementTree as tree
data = open(sys.argv[1], "rb").read()
assert data[:2] == b"\xff\xfe", "no UTF-16"
root = tree.fromstring(data)
at = lambda path: root.find("/".join("{http://schemas.microsoft.com/windows/2004/02/mit/task}" + name for name in path.split("/"))).text
sid = at("Triggers/LogonTrigger/UserId")
assert re.fullmatch(r"S-1-5-[0-9-]+", sid) and sid == at("Principals/Principal/UserId"), sid
wanted = {
    "Triggers/CalendarTrigger/Repetition/Interval": "PT2H", "Triggers/LogonTrigger/Delay": "PT2M", "Triggers/EventTrigger/Delay": "PT2M", "Principals/Principal/LogonType": "InteractiveToken",
    "Principals/Principal/RunLevel": "LeastPrivilege", "Settings/MultipleInstancesPolicy": "IgnoreNew",
    "Settings/DisallowStartIfOnBatteries": "true", "Settings/ExecutionTimeLimit": "PT2H", "Settings/Priority": "9"}
for path, value in wanted.items():
    assert at(path) == value, path
query = tree.fromstring(at("Triggers/EventTrigger/Subscription"))
assert query.find("Query/Select").get("Path") == "System" and "'Microsoft-Windows-UserPnp'" in query.find("Query/Select").text, "the event"
assert at("Actions/Exec/Command").endswith("jitwarmw.exe"), at("Actions/Exec/Command")
assert at("Actions/Exec/Arguments") == f'prime --background --quiet --if-changed -- "{sys.argv[3]}"', at("Actions/Exec/Arguments")
open(sys.argv[2], "w").write(at("Actions/Exec/Command"))
PYTHON

# The task's command opens no console, prints nothing, and writes a log; the second time it ends at once.
for _ in 1 2; do
	under "$gpus" "$build/src/jitwarmw.exe" prime --background --quiet --if-changed -- "$folder"
	exits 0 jitwarmw
	[ ! -s "$out" ] || fail 'jitwarmw prints'
done
[ "$(app)" = 0 ] || fail 'the application has modules compiled after the task'
jitwarm startup status --json
json_is '[(r["skipped"], r["compiled"], r["status"]) for r in d["runs"]]' '[(False, 8, 0), (True, 0, 0)]'
jitwarm startup status
says 'first run; 8 compiled'
says 'nothing had changed'

# An installer gets a log and an exit status, and no prompt.
under "$gpus" "$build/src/jitwarmw.exe" prime --quiet --json-log "$(windows_path "$work/로그.jsonl")" "$folder"
exits 0 'silent prime'
grep -q '"schema":"jitwarm.run/1"' "$work/로그.jsonl" || fail 'no log'

jitwarm startup enable --service x
exits 2 '--service'
jitwarm startup disable
exits 0 'startup disable'
says 'removed  '
jitwarm startup status
exits 1 'startup status after'

# A task of that name that somebody else made stays; ours is known by its mark.
stand_in_for_schtasks
task="$tasks/$task.xml"
printf '<Task><Description>Mine</Description></Task>' > "$task"
jitwarm startup enable "$folder"
exits 3 'startup enable over a foreign task'
complains 'exists and was not made by jitwarm; --replace overwrites it'
jitwarm startup disable
exits 0 'startup disable of a foreign task'
[ ! -e "$tasks/told.txt" ] || fail "schtasks was told: $(cat "$tasks/told.txt")"
jitwarm startup enable --replace "$folder"
exits 0 'startup enable --replace'
grep -q /create "$tasks/told.txt" || fail 'nothing was registered'
jitwarm startup status
exits 0 'startup status of our own task'
# The file that schtasks reads is not below the account's folders, and is removed afterwards.
handed=$(sed -n 's/^.create [^:]* \([A-Z]:.*\)$/\1/p' "$tasks/told.txt" | tail -1)
[[ ${handed,,} == 'c:\windows\'* ]] || fail "schtasks reads $handed, to which every program of the account may write"
[ ! -e "$build/wine/$user/drive_c/windows/${handed##*indows\\}" ] || fail 'that file is left'
! find "$build/wine/$user/drive_c/windows/temp" -name 'jitwarm-*' | grep . || fail 'folders are left'
# Another account's task does not count as ours, even with the mark.
jitwarm startup enable --print "$folder"
sed "s/$sid/S-1-5-21-1-2-3-1001/" "$out" > "$task"
jitwarm startup disable
[ -e "$task" ] || fail "another account's task was deleted"
jitwarm startup enable "$folder"
exits 3 "startup enable over another account's task"
# Nor does a task that this account made by other means.
jitwarm startup enable --print "$folder"
sed 's/(jitwarm startup)/(by hand)/' "$out" > "$task"
jitwarm startup disable
[ -e "$task" ] || fail "this account's own task was deleted"
# Somebody deleted the task by hand.
jitwarm startup enable --replace "$folder"
exits 0 'startup enable --replace'
[ -e "$state/startup-task.xml" ] || fail 'nothing is remembered'
rm "$task"
jitwarm startup status
exits 1 'startup status of a task that was deleted by hand'
says 'Automatic priming is off'
: > "$tasks/told.txt"
jitwarm startup disable
exits 0 'startup disable of a task that was deleted by hand'
[ ! -s "$tasks/told.txt" ] || fail "schtasks was told: $(cat "$tasks/told.txt")"
[ ! -e "$state/startup-task.xml" ] || fail 'what is remembered of a deleted task stays'
# The scheduler's reasons come in the console's code page, which is UTF-8 under Wine.
printf 'FEHLER: Zugriff verweigert für AäB.\r\n' > "$tasks/says.bin"
jitwarm startup enable "$folder"
exits 3 'a schtasks that fails'
complains 'Zugriff verweigert für AäB.'
restore_schtasks

# uninstall removes everything but the live cache.
jitwarm startup enable "$folder"
jitwarm tune --apply --max-size 2GiB
exits 0 'tune --apply'
jitwarm uninstall
exits 0 uninstall
[ ! -e "$state" ] || [ -z "$(find "$state" -type f)" ] || fail "state is left: $(find "$state" -type f)"
under "$gpus" reg query 'HKCU\Environment' /v CUDA_CACHE_MAXSIZE
[ "$status" != 0 ] || fail 'the variable is left'
[ "$(app)" = 0 ] || fail 'the live cache was touched'
[ ! -e "$cache/jitwarm" ] || fail 'our folder is left in the live cache'
