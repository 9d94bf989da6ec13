#!/bin/bash
# abi.sh   programs that were linked with the last version still run: data/abi.txt lists what they depend on. And where it
# is not, scripts/abi.py says which version number to raise.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$PREFIX/$LIBDIR/libjitwarm.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/scripts/abi.py" "$library" || exit $?
status=0
# as_if WHAT PATTERN SED-SCRIPT: had the last version been so
as_if() {
	sed -E "$3" "$root/data/abi.txt" >"$work/former"
	cmp -s "$work/former" "$root/data/abi.txt" && { echo "$1: nothing to change in data/abi.txt"; status=1; return; }
	"$root/scripts/abi.py" "$root/data/abi.txt" --against "$work/former" >"$work/out"
	[ $? = 1 ] && grep -qE "$2" "$work/out" || { echo "$1: not “$2”:"; cat "$work/out"; status=1; }
}
as_if 'options have grown' 'jw_check_options has more members' \
	'/^struct jw_check_options/,/end$/{/found: /d; s/[0-9]+ end/80 end/}'
as_if 'a number for what is added' 'raise JW_VERSION_MINOR' '/^function jw_check$/,+1d; s/^version .*/version 0.1.0 0/'
as_if 'a function takes something else' 'function jw_version: was .*int' '/^function jw_version$/{n;s/char/int/}'
as_if 'a number for what breaks' 'raise JITWARM_SOVERSION' '/^function jw_version$/{n;s/char/int/}'
as_if 'a function is gone' 'function jw_former is gone' 's/^function jw_version$/function jw_former/'
as_if 'a member has moved' 'struct jw_check_options: changed: 16 other' '/^struct jw_check_options/,/end$/s/path_count/other/'
as_if 'a row of an array has grown' 'struct jw_gpu: grows, and programs know its size' \
	'/^struct jw_gpu$/,/end$/{/compute_mode/d; s/[0-9]+ end/4 end/}'
as_if 'a constant has another value' 'enum jw_code: 1 JW_OK' 's/0 JW_OK/1 JW_OK/'
exit $status
