#!/bin/bash
# scan: a DLL, in folders with Hangul names, far down, in a wheel and in a conda package; and what cannot be read.
. "$(dirname "$0")/lib.sh"
has_command scan || exit 77

scan() { jitwarm scan --json --target sm_86 --driver 12.4 "$@"; }

# The sample framework: eight containers in .nv_fatb, one of relocatable code beside it
facts='[(f["format"], f["containers"], f["ptx"], f["cubins"], f["verdicts"]["sm_86"]["jit_modules"], f["verdicts"]["sm_86"]["link_needed"]) for f in d["files"]]'
expected="[('pe', 9, {'compute_52': 8, 'compute_70': 1}, {'sm_52': 1}, 6, True)]"

folder=$work/라이브러리
mkdir "$folder"
cp "$sample_dll" "$folder/표본.dll"
scan "$(windows_path "$folder/표본.dll")"
exits 0 'scan of a DLL'
json_is "$facts" "$expected"
json_is 'd["files"][0]["path"].split("\\")[-1]' 표본.dll

# The same answer with separators of either kind, and for the folder
scan "Z:$folder/표본.dll"
exits 0 'scan with slashes'
json_is "$facts" "$expected"
scan "$(windows_path "$folder")"
exits 0 'scan of a folder'
json_is "$facts" "$expected"

# 280 characters and more
deep=$work
for _ in 1 2 3 4 5 6; do deep=$deep/a-folder-with-a-name-of-forty-characters-it-is; done
mkdir -p "$deep"
cp "$sample_dll" "$deep/far.dll"
scan "$(windows_path "$deep/far.dll")"
exits 0 'scan of a long path'
json_is "$facts" "$expected"

# Archives, read without unpacking
python3 - "$sample_dll" "$work" <<'END'
import sys, zipfile
dll, work = sys.argv[1:]
with zipfile.ZipFile(work + "/표본-1.0-cp311-cp311-win_amd64.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
    wheel.write(dll, "표본/lib/sample.dll")
    wheel.writestr("표본-1.0.dist-info/METADATA", "Name: sample\nVersion: 1.0\n")
END
scan "$(windows_path "$work/표본-1.0-cp311-cp311-win_amd64.whl")"
exits 0 'scan of a wheel'
json_is '[(f["member"], f["containers"]) for f in d["files"]]' "[('표본/lib/sample.dll', 9)]"

# What cannot be read: the name, the place, the reason, one line
scan "$(windows_path "$work")\\없음.dll"
[ "$status" != 0 ] || fail 'a file that is missing is no error'
complains '없음.dll'
[ "$(wc -l < "$err")" = 1 ] || fail 'more than a line about a missing file'
printf 'MZ' > "$work/stub.dll"
: > "$work/empty.dll"
head -c 100000 "$sample_dll" > "$work/cut.dll"
for file in stub empty cut; do
	scan "$(windows_path "$work/$file.dll")"
	case $status in 0 | 1 | 2 | 3) ;; *) fail "$file.dll: exit status $status" ;; esac
done
