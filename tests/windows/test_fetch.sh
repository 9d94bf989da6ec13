#!/bin/bash
# jitwarm compiler fetch, from a package index on this machine (tests/elsewhere/index-server.py).
. "$(dirname "$0")/lib.sh"
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }

cp "$build/tests/windows/fake_ptxas.exe" "$work/ptxas.exe"
python3 "$root/tests/elsewhere/index-server.py" "$work" > "$work/said" 2>&1 &
server=$!
trap 'kill $server' EXIT
for ((i = 0; i < 200; i++)); do [ ! -s "$work/port" ] || break; sleep 0.05; done
site=http://127.0.0.1:$(cat "$work/port")
JITWARM_PTXAS=$(windows_path "$work/저장소")
export JITWARM_PTXAS PIP_CONFIG_FILE=nul PIP_RETRIES=0 no_proxy='*'
unset PIP_FIND_LINKS PIP_CERT PIP_NO_INDEX

for kind in good moved-away; do
	rm -rf "$work/저장소"
	PIP_INDEX_URL=$site/$kind/simple jitwarm compiler fetch 12.3
	exits 0 "fetch from the index “$kind”"
	[ "$(cat "$out")" = "$JITWARM_PTXAS\\12.3\\ptxas.exe" ] || fail "another path than it should print"
	grep -q 'release 12.3, V12.3.107 ' "$work/저장소/12.3/ptxas.exe" || fail "not the newest for Windows"
done

rm -rf "$work/저장소"
for kind in wrong-hash cut-wheel unhashed torn-zip other-program other-linker 500; do
	PIP_INDEX_URL=$site/$kind/simple jitwarm compiler fetch 12.3
	exits 3 "fetch from the index “$kind”"
	complains "$site/$kind/"
	[ -z "$(find "$work/저장소" -mindepth 1 2> /dev/null)" ] || fail "something is left of “$kind”"
done
