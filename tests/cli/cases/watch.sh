# watch: whether a process compiles, is busy with something else, or waits.
run 64 watch
run 64 watch x
run 64 watch 1 2
if is_wine; then
	run 2 watch 4
	err_one_line
	exit 0
fi
run 3 watch 99999999
err_has "there is no process"
err_one_line
program=$JITWARM
end_victim() { kill -9 "$victim" 2>/dev/null; wait "$victim" 2>/dev/null || true; }
trap end_victim EXIT
ready() { grep -q "^$1" "/proc/$victim/comm" 2>/dev/null; }

# It waits, whatever name it has.
cp "$(command -v sleep)" "$work/a) R 1 (b"
"$work/a) R 1 (b" 100 &
victim=$!
await ready "a) R"
run 0 watch --for 1500ms --json "$victim"
json 'd["state"] == "waiting" and d["waiting_seconds"] == d["seconds"] > 1 and d["entries"] == 0 and not d["ended"]'
json 'd["process"]["name"] == "a) R 1 (b" and not d["process"]["driver"] and not d["process"]["compiler"]'
run 0 watch --for 1s "$victim"
out_has "waits (for a disk"
out_has "was watched for"
# It still waits while another program fills the cache that it would use.
end_victim
with_simdriver sm_86
sleep 100 &
victim=$!
await ready sleep
(sleep 1; SIMDRIVER_COST=2 simulated "$app" >/dev/null 2>&1) &
run 0 watch --for 4s --json "$victim"
json 'd["compiling_seconds"] == d["busy_seconds"] == 0 and d["state"] == "waiting"'
wait $!
end_victim

# It is busy, and no driver is in it.
bash -c 'while :; do :; done' &
victim=$!
await ready bash
run 0 watch --for 2s --json "$victim"
json 'd["busy_seconds"] > 0 and d["compiling_seconds"] == d["linking_seconds"] == 0 and d["cpu_seconds"] > 0'
end_victim
# So is one that has loaded the driver, and a library with modules to compile, but not the driver's compiler.
rm -rf "$work/cache"
python=$(python3 -c 'import sys; print(sys.executable)') # not a version manager's script before it
"$python" -c 'import mmap, sys
files = [open(path, "rb") for path in sys.argv[1:]]
mapped = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC) for file in files]
open("mapped", "w").close()
while True:
    pass' "$build/tests/simdriver/lib/libcuda.so.1" "$sample" &
victim=$!
await test -e mapped
run 0 watch --for 1s --json "$victim"
json 'd["process"]["driver"] and not d["process"]["compiler"] and d["left"] == 8'
json 'd["busy_seconds"] > 0 and d["compiling_seconds"] == d["linking_seconds"] == 0'
end_victim

# The driver compiles for it; watching ends with it. NVIDIA's loads its compiler for that.
rm -rf "$work/cache"
cp "$sample" "$work/libnvidia-ptxjitcompiler.so.1"
# shellcheck disable=SC2086
SIMDRIVER_COST=15,busy $runner env ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0:detect_leaks=0" \
	LD_PRELOAD="$work/libnvidia-ptxjitcompiler.so.1" "$app" >/dev/null 2>&1 &
victim=$!
await ready framework-app
run 0 watch --json "$victim"
json 'd["compiling_seconds"] > 0 and d["entries"] > 0 and d["bytes"] > 0 and d["ended"] and d["process"]["driver"]'
json 'd["left"] < 8 and d["cache"].endswith("cache")'

# As root: another account's process.
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
if all=$(folder_for_all); then
	trap 'end_victim; rm -rf "$all"' EXIT
	cp "$program" "$all/jitwarm" && chmod 755 "$all/jitwarm"
	JITWARM=$all/jitwarm JITWARM_STATE=$all/none
	unset CUDA_CACHE_PATH
	(cd / && exec "${as_other[@]}" env HOME=/nonexistent sleep 100) &
	victim=$!
	await ready sleep
	run 0 watch --for 1s --json "$victim"
	json 'd["state"] == "waiting"'
	end_victim
	sleep 100 &
	victim=$!
	JITWARM="${as_other[*]} $all/jitwarm"
	run 3 watch --for 1s "$victim"
	err_has "ermission denied"
fi
