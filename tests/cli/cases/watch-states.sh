# watch says what a process does: it is busy, compiles, waits for a child, or belongs to another account.
! is_wine || skip "watch examines processes of Linux alone"
# shellcheck source=/dev/null
. "$cases/../watched.sh"

with_simdriver sm_86
# The document names the reason why the files that the process has loaded fail, in check's words.
PYTHONPATH=$cases/../../framework python3 -B -c 'import fatbin
open("fails.so", "wb").write(fatbin.library(fatbin.container(fatbin.entry(fatbin.CUBIN, 120, fatbin.old_cubin(120, "k", 64, 128)))))'
run 2 check --json "$work/fails.so"
cp "$out" fails.json
"$(python3 -c 'import sys; print(sys.executable)')" -c 'import mmap, sys, time
file = open("fails.so", "rb")
mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)
open("fails-mapped", "w").close()
time.sleep(100)' &
victim=$!
await test -e fails-mapped
snapshot run 0 watch --for 300ms --json "$victim"
json '[d[key] for key in ("verdict", "reason")] == [json.load(open("fails.json"))[key] for key in ("verdict", "reason")] and d["verdict"] == "fails"'
end_victim

# The process is busy, and has no driver.
bash -c 'while :; do :; done' &
victim=$!
await ready bash
snapshot run 0 watch --for 500ms --json "$victim"
json 'd["busy_seconds"] > 0 and d["compiling_seconds"] == d["linking_seconds"] == 0 and d["cpu_seconds"] > 0 and d["left_seconds"] == -1'
end_victim
# A change is reported at once.
mkfifo go
bash -c 'read -r _ <go; while :; do :; done' &
victim=$!
await ready bash
: >"$out"
(await says "$out" ": waiting" && echo >go && await says "$out" ": busy with something other than the driver's compiler" && kill -9 "$victim") &
snapshot run 0 watch --for 100s "$victim"
out_has ": waiting"
out_has ": busy with something other than the driver's compiler"
end_victim
# A process that waits for its child does what the child does, also if another child follows.
bash -c 'while :; do timeout 1 bash -c "while :; do :; done"; done' &
victim=$!
await ready bash
run 0 watch --for 1500ms --json "$victim"
json 'd["busy_seconds"] > 0 and d["cpu_seconds"] > 0 and d["processes"] > 1'
end_victim
# A process is busy, too, if it has loaded the driver and a library with modules to compile, but not the driver's compiler.
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
run 0 watch --for 500ms --json "$victim"
json 'd["process"]["driver"] and not d["process"]["compiler"] and d["left"] == 8'
json 'd["busy_seconds"] > 0 and d["compiling_seconds"] == d["linking_seconds"] == 0'
# If it has loaded the driver's compiler, and no module is left, it may be compiling a kernel that the program generated.
cp "$build/tests/simdriver/lib/libcuda.so.1" libnvidia-ptxjitcompiler.so.550.200.01
"$python" -c 'import mmap, sys
files = [open(path, "rb") for path in sys.argv[1:]]
mapped = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC) for file in files]
open("compiler-mapped", "w").close()
while True:
    pass' "$build/tests/simdriver/lib/libcuda.so.1" libnvidia-ptxjitcompiler.so.550.200.01 &
maker=$!
await test -e compiler-mapped
snapshot run 0 watch --for 500ms "$maker"
out_has "with the driver's compiler loaded: the process is linking, compiling code that is in no file, or has finished compiling; its files: nothing to compile"
kill "$maker"
wait "$maker" 2>/dev/null || true
# Without news, watch says so once. On a terminal it redraws one line, never too wide, and only the summary stays; Ctrl-C ends it, too.
kill -STOP "$victim" # it uses no processor, and its files stay open
snapshot run 0 watch --for 1600ms "$victim"
[ "$(grep -c "its files: up to 8 modules, when first used" "$out")" = 1 ] || fail "more than one line without news"
cat >line.py <<'PYTHON'
"""line.py COLUMNS FILE TIMES: what stands on a terminal when all was written; fails where a line is wider, or where something else than writing a line again is asked for"""
import re, sys
columns, lines, times = int(sys.argv[1]), [""], 0
for part in re.findall(r"\r\x1b\[K|\x1b\[[0-9;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", open(sys.argv[2], encoding="utf-8", newline="").read()):
    if part == "\n":
        lines.append("")
    elif part == "\r\x1b[K":
        lines[-1] = ""
        times += 1
    elif part[0] == "\x1b":
        assert re.fullmatch(r"\x1b\[(0|1|2|31|32|33)m", part), part
    elif part != "\r":
        lines[-1] += part
        # A command is on one line.
        assert len(lines[-1]) < columns + (": waiting" not in part) or lines[-1].startswith("Next "), lines[-1]
