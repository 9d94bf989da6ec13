# PTX in a program's data is found, primed and checked; the program then compiles none of it.
differs_for WINDOWS
with_simdriver sm_86
texts=$build/tests/framework/framework-texts
! is_wine || texts=$texts.exe
cp "$texts" "$work/program${texts##*/framework-texts}"
program=$work/program${texts##*/framework-texts}
compiles() {
	local wanted=$1
	shift
	simulated "$program" "$@" >"$out" 2>"$err" || fail "the program ended with $?"
	out_has "compiled $wanted of 3"
}

# One line reports several texts.
run 1 check "$program" "$texts"
err_has "the answer leaves out some PTX, or assumes how programs load it: “jitwarm check --json "
err_lacks "6 PTX sources"
snapshot run 1 check --json "$program" "$texts"

# jitwarm's own PTX is not found in jitwarm, and no chance match in its data counts as damaged.
run 0 scan --target sm_86 "${JITWARM##* }"
out_has "no device code found"
# Nor does a container's first bytes in the data of a program with PTX.
if ! is_wine && ! is_emulated; then
	cp "$program" "$work/chance" && chmod u+w "$work/chance"
	python3 - "$work/chance" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"chance hit chance hit chance hit")
at += -at % 8
data[at:at + 16] = bytes.fromhex("50ed55ba010010004000000048000000")
open(sys.argv[1], "wb").write(data)
PYTHON
	snapshot run 0 scan --json --target sm_86 "$work/chance"
fi

# One line is enough for a few instructions that a start can do without, however many libraries have them.
snapshot run 0 scan --target sm_86 --driver 550.163.01 "$program" "$texts"
[[ $(grep -c 'up to' "$out") == 1 ]] || fail "more than one line"
run 1 check "$program"
out_has "up to 3 of 3 modules, "

run 1 check --json "$program"
json 'd["modules"] == d["cold"] == 3'
run 0 scan --json "$program"
json 'd["files"][0]["ptx"] == {"compute_52": 2, **{"compute_%d" % n: 1 for n in (60, 70, 75, 80, 90)}} and d["files"][0]["format"] in ("elf", "pe")'
json 'd["files"][0]["verdicts"]["sm_86"]["jit_modules"] == 3 and d["files"][0]["verdicts"]["sm_86"]["nothing"] == 1'
run 0 prime "$program"
err_has "“jitwarm check --json "
snapshot run 0 check --json "$program"
compiles 0
run 0 check --json "$program"
json 'd["modules"] == d["warm"] == 3'
# For another GPU, another copy is the newest.
run 1 check --json --target sm_75 --driver 550.163.01 "$program"
json 'd["modules"] == 3'

# With --all, all copies count, though each would have its own entry; a program loads one.
run 1 check --all --json "$program"
json 'd["modules"] == 6'
run 0 prime --all "$program"
run 0 check --all --json "$program"
json 'd["warm"] == 6'

# A program that adds options makes other entries: only a recording can show them.
compiles 3 opt
is_wine || {
	rm -r "$work/cache"
	snapshot run 0 run --record seen.jwrec -- "$program"
	run 0 check --json "$program"
	json 'd["warm"] == 3'
	rm -r "$work/cache"
	snapshot run 0 prime --recording seen.jwrec
	compiles 0
	# The PTX is recognised in a key with options, and the recording has it with them.
	rm -r "$work/cache"
	snapshot run 0 run --record options.jwrec --json "$program" -- "$program" opt
	compiles 0 opt
	run 0 check --recording options.jwrec
	rm -r "$work/cache"
	run 0 prime --json --no-store --recording options.jwrec
	json 'd["compiled"] == d["recorded_texts"] == 3 and "recorded" not in d'
	compiles 0 opt
}

# prime leaves out modules of more than 32 MB; only a recording includes them.
is_wine || is_emulated || { # objcopy knows this machine's programs alone
	python3 -c 'print(".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry large()\n{\n.reg .b32 %r<2>;\n" + "add.s32 %r1, %r1, 1;\n" * 1600000 + "ret;\n}\n\0")' >large.ptx
	objcopy --add-section .ptx=large.ptx --set-section-flags .ptx=alloc,readonly,data "$program" "$work/large" 2>/dev/null
	rm -r "$work/cache"
	snapshot run 0 run --json -- "$work/large"
	rm "$work/large" large.ptx
}

