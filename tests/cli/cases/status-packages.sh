# `jitwarm status` reports for each GPU whether the active environment's packages are compiled, and the next step.
with_simdriver sm_86
# package NAME VERSION TARGET...: installs one with a PTX for each target; no file is a variant of another
package() {
	local at files=()
	for ((at = 3; at <= $#; at++)); do files+=("$1/k$at.ptx"); done
	dist_info "$site" "$1" "$2" "${files[@]}"
	mkdir -p "$site/$1"
	for ((at = 3; at <= $#; at++)); do
		printf '.version 7.8\n.target %s\n.address_size 64\n.visible .entry %s_%s() { ret; }\n' "${!at}" "$1" "${!at}" >"$site/$1/k$at.ptx"
	done
}

# Without an environment, no packages are judged.
if ! is_wine; then
	programs=$work-programs # not below $work: the snapshot lists what is there
	mkdir "$programs"
	ln -s /usr/bin/[!p]* /bin/[!p]* "$programs" 2>/dev/null
	unset VIRTUAL_ENV CONDA_PREFIX
	program_path=$programs snapshot run 0 status --driver-profile "$work/profile"
	program_path=$programs run 3 scan --target sm_86 nosuch
	err_has "nosuch: no such file, and no Python environment in which to look for such a package (no python3 or python on PATH)"
	[[ -s $work/profile ]] || fail "no profile"
	program_path=$programs run 2 status
	out_has "programs that compile: jitwarm find"
	err_empty
	rm -r "$programs"
fi

# The driver has one short line, and its library appears only on request. Memory sizes are those on the box.
run "0|1|2" status
grep -qx 'Driver  [0-9.]*, CUDA [0-9.]*' "$out" || fail "the driver's line"
grep -qF '(sm_86, 8 GB)' "$out" || fail "the memory's size"
out_lacks libcuda
out_lacks nvcuda
out_has " of 1 GiB, the driver's default"
differs_for WINDOWS snapshot run "0|1|2" --explain
grep -qE '^ {8}.*(libcuda\.so|nvcuda\.dll)' "$out" || fail "no library"
out_has "State   "
(
	with_simdriver sm_89,sm_90,sm_100,sm_103,sm_110
	differs_for WINDOWS snapshot run "0|1|2" status
	for memory in 89,\ 12 90,\ 80 100,\ 180 103,\ 288 110,\ 128; do out_has "(sm_$memory GB)"; done
) || exit 1

empty_environment "$work/env"
site=$(site_of "$work/env")
export VIRTUAL_ENV=$work/env

run 0 status
out_has "env: no package with device code"
(
	# Memory that the drivers of real cards report, in MiB; GPUs that the state remembers are not asked again.
	with_simdriver sm_89
	for card in 3019,3 6144,6 11178,11 20475,20 23028,24 40536,40 46068,48 62841,64 95830,94 97887,96 143771,141; do
		JITWARM_STATE=$work/card-$card SIMDRIVER_GPU_MEMORY=${card%,*} run "0|1|2" status
		out_has "(sm_89, ${card#*,} GB)"
	done
) || exit 1
run 2 status -e "$work/env"

# An unreadable part of the environment does not hide the rest.
mkdir -p "$site/broken-1.0.dist-info/METADATA"
differs_for WINDOWS snapshot run 3 status
out_has "GPU     "
out_has "programs that compile: jitwarm find"
err_has "METADATA: "
err_one_line
run 3 status --json
json 'not d["packages"] and "environment" not in d'
rm -r "$site/broken-1.0.dist-info"
package empty 3.0
package beta 1.1 sm_70 sm_75
package alpha 2.0 sm_80
package newer 0.9 sm_90
run 1 status
out_has "env: 3 packages with device code"
out_has "        beta 1.1: up to 2 modules, "
out_has "        alpha 2.0: up to 1 module, "
out_has "        newer 0.9: 1 file will fail"
out_lacks empty
out_has "  first start "
out_has "Next    if a start takes long, compile the cold modules: jitwarm prime"
run 1 status --json
json '[(p["name"], p["version"]) for p in d["packages"]] == [("beta", "1.1"), ("alpha", "2.0"), ("newer", "0.9")]'
json '[[(g["target"], g["warm"], g["cold"], g["failing"]) for g in p["gpus"]] for p in d["packages"]] == [[("sm_86", 0, 2, 0)], [("sm_86", 0, 1, 0)], [("sm_86", 0, 0, 1)]]'
json 'd["packages"][0]["gpus"][0]["forecast"]["start_seconds"]["likely"] > d["packages"][1]["gpus"][0]["forecast"]["start_seconds"]["likely"] > 0'
json 'd["environment"].endswith("env")'

# One package was primed: it is warm, and no longer first.
run 0 prime beta
differs_for WINDOWS snapshot run 1 status
out_has "        beta 1.1: warm"
out_has "        alpha 2.0: up to 1 module, "
differs_for WINDOWS snapshot run 1 status --json
json '[p["name"] for p in d["packages"]] == ["alpha", "beta", "newer"]'
json '[p["gpus"][0]["warm"] for p in d["packages"]] == [0, 2, 0]'
snapshot run 0 prime alpha
run 2 status
out_has "Next    see how to repair these packages: jitwarm doctor"
out_lacks "to compile"

# A file that could not be read may have code to compile.
if ! is_wine; then
	ln -s loop.so "$site/loop.so"
	snapshot run 1 status
	snapshot run 1 status --json
	snapshot run 1 check
	snapshot run 1 find "$work/env"
	rm "$site/loop.so"
	snapshot run 2 status --json
fi

# Each GPU has a line; code that runs as it is on both has one word.
rm -r "$site/newer-0.9.dist-info"
with_simdriver sm_86,sm_90
differs_for WINDOWS snapshot run 1 status
out_has "        alpha 2.0"
out_has "          sm_86 (RTX 30): warm, "
out_has "          sm_90 (H100): up to 1 module, "
cp "$sample" "$site/empty/"
dist_info "$site" empty 3.0 "empty/${sample##*/}"
run 1 status --json
json 'next(p for p in d["packages"] if p["name"] == "empty")["gpus"][1]["cold"] > 0'

# A file without code has a name that begins like another package's.
if ! is_wine; then
	with_simdriver sm_86
	dist_info "$site" first 1.0 first/x.ptx
	dist_info "$site" second 1.0 "first/x.ptx: y.ptx"
	printf '// nothing to run\n' >"$site/first/x.ptx"
	printf '.version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$site/first/x.ptx: y.ptx"
	snapshot run 1 status
fi

# On Jetson the driver keeps 256 MiB, unless a limit is set.
if ! is_wine; then
	with_simdriver sm_87
	run 1 status --json
	json 'd["cache"]["limit_bytes"] == 256 << 20'
	CUDA_CACHE_MAXSIZE=$((1 << 30)) run 1 status --json
	json 'd["cache"]["limit_bytes"] == 1 << 30'
	with_simdriver sm_86
fi

# A laptop's sleeping second GPU is not woken: its PCI id says enough.
if ! is_wine; then
	bus=0000:01:00.0
	export JITWARM_SYSTEM_ROOT=$work/root JITWARM_PCI_DEVICES=10de:2484@$bus JITWARM_STATE=$work/asleep
	mkdir -p "$work/root/sys/bus/pci/devices/$bus/power"
	echo suspended >"$work/root/sys/bus/pci/devices/$bus/power/runtime_status"
	snapshot run 1 status
	! state "$JITWARM_STATE" get devices >/dev/null || fail "the driver was asked"
	# If the driver has to be asked, the GPU is woken, and a GPU that is awake is asked.
	CUDA_VISIBLE_DEVICES=0 run 1 status
	out_lacks "sleeps"
	state "$JITWARM_STATE" remove devices
	echo active >"$work/root/sys/bus/pci/devices/$bus/power/runtime_status"
	run 1 status
	out_lacks "sleeps"
	state "$JITWARM_STATE" get devices >/dev/null || fail "the driver was not asked"
	# jitwarm knows the earlier answer while the GPU sleeps.
	echo suspended >"$work/root/sys/bus/pci/devices/$bus/power/runtime_status"
	run 1 status
	out_lacks "sleeps"
fi

# Slices of one GPU (MIG) share its address, and have their own names and identifiers.
if ! is_wine; then
	export JITWARM_STATE=$work/slices
	unset JITWARM_SYSTEM_ROOT JITWARM_PCI_DEVICES
	with_simdriver sm_90,sm_90
	SIMDRIVER_MIG=1 snapshot run 1 status
	SIMDRIVER_MIG=1 snapshot run 1 status --json
fi