print("\n".join(lines))
assert times >= int(sys.argv[3]), times
PYTHON
for columns in 50 200; do # 50 columns cut the line
	# shellcheck disable=SC2086
	TERM=xterm timeout 200 "$python" "$cases/../on-terminal.py" --both $columns $JITWARM watch --for 600ms "$victim" >written 2>&1 || fail "status $? at a terminal"
	grep -q ": waiting" written || fail "no line: $(cat written)"
	python3 line.py $columns written 2 >stands || fail "at $columns columns: $(cat written)"
	! grep -q ": waiting" stands && grep -q "was watched for" stands || fail "this stands: $(cat stands)"
done
grep -q "its files: up to 8 modules, when first used" written || fail "the line is cut: $(cat written)"
# shellcheck disable=SC2086
TERM=xterm "$python" "$cases/../on-terminal.py" --both 80 $JITWARM watch "$victim" >interrupted 2>&1 &
watcher=$!
written_twice() { (($(grep -o ": waiting" interrupted | wc -l) >= 2)); }
await written_twice
kill -INT "$(pgrep -P $watcher)" || fail "nothing to interrupt"
ended=0
wait $watcher || ended=$?
[[ $ended == 130 ]] || fail "status $ended after Ctrl-C"
python3 line.py 80 interrupted 3 >stands || fail "after Ctrl-C: $(cat interrupted)"
! grep -q ": waiting" stands && grep -q "was watched for" stands || fail "this stands: $(cat stands)"
end_victim

! is_emulated || exit 0 # an emulator shows no libraries of a process
varies json '^(left|state|verdict|driver|compiler|(waiting|busy|linking)_seconds)$' && varies tree '^(state/ledger|cache/)' # depends on how much of it is seen
# The process compiles once watch looks at it, and watch ends with it. NVIDIA's driver loads its compiler for that.
looking() { pgrep -f "^[^ ]*jitwarm watch --json $victim\$" >/dev/null; }
rm -rf "$work/cache"
: >gate
cp "$sample" "$work/libnvidia-ptxjitcompiler.so.1"
# shellcheck disable=SC2086
SIMDRIVER_COST=4,busy SIMDRIVER_FAULT=wait:.version SIMDRIVER_GATE=$work/gate $runner env ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0:detect_leaks=0" \
	LD_PRELOAD="$work/libnvidia-ptxjitcompiler.so.1" "$app" >/dev/null 2>&1 &
victim=$!
await ready framework-app
(await looking && rm gate) &
snapshot run 0 watch --json "$victim"
json 'd["compiling_seconds"] > 0 and d["entries"] > 0 and d["bytes"] > 0 and d["ended"] and d["process"]["driver"]'
json 'd["left"] < 8 and d["cache"].endswith("cache")'
# A child of the process compiles.
rm -rf "$work/cache"
# shellcheck disable=SC2086
SIMDRIVER_COST=4,busy $runner env ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0:detect_leaks=0" its="$work/libnvidia-ptxjitcompiler.so.1" \
	bash -c 'read -r _ <go; LD_PRELOAD=$its "$0" & wait; sleep 0.6; :' "$app" >/dev/null 2>&1 &
victim=$!
await ready bash
(await looking && echo >go) &
run 0 watch --json "$victim"
json 'd["compiling_seconds"] > 0 and d["entries"] > 0 and d["ended"] and d["process"]["name"] == "bash"'

# As root, watch examines another account's process.
beside_driver=$JITWARM its_state=$JITWARM_STATE
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
if all=$(folder_for_all); then
	trap 'end_all; rm -rf "$all"' EXIT
	cp "$program" "$all/jitwarm" && chmod 755 "$all/jitwarm"
	JITWARM=$all/jitwarm JITWARM_STATE=$all/none
	unset CUDA_CACHE_PATH
	(cd / && exec "${as_other[@]}" env HOME=/nonexistent sleep 100) &
	victim=$!
	await ready sleep
	snapshot run 2 watch --for 500ms "$victim"
	err_has "jitwarm watch --for 500ms $victim"
	end_victim
	sleep 100 &
	victim=$!
	JITWARM="${as_other[*]} $all/jitwarm"
	run 2 watch --for 1s "$victim"
	err_has "jitwarm watch --for 1s $victim"
	end_victim
	JITWARM=$beside_driver JITWARM_STATE=$its_state
	export CUDA_CACHE_PATH=$work/cache
	rm -rf "$all"
	trap end_all EXIT
fi

# A process with other files is examined with those files.
unshare --mount true 2>/dev/null || exit 0
unshare --mount sleep 100 &
victim=$!
other_files() { [ "$(readlink "/proc/$victim/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]; }
await other_files
run 2 watch --for 1s "$victim"
err_has "run jitwarm where the process runs"
end_victim
