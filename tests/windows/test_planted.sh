#!/bin/bash
# Nothing that another program of the account may plant acts with an administrator's rights: a record of settings that
# names other variables, or the machine's.
. "$(dirname "$0")/lib.sh"
has_command tune || exit 77
fresh_user
state=$home/AppData/Local/jitwarm
machine='HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
record='HKLM\SOFTWARE\jitwarm'
unset CUDA_CACHE_MAXSIZE CUDA_CACHE_PATH

# reg ARGUMENT...: Wine's own reg.exe, as the same user
reg() { under "$gpus" reg "$@"; }
# value KEY NAME: its text, empty if it is not set
value() { reg query "$1" /v "$2"; tr -d '\r' < "$out" | sed -n 's/^ *[^ ].* REG_[A-Z_]* *//p'; }
# plant NAME SET BEFORE: writes the record as a program of the account could
plant() {
	reg add 'HKCU\SOFTWARE\jitwarm' /f /v "$1" /t REG_SZ /d "$2"
	reg add 'HKCU\SOFTWARE\jitwarm' /f /v "$1 before" /t REG_SZ /d "$3"
}

reg add "$machine" /f /v JITWARM_PLANTED /t REG_SZ /d theirs
reg add "$machine" /f /v CUDA_CACHE_PATH /t REG_SZ /d 'C:\theirs'
reg add 'HKCU\Environment' /f /v JITWARM_PLANTED /t REG_SZ /d theirs
for command in 'tune --undo --scope system' 'tune --undo' uninstall; do
	plant JITWARM_PLANTED theirs planted
	plant CUDA_CACHE_PATH 'C:\theirs' 'C:\planted'
	# shellcheck disable=SC2086
	jitwarm $command
	exits 0 "$command"
	[ "$(value "$machine" JITWARM_PLANTED)" = theirs ] || fail "$command wrote a variable of the machine's"
	[ "$(value "$machine" CUDA_CACHE_PATH)" = 'C:\theirs' ] || fail "$command took the machine's former value from the account's record"
	[ "$(value 'HKCU\Environment' JITWARM_PLANTED)" = theirs ] || fail "$command wrote a variable that jitwarm never sets"
done
reg delete "$machine" /f /v JITWARM_PLANTED
reg delete "$machine" /f /v CUDA_CACHE_PATH
reg delete 'HKCU\Environment' /f /v JITWARM_PLANTED
reg delete 'HKCU\SOFTWARE\jitwarm' /f

drive=$build/wine/$user/drive_c
# jitwarm does not look at Linux's places, which on Windows anyone may create on the current drive.
mkdir -p "$drive/snap/blender/current"
cp "$build/tests/framework/sample_framework.dll" "$drive/snap/blender/current"
cd "$drive"
jitwarm find
cd "$root"
rm -r "$drive/snap"
! grep -q Blender "$out" || fail 'a program was found at \snap'

# The machine's former variable is in the machine's part of the registry, whatever happens to the account's record.
reg add "$machine" /f /v CUDA_CACHE_MAXSIZE /t REG_EXPAND_SZ /d '%SIZE%G'
jitwarm tune --apply --scope system --max-size 2GiB
exits 0 'tune --apply --scope system'
[ "$(value "$record" 'CUDA_CACHE_MAXSIZE before')" = '%SIZE%G' ] || fail 'the former value is not in the registry'
[ -z "$(value 'HKCU\SOFTWARE\jitwarm' 'CUDA_CACHE_MAXSIZE before')" ] || fail "the account's record holds the machine's value"
rm -rf "$state"
jitwarm tune --undo
exits 0 'tune --undo'
reg query "$machine" /v CUDA_CACHE_MAXSIZE
grep -q 'REG_EXPAND_SZ *%SIZE%G' "$out" || fail 'the former value did not come back'
reg query "$record"
[ "$status" != 0 ] || fail 'the record is left'
reg delete "$machine" /f /v CUDA_CACHE_MAXSIZE

# The machine's settings count for every account, but only if administrators alone can change them.
machines=$build/wine/$user/drive_c/ProgramData/jitwarm
trap 'rm -rf "$machines"' EXIT
mkdir -p "$machines"
printf 'jobs = 3\n' > "$machines/config"
chmod 755 "$build/wine/$user/drive_c" "${machines%/*}" "$machines"
chmod 644 "$machines/config"
jitwarm config
exits 0 config
grep -q 'jobs .*3' "$out" || fail "the administrators' settings do not count"
for open in "$machines" "$machines/config"; do
	chmod a+w "$open"
	jitwarm config
	exits 0 config
	! grep -q 'jobs .*3' "$out" && grep -q 'the settings were not read: ' "$err" || fail "everybody's settings count: $open"
	chmod go-w "$open"
done
