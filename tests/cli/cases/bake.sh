# `jitwarm bake` makes copies of libraries whose code the driver loads without compiling, and never writes to the libraries themselves.
with_simdriver sm_86
differs_for SANITIZERS # which make a larger library
name=libsample_framework.so app=framework-app

# A Windows library is refused; a library without anything to bake is no failure.
cp "$cases/../../fuzz/corpus/bake_grow/pe" "$work/sample.dll"
for what in "-n" "-o $work/windows"; do
	# shellcheck disable=SC2086
	snapshot run 2 bake $what "$work/sample.dll"
done
[[ ! -e $work/windows ]] || fail "written: $(ls "$work/windows")"
! is_wine || exit 0 # on Windows the sample framework is a Windows library
cp "$build/tests/framework/$name" "$work/$name"
before=$(sha256sum <"$work/$name")

snapshot run 64 bake "$work/$name"
snapshot run 64 bake --driver 550.163.01 -o "$work/out" "$work/$name"
run 0 bake -n "$work/$name"
out_has "7 pieces of code to bake"
[[ -z $(find "$CUDA_CACHE_PATH" -path '*/?/?/*' -type f 2>/dev/null) ]] || fail "a dry run compiled"

snapshot run 3 bake -o /proc/copies "$work/$name"
[[ -z $(find "$CUDA_CACHE_PATH" -path '*/?/?/*' -type f 2>/dev/null) ]] || fail "it compiled first"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >"$work/loose.ptx"
snapshot run 2 bake -n "$work/loose.ptx"
# --quiet hides no failure.
snapshot run 2 bake -n --quiet "$work/loose.ptx"

# A name that leads to no file is left out, and the exit status says so.
snapshot run 1 bake -n "$work/$name" "$work/no-such.so"
: >"$work/plain.so"
snapshot run 0 bake verify "$work/plain.so"
run 1 bake verify "$work/plain.so" "$work/no-such.so"
out_has "plain.so: 0 pieces of code loaded, 0 entries made"
err_has "no-such.so: "

# bake never writes to the library itself.
snapshot run 3 bake -o "$work" "$work/$name"
[[ $(sha256sum <"$work/$name") == "$before" ]] || fail "the library was changed"
run '0|1' bake --json -o "$work/out/deep" "$work/$name"
json 'len(d["files"]) == 1 and d["files"][0]["modules"] == 7 and d["files"][0]["linked"] == 1'
json 'd["files"][0]["baked"] + d["files"][0]["no_room"] == 7'
json '(d["files"][0]["size_before_bytes"] < d["files"][0]["size_after_bytes"]) == (d["files"][0]["moved"] > 0) != (d["files"][0]["no_room"] > 0)'
# PTX that is packed with zstd stays beside the new machine code in one library; drivers that cannot read zstd read neither.
json 'd["files"][0]["drivers"] == [{"target": "sm_86", "from": "525 (CUDA 12.0)", "to": "555.58.02 (CUDA 12.5)"}]'
json 'd["uncompiled"] == 0 and not d["dry_run"]'
[[ $(sha256sum <"$work/$name") == "$before" ]] || fail "the library was changed"
[[ $(ls "$work/out/deep") == "$name" ]] || fail "left behind: $(ls "$work/out/deep")"

# An existing copy is replaced, and a killed run's leftovers are removed, but no file of the user's.
for old in "$name.backup" "$name.cuda12" ".$name.jitwarm-.a1b2c3"; do touch -d '2 hours ago' "$work/out/deep/$old"; done
snapshot run '0|1' bake --json -o "$work/out/deep" "$work/$name"
[[ $(cd "$work/out/deep" && echo .[a-z]* *) == ".[a-z]* $name $name.backup $name.cuda12" ]] || fail "left: $(ls -A "$work/out/deep")"
rm "$work/out/deep/$name".*
left=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["files"][0]["no_room"])' "$out")
cp "$build/tests/framework/$app" "$work/out/deep"
rm -r "$CUDA_CACHE_PATH"
simulated "$work/out/deep/$app" >"$out" 2>"$err" || fail "the program ended with $?"
out_has "compiled $left of 7"

