#!/bin/bash
# check.sh BUILD-FOLDER simulated|DRIVER   scripts/gpu-check.py under the driver that the environment gives
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 driver=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { cat "$scratch/out" "$scratch/err"; echo "FAILED: $1"; exit 1; }
# gpu_check EXIT-STATUS OPTION...
gpu_check()
{
	local wanted=$1 status=0
	shift
	rm -f "$scratch/report.json"
	"$root/scripts/gpu-check.py" -B "$build" --quick --json "$scratch/report.json" "$@" \
		>"$scratch/out" 2>"$scratch/err" || status=$?
	[ "$status" = "$wanted" ] || fail "exit status $status, not $wanted"
}
holds() { python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$scratch/report.json" || fail "not so: $1"; }

# Not a byte of the caller's cache may change.
export HOME=$scratch/home CUDA_CACHE_PATH=$scratch/users
mkdir -p "$HOME" "$CUDA_CACHE_PATH"

# This nvidia-smi shows a GPU whose used memory grows by 100 MiB at each call.
mkdir "$scratch/bin"
cat >"$scratch/bin/nvidia-smi" <<'S'
#!/bin/sh
echo x >>"$0.looks"
echo $((100 * $(wc -l <"$0.looks")))
S
chmod +x "$scratch/bin/nvidia-smi"
export PATH=$scratch/bin:$PATH

gpu_check 0 --library "$build/tests/framework/libsample_framework.so" --start "'$build/tests/framework/framework-app'"
holds 'd["schema"] == "jitwarm.gpu-check/1" and d["objections"] == []'
holds 'd["gpus"][0]["target"] == "sm_86" and d["driver"]["stamp_trust"] == "confirmed" and d["driver"]["stamp_read"] == d["driver"]["stamp"]'
holds 'd["conformance"]["whole"] and d["conformance"]["passed"] > 9 and d["conformance"]["failed"] == 0'
holds 'len(d["libraries"]) == 2 and all(l["cold_start"]["added"] == l["prime"]["compiled"] > 4 for l in d["libraries"])'
holds 'all(l["primed_start"]["added"] == l["primed_start"]["rewritten"] == l["again"]["cold"] == 0 for l in d["libraries"])'
holds 'd["scaling"]["rows"][0]["workers"] == 1 and len({r["compiled"] for r in d["scaling"]["rows"]}) == 1'
holds 'all(r["peak_worker_bytes"] > 1 << 20 and r["gpu_bytes_per_worker"] is not None for r in d["scaling"]["rows"])'
if [ "$driver" != simulated ]; then
	holds 'd["driver"]["version"] == "'"$driver"'" and d["machine"]["phantom"] == "sm_86"'
fi
[ -z "$(ls -A "$CUDA_CACHE_PATH" "$HOME" | grep -v ':$')" ] || fail "the caller's folders are no longer empty"

# There is no GPU.
JITWARM_PCI_DEVICES='' gpu_check 2
[ ! -e "$scratch/report.json" ] || fail "a report of nothing"
# wrong usage
gpu_check 64 --start true

# One driver names its entries differently from its library's facts; another one refuses a module.
if [ "$driver" = simulated ]; then
	SIMDRIVER_STAMP='Jan  1 2031 00:00:00' gpu_check 1
	grep -q '^DIFFERS: the stamp of this driver' "$scratch/out" || fail "another stamp is not noticed"
	SIMDRIVER_FAULT=error:sample_small gpu_check 1
	grep -q '^DIFFERS: libsample_framework.so: 1 modules failed' "$scratch/out" || fail "a failure is not noticed"
fi
echo "ok"
