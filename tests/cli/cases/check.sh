# check finds cold modules, remembers the contents of files and notices changes, and judges GPUs and drivers that are not here.
mkdir "$work/lib"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$work/lib/a.ptx"
sed 's/entry k/entry other/' "$work/lib/a.ptx" >"$work/lib/b.ptx"
cp "$work/lib/a.ptx" "$work/lib/c.ptx" # a second copy of one module
touch -d '2020-01-01 00:00:00' "$work"/lib/*.ptx
gpu=(--target sm_86 --driver 550.163.01 --cache cache)

snapshot run 64 check --target sm_86a --driver 550.163.01 lib
snapshot run 64 check --target sm_68 lib
snapshot run 64 check --target sm_86 --driver cu99 lib

run 1 check "${gpu[@]}" --json lib
json 'd["schema"] == "jitwarm.check/1" and d["modules"] == d["cold"] == 2 and d["warm"] == 0 and d["names_known"]'
json '[g["target"] for g in d["gpus"]] == ["sm_86"] and d["link"] == d["left_out"] == d["cannot"] == 0'
run 1 check "${gpu[@]}" --target sm_89 --json lib
json 'd["modules"] == 4 and len(d["gpus"]) == 2'
run 1 check "${gpu[@]}" lib
out_has "sm_86 (RTX 30): 2 of 2 modules to compile"
out_lacks "too new"
snapshot run 1 check "${gpu[@]}" --quiet lib
[[ ! -e cache/index ]] || fail "check wrote into the cache"

# check notices new contents of the same length and modification time.
sleep 3 # jitwarm remembers nothing of a file that was written a moment ago
run 1 check "${gpu[@]}" --json lib
json 'd["modules"] == 2'
printf '%s' "$(tr 'a-z' 'x' <lib/b.ptx)" >"$work/garbage"
printf '\n' >>"$work/garbage"
cp "$work/garbage" lib/b.ptx
touch -d '2020-01-01 00:00:00' lib/b.ptx
snapshot run "0|1" check "${gpu[@]}" --json lib

# A damaged inventory is ignored and rewritten.
inventory=$(echo "$work"/state/inventory-*)
printf 'JWINV\0\1\0garbage' >"$inventory"
run 1 check "${gpu[@]}" --json lib/a.ptx
json 'd["modules"] == 1'
run 1 check "${gpu[@]}" --json lib/a.ptx
json 'd["modules"] == 1'
rm "$inventory" && mkdir "$inventory"
run 1 check "${gpu[@]}" --json lib/a.ptx
json 'd["modules"] == 1'
rmdir "$inventory"

# The driver is too old for the PTX: nothing can be compiled in advance.
sed 's/version 7.0/version 8.4/' lib/a.ptx >lib/new.ptx
differs_for WINDOWS snapshot run 2 check --target sm_86 --driver 535.309.01 --json lib/new.ptx
json 'd["modules"] == 0 and d["cannot"] == 1'
run 1 check --target sm_86 --driver 550.163.01 --json lib/new.ptx
json 'd["modules"] == 1 and d["cannot"] == 0'
# Without a driver's stamp, check cannot call anything warm.
differs_for WINDOWS snapshot run 2 check --target sm_86 --driver 12.4 --json lib/a.ptx
json 'not d["names_known"] and d["cold"] == 1'
err_has "cannot tell which modules are warm: name the driver with its full version (--driver 550.163.01)"
# It cannot call anything cold either: it predicts no minutes, and names no cold file.
for driver in 12.4 550 550.1.2; do
	run 2 check --target sm_86 --driver $driver lib/a.ptx
	out_has "sm_86 (RTX 30): 1 module to compile, if not in the cache"
	out_lacks "cold"
	out_lacks "first start"
	err_has "cannot tell"
	run 0 scan --target sm_86 --driver $driver lib/a.ptx
	out_has "1 module to compile"
	snapshot run 2 make -n --target sm_86 --driver $driver -o cache/ lib/a.ptx
done
# The limit that counts is that driver's.
for each in 460.106.00:268435456 550.163.01:1073741824; do
	run 1 check --json --target sm_86 --driver ${each%:*} lib/a.ptx
	json "d['limit_bytes'] == ${each#*:}"
	err_lacks CUDA_CACHE_MAXSIZE
done
CUDA_CACHE_MAXSIZE=1000 snapshot run 1 check --target sm_86 --driver 460.106.00 lib/a.ptx
snapshot run 2 check --target sm_86 --driver 550.1.2 lib/a.ptx
# Every command with --driver names the known ones, whatever else the line lacks.
snapshot run 0 check --driver list --target sm_86 lib/a.ptx
for words in "make --driver list" "make --target v100 --driver list -n" "which --driver=list" "scan --driver list" "lint --driver list"; do
	# shellcheck disable=SC2086
	run 0 $words
	out_has "550.163.01"
done
if ! is_wine; then # Wine always has a driver
	run 2 check --target sm_86 lib/a.ptx
	err_has "cannot tell which modules are warm: name the driver with its full version (--driver 550.163.01)"
	# Without a module, no warm or cold ones are counted.
	head -c 3000 /dev/zero >lib/none.so
	run 0 check --target sm_86 lib/none.so
	err_lacks "cannot tell"
fi
# There is no code for this GPU at all: the program fails, whether it is primed or not.
sed 's/sm_70/sm_90/' lib/a.ptx >lib/newer.ptx
run 2 check "${gpu[@]}" --json lib/newer.ptx
json 'd["modules"] == 0 and d["cannot"] == 0'
json '[(f["target"], f["why"]) for f in d["failing"]] == [("sm_86", "will fail: no kernel image for sm_86")]'
run 2 check "${gpu[@]}" lib/newer.ptx # from the inventory
out_has "sm_86 (RTX 30): 1 file will fail"
out_has "newer.ptx: will fail: no kernel image for sm_86"
run 2 scan --target sm_86 --driver 550.163.01 lib/newer.ptx
out_has "sm_86 (RTX 30): 1 file will fail"
out_lacks "nothing to compile"
out_has "newer.ptx: will fail: no kernel image for sm_86"
snapshot run 1 check "${gpu[@]}" lib/newer.ptx lib/a.ptx

# The machine code comes from a newer CUDA than the driver's, alone or before PTX. Another library of its folder that runs does not help. If
# the code only lacks the GPU, a variant that runs does help.
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import fatbin
import struct

def library(name, *entries):
    open(name, "wb").write(fatbin.library(fatbin.container(*entries)))

def cubin(sm, newer=False):
    data = bytearray(fatbin.old_cubin(sm, "k", 64))
    if newer:
        data[7:9], data[20:24], data[48:52] = b"\x41\x08", struct.pack("<I", 1), struct.pack("<I", sm << 8 | 0x6000004)
    return fatbin.entry(fatbin.CUBIN, sm, bytes(data))

ptx = fatbin.entry(fatbin.PTX, 52, b".version 7.0\n.target sm_52\n.address_size 64\n.entry k()\n{\n}\n\0")
for folder in ("one", "other", "both"):
    __import__("os").mkdir(folder)
library("one/libnewer.so", cubin(80, True), ptx)
library("other/libother.so.1", cubin(75), cubin(52))
library("both/libold.so", cubin(86))
library("both/libnew.so", cubin(86, True))
library("both/prog", cubin(75))
library("both/libempty.so")
open("newer.cubin", "wb").write(fatbin.container(cubin(86, True))[88:])
PYTHON
run 2 check "${gpu[@]}" one
out_has "libnewer.so: will fail: a CUDA runtime that is newer than the driver for sm_86"
snapshot run 2 check --target sm_86 --driver 570 newer.cubin
run 0 check --target sm_86 --driver 580.65.06 newer.cubin
run 0 check --target sm_86 --driver 13.0 one
run 2 scan --target sm_86 --driver 550.163.01 other
out_has "libother.so.1: will fail: no kernel image for sm_86"
run 2 check "${gpu[@]}" both/lib*
out_has "libnew.so: will fail: a CUDA runtime that is newer than the driver for sm_86; it needs driver 580 (CUDA 13.0) or newer"
out_lacks "libold.so"
snapshot run 2 check "${gpu[@]}" --json both/prog both
rm both/libnew.so both/prog
cp other/libother.so.1 both/libother.so
run 2 check "${gpu[@]}" both
out_has "libother.so: will fail: no kernel image for sm_86"
mkdir variants
cp both/libold.so variants/libx_cuda118.so
cp both/libother.so variants/libx_cuda121.so
run 0 check "${gpu[@]}" variants
out_lacks "will fail"
# Other numbers and words in a name tell kernels apart.
for pair in "conv2d conv3d" "gemm_fp16 gemm_fp8" "_vllm_fa2_C.abi3 _vllm_fa3_C.abi3" "fused fused_norm"; do
	read -r first second <<<"$pair"
	mkdir "kernels-$first"
	cp both/libold.so "kernels-$first/$first.so"
	cp both/libother.so "kernels-$first/$second.so"
	run 2 check "${gpu[@]}" "kernels-$first"
	out_has "$second.so: will fail: no kernel image for sm_86"
done

# A file without device code is reported, and is no failure.
printf 'no code\n' >"$work/nothing.so"
mkdir "$work/bare"
for command in check scan; do
	run 0 $command "${gpu[@]:0:4}" nothing.so both/libempty.so
	run 0 $command "${gpu[@]:0:4}" nothing.so
	out_has "no device code found"
	# Nothing was judged.
	snapshot run 2 $command "${gpu[@]:0:4}" bare
done

# The record of the GPUs names the driver's library. If that file is gone, the driver is asked for the GPUs again.
with_simdriver sm_86
run "0|2" status --json
differs_for WINDOWS snapshot run "0|2" status --json
json 'd["remembered"]'
sed -i 's|"library":"[^"]*"|"library":"'"$(is_wine && echo Z:)$work/absent"'/libcuda.so.1"|' "$work/state/state.json"
run 1 check --json lib/a.ptx
json 'd["names_known"] and d["cold"] == 1'
run "0|2" status --json
json 'd["driver"]["library"].lower().endswith(("/libcuda.so.550.200.01", "nvcuda.dll"))'
