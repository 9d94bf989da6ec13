#!/bin/bash
# jitwarm expands patterns such as "*.dll", which Windows' shells leave to it, in deeply nested folders with Hangul names.
. "$(dirname "$0")/lib.sh"

has_command scan || exit 77
scan() { jitwarm scan --json --target sm_86 --driver 12.4 "$@"; }
mkdir -p "$work/라이브러리"
cp "$sample_dll" "$work/라이브러리/하나.dll"
cp "$sample_dll" "$work/라이브러리/둘.dll"
scan "$(windows_path "$work")\\라이브러리\\*.dll"
exits 0 scan
! grep -q $'\r' "$out" || fail 'carriage returns in the output'
json_is 'len(d["files"])' 2
json_is 'sorted(f["path"].split("\\")[-1] for f in d["files"])' "['둘.dll', '하나.dll']"

scan "$(windows_path "$work")\\*.nothing"
[ "$status" != 0 ] || fail 'a pattern without a match is no error'
complains '*.nothing'

# The pattern of --except is lint's own, also if files match it
(cd "$work/라이브러리" && jitwarm lint --gpus sm_86 --except '*.dll' .; [ "$status" = 0 ] && grep -q '하나.dll: exempt by --except \*.dll' "$out" "$err") ||
	fail "lint --except '*.dll': $(head -c 600 "$out" "$err")"

# The path has more than 280 characters, and slashes.
deep=$work
for _ in 1 2 3 4 5 6; do deep=$deep/a-folder-with-a-name-of-forty-characters-it-is; done
mkdir -p "$deep"
cp "$sample_dll" "$deep/far.dll"
for path in "$(windows_path "$deep/far.dll")" "Z:$deep/far.dll"; do
	scan "$path"
	exits 0 "scan of $path"
	json_is '[f["containers"] for f in d["files"]]' '[9]'
done
