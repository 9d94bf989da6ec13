# run starts a command with the driver's own cache, keeps its status and output, and reports what it has compiled.
run 64 run
err_one_line
is_wine || run 5 run sh -c "exit 5"
program=$JITWARM
with_simdriver sm_86
shell=(sh -c) nothing=(true)
! is_wine || shell=(cmd /c) nothing=(cmd /c rem)
entries() { find "$work/cache" -path "$work/cache/?/?/*" -type f 2>/dev/null | wc -l; }

# The command's own status and output are kept.
run 7 run -- "${shell[@]}" 'echo hello&& exit 7'
out_has hello
run 127 run -- "$work/nosuch"
err_has "cannot be started"
echo 'print("hello")' >train.py
snapshot run "126|127" run train.py
differs_for WINDOWS snapshot run 0 run --json -- "${shell[@]}" 'echo hello'
json 'd["schema"] == "jitwarm.command/1" and d["modules"] == d["not_in_files"] == 0 and d["files"] == [] and d["live"] and d["compile_seconds"] == 0'
err_has hello
err_has "compiled nothing into its cache"

# Cold modules are reported with their library, and stay in the cache.
run 0 run --json "$sample" -- "$app"
json 'd["modules"] == 8 and d["not_in_files"] == 0 and len(d["files"]) == 1 and d["files"][0]["modules"] == 8'
json '0 < d["compile_seconds"] <= d["seconds"]'
json 'abs(d["files"][0]["seconds"] - d["compile_seconds"]) < 1e-6'
grep -qE "ran (under )?[0-9].* s; 8 modules were compiled for it$" "$err" || fail "not the time of the run alone"
err_has "jitwarm prime "
[[ $(entries) == 8 ]] || fail "$(entries) entries in the cache, not 8"
snapshot run 0 check "$sample"
# The second time the modules are warm and are not reported.
snapshot run 0 run --json "$sample" -- "$app"
# A cache that lost one entry lacks one module.
lost=$(find "$work/cache" -path "$work/cache/?/?/*" -type f | sort | head -n 1)
rm "$lost"
snapshot run 0 run --json "$sample" -- "$app"
# An entry that is written again at its old size is new.
if ! is_wine; then
	touch -d '2001-01-01' "$lost"
	snapshot run 0 run --json "$sample" -- touch "$lost"
fi
[[ -z $(ls -A "$work/state/runs") ]] || fail "left: $(ls -A "$work/state/runs")"

# This branch's drivers keep 256 MiB by default, so run raises the limit; a limit that the user has set stays.
limit() { is_wine && echo 'echo limit %CUDA_CACHE_MAXSIZE%.' || echo 'echo limit $CUDA_CACHE_MAXSIZE.'; }
unset CUDA_CACHE_MAXSIZE
differs_for WINDOWS snapshot run 0 run -- "${shell[@]}" "$(limit)"
out_has "limit 1073741824."
export CUDA_CACHE_MAXSIZE=123456789
run 0 run -- "${shell[@]}" "$(limit)"
out_has "limit 123456789."
unset CUDA_CACHE_MAXSIZE

# A command that did not end well may have more to compile; the module with which doctor tries the cache is none of the command's
if ! is_wine; then
	rm -rf "$work/cache"
	# shellcheck disable=SC2016
	snapshot run 137 run --json "$sample" -- sh -c '"$0" && kill -9 $$' "$app"
	rm -rf "$work/cache" && mkdir "$work/cache"
	cp "$sample" "$work/libnvidia-ptxjitcompiler.so.1"
	loading=(env "ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0:detect_leaks=0:detect_odr_violation=0" "LD_PRELOAD=$work/libnvidia-ptxjitcompiler.so.1")
	snapshot run "0|1|2" run --json -- "${loading[@]}" "${program##* }" doctor
	[[ $(entries) == 1 ]] || fail "doctor did not try the cache"
	rm -rf "$work/cache" && mkdir "$work/cache"
	# shellcheck disable=SC2016
	snapshot run 0 run --json "$sample" -- "${loading[@]}" sh -c '"$0" doctor >doctor.out 2>&1; "$1"' "${program##* }" "$app"
	# The driver refuses the PTX of an NVRTC that is newer than itself, and stores nothing.
	mkdir "$work/toolkit"
	cp "$sample" "$work/toolkit/libnvrtc.so.13"
	echo x >"$work/toolkit/libnvrtc-builtins.so.13.3"
	snapshot run 0 run --json "$sample" -- "${loading[@]}" "LD_PRELOAD=$work/libnvidia-ptxjitcompiler.so.1 $work/toolkit/libnvrtc.so.13" sleep 2
	json 'd["refused_ptx"].startswith("NVRTC 13.3") and d["refused"] == 0'
	rm -r "$work/libnvidia-ptxjitcompiler.so.1" "$work/toolkit"
