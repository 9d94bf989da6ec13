# Stalls as users meet them, made for real: `watch` names the cause while it lasts.
# This is the part of `watch`; that of `doctor` is long/slow-every-time.sh, and stalls.sh above runs both.
! is_emulated || skip "under an emulator no library is seen in a process"
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
mkdir "$place/lib"
map() { cp /bin/true "$place/lib/$1"; }
for library in libtriton.so libnvrtc.so.12 libnvJitLink.so.12 libnvinfer_builder_resource.so.10 xla_extension.so libcuda.so.1 libnvidia-ptxjitcompiler.so.1; do
	map $library
done
# play LIBRARIES busy|sleep|download: starts a process that has the libraries mapped
cat >"$place/play.py" <<'PYTHON'
import mmap, os, socket, sys, threading, time
files = [open(os.path.join(sys.argv[1], name), "rb") for name in sys.argv[2].split(",") if name]
mapped = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC) for file in files]
open(sys.argv[4], "w").close()
if sys.argv[3] == "download":
    near, far = socket.socketpair()
    def trickle():
        while True:
            far.send(b"x" * 1000)
            time.sleep(0.3)
    threading.Thread(target=trickle, daemon=True).start()
    while near.recv(1000):
        pass
while sys.argv[3] == "busy":
    pass
time.sleep(600)
PYTHON

# Columns: the event | the process's libraries | its activity | what `watch` prints | the compiler that it names
stalls=(
	"sleeping||sleep|waiting|"
	"sleeping with the driver|libcuda.so.1|sleep|waiting|"
	"a download|libcuda.so.1|download|waiting|"
	"a busy loop||busy|busy|"
	"weights are loaded|libcuda.so.1|busy|busy|"
	"Triton compiles|libcuda.so.1,libtriton.so|busy|busy|Triton"
	"NVRTC compiles|libcuda.so.1,libnvrtc.so.12|busy|busy|NVRTC"
	"nvJitLink links|libcuda.so.1,libnvJitLink.so.12|busy|busy|nvJitLink"
	"XLA compiles|libcuda.so.1,xla_extension.so|busy|busy|XLA"
	"TensorRT builds|libcuda.so.1,libnvinfer_builder_resource.so.10|busy|busy|TensorRT"
	"the driver links|libcuda.so.1,libnvidia-ptxjitcompiler.so.1|busy|linking|"
)
players=() right=0
end_players() { kill "${players[@]}" 2>/dev/null; rm -rf "$place"; } # (the trap of layouts.sh, and this)
trap 'end_players || true' EXIT
for at in "${!stalls[@]}"; do
	IFS='|' read -r name libraries act state other <<<"${stalls[$at]}"
	# A new entry in the cache of a process with the compiler loaded counts as that process's.
	[ "$state" = linking ] && own=$place/own || own=$CUDA_CACHE_PATH
	CUDA_CACHE_PATH=$own nice -n "$([ "$act" = busy ] && echo 10 || echo 0)" python3 -I -S "$place/play.py" "$place/lib" "$libraries" "$act" "$place/ready$at" &
	players[at]=$!
done
# Meanwhile another program compiles into the same cache, which must not count as theirs.
(SIMDRIVER_COST=3 simulated "$app" >/dev/null 2>&1) &
compiling=$!
# The cache has nothing of their libraries, so one look at each is enough, all at the same time.
watching=()
for at in "${!stalls[@]}"; do
	await test -e "$place/ready$at"
	# shellcheck disable=SC2086
	JITWARM_STATE=$place/state $JITWARM watch --json --for "${JITWARM_LOOK:-2s}" "${players[$at]}" >"$place/said$at" 2>"$place/complained$at" </dev/null &
	watching+=($!)
done
wait "${watching[@]}" $compiling
for at in "${!stalls[@]}"; do
	IFS='|' read -r name libraries act state other <<<"${stalls[$at]}"
	cp "$place/said$at" "$out"
	cp "$place/complained$at" "$err"
	last=("watch, $name")
	json "d['${state}_seconds'] >= 0.5 * d['seconds'] > 0 and d['compiling_seconds'] == 0 and d['process']['others'] == '$other'"
	right=$((right + 1))
done
kill "${players[@]}"
wait "${players[@]}" 2>/dev/null || true

# In a cold start, the driver compiles. NVIDIA's own driver loads its compiler by itself; the simulated driver has none.
rm -rf "$work/cache"
if is_real; then
	modules=()
	for at in $(seq 300); do
		"$build/tests/phantom/phantom-probe" container "$place/$at.fatbin" "$at"
		modules+=("$place/$at.fatbin")
	done
	# shellcheck disable=SC2086
	$runner "$build/tests/phantom/phantom-probe" load 0 "${modules[@]}" >/dev/null 2>&1 &
	players=($!)
	await grep -q '^phantom-probe' "/proc/${players[0]}/comm"
else
	mkdir "$place/compiler"
	cp "$sample" "$place/compiler/libnvidia-ptxjitcompiler.so.1"
	# shellcheck disable=SC2086
	SIMDRIVER_COST=5,busy $runner env LD_PRELOAD="$place/compiler/libnvidia-ptxjitcompiler.so.1" "$app" >/dev/null 2>&1 &
	players=($!)
	await grep -q '^framework-app' "/proc/${players[0]}/comm"
fi
run 0 watch --json "${players[0]}"
json 'd["compiling_seconds"] > 0 and d["entries"] > 0 and d["ended"]'
right=$((right + 1))

# NVIDIA's NVRTC itself, if it is installed
nvrtc=$(ls -d /usr/local/cuda*/lib*/libnvrtc.so 2>/dev/null | head -n 1)
if [ -n "${JITWARM_STALLS-}" ] && [ -n "$nvrtc" ]; then
	cat >"$place/nvrtc.py" <<-'PYTHON'
		import ctypes, sys
		nvrtc = ctypes.CDLL(sys.argv[1])
		open(sys.argv[2], "w").close()
		for i in range(100000):
		    program = ctypes.c_void_p()
		    text = b"extern \"C\" __global__ void k%d(float *a) { a[threadIdx.x] *= %d; }" % (i, i)
		    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, None, 0, None, None)
		    assert nvrtc.nvrtcCompileProgram(program, 0, None) == 0
		    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
	PYTHON
	command python3 -I -S "$place/nvrtc.py" "$nvrtc" "$place/nvrtc" &
	players=($!)
	await test -e "$place/nvrtc"
	run 0 watch --json --for 3s "${players[0]}"
	json 'd["busy_seconds"] >= 0.6 * d["seconds"] and d["compiling_seconds"] == 0 and d["process"]["others"] == "NVRTC"'
	right=$((right + 1))
fi
echo "watch: $right of $right stalls have their cause"
