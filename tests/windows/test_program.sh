#!/bin/bash
# The program itself: it starts from Windows alone, speaks UTF-8, and its messages are the same bytes as elsewhere.
. "$(dirname "$0")/lib.sh"

jitwarm --version
exits 0 --version
says 'jitwarm '
says 'libarchive'
! grep -q $'\r' "$out" || fail 'carriage returns in the output'

jitwarm --help
exits 0 --help

jitwarm 없는명령
exits 64 'an unknown command'
complains 없는명령

libraries=$(x86_64-w64-mingw32-objdump -p "$build/src/jitwarm.exe" | sed -n 's/^[[:space:]]*DLL Name: //p')
for library in $libraries; do
	[ -e "$build/wine/$user/drive_c/windows/system32/${library,,}" ] || fail "needs $library, which is not in System32"
done
