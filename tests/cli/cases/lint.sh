# lint says on whose GPU a package compiles at its first start or fails, with the -gencode option that avoids it, in each output format.
differs_for WINDOWS
ptx() { printf '.version 8.0\n.target %s\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' "$1"; }
mkdir "$work/lib"
ptx sm_80 >"$work/lib/a, b%.ptx"
package=$work/lib

# The range includes all its GPUs: sm_75 cannot run the package, the others compile it.
run 0 lint --gpus rtx30..rtx50,h100 "$package"
! grep -q " $" "$out" || fail "a line ends in blanks: $(grep " $" "$out")"
out_has "a, b%.ptx"
out_has "sm_89 (RTX 40)"
out_lacks "-gencode" # nobody notices 0.1 s
# The options that avoid more than the bound are one line for each file, and the code of one GPU serves the newer ones of its generation.
run 1 lint --gpus rtx30..rtx50,h100 --max-start 0 "$package"
out_has "Code for sm_86 (RTX 30), sm_89 (RTX 40), sm_120 (RTX 50), sm_90 (H100) avoids this; adds about"
out_has ", and saves under 0.1 s of a first start; needs CUDA 12.8 or newer: -gencode arch=compute_86,code=sm_86 -gencode arch=compute_120,code=sm_120 -gencode arch=compute_90,code=sm_90"
ptx sm_90 >"$work/b.ptx"
run 1 lint --gpus rtx30,rtx50 --max-start 0 "$package" "$work/b.ptx"
[[ $(grep -c " avoids this.*: -gencode" "$out") == 2 ]] || fail "not one line for each file"
out_has "a, b%.ptx: code for sm_86 (RTX 30), sm_120 (RTX 50) avoids this; "
snapshot run 0 lint --gpus rtx30..rtx50 --max-start 5s "$package"
out_has "within 5 s"
snapshot run 0 lint --gpus b200 --driver 580 "$package"

# A bound is printed as it was set.
run 1 lint --gpus rtx30 --max-start 1ms "$package"
out_has "over 1 ms"
out_lacks "0.0 s"

run 1 lint --gpus rtx30..rtx40 --max-start 0 --json "$package"
json 'd["schema"] == "jitwarm.lint/1"'
json '[g["target"] for g in d["gpus"]] == ["sm_86", "sm_89"] and all(g["level"] == "error" and g["modules"] == 1 for g in d["gpus"])'
json '[g["code"] for g in d["gpus"]] == ["sm_86", "sm_86"] and [c["target"] for c in d["codes"]] == ["sm_86"]'
json 'd["codes"][0]["bytes"] > 100 and d["codes"][0]["cuda"] == 11010'
json 'len(d["findings"]) == 2 and d["findings"][0]["kind"] == "compiles" and posix(d["findings"][0]["path"]).endswith("/a, b%.ptx")'
json 'd["findings"][0]["modules"] == 1 and 0 < d["findings"][0]["start_seconds"]["likely"] < 1'
run 0 lint --gpus rtx30 --json "$package"
json 'd["gpus"][0]["level"] == "warning"'
run 0 lint --gpus rtx30 --max-start 1m --json "$package"
json 'd["gpus"][0]["level"] == "note"'
# Without --gpus, lint judges the GPUs on sale.
run 2 lint --json "$package"
json '[g["target"] for g in d["gpus"]] == "sm_75 sm_86 sm_89 sm_120 sm_80 sm_90 sm_100".split()'
json '[(f["target"], "sm_75" in f["why"]) for f in d["findings"] if f["kind"] == "fails"] in ([], [("sm_75", True)])'
json 'd["gpus"][0]["failing"] == 1 and d["gpus"][0]["level"] == "error"'

