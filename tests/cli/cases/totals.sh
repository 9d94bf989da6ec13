# The sums over all files count each module once for a GPU in scan, check and prime, whichever files hold it; one line has the times of the
# first start and of prime, and the size of the cache.
differs_for WINDOWS
with_simdriver sm_86,sm_89
# module FILE KERNEL LINES: writes PTX
module() {
	printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s()\n{\n' "$2" >"$1"
	yes '	add.s32 %r1, %r1, 1;' | head -n "$3" >>"$1"
	printf '	ret;\n}\n' >>"$1"
}
mkdir lib
for i in 1 2 3; do module "lib/once-$i.ptx" "k$i" $((20000 * i)); done
for i in 1 2 3 4 5 6; do cp lib/once-3.ptx "lib/again-$i.ptx"; done # now 9 files have 3 modules
one=(--target sm_86 --driver 550.163.01)

run 0 scan "${one[@]}" --json lib
json 'len(d["files"]) == 9 and [t["modules"] for t in d["totals"]] == [3]'
json 'd["totals"][0]["ptx_bytes"] == sum({f["ptx_bytes"] for f in d["files"]})'
json 'abs(d["totals"][0]["forecast"]["start_seconds"]["likely"] - sum({f["verdicts"]["sm_86"]["estimate"]["cpu_seconds"] for f in d["files"]})) < 0.01'
cp "$out" "$work/scan.json"
run 0 scan "${one[@]}" lib
out_has "sm_86 (RTX 30), all together: 3 modules to compile"
run 0 scan "${one[@]}" lib/once-1.ptx
out_has "sm_86 (RTX 30): 1 module to compile"
out_has "  first start "
# The answer names the driver, and says from the tables what older drivers do, up to the one that was named.
module newer.ptx k4 100
sed -i 's/^.version 7.0/.version 8.4/' newer.ptx
run 0 scan --target sm_86 lib
out_has "sm_86 (RTX 30): this holds for driver 455 and newer ones"
out_lacks "programs fail"
snapshot run 0 scan --target sm_86 newer.ptx
sed 's/^.version 8.4/.version 7.5/' newer.ptx >between.ptx
snapshot run 0 scan --target sm_86 "$sample" between.ptx # from driver 535 on, only one piece fails when it is used
snapshot run 0 lint --gpus sm_86 "$sample" between.ptx --json
run 0 scan --target sm_86 --driver 580 lib newer.ptx --json
json '[(t["driver_from"], t["fails_from"], t["fails_to"]) for t in d["totals"]] == [(550, 455, 545)]'
snapshot run 2 scan --target sm_86 --driver 535 newer.ptx --json
snapshot run 2 scan --target sm_86 --driver 535 newer.ptx
out_lacks "this holds for driver"
# A PTX file without a kernel asks nothing of a driver.
printf '.version 8.4\n.target sm_70\n.address_size 64\n' >empty.ptx
snapshot run 0 scan --target sm_86 lib empty.ptx
out_lacks "programs fail"
run 0 scan --target sm_86 --json empty.ptx
json '[(t["verdict"], t["driver_from"]) for t in d["totals"]] == [("runs", 0)]'
# Nor does machine code without a symbol, for any GPU.
python3 - "$cases/../../framework" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
for name, kernel in ("empty", ""), ("other", "k"):
    open(name + ".cubin", "wb").write(fatbin.old_cubin(75, kernel, 64 if kernel else 0))
for name, flags in ("sm_100", 0x06006402), ("sm_100a", 0x0600640a):  # as ptxas 12.9 marks them
    code = bytearray(fatbin.old_cubin(75, "k", 64))
    code[7:9] = 0x41, 8
    code[48:52] = flags.to_bytes(4, "little")
    open(name + ".cubin", "wb").write(code)
PYTHON
snapshot run 0 scan --target b200,b300 sm_100.cubin
snapshot run 2 scan --target b200,b300 sm_100a.cubin
out_lacks "for sm_100"
snapshot run 0 scan --target sm_86 lib empty.cubin
out_lacks "will fail"
out_lacks "no kernel image"
snapshot run 0 scan --target sm_86 empty.cubin --json
snapshot run 2 scan --target sm_86 other.cubin
# Cycles loads the GPU's machine code instead of this PTX.
cp lib/once-1.ptx kernel_compute_52.ptx
run 0 scan --target sm_75 kernel_compute_52.ptx
grep -qE "first start (about |[0-9.]+ (s )?to )" "$out" || fail "less than all of it"
python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import fatbin; open("kernel_sm_75.cubin", "wb").write(fatbin.old_cubin(75, "k", 64))' "$cases/../../framework"
snapshot run 0 scan --target sm_75 kernel_compute_52.ptx kernel_sm_75.cubin
run 1 check "${one[@]}" --cache cache --json lib
json 'd["modules"] == d["cold"] == 3'
json '[d["forecast"][k] for k in ("start_seconds", "prime_seconds")] == [d["gpus"][0]["forecast"][k] for k in ("start_seconds", "prime_seconds")]'
json '[d["forecast"][k] for k in ("start_seconds", "prime_seconds", "workers")] == [json.load(open("'"$work/scan.json"'"))["totals"][0]["forecast"][k] for k in ("start_seconds", "prime_seconds", "workers")]'
snapshot run 1 check "${one[@]}" --cache cache lib

# A GPU has its three numbers in one line, each as a range; each of several GPUs has its own line.
line='first start (about |up to |[0-9.]+ (s |min )?to )[0-9.]+ (s|min) on one core, prime (about |up to |[0-9.]+ (s |min )?to )[0-9.]+ (s|min) with [0-9]+ workers?, [0-9.]+ [KM]iB of cache'
run 1 prime -n lib
grep -qE "^Predicted: $line\.$" "$out" && fail "two GPUs in one line"
[[ $(grep -cE "^sm_8[69]: $line\.$" "$out") == 2 ]] || fail "not a line for each GPU"
[[ $(grep -cE "^All together: $line\.$" "$out") == 1 ]] || fail "no line for both"
run 1 prime -n --json lib
json 'd["modules"] == d["cold"] == 6 and [g["cold"] for g in d["gpus"]] == [3, 3] and [g["target"] for g in d["gpus"]] == ["sm_86", "sm_89"]'
json 'all(g["forecast"]["start_seconds"]["low"] < g["forecast"]["start_seconds"]["likely"] < g["forecast"]["start_seconds"]["high"] for g in d["gpus"])'
json 'abs(sum(g["forecast"]["start_seconds"]["likely"] for g in d["gpus"]) - d["forecast"]["start_seconds"]["likely"]) < 0.01'
json 'd["forecast"]["prime_seconds"]["likely"] <= d["forecast"]["start_seconds"]["likely"]'
run 1 prime -n -j 1 --json lib/once-1.ptx
json 'd["forecast"]["prime_seconds"] == d["forecast"]["start_seconds"] == {k: 2 * v for k, v in d["gpus"][0]["forecast"]["start_seconds"].items()}'
snapshot run 1 check --target sm_86,sm_89 --driver 550.163.01 lib
run 0 scan --target sm_86,sm_89 --driver 550.163.01 lib
[[ $(grep -cE "^  $line\$" "$out") == 2 ]] || fail "not a line for each GPU"

# Run-time linking is repeated at every start, also a warm one, so it has a time. Without linking, or with so little that nobody waits for
# it, it is not mentioned.
run 1 prime -n --json lib
json 'd["forecast"]["link_seconds"]["likely"] == 0'
snapshot run 1 prime -n lib
out_lacks "the driver links"
snapshot run 1 prime -n "$sample"
out_lacks "the driver links"
# No start compiles all of these: alternatives, and a library beside one that runs as it is. The largest are named.
mkdir alternatives beside
for i in 118 121 122 124 126; do cp "$sample" "alternatives/libx_cuda$i.so"; done
snapshot run 0 scan --target sm_86 alternatives
out_has "  first start up to "
run 0 scan --target sm_86 --json alternatives
json 'd["totals"][0]["at_most"] is True'
run 0 scan --target sm_86 --json "$sample" lib
json 'd["totals"][0]["at_most"] is False'

is_wine || is_emulated || { # objcopy has no section of that name in a DLL, and knows this machine's programs alone
	python3 - "$cases/../../framework" native <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
open(sys.argv[2], "wb").write(fatbin.container(fatbin.entry(fatbin.CUBIN, 86, fatbin.old_cubin(86, "k", 64))))
PYTHON
	objcopy --remove-section __nv_relfatbin --remove-section .nvFatBinSegment --remove-section .nv_fatbin --add-section .nv_fatbin=native \
		--set-section-flags .nv_fatbin=alloc,readonly --change-section-address .nv_fatbin=0x1000000 "$sample" beside/new.so 2>/dev/null
	cp "$sample" beside/old.so
	snapshot run 2 scan --target sm_86,sm_120 beside
	out_has "  first start up to "
	# A program loads one of these libraries for several CUDA versions.
	mkdir versions
	python3 - "$cases/../../framework" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
def ptx(version):
    text = b".version %s\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n" % version
    return fatbin.container(fatbin.entry(fatbin.PTX, 75, fatbin.ptx_payload(text)))
open("late", "wb").write(ptx(b"9.0"))
open("mixed", "wb").write(ptx(b"7.0") + ptx(b"8.4"))
PYTHON
	for kind in native late mixed; do
		objcopy --remove-section __nv_relfatbin --remove-section .nvFatBinSegment --remove-section .nv_fatbin --add-section .nv_fatbin=$kind \
			--set-section-flags .nv_fatbin=alloc,readonly --change-section-address .nv_fatbin=0x1000000 "$sample" "versions/libx_cuda.$kind.so" 2>/dev/null
	done
	mv versions/libx_cuda.late.so versions/libx_cuda130.so
	mv versions/libx_cuda.mixed.so versions/libx_cuda118.so
	snapshot run 0 scan --target sm_86 --driver 565 versions/libx_cuda1* # a program loads the library that runs
	run 0 scan --target sm_86 --driver 565 --json versions/libx_cuda1*
	json '[(t["driver_from"], t["driver_to"], [n["driver"] for n in t["newer"]]) for t in d["totals"]] == [(550, 575, [580])]'
	mv versions/libx_cuda.native.so versions/libx_cuda118.so
	snapshot run 0 scan --target sm_86 --driver 580 versions
	snapshot run 0 scan --target sm_86 --driver 580 --json versions
	# CUDA 10's runtime loads everything at the start, however little it is.
	python3 - "$cases/../../framework" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
cubin = fatbin.container(fatbin.entry(fatbin.CUBIN, 86, fatbin.old_cubin(86, "k", 64)))
text = b".version 6.3\n.target sm_52\n.address_size 64\n" + b"".join(b".visible .entry k%d()\n{\n\tret;\n}\n" % i for i in range(2000))
ptx = [fatbin.container(fatbin.entry(fatbin.PTX, 52, fatbin.ptx_payload(text + b"// %d\n" % i))) for i in range(2)]
open("mostly", "wb").write(2 * cubin + ptx[0])
PYTHON
	objcopy --remove-section __nv_relfatbin --remove-section .nvFatBinSegment --remove-section .nv_fatbin --add-section .nv_fatbin=mostly \
		--set-section-flags .nv_fatbin=alloc,readonly --change-section-address .nv_fatbin=0x1000000 "$sample" mostly.so 2>/dev/null
	snapshot run 1 check mostly.so
	out_lacks "first start up to "
	empty_environment "$work/env"
	site=$(site_of "$work/env")
	dist_info "$site" mostly 1.0 mostly.so
	cp mostly.so "$site"
	VIRTUAL_ENV=$work/env snapshot run 1 status
	python3 - "$cases/../../framework" relocatable <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
text = b".version 6.3\n.target sm_52\n.address_size 64\n" + b"".join(b".visible .entry k%d()\n{\n\tret;\n}\n" % i for i in range(6000))
open(sys.argv[2], "wb").write(fatbin.container(fatbin.entry(fatbin.PTX, 52, fatbin.ptx_payload(text), "--compile-only")))
PYTHON
	objcopy --remove-section __nv_relfatbin --add-section __nv_relfatbin=relocatable --set-section-flags __nv_relfatbin=alloc,readonly \
		--change-section-address __nv_relfatbin=0x1000000 "$sample" large.so 2>/dev/null
	snapshot run 1 prime -n large.so
	snapshot run 1 check large.so
	snapshot run 0 scan --target sm_86 large.so
}
snapshot run 0 prime "$sample"
run 0 check --json "$sample"
json 'd["cold"] == 0 and d["forecast"]["start_seconds"]["likely"] == 0 and d["forecast"]["link_seconds"]["likely"] > 0'
json 'abs(sum(g["forecast"]["link_seconds"]["likely"] for g in d["gpus"]) - d["forecast"]["link_seconds"]["likely"]) < 1e-6'
run 0 prime -n "$sample"
out_lacks "the driver links"
run 0 prime -n --json "$sample"
json '[g["cold"] for g in d["gpus"]] == [0, 0] and all(g["forecast"]["start_seconds"]["likely"] == 0 for g in d["gpus"])'
run 0 scan --target sm_86 --json "$sample"
json 'd["totals"][0]["forecast"]["link_seconds"]["low"] < d["totals"][0]["forecast"]["link_seconds"]["high"]'
