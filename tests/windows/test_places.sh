#!/bin/bash
# Places as Windows has them: a share (UNC), folders with an emoji in the user's name, a console in code page 949, files that are
# marked read-only, and files that somebody has open or locked.
. "$(dirname "$0")/lib.sh"
has_command prime || exit 77
fresh_user
prefix=$build/wine/$user
dll=$(windows_path "$sample_dll")
program=$(windows_path "$build/src/jitwarm.exe")
cleanup() {
	rm -rf "$prefix/dosdevices/unc/연구실" "$home/../지원 😀"
	[ -z "${holder:-}" ] || kill "$holder" 2> /dev/null || true
}
trap cleanup EXIT
first_entry() { find "$cache" -path '*/?/?/*' -type f | sort | head -1; }

# a share
mkdir -p "$prefix/dosdevices/unc/연구실" "$work/공유"
ln -sfn "$work/공유" "$prefix/dosdevices/unc/연구실/자료"
cp "$sample_dll" "$work/공유/"
share='\\연구실\자료'
jitwarm prime --json --cache "$share\\캐시 😀" "$share\\sample_framework.dll"
exits 0 'prime on a share'
json_is 'd["compiled"]' 8
[ -s "$work/공유/캐시 😀/index" ] || fail 'no cache on the share'
jitwarm check --cache "$share\\캐시 😀" "$share\\sample_framework.dll"
exits 0 'check on a share'
jitwarm export --all --cache "$share\\캐시 😀" -o "$share\\묶음.jwpack"
exits 0 'export to a share'
[ -s "$work/공유/묶음.jwpack" ] || fail 'no pack on the share'
jitwarm import --allow-unsigned "$share\\묶음.jwpack"
exits 0 'import from a share'
jitwarm check "$share\\sample_framework.dll"
exits 0 'check after the import'

# A user's name has an emoji: the environment names the folders as Windows would.
other='C:\users\지원 😀'
mkdir -p "$home/../지원 😀/AppData"
in_other() { under "$gpus" cmd /c "set APPDATA=$other\\AppData\\Roaming&& set LOCALAPPDATA=$other\\AppData\\Local&& $program $*"; }
in_other prime --quiet "$dll"
exits 0 'prime for a name with an emoji'
in_other check --json "$dll"
exits 0 'check for a name with an emoji'
[ -n "$(find "$home/../지원 😀/AppData/Roaming/NVIDIA/ComputeCache" -path '*/?/?/*' -type f)" ] || fail 'no cache in the folder with an emoji'

# With a console in code page 949, output into a pipe is still UTF-8, and the code page is restored.
if command -v script > /dev/null; then
	cat > "$build/tests/windows/codepage.bat" << BATCH
@echo off
chcp 949 > nul
chcp
"%~dp0..\\..\\src\\jitwarm.exe" nosuch%1 2> "%~dp0codepage.err"
chcp
BATCH
	status=0
	script -qec "env WINEDEBUG=-all $(printf %q "$root/scripts/with-simdriver.sh") -B $(printf %q "$build") -w -u $user $gpus -- cmd /c $(printf %q "$(windows_path "$build/tests/windows/codepage.bat")") 한글" /dev/null > "$out" 2>&1 < /dev/null || status=$?
	[ "$(grep -ao '949' "$out" | wc -l)" = 2 ] || fail 'the code page is not as it was'
	grep -qF 'nosuch한글' "$build/tests/windows/codepage.err" || fail "the pipe has: $(cat "$build/tests/windows/codepage.err")"
	rm -f "$build/tests/windows/"codepage.*
	# A console shows whole characters in any code page: here the account's name in the cache's path.
	printf '@echo off\nchcp 437 > nul\n"%%~dp0..\\..\\src\\jitwarm.exe" status\n' > "$build/tests/windows/shown.bat"
	script -qec "env WINEDEBUG=-all $(printf %q "$root/scripts/with-simdriver.sh") -B $(printf %q "$build") -w -u $user $gpus -- cmd /c $(printf %q "$(windows_path "$build/tests/windows/shown.bat")")" /dev/null > "$out" 2>&1 < /dev/null || true
	grep -qaF "$user" "$out" || fail 'a console does not show the name of the account'
	! grep -qaF $'\xef\xbf\xbd' "$out" || fail 'a console shows replacement signs'
	rm -f "$build/tests/windows/shown.bat"
fi

# A read-only file is replaced and removed like any other.
entry=$(first_entry)
truncate -s -10 "$entry"
under "$gpus" attrib +R "$(windows_path "$entry")"
jitwarm cache verify --repair
exits 0 'cache verify --repair of a read-only entry'
[ ! -e "$entry" ] || fail 'the read-only entry is left'

# hold MODE FILE MILLISECONDS: holds the file in the background
hold() {
	rm -f "$work/held"
	"$root/scripts/with-simdriver.sh" -B "$build" -w -u "$user" "$gpus" -- "$build/tests/windows/holder.exe" "$1" "$(windows_path "$2")" "$3" \
		> "$work/held" 2> /dev/null < /dev/null &
	holder=$!
	for _ in $(seq 1800); do
		! grep -q held "$work/held" || return 0
		sleep 0.1
	done
	fail "holder.exe does not hold $2"
}
release() {
	kill "$holder" 2> /dev/null || true
	wait "$holder" 2> /dev/null || true
	holder=
}

# An index that stays locked is reported; one that is locked for a moment is waited for.
hold lock "$cache/index" 1000000
jitwarm import --allow-unsigned "$share\\묶음.jwpack"
[ "$status" != 0 ] || fail 'import while the index is locked'
complains 'index: locked by'
release
hold lock "$cache/index" 1500
jitwarm import --allow-unsigned "$share\\묶음.jwpack"
exits 0 'import while the index is locked for a moment'
wait "$holder" || true
[ "$(find "$cache" -path '*/?/?/*' -type f | wc -l)" = 8 ] || fail 'not all entries'

# An entry that a program has open without sharing is reported by name, and repaired when it is closed.
entry=$(first_entry)
truncate -s -10 "$entry"
hold open "$entry" 1000000
jitwarm import --allow-unsigned "$share\\묶음.jwpack"
[ "$status" != 0 ] || fail 'import over an open entry'
cat "$err" >> "$work/messages"
release
jitwarm import --allow-unsigned "$share\\묶음.jwpack"
exits 0 'import when it is free'
jitwarm cache verify
exits 0 'cache verify at the end'
