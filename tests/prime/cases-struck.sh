# shellcheck shell=bash disable=SC2154
# Modules, drivers and GPUs that fail, as only the simulated driver has them. story.sh reads this file and defines its functions.

# fault FAULT: prime, while FAULT strikes the sample framework's module with the entry named "sample_small"
fault() { SIMDRIVER_FAULT=$1 run prime "$library" --json; }

case_a_crashing_module_is_set_aside() {
	local kind status
	for kind in crash abort exit overflow oom sticky; do
		rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE"
		status=0; fault "$kind:sample_small" || status=$?
		[ "$status" = 1 ] && expect_number failed 1 || say "$kind: status $status: $(cat "$err")" || return 1
		sound && no_leftovers || return 1
		expect_status 0 prime "$library" --json && expect_number compiled 1 || return 1
	done
}

case_a_crash_once_is_made_up_for() {
	local kind
	for kind in crash sticky; do
		rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE"
		fault "$kind:sample_small:once" || say "$kind: $(cat "$err")" || return 1
		expect_number failed 0 && sound || return 1
	done
}

# The printed command shows the failure again, and compiles the module once the cause is gone.
case_a_failure_comes_with_its_command() {
	local command library=$scratch/$1/"lib rary's.so"
	cp "$framework/libsample_framework.so" "$library"
	SIMDRIVER_FAULT=crash:sample_small run prime "$library"
	# Under the sanitizers, the worker ends with a status instead.
	grep -Eq ' at 0x[0-9a-f]* [(]sm_86[)]: .*(segmentation fault|ended with status 1).*twice' "$err" && grep -q 'to see it again: jitwarm prime ' "$err" ||
		say "not said: $(cat "$err")" || return 1
	SIMDRIVER_FAULT=crash:sample_small run prime "$library" --json --cache "$CUDA_CACHE_PATH"
	command=$(python3 -c 'import json,sys; f,=json.load(open(sys.argv[1]))["failures"]; print(f["command"])' "$out") || return 1
	[[ $command = "jitwarm prime "* ]] || say "$command" || return 1
	mkdir -p "$scratch/bin" && ln -sf "$jitwarm" "$scratch/bin/jitwarm"
	PATH=$scratch/bin:$PATH SIMDRIVER_FAULT=crash:sample_small under bash -c "$command --json" >"$out" 2>"$err" && say "no failure" && return 1
	keep_document "$out"
	expect_number failed 1 && expect_number cold 1 || return 1
	PATH=$scratch/bin:$PATH under bash -c "$command --json" >"$out" 2>"$err" || say "$command: $(cat "$err")" || return 1
	keep_document "$out"
	expect_number compiled 1 && expect_status 0 check "$library" || return 1
	expect_status 64 prime --only 0x10 "$library"
}

# hangs_within MILLISECONDS SECONDS: modules get more time on a machine on which healthy ones take that long, too
hangs_within() {
	local status=0
	rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE"
	JITWARM_MODULE_TIMEOUT=$1ms SIMDRIVER_FAULT=hang:sample_small run prime "$library" --json || status=$?
	[ "$status" = 1 ] && expect_number failed 1 && grep -q "within $2 s, twice" "$out" || say "$1 ms: status $status: $(cat "$err")"
}
case_a_hanging_module_is_set_aside() {
	hangs_within 400 0.4 || hangs_within 3500 3.5 || hangs_within 20500 20.5 || return 1
	sound && no_leftovers && expect_status 0 prime "$library" --json && expect_number compiled 1
}

case_a_compile_error_comes_with_its_log() {
	local status=0
	SIMDRIVER_FAULT=error:sample_small run prime "$library" || status=$?
	[ "$status" = 2 ] && grep -q libsample_framework "$err" && grep -q ptxas "$err" || say "status $status: $(cat "$err")" || return 1
	expect_status 0 prime "$library"
}