# The container that the driver links needs the same kernels as the linked container has for its other GPU.
mkdir -p "$work/other"
python3 - "$work/$name" "$work/other/$name" <<-'P'
	import sys
	data = open(sys.argv[1], "rb").read()
	assert data.count(b".shstrtab\0sample_link\0") == 1
	open(sys.argv[2], "wb").write(data.replace(b".shstrtab\0sample_link\0", b".shstrtab\0sample_lint\0"))
P
run '0|1' bake --json -o "$work/linked" "$work/other/$name"
json 'd["files"][0]["unlinked"] == 1 and d["files"][0]["linked"] == 0'
json 'd["files"][0]["baked"] + d["files"][0]["no_room"] == 8 and d["files"][0]["modules"] == 9'
run '0|1' bake -o "$work/linked" "$work/other/$name"
out_has "1 piece of code not linked, so each start may link such code: the linked code lacks kernels"

# If the worker that links dies, the rest is baked, and another worker links the next library.
mkdir -p "$work/links/a" "$work/links/b"
cp "$work/$name" "$work/links/a"
cp "$work/$name" "$work/links/b"
SIMDRIVER_FAULT=crash:cuLinkComplete snapshot run 1 bake -o "$work/died" "$work/$name"
SIMDRIVER_FAULT=crash:cuLinkComplete:once run 1 bake --json -o "$work/died" "$work/links/a/$name" "$work/links/b/$name"
json 'sorted((one["linked"], one["unlinked"]) for one in d["files"]) == [(0, 1), (1, 0)]'
json 'all(one["baked"] + one["no_room"] + one["unlinked"] == one["modules"] == 9 - 2 * one["linked"] for one in d["files"])'
[[ -e $work/died/a/$name && -e $work/died/b/$name ]] || fail "cannot hold the copies"

# bake has prime's limits: a module that takes too long is given up, and none begins after the budget's end.
rm -rf "$CUDA_CACHE_PATH"
SIMDRIVER_FAULT=hang:.version JITWARM_MODULE_TIMEOUT=2s snapshot run 1 bake --json -j 1 --budget-time 1s -o "$work/late" "$work/$name"

# A baked copy has nothing more to bake, except what had no space.
snapshot run '0|1' bake --json -o "$work/again" "$work/out/deep/$name"

# NVIDIA's own libraries are left alone, also in archives.
cp "$work/$name" "$work/libcublas.so.12"
snapshot run 2 bake -o "$work/nvidia" "$work/libcublas.so.12"
[[ ! -e $work/nvidia/libcublas.so.12 ]] || fail "NVIDIA's library was copied"
snapshot run '0|1' bake --i-may -o "$work/nvidia" "$work/libcublas.so.12"
[[ -e $work/nvidia/libcublas.so.12 ]] || fail "--i-may does not bake"
(cd "$work" && python3 -m zipfile -c archive.zip "$name")
snapshot run 2 bake -o "$work/wheel" "$work/archive.zip"
echo text >"$work/text.so"
snapshot run 0 bake -o "$work/text" "$work/text.so"
run 3 bake -o "$work/gone" "$work/no-such-file"

# Two libraries of one name keep their folders.
mkdir -p "$work/two/a" "$work/two/b"
cp "$work/$name" "$work/two/a"
cp "$work/$name" "$work/two/b"
run '0|1' bake -o "$work/both" "$work/two"
[[ -e $work/both/a/$name && -e $work/both/b/$name ]] || fail "not both: $(find "$work/both")"

# A copy does not replace another library that was named on the command line.
mkdir -p "$work/over/x"
cp "$work/$name" "$work/over"
cp "$work/other/$name" "$work/over/x"
snapshot run 3 bake -o "$work/over/x" "$work/over"
cmp "$work/other/$name" "$work/over/x/$name" || fail "a library was overwritten"
[[ -e $work/over/x/x/$name ]] || fail "the other one was not baked"
# An earlier copy, which has nothing to bake, is replaced.
for _ in first second; do run 0 bake -o "$work/two/copies" "$work/two"; done
rm -r "$work/two/copies"