fi

# Programs do not use the cache: through a private one, run reports what they compile each time, and why.
before=$(entries)
export CUDA_CACHE_DISABLE=1
for _ in 1 2; do
	snapshot run 0 run --json "$sample" -- "$app"
done
[[ $(entries) == "$before" ]] || fail "$(entries) entries in the cache, not $before"
unset CUDA_CACHE_DISABLE

# A package's modules are reported under its name.
rm -rf "$work/cache"
JITWARM=$program
environment "$work/venv" 1.2
with_simdriver sm_86
export VIRTUAL_ENV=$work/venv
snapshot run 0 run --json frame -- "$app"

# If the command fails, the report names the files that do not run on this GPU and driver, with the cure.
JITWARM=$program
PYTHONPATH=$cases/../../framework python3 - "$work" <<'PYTHON'
import sys
import fatbin
text = fatbin.ptx_payload(b".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n")
newer = fatbin.ptx_payload(b".version 8.8\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n")
open(sys.argv[1] + "/other.so", "wb").write(fatbin.library(fatbin.container(fatbin.entry(fatbin.PTX, 90, text, isa=(8, 0)))))
open(sys.argv[1] + "/newer.so", "wb").write(fatbin.library(fatbin.container(fatbin.entry(fatbin.PTX, 80, newer, isa=(8, 8)))))
PYTHON
with_simdriver sm_86
run 3 run "$work/other.so" "$work/newer.so" "$sample" -- "${shell[@]}" 'exit 3'
err_has "failed (status 3), and 2 of its files do not run on this GPU and driver:"
err_has "other.so: no kernel image is available for execution on the device (209): its oldest code is for sm_90a; use a build that has -gencode arch=compute_86,code=sm_86"
err_has "newer.so: "
err_has "install driver "
if ! is_wine; then
	# The driver's compiler was loaded and made nothing, because the driver refuses the PTX (222).
	cp "$sample" "$work/libnvidia-ptxjitcompiler.so.1"
	snapshot run 3 run "$work/newer.so" -- env "${loading[@]:1}" sh -c 'sleep 1; exit 3'
	snapshot run 3 run "$sample" -- env "${loading[@]:1}" sh -c 'sleep 1; exit 3'
	rm "$work/libnvidia-ptxjitcompiler.so.1"
fi
differs_for WINDOWS snapshot run 3 run --json "$work/other.so" -- "${shell[@]}" 'exit 3'
json '[(f["target"], f["file"].endswith("other.so")) for f in d["failing"]] == [("sm_86", True)] and "compute_86" in d["failing"][0]["cure"]'
# Not after success, not for files that run, and not if a signal asked the command to end
differs_for WINDOWS snapshot run 0 run "$work/other.so" -- "${nothing[@]}"
err_lacks "do not run"
run 3 run --json "$sample" -- "${shell[@]}" 'exit 3'
json 'd["failing"] == []'
if ! is_wine; then
	snapshot run 143 run "$work/other.so" -- sh -c 'kill -TERM $$'
	snapshot run 130 run "$work/other.so" -- sh -c 'kill -INT $$'
	# Without names: the files that its processes have mapped
	snapshot run 4 run -- python3 -c 'import mmap, sys, time
file = open(sys.argv[1], "rb")
mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
time.sleep(1)
sys.exit(4)' "$work/other.so"
fi
# A package's files are judged together: without this one, which a program may not use, the package runs
site=$(site_of "$VIRTUAL_ENV")
dist_info "$site" pair 1.0 pair/main.so pair/other.so
cp "$sample" "$site/pair/main.so"
cp "$work/other.so" "$site/pair/other.so"
unset VIRTUAL_ENV
run 3 run --json --environment "$work/venv" pair -- "${shell[@]}" 'exit 3'
json 'd["failing"] == []'
# scan and lint do so, too
snapshot run 0 scan --target sm_86 --environment "$work/venv" pair
snapshot run 0 lint --gpus rtx30 --environment "$work/venv" pair
# If there are many files, the first are named
many=()
for name in a b c d e f g h i j; do
	cp "$work/other.so" "$work/$name.so"
	many+=("$work/$name.so")
done
differs_for WINDOWS snapshot run 3 run "${many[@]}" -- "${shell[@]}" 'exit 3'
err_has "failed (status 3), and 10 of its files do not run on this GPU and driver:"
[[ $(grep -c "no kernel image" "$err") == 8 ]] || fail "not eight files"
