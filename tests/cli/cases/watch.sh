# watch says whether a process compiles, is busy with something else, or waits.
snapshot run 64 watch x
run 64 watch 1 2
run 64 watch
err_has "name one process by its number"
if is_wine; then
	run 2 watch 4
	err_one_line
	exit 0
fi
snapshot run 3 watch 99999999
# shellcheck source=/dev/null
. "$cases/../watched.sh"

# The process waits, whatever its name is.
cp "$(command -v sleep)" "$work/a) R 1 (b"
"$work/a) R 1 (b" 100 &
victim=$!
await ready "a) R"
snapshot run 0 watch --for 600ms --json "$victim"
json 'd["state"] == "waiting" and d["waiting_seconds"] == d["seconds"] >= 0.6 and d["entries"] == 0 and not d["ended"]'
snapshot run 0 watch --for 500ms "$victim"
out_has "waiting (for a disk"
# The process still waits while another program fills the cache that it would use.
end_victim
with_simdriver sm_86
sleep 100 &
victim=$!
await ready sleep
(sleep 0.2; SIMDRIVER_COST=2 simulated "$app" >/dev/null 2>&1) &
varies tree ^cache/ # how far the other program has come
snapshot run 0 watch --for 1s --json "$victim"
fixed tree ^cache/
wait $!
end_victim

# A relative cache path counts from the process's folder, not from watch's, where all would be warm.
mkdir "$work/there" "$work/here"
CUDA_CACHE_PATH=$work/here/own run 0 prime --quiet "$sample"
(cd "$work/there" && CUDA_CACHE_PATH=own exec "$(python3 -c 'import sys; print(sys.executable)')" -c 'import mmap, sys, time
files = [open(path, "rb") for path in sys.argv[1:]]
mapped = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC) for file in files]
open("mapped", "w").close()
time.sleep(100)' "$build/tests/simdriver/lib/libcuda.so.1" "$sample") &
victim=$!
await test -e "$work/there/mapped"
cd "$work/here" || exit 1
snapshot run 0 watch --for 300ms --json "$victim"
snapshot run 1 doctor --no-probe --json --pid "$victim"
cp -r own ../there/own
snapshot run 0 watch --for 300ms --json "$victim"
rm -r ../there
snapshot run 3 doctor --no-probe --pid "$victim"
err_one_line
cd "$work" || exit 1
end_victim