# Nothing is written outside the output folder, whatever the libraries' names are.
cd "$work/two/a" || exit 1
snapshot run '0|1' bake -o "$work/inside/deep" "$name" "../b/$name"
cd "$work" || exit 1
[[ -e $work/inside/deep/a/$name && -e $work/inside/deep/b/$name && $(ls "$work/inside") == deep ]] || fail "outside: $(find "$work/inside")"

# A copy has its library's mode less the umask, and an unfinished copy is removed.
mask=$(umask)
chmod 757 "$work/$name"
umask 027
run '0|1' bake -o "$work/mode" "$work/$name"
umask "$mask"
[[ $(stat -c %a "$work/mode/$name") == 750 ]] || fail "mode $(stat -c %a "$work/mode/$name")"
(ulimit -f 40; run 3 bake -o "$work/short" "$work/$name") || exit 1
out_has "File too large"
[[ -z $(ls "$work/short") ]] || fail "left behind: $(ls "$work/short")"

# The output folder cannot be made, and something other than a file lies in the copy's place.
echo >"$work/file"
snapshot run 64 bake -o "$work/file/out" "$work/$name"
mkdir -p "$work/taken/$name"
snapshot run '2|3' bake -o "$work/taken" "$work/$name"
[[ -d $work/taken/$name ]] || fail "a folder was replaced"

# bake handles each GPU's own range of drivers.
(
	export SIMDRIVER_CUDA=12080 SIMDRIVER_VERSION=570.86.10 CUDA_CACHE_PATH=$work/cache-two
	JITWARM=${JITWARM/ sm_86 / sm_90,sm_120 }
	snapshot run '0|1' bake -o "$work/two" "$work/$name"
	run '0|1' bake --json -o "$work/two" "$work/$name"
	json '[(g["target"], g["from"]) for g in d["files"][0]["drivers"]] == [("sm_90", "525 (CUDA 12.0)"), ("sm_120", "570 (CUDA 12.8)")]'
) || exit 1

# For two GPUs together, bake makes the copy that it makes for each alone, in either order: sm_90 links at start, and sm_86 does not.
(
	export CUDA_CACHE_PATH=$work/cache-both
	sum=0
	for gpus in sm_86 sm_90 sm_86,sm_90 sm_90,sm_86; do
		was=$JITWARM
		JITWARM=${JITWARM/ sm_86 / $gpus }
		run '0|1' bake verify --json "$work/out/deep/$name"
		loaded=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["files"][0]["containers"])' "$out")
		JITWARM=$was
		case $gpus in
		*,*) [[ $loaded == "$sum" ]] || fail "$gpus loads $loaded containers, and the two alone $sum" ;;
		*) sum=$((sum + loaded)) ;;
		esac
	done
) || exit 1

# The driver accepts entries for sm_100 and newer, which repeat a section of the cubin.
(
	export SIMDRIVER_CUDA=12080 SIMDRIVER_VERSION=570.86.10 CUDA_CACHE_PATH=$work/cache120
	JITWARM=${JITWARM/ sm_86 / sm_120 }
	runner=${runner/ sm_86 / sm_120 }
	run '0|1' bake --json -o "$work/blackwell" "$work/$name"
	json 'd["files"][0]["baked"] == 7 and d["files"][0]["unknown"] == 0 and d["files"][0]["linked"] == 1'
	json 'd["files"][0]["drivers"] == [{"target": "sm_120", "from": "570 (CUDA 12.8)"}]'
	left=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["files"][0]["no_room"])' "$out")
	# A later GPU of the same major version uses the remaining PTX, not this machine code.
	snapshot run 0 scan --target sm_121 "$work/blackwell/$name"
	rm -r "$CUDA_CACHE_PATH"
	cp "$build/tests/framework/$app" "$work/blackwell"
	simulated "$work/blackwell/$app" >"$out" 2>"$err" || fail "the program ended with $?"
	out_has "compiled $left of 7"
) || exit 1
