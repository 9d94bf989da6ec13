#!/bin/bash
# Settings in the registry are set for the user and the machine, restored to the byte, and others' values are left alone.
. "$(dirname "$0")/lib.sh"
has_command tune || exit 77
fresh_user
machine='HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
unset CUDA_CACHE_MAXSIZE CUDA_CACHE_PATH

# reg ARGUMENT...: Wine's own reg.exe, as the same user
reg() { under "$gpus" reg "$@"; }
snapshot() {
	reg query 'HKCU\Environment'
	tr -d '\r' < "$out"
	reg query "$machine"
	tr -d '\r' < "$out"
}
setting() { json "[(s['source'], s['value']) for s in d['settings'] if s['name'] == '$1' and s['source'] != 'process']"; }

reg add 'HKCU\Environment' /f /v CUDA_CACHE_MAXSIZE /t REG_EXPAND_SZ /d '%SIZE%G'
exits 0 'reg add'
reg add 'HKCU\Environment' /f /v 한글 /t REG_SZ /d '다른 값'
reg add "$machine" /f /v CUDA_CACHE_DISABLE /t REG_SZ /d 1
snapshot > "$work/before"
grep -q 'CUDA_CACHE_MAXSIZE *REG_EXPAND_SZ' "$work/before" || fail "reg.exe does not show the type: $(cat "$work/before")"

jitwarm tune --json
exits 0 tune
[ "$(setting CUDA_CACHE_DISABLE)" = "[('Windows machine', '1')]" ] || fail 'the machine has no CUDA_CACHE_DISABLE'
[ "$(setting CUDA_CACHE_MAXSIZE)" = "[('Windows user', '%SIZE%G')]" ] || fail 'the user has no CUDA_CACHE_MAXSIZE'

for scope in user system; do
	jitwarm tune --apply --scope $scope --max-size 2GiB --path "$(windows_path "$work/내 캐시 😀")"
	exits 0 "tune --apply --scope $scope"
	says written
	jitwarm tune --apply --scope $scope --max-size 2GiB --path "$(windows_path "$work/내 캐시 😀")"
	says unchanged
	jitwarm tune --json
	json_is "[s['value'] for s in d['settings'] if s['source'] == 'Windows $([ $scope = user ] && echo user || echo machine)' and s['name'] == 'CUDA_CACHE_MAXSIZE']" "['2147483648']"
	json_is "'내 캐시 😀' in str(d['settings'])" True
	jitwarm tune --undo --scope $scope
	exits 0 "tune --undo --scope $scope"
	snapshot > "$work/after"
	diff "$work/before" "$work/after" > "$out" || fail "$scope: the registry is not as it was"
done

# A value that somebody else has set since stays.
jitwarm tune --apply --max-size 2GiB
exits 0 'tune --apply'
reg query 'HKCU\Environment' /v CUDA_CACHE_PATH
[ "$status" != 0 ] || fail 'tune --max-size has set the path'
reg add 'HKCU\Environment' /f /v CUDA_CACHE_MAXSIZE /t REG_SZ /d 3000000000
jitwarm tune --undo
exits 0 'tune --undo'
says left
reg query 'HKCU\Environment' /v CUDA_CACHE_MAXSIZE
says 3000000000

# Each of several runs at once succeeds, and the former values are still known.
snapshot > "$work/before"
runs=()
for run in 1 2 3 4; do
	(out=$work/run.$run err=$out.err; jitwarm tune --apply -q --max-size 2GiB --path 'C:\캐시'; exit "$status") &
	runs+=($!)
done
for run in "${runs[@]}"; do wait "$run" || fail "one of several tune --apply at once: $(cat "$work"/run.*)"; done
reg query 'HKCU\Environment' /v CUDA_CACHE_MAXSIZE
says 2147483648
jitwarm tune --undo
exits 0 'tune --undo after several at once'
snapshot > "$work/after"
diff "$work/before" "$work/after" > "$out" || fail 'several at once: the registry is not as it was'

# jitwarm warns of folders that follow their user to other machines.
jitwarm tune --json --path "C:\\users\\$user\\OneDrive\\캐시"
exits 0 'tune --path OneDrive'
json_is 'any("copied to other machines" in w for w in d["warnings"])' True

for scope in shell; do
	jitwarm tune --apply --scope $scope
	exits 2 "--scope $scope"
done
reg delete 'HKCU\Environment' /f /v CUDA_CACHE_MAXSIZE
reg delete "$machine" /f /v CUDA_CACHE_DISABLE