# Each annotation is one line for a GPU; characters that would end the line or a property are escaped.
snapshot run 1 lint --gpus rtx30 --max-start 0 --format github "$package"
out_has "over the bound of 0 s; avoided by -gencode arch=compute_86,code=sm_86"
[[ $(wc -l <"$out") == 1 && $(head -c 13 "$out") == "::error file=" ]] || fail "not one annotation"
run 0 lint --gpus rtx30 --format github "$package"
[[ $(head -c 15 "$out") == "::warning file=" ]] || fail "not a warning"
run 0 lint --gpus rtx30 --max-start 5s --format github "$package"
[[ $(head -c 14 "$out") == "::notice file=" ]] || fail "not a notice"

python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").write(sys.argv[2], "pkg/a.ptx")' \
	"$work/p-1-py3-none-any.whl" "$work/lib/a, b%.ptx"
cd "$work" || fail "cd"

# A failure in a wheel is named as a module to compile is: by file and member.
run 2 lint --gpus rtx20 --json "p-1-py3-none-any.whl" lib
json '[(f["kind"], posix(f["path"]).split("/")[-1], f.get("member")) for f in d["findings"]] == [("fails", "p-1-py3-none-any.whl", "pkg/a.ptx"), ("fails", "a, b%.ptx", None)]'
snapshot run 2 lint --gpus rtx20 --format github "p-1-py3-none-any.whl"

# A failure on a GPU does not hide that the other modules exceed the bound there.
mkdir "$work/newer" && ptx sm_90 >"$work/newer/c.ptx"
snapshot run 2 lint --gpus rtx30 --max-start 1m lib newer
run 1 lint --gpus rtx30 --max-start 0 lib newer
out_has "  fails  "
# The annotation names the file that fails, not the first file.
snapshot run 2 lint --gpus rtx30 --format github lib newer

# PTX for one GPU alone may use what nvcc allows only with that suffix.
mkdir "$work/exclusive" && ptx sm_90a >"$work/exclusive/d.ptx"
snapshot run 0 lint --gpus h100 --max-start 1m lib exclusive
run 1 lint --gpus h100 --max-start 0 --json lib
json '[c["target"] for c in d["codes"]] == ["sm_90"]'

# Damaged device code is reported in every format.
python3 - "$work/damaged.fatbin" <<'PYTHON'
import struct, sys
open(sys.argv[1], "wb").write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 60) + bytes(64))
PYTHON
run 1 lint --gpus rtx30 --max-start 1m lib damaged.fatbin
err_has "damaged.fatbin: damaged device code"
snapshot run 1 lint --gpus rtx30 --max-start 1m --json lib damaged.fatbin
snapshot run 1 lint --gpus rtx30 --max-start 1m --format github lib damaged.fatbin absent.whl

# One file has no code, one is missing, one is damaged.
printf 'no code\n' >"$work/plain.txt"
snapshot run 64 lint --max-start 1s "$work/plain.txt"
mv "$work/plain.txt" "$work/plain.so"
run 0 lint --max-start 1s "$work/plain.so"
out_has "no device code found"
run 3 lint "$work/absent.whl"
err_one_line
printf 'PK\003\004' >"$work/cut-1-py3-none-any.whl"
run 1 lint --gpus rtx30 "$work/cut-1-py3-none-any.whl" lib
err_has "cut-1-py3-none-any.whl"
out_has "1 module to compile"

# Code without kernels needs no advice, whatever form it has: a piece without content, PTX and machine code without a kernel.
mkdir empty
python3 - "$cases/../../framework" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
text = b".version 8.7\n.target sm_75\n.address_size 64\n"
ptx = fatbin.container(fatbin.entry(fatbin.PTX, 75, fatbin.ptx_payload(text), isa=(8, 7)))
for name, data in {"a.fatbin": fatbin.container(), "b.ptx": text, "c.so": fatbin.library(ptx),
                   "d.so": fatbin.library(fatbin.container(fatbin.entry(fatbin.CUBIN, 75, fatbin.old_cubin(75))))}.items():
    open(f"empty/{name}", "wb").write(data)