case_an_exclusive_gpu_takes_one_worker() {
	export SIMDRIVER_COMPUTE_MODE=3 SIMDRIVER_COST=1
	expect_status 0 prime "$library" -j 4 --json && expect_number failed 0 && expect_number workers 1 && grep -q 'exclusive-process mode' "$err" ||
		say "$(cat "$err")" || { unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST; return 1; }
	[ "$(grep -vc ' modules' "$err")" -lt 6 ] && ! grep -q 'no space' "$err" || say "$(cat "$err")" || { unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST; return 1; }
	# Another GPU of the same kind takes all remaining modules.
	rm -rf "$CUDA_CACHE_PATH"
	local gpus=sm_86,sm_86
	SIMDRIVER_COMPUTE_MODE=3,0 expect_status 0 prime "$library" -j 4 --json && ! grep -q exclusive "$err" || say "$(cat "$err")" || { unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST; return 1; }
	unset SIMDRIVER_COMPUTE_MODE SIMDRIVER_COST
}

case_a_prohibited_gpu_is_said() {
	run status
	SIMDRIVER_COMPUTE_MODE=2 expect_status 3 prime "$library" && grep -q 'prohibited' "$err" || say "$(cat "$err")" || return 1
	[ "$(entries)" = 0 ] && no_leftovers
}

case_slices_are_gpus_of_their_own() {
	local gpus=sm_80,sm_80
	SIMDRIVER_MIG=1 expect_status 0 status --json || return 1
	python3 - "$out" <<-'P' || say "$(cat "$out")" || return 1
		import json, sys
		a, b = json.load(open(sys.argv[1]))["gpus"]
		assert a["uuid"].startswith("MIG-") and b["uuid"].startswith("MIG-") and a["uuid"] != b["uuid"] and a["bus"] == b["bus"]
	P
	SIMDRIVER_MIG=1 expect_status 0 prime "$library" --json && expect_number failed 0
}

case_a_full_gpu_takes_few_workers() {
	run status
	SIMDRIVER_GPU_FREE=100 start_gated sample_ prime "$library" -j 3 --json || return 1
	await grep -q "GPU's memory" "$err" || { open_gate; return 1; }
	open_gate
	wait $pid && expect_number failed 0 || say "$(cat "$err")"
}

# A machine that reports a lack of memory has one worker at work at a time; a budget for less than one module still allows one.
case_memory_is_shared() {
	local machine=$scratch/$1/root
	mkdir -p "$machine/proc/pressure"
	printf 'MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n' >"$machine/proc/meminfo"
	echo 'some avg10=25.00 avg60=0.00 avg300=0.00 total=0' >"$machine/proc/pressure/memory"
	run status
	JITWARM_SYSTEM_ROOT=$machine start_gated sample_ prime "$library" -j 3 --json || return 1
	await grep -q 'memory is running low' "$err" || { open_gate; return 1; }
	open_gate
	wait $pid && expect_number failed 0 || say "$(cat "$err")" || return 1
	rm -rf "$CUDA_CACHE_PATH"
	JITWARM_MAX_MEM=100M expect_status 0 prime "$library" -j 3 --json && expect_number failed 0 && expect_number workers 1
}

# One module has 39.5 MB of PTX, the largest ever seen in a framework's library, beside ordinary ones.
case_a_huge_module() {
	local container=$scratch/$1/huge.fatbin
	python3 - "$container" <<-'P'
		import struct, sys
		line = "\tadd.s32 %r1, %r1, 1;\n\tmad.lo.s32 %r2, %r1, %r2, 7;\n\txor.b32 %r1, %r2, %r1;\n"
		text = ".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry huge(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n"
		text = (text + line * ((39500000 - len(text)) // len(line)) + "\tret;\n}\n").encode()
		text += bytes(-len(text) % 8 or 8)
		entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 72, len(text), 0, 64, 3, 6, 52, 0, 0, 0x11, 0, 0) + bytes(8) + text
		open(sys.argv[1], "wb").write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry)
	P
	JITWARM_MAX_MEM=1G SIMDRIVER_COST=0.01 expect_status 0 prime "$container" "$library" -j 2 --json && expect_number failed 0 && expect_number undone 0 || return 1
	# The supervisor never holds the PTX in memory: a worker reads it from the file.
	[ "$(number cold_bytes)" -gt 39000000 ] && [ "$(number peak_supervisor_bytes)" -lt 120000000 ] || say "$(cat "$out")" || return 1
	expect_status 0 check "$container" "$library" && sound
}