# The program lies in an archive, as in a wheel.
rm -r "$work/cache"
(cd "$work" && python3 -m zipfile -c texts.whl "${program##*/}")
run 0 prime "$work/texts.whl"
compiles 0

# For a loose PTX or fat binary, the report says how it is understood.
printf '.version 6.3\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$work/k.ptx"
run 1 check --json "$work/k.ptx"
out_has "the answer assumes that programs load 1 loose PTX file without options and without linking"
# OptiX compiles its own programs; the driver would refuse this one.
mkdir "$work/optix"
printf '.version 6.3\n.target sm_52\n.address_size 64\n.visible .entry __raygen__k()\n{\n\tcall _optix_set_payload, (%%r1, %%r2);\n\tret;\n}\n' >"$work/optix/kernel_optix.ptx"
# A text without .entry has no kernel: programs link it to other code. No driver is too old for it.
printf '.version 9.9\n.target sm_52\n.address_size 64\n.visible .func f()\n{\n\tret;\n}\n' >"$work/optix/services.ptx"
snapshot run 0 check --json "$work/optix"
run 0 scan "$work/optix"
out_has "no code that a driver loads"
out_lacks "this holds for driver" # none loads it
cp "$work/k.ptx" "$work/optix"
run 1 check --json "$work/optix"
json 'd["modules"] == 1 and not d["failing"]'
# A program with OWL passes a text with kernels beside OptiX programs to both compilers, to the driver without the OptiX calls. So the driver
# must read it, but jitwarm does not know the text that the driver compiles.
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import fatbin
text = b".version 8.5\n.target sm_52\n.address_size 64\n"
for name in b"__boundsFuncKernel__K", b"__intersection__K":
    text += b".visible .entry %s()\n{\n\tret;\n}\n" % name
open("owl.so", "wb").write(fatbin.elf((".rodata", text + b"\0", 1, 0x1000)))
PYTHON
for command in check scan lint; do
	snapshot run 2 $command --target sm_86 --driver 550.163.01 owl.so
	snapshot run "1|2" $command --target sm_86 --driver 555.58.02 owl.so
	cat "$out" "$err" >"$work/both"
	says "$work/both" "1 PTX source that programs edit before the driver compiles it" || fail "$command is silent"
	out_lacks "nothing to compile"
	run "1|2" $command --target sm_86 --driver 555.58.02 owl.so # from the inventory
	cat "$out" "$err" >"$work/both"
	says "$work/both" "1 PTX source that programs edit before the driver compiles it" || fail "$command is silent"
done
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import fatbin
payload = fatbin.ptx_payload(open("k.ptx", "rb").read())
open("linked.fatbin", "wb").write(fatbin.container(fatbin.entry(fatbin.PTX, 52, payload, " --compile-only ")))
PYTHON
snapshot run 1 check --json linked.fatbin
run 0 prime linked.fatbin
run 0 check linked.fatbin

# Nothing runs here: the report says so, and it is no success.
sed 's/sm_52/sm_90/' "$work/k.ptx" >"$work/later.ptx"
snapshot run 2 prime "$work/later.ptx"
snapshot run 0 prime "$work/k.ptx" "$work/texts.whl"

# A loose file of a package may belong to the package's own tests.
environment "$work/env" 1.0
site=$(site_of "$work/env")
python3 - "$site/frame/tests.ptx" <<'PYTHON'
import sys
adds = "add.s32 %r1, %r1, 1;\n" * 40000
open(sys.argv[1], "w").write(
    ".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n" + adds + "ret;\n}\n")
PYTHON
dist_info "$site" frame 1.0 frame/tests.ptx
run 1 check --environment "$work/env" frame
out_has "up to 1 of 1 module, up to "
out_has "Next: jitwarm prime --environment $(native "$work/env") frame"
snapshot run 1 doctor --environment "$work/env" frame
out_has "up to 1 module, up to "
