#!/bin/bash
# Windows' shells leave "*.dll" to the program.
. "$(dirname "$0")/lib.sh"

has_command scan || exit 77
mkdir -p "$work/라이브러리"
cp "$sample_dll" "$work/라이브러리/하나.dll"
cp "$sample_dll" "$work/라이브러리/둘.dll"
jitwarm scan --json --target sm_86 --driver 12.4 "$(windows_path "$work")\\라이브러리\\*.dll"
exits 0 scan
json_is 'len(d["files"])' 2
json_is 'sorted(f["path"].split("\\")[-1] for f in d["files"])' "['둘.dll', '하나.dll']"

jitwarm scan --json "$(windows_path "$work")\\*.nothing"
[ "$status" != 0 ] || fail 'a pattern without a match is no error'