PYTHON
for file in empty/* empty; do
	snapshot run 0 lint "$file"
	[[ $(wc -l <"$out") == 1 ]] || fail "more than that"
	run 0 lint --json "$file" # a second time from what was remembered
	json 'd["codes"] == [] and d["images"] > 0 and {g["level"] for g in d["gpus"]} == {"note"}'
done
# The runtime that the library contains fails all the same.
run 2 lint --driver 470 empty/c.so --gpus rtx30
out_has "will fail: toolkit 12.8 requires driver 525"
run 1 lint empty lib --gpus rtx30 --max-start 0
out_has "-gencode arch=compute_86"

# Several wheels: each is judged alone, has one place in the output, and a line in the summary. A file that fails on one GPU and compiles
# on another is one entry.
mkdir dist
python3 - "$cases/../../framework" <<'PYTHON'
import sys, zipfile
sys.path.insert(0, sys.argv[1])
import fatbin
def ptx(sm, kernel="k"):
    text = b".version 8.0\n.target sm_%d\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n" % (sm, kernel.encode())
    return fatbin.entry(fatbin.PTX, sm, fatbin.ptx_payload(text), isa=(8, 0))
def cubin(sm):
    return fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64))
def save(name, **libraries):
    with zipfile.ZipFile(f"dist/{name}-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pkg/__init__.py", "")
        for library, code in libraries.items():
            wheel.writestr(f"pkg/{library}.so", fatbin.library(*code))
save("both", a=[fatbin.container(ptx(86, "a"))], b=[fatbin.container(ptx(86, "b"))])
save("part", a=[fatbin.container(ptx(80, "a"))], b=[fatbin.container(ptx(86, "b"))])
save("old", k=[fatbin.container(cubin(80))])
save("new", k=[fatbin.container(cubin(86), cubin(120))])
save("python")
PYTHON
printf 'PK\003\004' >dist/cut-1-py3-none-any.whl
snapshot run 1 lint --gpus a100,rtx30,rtx50 dist/*.whl
[[ $(grep -c "^ pkg/a.so" "$out") == 2 && $(grep -c "^ pkg/b.so" "$out") == 2 ]] || fail "a file has two places"
out_has "part-1-py3-none-any.whl: a part has no code for sm_80 (A100); compiles on all 3 GPUs"
out_has "both-1-py3-none-any.whl: fails on sm_80 (A100); compiles on sm_86 (RTX 30), sm_120 (RTX 50)"
out_has "cut-1-py3-none-any.whl: cannot be read" "python-1-py3-none-any.whl: no device code"
out_has "new-1-py3-none-any.whl: fails on sm_80 (A100)" "old-1-py3-none-any.whl: fails on sm_120 (RTX 50)"
cp "$out" listed
run 1 lint --gpus a100,rtx30,rtx50 dist
is_wine || cmp -s <(sed 's/[^ ]*dist/dist/' "$out") listed || fail "another answer for the folder"
run 1 lint --gpus a100,rtx30,rtx50 --json dist/*.whl lib
json '{posix(p.get("path", "")).split("/")[-1].split("-")[0]: [g["level"] for g in p["gpus"]] for p in d["packages"]} == {"both": ["error", "warning", "warning"], "cut": ["note"] * 3, "new": ["error", "note", "note"], "old": ["note", "note", "error"], "part": ["warning"] * 3, "python": ["note"] * 3, "": ["warning"] * 3}'
json '[g["level"] for g in d["gpus"]] == ["error", "warning", "error"] and len(d["troubles"]) == 1'
# scan adds up all files, and names the command that does not.
run 2 scan --target a100,rtx30 --target rtx50 --driver 580 dist/old* dist/new*
alone=$(sed -n 's/^To judge each wheel alone: jitwarm //p' "$out" | tr -d '"')
[[ $alone == "lint --gpus a100,rtx30 --gpus rtx50 --driver 580 dist/old-1-py3-none-any.whl dist/new-1-py3-none-any.whl" ]] || fail "not each wheel alone: $alone"
# shellcheck disable=SC2086
run 2 $alone
out_has "old-1-py3-none-any.whl: fails on sm_120 (RTX 50)"
run 2 scan --target a100 dist/new*
out_lacks "alone"
# The bound is for each wheel, not for their sum.
run 0 lint --gpus rtx30,rtx50 --json dist/both*
start=$(python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["gpus"][1]["start_seconds"]["likely"] * 1500) + 1)' "$out")
python3 - <<'PYTHON'
import zipfile
with zipfile.ZipFile("dist/both-1-py3-none-any.whl") as one, zipfile.ZipFile("dist/twin-1-py3-none-any.whl", "w") as two:
    for name in one.namelist():
        two.writestr(name.replace("pkg", "twin"), one.read(name).replace(b"entry a()", b"entry c()").replace(b"entry b()", b"entry d()"))
PYTHON
run 0 lint --gpus rtx30,rtx50 --max-start "${start}ms" dist/both* dist/twin*
out_has "Summary:"
run 0 lint --gpus rtx30 dist/python*
out_lacks "Summary:"

# wrong usage
snapshot run 64 lint
snapshot run 64 lint --format xml lib
run 64 lint --format json lib
err_has "--format: it takes github, not “json”"
snapshot run 64 lint --format github --json lib
snapshot run 64 lint --gpus rtx50..rtx20 lib
snapshot run 64 lint --max-start soon lib
run 2 lint --gpus rtx50 --driver 470 lib
err_has "does not run sm_120"

# A name with a line feed must not become two workflow commands. The GitHub Action passes each input, expands a pattern, puts the table into
# the summary, and ends with lint's status.
! is_wine || exit 0
mkdir "$work/lines" && ptx sm_80 >"$work/lines/"$'a\nb.ptx'
snapshot run 0 lint --gpus rtx30 --format github "$work/lines"
export GITHUB_ACTION_PATH=$cases/../../..
action=$(sed -n "s/^ *run: '\(.*\)'$/\1/p" "$GITHUB_ACTION_PATH/action.yml")
for name in PATHS GPUS ARCH_LIST MAX_START DRIVER JITWARM; do
	grep -q "LINT_$name: \${{ inputs.$(tr 'A-Z_' 'a-z-' <<<"$name") }}" "$GITHUB_ACTION_PATH/action.yml" || fail "action.yml lacks $name"
	grep -q "LINT_$name" "$GITHUB_ACTION_PATH/scripts/lint-action.sh" || fail "lint-action.sh lacks $name"
done
ended=0
LINT_JITWARM=$JITWARM LINT_PATHS=$' p-*.whl \r\nlib\n\t\n' LINT_GPUS=rtx30 LINT_MAX_START=0 \
	GITHUB_STEP_SUMMARY=$work/summary.md bash -c "$action" >"$out" 2>"$err" || ended=$?
[[ $ended == 1 ]] || fail "the action ended with $ended"
out_has "::error file="
[[ $(wc -l <"$out") == 2 ]] || fail "not an annotation for each file"
grep -q "p-1-py3-none-any.whl:" "$work/summary.md" && grep -q "^ pkg/a.ptx" "$work/summary.md" || fail "no table in the summary"
# The list of the build, GPUs that the driver does not run, and the order of files
mkdir "$work/order" && for name in b a; do ptx sm_80 >"$work/order/$name.ptx"; done
ended=0
LINT_JITWARM=$JITWARM LINT_PATHS='order/*.ptx' LINT_GPUS=rtx30,rtx50 LINT_DRIVER=550 LINT_ARCH_LIST=8.6 \
	GITHUB_STEP_SUMMARY=$work/order.md bash -c "$action" >"$out" 2>"$err" || ended=$?
[[ $ended == 1 ]] || fail "the action ended with $ended"
out_has "::error title=sm_120 (RTX 50)::driver 550"
out_has "::error file=order/a.ptx,title=--arch-list::it lacks sm_86"
grep -qE "^sm_120 \(RTX 50\) +not run by this driver +– +570\+$" "$work/order.md" || fail "no row for the GPU: $(cat "$work/order.md")"
[[ $(grep -o "^order/[ab]" "$work/order.md" | uniq | tr '\n' ' ') == "order/a order/b order/a order/b " ]] || fail "another order: $(cat "$work/order.md")"
ended=0
LINT_JITWARM=$JITWARM LINT_PATHS='order/*.ptx' LINT_GPUS=rtx50 LINT_DRIVER=550 GITHUB_STEP_SUMMARY=$work/none.md bash -c "$action" >"$out" 2>"$err" || ended=$?
[[ $ended == 2 ]] && grep -q "does not run" "$work/none.md" || fail "no reason in the summary: $(cat "$work/none.md")"
# A name that could end a Markdown block, or that looks like HTML, stays text.
mkdir "$work/names" && ptx sm_80 >"$work/names/b.ptx"
ln -s "$work/names/b.ptx" '```' && ln -s "$work/names/b.ptx" '[a](http:<b>).ptx'
LINT_JITWARM=$JITWARM LINT_PATHS=$'```\n[[]a*' LINT_GPUS=rtx30 GITHUB_STEP_SUMMARY=$work/names.md bash -c "$action" >"$out" 2>"$err" || fail "the action ended with $?"
# Nor does a name with a newline become two names.
LINT_JITWARM=$JITWARM LINT_PATHS="$work/lines/*" LINT_GPUS=rtx30 GITHUB_STEP_SUMMARY=$work/lines.md bash -c "$action" >"$out" 2>"$err" || fail "the action ended with $?"
[[ $(head -1 "$work/names.md") == "<pre>" && $(tail -1 "$work/names.md") == "</pre>" && $(grep -c '[<>]' "$work/names.md") == 2 ]] ||
	fail "a name leaves the block: $(cat "$work/names.md")"
LINT_JITWARM=$JITWARM LINT_PATHS='absent-*.whl' bash -c "$action" >"$out" 2>"$err" && fail "nothing was found, and it succeeded"
err_has "absent-*.whl"
# The runner takes “##[” for a command even in the middle of a line on standard error.
printf 'PK\003\004' >"##[stop-commands]x-1-py3-none-any.whl"
ended=0
LINT_JITWARM=$JITWARM LINT_PATHS=$'##[[]*.whl\nlib' LINT_GPUS=rtx30 bash -c "$action" >"$out" 2>"$err" || ended=$?
[[ $ended == 1 ]] || fail "the action ended with $ended"
err_has "## [stop-commands]x"
! grep -F '##[' "$err" || fail "a name became a command"
out_has "::warning file="

# GPUs with the same report share a line. GPUs that the driver does not run are left out, unless the user named them.
ptx sm_70 >"$work/sm_70.ptx"
run 0 lint --gpus rtx30,rtx40,rtx50 "$work/sm_70.ptx"
out_has "  sm_86 to sm_120: 1 module to compile"
run 0 lint --driver 550 "$work/sm_70.ptx"
err_empty
out_has "sm_90 (H100)"
out_lacks "sm_120"
snapshot run 2 lint --driver 550 --gpus rtx30,rtx50 --json "$work/sm_70.ptx"
snapshot run 2 lint --driver 550 --gpus rtx30,rtx50 "$work/sm_70.ptx"
snapshot run 0 lint "$work/sm_70.ptx"
python3 - "$cases/../../framework" >"$work/some.fatbin" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import fatbin
text = fatbin.ptx_payload(b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n")
sys.stdout.buffer.write(fatbin.container(fatbin.entry(fatbin.CUBIN, 86, fatbin.old_cubin(86, "k", 64)), fatbin.entry(fatbin.PTX, 70, text, isa=(7, 0))))
PYTHON
snapshot run 0 lint --gpus rtx20,a100,rtx30,h100 "$work/some.fatbin"
run 64 lint --format github --json "$work/sm_70.ptx"
err_has "--format github and --json cannot be combined: choose one"
