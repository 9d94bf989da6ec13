# scan finds the files for a name, reports every container once for each GPU, and prints the same again from its memory.
snapshot run 64 scan --target sm_ninety x.so
run 64 scan --driver abc x.so
err_one_line
program_path=$work/bin
snapshot run 3 scan --target sm_86 --driver 12.4

# The environment's package has one container with PTX.
empty_environment "$work/env"
site=$(site_of "$work/env")
dist_info "$site" Frame 2.0 frame/kernel.ptx frame/part.o ../../../../../outside.ptx
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >"$site/frame/kernel.ptx"
cp "$site/frame/kernel.ptx" "$work/outside.ptx"
# No program loads an object file, whatever it holds; scan reads it only if it is named.
framework=$(dirname "$(dirname "${JITWARM##* }")")/tests/framework
sample=$framework/libsample_framework.so
! is_wine || sample=$framework/sample_framework.dll
cp "$sample" "$site/frame/part.o"
run 0 scan --target sm_86 --driver 12.4 "$site/frame/part.o"
out_has "part.o"
export VIRTUAL_ENV=$work/env
run 0 scan --target sm_86 --driver 12.4 --json frame
json 'len(d["files"]) == 1 and posix(d["files"][0]["path"]).endswith("frame/kernel.ptx")'
json 'd["files"][0]["verdicts"]["sm_86"]["jit"] == 1'
err_has "outside of"
differs_for WINDOWS differs_for SANITIZERS snapshot run 0 scan --json frame
json 'd["files"][0]["verdicts"].keys() <= {"sm_86"}'
run 0 scan --target sm_86 --driver 12.4
err_has "looking into the virtual environment"
out_has "kernel.ptx"
out_lacks "part.o"
snapshot run 0 scan --target sm_86 --quiet frame
run 3 scan --target sm_86 fraem
err_one_line
err_has "did you mean frame?"
snapshot run 3 scan --target sm_86 --json fraem

# For many GPUs, scan prints a table, and below a file the GPUs with the same answer together.
snapshot run 2 scan --target all "$sample"
[[ $(wc -l <"$out") -lt 30 ]] || fail "too many lines"
out_has "Times assume a typical machine."
# GPUs between those that fail run the file.
PYTHONPATH=$cases/../../framework python3 - <<'PYTHON'
import fatbin
open("gaps.so", "wb").write(fatbin.library(fatbin.container(*(fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64)) for sm in (75, 80, 90)))))
PYTHON
snapshot run 2 scan --target sm_61,sm_70,sm_75,sm_89,sm_90,sm_100,sm_120 gaps.so
snapshot run 2 scan --target sm_120,sm_60,sm_61,sm_70 gaps.so
snapshot run 0 scan --target sm_75,sm_86,sm_90 "$sample" "$work/outside.ptx"
# Two GPUs have lines each; for one file there is no “all together”.
run 0 scan --target sm_75,sm_86 "$sample"
out_has "sm_86 (RTX 30): up to 8 modules ("
out_lacks "all together"
run 0 scan --target sm_75,sm_86 "$sample" "$work/outside.ptx"
out_has "sm_86 (RTX 30), all together: up to 9 modules ("
# No column is about newer drivers. A GPU that the driver does not run is named, and the others are judged.
printf '.version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n' >new.ptx
snapshot run 2 scan --target rtx20,rtx30,rtx40,rtx50 --driver 520 new.ptx
differs_for WINDOWS differs_for SANITIZERS snapshot run 2 scan --json --target rtx30,rtx50 --driver 550 "$sample"
json '[total["target"] for total in d["totals"]] == ["sm_86"] and d["totals"][0]["modules"] == 8'
# Every container is in one piece; the pieces' sums equal the maps' counts; a module is counted once.
json 'sum(p["containers"] for f in d["files"] for p in f["pieces"]) == sum(f["containers"] for f in d["files"])'
json 'all(sum(f[kind].values()) == sum(p["containers"] * (e["kind"] in kinds) for p in f["pieces"] for e in p["entries"])
	for f in d["files"] for kind, kinds in (("cubins", [2]), ("ptx", [1, 64])))'
json 'sum(e.get("modules", 0) for f in d["files"] for p in f["pieces"] for e in p["entries"]) == 8'

# A mistyped word is reported in one line, before anything about this machine's driver.
run 64 scan --target rtx "$sample"
err_one_line
err_lacks "did you mean"
snapshot run 64 scan --target rtxx3070 "$sample"
: >requirements.txt && echo torch >requirements.txt
snapshot run 64 scan requirements.txt
snapshot run 64 scan --index requirements.txt
snapshot run 3 scan -r nowhere.txt --target sm_86
# GPUs may have the names that people write; the report says once which ones are meant.
snapshot run 2 scan --target ALL --json new.ptx
run 0 scan --target SM86 new.ptx
out_has "sm_86 (RTX 30)"
out_lacks "SM86"
# The table fits into a narrow terminal.
is_wine || {
	# shellcheck disable=SC2086
	TERM=xterm NO_COLOR=1 python3 "$cases/../on-terminal.py" --both 110 $JITWARM scan --target sm_75,sm_86,sm_90 "$sample" >"$out" || fail "status $?"
	grep -qE '^GPU +to compile +first start +cache +driver$' < <(tr -d '\r' <"$out") || fail "another table"
}
# scan remembers the files that it has read, and prints the same again.
rm -rf "$work/state"/inventory-*
run 2 scan --target all "$sample"
cp "$out" "$work/first"
compgen -G "$work/state/inventory-*" >/dev/null || fail "nothing is remembered"
run 2 scan --target all "$sample"
cmp -s "$out" "$work/first" || fail "another answer from memory: $(diff "$work/first" "$out")"
