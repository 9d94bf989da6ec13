#!/bin/bash
# ask.sh BUILD-FOLDER   which --ask: releases that the list lacks, from a package index on this machine (index-server.py)
#
# Exit status 1 if a case fails, 77 if something is not at hand.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
jitwarm=$build/src/jitwarm
[ "$(uname -m)" = x86_64 ] || { echo "skipped: the wheels are for x86_64"; exit 77; }
# shellcheck source=tests/elsewhere/indexes.sh
. "$here/indexes.sh"

# “grown” 1.0 to 1.9 run everywhere, 1.10 to 1.19 only from sm_90 on, and 1.20 to 1.23 have no code. “torch” is not PyPI's.
mkdir -p http/packages/{grown,pure,hostile,hosted,loose,torch,older,pinned,cuml-cu12,libcuml-cu12,with-cupy,numba-cuda,borrowed,labelled,twice,wrapper,extras,stub,open,unknown,parted,faster-whisper,sageattention,sourced,plainly,flash-attn,thin,thicker,compiled}
PYTHONPATH=$here/../framework python3 - <<'P'
import zipfile
import fatbin
def ptx(sm):
    return f".version 7.0\n.target {sm}\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n ret;\n}}\n".encode()
def wheel(name, version, tag, code, requires=(), libraries=()):
    with zipfile.ZipFile(f"http/packages/{name.replace('_', '-')}/{name}-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for member, needed in libraries:
            archive.writestr(f"{name}/{member}", fatbin.elf((".dynstr", b"\0libm.so.6\0" + needed + b"\0", 3, 0x1000)))
        archive.writestr(f"{name}/kernels.ptx" if code else f"{name}/x.py", code or b"")
        archive.writestr(f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {one}\n" for one in requires) + "\n")
        archive.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        archive.writestr(f"{name}-{version}.dist-info/RECORD", "")
linux = "py3-none-manylinux2014_x86_64"
for minor in range(24):
    wheel("grown", f"1.{minor}", linux, ptx("sm_50") if minor < 10 else ptx("sm_90") if minor < 20 else b"")
wheel("grown", "1.9", "py3-none-win_amd64", ptx("sm_90"))
wheel("grown", "2.0rc1", linux, ptx("sm_50"))
wheel("grown", "0.9", "py3-none-macosx_11_0_arm64", ptx("sm_50"))
wheel("pure", "1.0", "py3-none-any", b"")
wheel("hostile", "1.0", linux, ptx("sm_50"))
wheel("hostile", "1.1", linux, b"", libraries=[("a\njitwarm: b.so", b"libcudart.so.12")])
wheel("hosted", "1.0", linux, b"", libraries=[("_c.so", b"libcudart.so.12")])
wheel("hosted", "1.1", linux, b"", libraries=[("liba.so", b"libc.so.6"), ("libb.so", b"libc.so.6"), ("liba_cuda.so", b"libcudart.so.12")])
for version, tag, sm in ("1.0", "py3-none-any", "sm_50"), ("1.1", "py3-none-any", "sm_90"), ("1.2", "py3-none-any", "sm_90"), ("1.2", linux, "sm_50"):
    wheel("loose", version, tag, ptx(sm))
wheel("torch", "2.7.1", linux, ptx("sm_90"))
wheel("older", "1.0", "cp37-cp37m-manylinux2014_x86_64", ptx("sm_50"))
wheel("older", "1.0", "cp313-cp313t-manylinux2014_x86_64", ptx("sm_50"))
wheel("pinned", "1.0", linux, ptx("sm_50"), ["nvidia-cudnn-cu12==9.10.2.21; platform_system == 'Linux'", "nvidia-cudnn-cu12==1.0; extra == 'x'", "torch (==2.8.0)",
      "tensorflow==2.16.2; platform_system == 'Darwin'", "numpy==1.0"] + ["numpy"] * 4096 + ["vllm==0.9.0"])
wheel("numba_cuda", "0.17", linux, ptx("sm_50"))
wheel("with_cupy", "1.0", linux, ptx("sm_50"), ["cupy-cuda12x==13.3"])
for version, sm in ("1.0+cu118", "sm_90"), ("1.0+cu121", "sm_50"), ("1.1", "sm_50"), ("1.1+cu121", "sm_90"):
    wheel("labelled", version, linux, ptx(sm))
wheel("labelled", "1.1", "py3-none-win_amd64", ptx("sm_50"))
for version, sm in ("1.1", "sm_50"), ("1.1+cu121", "sm_90"):
    wheel("twice", version, linux, ptx(sm))
# “wrapper” has no device code, and requires packages of jitwarm's list, in versions that differ; “extras” only with an extra.
for version, requires in (("1.0", ["torch>=1.13,<2.8"]), ("1.1", ["torch>=2.0", "faster"]), ("1.2", ["torch>=2.0", "triton; python_version < '3'"]), ("1.3", ["torch~=2.8.0"]), ("1.4", ["torch>=2.8", "faster", "six>=1"])):
    wheel("wrapper", version, "py3-none-any", b"", requires)
wheel("extras", "1.0", "py3-none-any", b"", ["other-cuda-12; extra == 'cuda12'", "bitsandbytes; extra == 'all'"])
wheel("faster_whisper", "1.0", "py3-none-any", b"", ["ctranslate2>=4"])
wheel("sageattention", "1.0", "py3-none-any", b"")
wheel("unknown", "1.0", "py3-none-any", b"", ["other-cuda-12", "six"])
wheel("parted", "1.0", "py3-none-any", b"", ["six", "torch", "parted-kernels"])
for version, requires in (("1.0", ["torch>=2"]), ("1.1", ["torch>=2.8", "xformers"])):
    wheel("open", version, linux, ptx("sm_50"), requires)
# Newer releases of “stub” have only source code.
wheel("stub", "1.0", linux, ptx("sm_90"))
for version in "1.1", "2.0", "10.0.post1", "3.0rc1":
    open(f"http/packages/stub/stub-{version}.tar.gz", "wb").write(b"x")
wheel("sourced", "0.9", "py3-none-win_amd64", ptx("sm_90"))
for version in "1.0", "2.0":
    open(f"http/packages/sourced/sourced-{version}.tar.gz", "wb").write(b"x")
open("http/packages/flash-attn/flash_attn-2.8.3.tar.gz", "wb").write(b"x")
wheel("plainly", "1.0", "py3-none-any", b"", ["numpy", "tqdm>=4"])
# “thin” requires a package for every platform, and “thicker” one that requires torch, and one that is compiled.
wheel("thin", "1.0", "py3-none-any", b"", ["plainly>=1", "nosuch; extra == 'x'"])
wheel("compiled", "1.0", linux, b"")
wheel("thicker", "1.0", "py3-none-any", b"", ["plainly", "compiled", "parted"])
wheel("cuml_cu12", "99.0", linux, b"")
wheel("libcuml_cu12", "99.0", linux, ptx("sm_80"))
P
cp http/packages/older/*.whl http/packages/borrowed
serve http
site=http://127.0.0.1:$(cat http/port)
# These two wait meanwhile.
mkdir waiting
JITWARM_STATE=$scratch/none TMPDIR=$scratch/waiting PIP_INDEX_URL=$site/late/simple TERM=xterm timeout 600 python3 "$here/../cli/on-terminal.py" 80 "$jitwarm" which --ask --target sm_86 grown >on-terminal 2>&1 &
terminal=$!
JITWARM_STATE=$scratch/none TMPDIR=$scratch/waiting PIP_INDEX_URL=$site/late/simple timeout 600 "$jitwarm" which --ask --target sm_86 grown >in-pipe 2>&1 &
pipe=$!
# ask KIND WORD...: runs which --ask against that kind of index
ask() {
	: >http/log
	PIP_INDEX_URL=${PIP_INDEX_URL-$site/$1/simple} timeout 600 "$jitwarm" which --ask "${@:2}" >out 2>err
	got=$?
	fetched=$(grep -c "GET /[a-z-]*/files/" http/log)
}
# is TEXT STATUS FETCHED SAID...: the last command ended with STATUS, fetched so much, and printed SAID
is() {
	local text=$1 said
	[ "$got" = "$2" ] && [ "$fetched" = "$3" ] && [ -z "$(ls tmp)" ] || { fail "$text: status $got, $fetched fetched: $(cat out err http/log; ls tmp)"; return; }
	for said in "${@:4}"; do grep -qF -- "$said" out err || { fail "$text: not “$said”: $(cat out err)"; return; }; done
	ok "$text"
}

# One process answers all questions of a command. Each start of the environment's Python is counted, and of a script on PATH, as pyenv has.
"$python" -m venv --without-pip counted
echo "import os; os.write(os.open('$scratch/starts', os.O_WRONLY | os.O_APPEND | os.O_CREAT), b'start\\n')" >"$(echo counted/lib/python3*/site-packages)/count.pth"
mkdir shims && printf '#!/bin/sh\necho script >>"%s/starts"\nexec "%s" "$@"\n' "$scratch" "$python" >shims/python3 && chmod +x shims/python3
VIRTUAL_ENV=$scratch/counted PATH=$scratch/shims:$PATH ask good --target sm_86 grown
cp starts counted-starts && rm -r state
[ "$fetched" = 11 ] && grep -q start counted-starts && [ "$(grep -c . counted-starts)" -le 3 ] && ok "$(grep -c . counted-starts) starts of Python for 24 releases" ||
	fail "$(grep -c . counted-starts) starts of Python: $(cat counted-starts out err)"

# The newest release is read first, then others by bisection; equal ones are inferred. The second time nothing is fetched.
ask sized --target sm_86 grown
is "by bisection" 1 11 "jitwarm: grown: jitwarm's list lacks 24 releases; downloading up to 12 wheels (" "grown on sm_86 (RTX 30)" "1.23 – 1.20  have no device code" \
	"1.19 – 1.10  fail: no code for sm_86" "1.9 – 1.0" "run" "pip install grown==1.9"
ask sized --target sm_86 grown
is "the second time" 1 0 "1.9 – 1.0" "pip install grown==1.9"
grep -q "jitwarm.s list lacks" err && fail "it says that it fetches: $(cat err)"
ask sized --target sm_86 --all grown
is "every release" 1 0 "1.22, as 1.23"
grep -qE " 1\.4, as 1\.5 +runs" out && grep -qE " 1\.5 +runs" out || fail "1.4 is not inferred: $(cat out)"
# kept WORD...: which without --ask; it starts no pip
kept() {
	local try
	# On a loaded machine the index may write the line of an earlier request late; a request of this command would be there again.
	for try in 1 2; do
		: >http/log
		timeout 60 "$jitwarm" which "$@" >out 2>err
		got=$? fetched=$(grep -c . http/log)
		[ "$fetched" = 0 ] || [ "$try" = 2 ] || continue
		break
	done
}
kept --target sm_86 grown
is "the kept answer" 1 0 "grown on sm_86 (RTX 30)" "1.9 – 1.0" "pip install grown==1.9" "jitwarm asked ${site#http://}/sized/simple on 20" "To ask the index again: jitwarm which --target sm_86 grown --ask"
cp -r state scanned
JITWARM_STATE=$scratch/scanned timeout 60 "$jitwarm" scan --target sm_86 http/packages/grown/grown-1.15-*.whl >out 2>err
got=$?
is "the kept answer as the cure of a wheel that fails" 2 0 "Newest grown that runs: pip install grown==1.9"
kept --target sm_86 --json grown torch
is "a kept answer beside one of the list" 1 0
python3 -c 'import json; d = json.load(open("out")); assert [(a["package"], a["index"] == "PyPI") for a in d["answers"]] == [("grown", False), ("torch", True)], d' || fail "--json: $(cat out)"
kept --target sm_86 --platform windows grown
is "no answer was kept for Windows" 3 0 "grown: not in jitwarm's list; “jitwarm which --target sm_86 --platform windows grown --ask” looks at its releases"
ask sized --target sm_90 grown
is "another GPU, by the same facts" 1 0 "1.19 – 1.10  fail: sm_90 needs PTX 7.8 or newer" "1.9 – 1.0    run" "pip install grown==1.9"
[ "$(cd state && find . -type f ! -name '*lock')" = ./wheels/grown-linux.txt ] && ok "one file for the package and platform" || fail "other files than the list: $(find state -type f)"
cp state/wheels/grown-linux.txt kept-list
for change in '1s/^/x/' 's/^wheel .*/wheel/' '/^index/d' 's/^package .*/package torch/'; do
	sed "$change" kept-list >state/wheels/grown-linux.txt
	kept --target sm_86 grown
	is "a damaged kept answer ($change)" 3 0 "grown: not in jitwarm's list;"
done
sed 's/^facts .*/facts 1/' kept-list >state/wheels/grown-linux.txt
kept --target sm_86 grown
is "a kept answer of other rules" 3 0 "grown: not in jitwarm's list;"
ask sized --target sm_86 grown
is "facts of other rules" 1 11 "pip install grown==1.9"
printf 'library' >state/wheels/grown-linux.txt
ask sized --target sm_86 grown
is "damaged facts" 1 11 "pip install grown==1.9"
# A wheel that another one names by its hash, in a library's name, is examined itself.
sed -E '/^(wheel 1\.23|same 1\.2.) /d' kept-list | sed "0,/^library/s/^\(library .*\)/\1 $(awk '/^wheel 1\.23 /{print $NF}' kept-list)/" >state/wheels/grown-linux.txt
ask sized --target sm_86 grown==1.23
is "a hash in the name of a library" 2 1 "1.23  has no device code"
grep -q "has not examined 23" out && fail "the kept facts of the other releases are gone: $(cat out)"

# One release alone is fetched
rm -r state
ask sized --target sm_86 grown==1.15
is "a release that fails" 2 1 "jitwarm's list lacks 1 release; downloading up to 1 wheel (" "1.15  fails: no code for sm_86" "jitwarm has not examined 23 releases of grown for this platform." "Other releases: jitwarm which --target sm_86 grown --ask"
ask sized --target sm_86 pure==1.0 grown==1.9
is "a release of the second package" 2 2 "1.9  runs"
ask sized --target sm_86 grown==9
is "no such release" 3 0 "${site#http://}/sized/simple has no release 9 of grown"
grep -q "looks for this release" err && fail "it names --ask: $(cat err)"
# An index may give no sizes in its pages; its HTML may have addresses without a hash.
rm -r state
ask good --target sm_86 grown
is "sizes that are asked for" 1 11 "downloading up to 12 wheels (" " at most)"
[ "$(grep -c "^HEAD " http/log)" = 24 ] || fail "not each size is asked for: $(cat http/log)"
ask html --target sm_86 grown
is "HTML" 1 11 " at most)" "pip install grown==1.9"
ask html --target sm_86 grown
is "HTML, the second time" 1 0 "pip install grown==1.9"

# Without a writable state directory, everything is fetched each time.
JITWARM_STATE=/proc/none ask sized --target sm_86 grown
is "nothing is remembered" 1 11 "pip install grown==1.9"

# Other systems and Pythons; packages without device code, and the requirements of one.
ask sized --target sm_86 --platform windows grown
is "for Windows" 2 1 "1.9" "fails: no code for sm_86" "have no wheel for this platform"
ask sized --target sm_86 --python 3.12 older
is "for another Python" 2 0 "needs Python 3.7"
ask sized --target sm_86 --python 3.7 older
is "for that Python" 0 1 "pip install older==1.0"
ask sized --target sm_86 pure
is "no device code" 2 1 "1.0  has no device code of its own: the packages that it imports decide"
# A package without device code that needs a CUDA runtime is one for GPUs. The second time, the facts are remembered.
for fetched in 1 0; do
	ask sized --target sm_86 --driver 470 hosted==1.0
	is "a CUDA runtime that refuses the driver" 2 $fetched "1.0  fails: it needs driver 525"
	ask sized --target sm_86 --driver 470 hosted==1.1
	is "one plug-in of three libraries" 2 $fetched "1.1  fails: it needs driver 525"
done
ask sized --target sm_86 --driver 535 hosted==1.0
is "a CUDA runtime that takes the driver" 0 0 "1.0  runs"
# A wheel that cannot be read is named, with the reason, and the other releases have their answers.
ask sized --target sm_86 hostile
is "a line break in a member's name" 1 2 "jitwarm: warning: hostile-1.1-py3-none-manylinux2014_x86_64.whl: not examined: the name of a member has a line break" "1.0  runs" "pip install hostile==1.0"
# A wheel for every platform may have code for GPUs, so it is read, too; pip prefers one for the platform.
ask sized --target sm_86 loose
is "a wheel for every platform, and a better one" 0 1 "1.2 " "runs" "pip install loose==1.2"
ask sized --target sm_86 loose==1.1
is "a wheel for every platform" 2 1 "1.1  fails: no code for sm_86"
ask sized --target sm_86 loose==1.0
is "a wheel for every platform that runs" 0 1 "1.0  runs"
ask sized --target sm_86 --json pinned
grep -q "^requires nvidia-cudnn-cu12==9.10.2.21; platform_system == 'Linux'$" state/wheels/* && grep -q "^requires torch (==2.8.0)$" state/wheels/* && ! grep -rq "requires numpy\|requires vllm" state && ok "requirements of listed packages" || fail "requirements: $(cat state/wheels/*)"
python3 -c 'import json; d = json.load(open("out")); assert d["index"].endswith("/sized/simple") and d["answers"][0]["newest"] == "1.0", d' || fail "--json: $(cat out)"

# A release without device code is answered by what it requires, each release by its own requirements, which are read
# from the ends of the wheels, or from the files beside them. An index that sends neither leaves those of the newest release.
# The file beside a wheel counts only with its hash.
for kind in good beside torn; do
	rm -rf state
	ask $kind --target gtx1080 wrapper
	[ "$(grep -c "GET /$kind/files/wrapper/.*py3-none-any.whl " http/log)" -ge 2 ] || fail "$kind: not examined: $(cat http/log)"
	fetched=0
	is "a release without device code, $kind" 1 0 "  1.4 – 1.3  fail: they require torch, which fails: no code for sm_61" "  1.2 – 1.0  run" "It has no device code of its own, and uses torch: " "uses torch: jitwarm which --target gtx1080" \
		"Newest that runs: pip install wrapper==1.2 'torch<2.8.0'"
	grep -q "runs\? on the CPU" out && fail "it runs on the CPU: $(cat out)"
done
grep -q "whl.metadata" http/log && ok "the files beside wheels" || fail "not asked for: $(cat http/log)"
for kind in whole backwards; do
	rm -r state
	ask $kind --target gtx1080 wrapper
	fetched=0
	is "an index that sends no parts: $kind" 1 0 "  1.4 – 1.1  fail: they require torch, which fails: no code for sm_61" "  1.0        runs"
done
ask good --target rtx5090 wrapper
fetched=0
is "the newest torch runs" 0 0 "  1.4 – 1.1  run" "  1.0        fails: it requires torch>=1.13,<2.8, which fails: no code for sm_120" "jitwarm has not looked at what else it requires: faster and six." "Newest that runs: pip install wrapper==1.4"
ask good --target gtx1080 --json wrapper
python3 -c 'import json; r = {one["version"]: one for one in json.load(open("out"))["answers"][0]["releases"]}; assert r["1.4"]["answer"] == "fails" and r["1.4"]["pin"] == "torch>=2.8" and r["1.4"]["unfollowed"] == ["faster", "six"] and r["1.2"]["beside"] == "torch<2.8.0" and r["1.2"]["uses"] == ["torch>=2.0"] and "beside" not in r["1.0"], r' || fail "--json: $(cat out)"
ask good --target gtx1080 "extras[all]==1.0"
fetched=0
is "an extra brings device code" 0 0 "1.0  runs" "It has no device code of its own, and uses bitsandbytes: " "To install this release: pip install 'extras[all]==1.0' 'torch<2.8.0'"
ask good --target gtx1080 "extras[cuda12]==1.0"
fetched=0
is "an extra brings an unknown package" 3 0 "1.0  has no device code of its own" "It requires packages that the list lacks and that may have device code (other-cuda-12)."
ask good --target gtx1080 extras==1.0
fetched=0
is "without an extra, nothing is required" 2 0 "1.0  has no device code of its own: the packages that it imports decide"
ask good --target gtx1080 unknown
fetched=0
is "only unknown packages" 3 0 "1.0  has no device code of its own" "It requires packages that the list lacks and that may have device code (other-cuda-12 and six)." "To examine: jitwarm which --target gtx1080 other-cuda-12 --ask"
ask good --target gtx1080 parted
fetched=0
is "its code may be in a part of it" 3 0 "1.0  has no device code of its own" "and uses torch: " "may have device code (parted-kernels and six)." "To examine: jitwarm which --target gtx1080 parted-kernels --ask"
grep -q "pip install" out && fail "a command: $(cat out)"
# A package with device code and an open requirement fails if no release of this runs; else pip is told which one.
ask sized --target gtx1080 open
is "an open requirement" 1 2 "  1.1  fails: it requires torch>=2.8, which fails: no code for sm_61" "  1.0  runs" "pip install open==1.0 'torch<2.8.0'"
# Releases that have only source code are named.
ask sized --target sm_86 stub
is "source code alone" 2 1 "  10.0.post1 – 1.1  are only source code, which jitwarm does not examine" "No wheel of stub on ${site#http://}/sized/simple runs on this GPU; of 3 releases, ${site#http://}/sized/simple has only the source code."
grep -q "3.0rc1" out && fail "a pre-release: $(cat out)"
ask sized --target sm_86 sourced
is "no wheel at all" 2 0 "  2.0 – 1.0  are only source code" "has source code of sourced, and no wheel: pip builds one when it installs the package."
# Wheels that the program's list knows and the index lacks are answered from the list.
ask sized --target h100 --platform linux flash-attn
is "wheels of the list alone" 1 0 "run, according to flash-attn's build script" "First: pip install torch==" "has source code of flash-attn, and no wheel"
# A package that requires only packages without device code has none.
ask good --target gtx1080 plainly
fetched=0
is "plain requirements" 2 0 "1.0  has no device code of its own"
grep -q "may have device code" out && fail "numpy may have device code: $(cat out)"
# Nor has one that requires only packages for every platform; the index says so.
ask good --target gtx1080 thin
fetched=0
is "a plain requirement" 2 0 "1.0  has no device code of its own"
grep -q "may have device code" out && fail "a plain package may have device code: $(cat out)"
ask good --target gtx1080 thicker
fetched=0
is "compiled, and with torch" 3 0 "may have device code (compiled and parted)."
# As pip does, a release that is requested without a local label is the newest one with any label.
ask sized --target sm_86 labelled==1.0
is "a release with a label" 0 1 "downloading up to 1 wheel (" "1.0+cu121  runs"
ask sized --target sm_86 labelled==1.0+cu118
is "the requested label" 2 1 "1.0+cu118  fails: no code for sm_86"
ask sized --target sm_86 labelled==1.1
is "a release with and without a label" 2 1 "1.1+cu121  fails: no code for sm_86"
ask sized --target sm_86 --platform windows labelled==1.1
is "a label for another platform" 0 1 "1.1  runs"
ask sized --target sm_86 labelled==1.1+cu118
is "no such label" 3 0 "has no release 1.1+cu118 of labelled"
ask sized --target sm_86 twice
is "each of two builds" 1 2 "1.1+cu121  fails: no code for sm_86" "1.1        runs" "pip install twice===1.1"

# Another package has its code.
ask sized --target sm_75 cuml-cu12
is "code in another package" 2 2 "99.0  fails: no code for sm_75"
ask sized --target sm_86 cuml-cu12
is "the second time" 0 0 "pip install cuml-cu12==99.0"
# If the index lacks it, in a version or at all, the other releases have an answer.
mv http/packages/cuml-cu12/cuml_cu12-99.0-* old.whl
python3 - old.whl http/packages/cuml-cu12 <<'P'
import shutil, sys, zipfile
shutil.copy(sys.argv[1], sys.argv[2] + "/cuml_cu12-99.0-py3-none-manylinux2014_x86_64.whl")
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2] + "/cuml_cu12-99.1-py3-none-manylinux2014_x86_64.whl", "w") as new:
    for name in old.namelist():
        new.writestr(name.replace("99.0", "99.1"), old.read(name).replace(b"99.0", b"99.1"))
P
ask sized --target sm_86 cuml-cu12
is "no code in that version" 1 0 "cuml_cu12-99.1-py3-none-manylinux2014_x86_64.whl: not examined: the package index has no wheel of libcuml-cu12===99.1; it has wheels of 99.0" "99.0  runs" "pip install cuml-cu12==99.0"
mv http/packages/libcuml-cu12 . && rm -r state
ask sized --target sm_86 cuml-cu12
is "no code at all" 3 0 "cuml_cu12-99.1-py3-none-manylinux2014_x86_64.whl: not examined: " "cuml_cu12-99.0-py3-none-manylinux2014_x86_64.whl: not examined: " "cuml-cu12 on "

# A required package's own rules count.
ask sized --target sm_120 with-cupy
is "a package of whose requirements only torch counts" 0 1 "1.0  runs" "pip install with-cupy==1.0"

# The packages from which a package's code comes are followed if it requires them, and else named.
ask sized --target sm_86 faster-whisper
is "code of a required package" 0 1 "1.0  runs" "It has no device code of its own, and uses ctranslate2: " "pip install faster-whisper==1.0"
ask sized --target sm_86 sageattention
is "code of a package that is not required" 2 1 "sageattention: its code for GPUs comes from triton: “jitwarm which --target sm_86 triton --ask”"
# Numba makes PTX by the CUDA of its environment.
ask sized --target sm_75 --driver 550.54.15 numba-cuda
is "a compiler of the environment" 0 1 "0.17  runs, if its environment has CUDA 12.4 or older"
ask sized --target sm_75 --driver 550.54.15 with-cupy
is "another compiler" 0 0 "1.0  runs"
grep -q "if its environment" out && fail "a condition: $(cat out)"

# PyPI's facts do not count for another index's wheel of that name.
ask sized --target sm_86 torch
is "another torch" 2 1 "None runs: no release on ${site#http://}/sized/simple runs on this GPU." "fails: no code for sm_86"
grep -q "PyTorch's index has\|PyTorch's installation page" out && fail "it names the other index: $(cat out)"
kept --target sm_86 torch
is "another index's torch does not replace that of the list" 0 0 "torch on sm_86" "  PyPI   2.15.0"
# An answer from PyPI replaces the list's if it is newer.
sed -i -e '1s/[0-9-]*$/2999-01-01/' -e 's/^index .*/index PyPI/' state/wheels/torch-linux.txt
kept --target sm_86 torch
is "a newer answer from PyPI" 1 0 "  PyPI   2.7.1" "fails: no code for sm_86" "jitwarm asked PyPI on 2999-01-01."
sed -i '1s/[0-9-]*$/2001-01-01/' state/wheels/torch-linux.txt
kept --target sm_86 torch
is "an older answer from PyPI" 0 0 "torch on sm_86" "  PyPI   2.15.0"
sed -i -e '1s/[0-9-]*$/2999-01-01/' state/wheels/torch-linux.txt && truncate -s -1 state/wheels/torch-linux.txt
kept --target sm_86 torch
is "a kept answer without its end" 0 0 "torch on sm_86" "  PyPI   2.15.0"
grep -q "jitwarm asked" out && fail "an old answer: $(cat out)"

# several packages and GPUs
rm -r state
ask sized --target sm_86,sm_90 grown pure
is "two GPUs" 1 12 "downloading up to 24 wheels (" "Newest that runs on both GPUs:" "grown" "pure"
printf 'grown>=1\npure\n' >list.txt
ask sized --target sm_86 -r list.txt
is "a list" 1 0 "pip install grown==1.9"

# These indexes lack the package, lie, or do not answer.
ask sized --target sm_86 nothing
is "no such package" 3 0 "the package index has no package “nothing”"
ask sized --target sm_86 borrowed
is "a page of another package's files" 3 0 "jitwarm: the package index has no wheel of borrowed"
ask loop --target sm_86 grown
is "a page that leads to itself" 3 0 "${site#http://}: the package index failed (Exceeded 30 redirects.); try again later"
PIP_RETRIES=5 ask busy --target sm_86 grown
is "an index that asks to wait for an hour" 3 0 "jitwarm: ${site#http://}: the package index is busy (429); try again in 3600 seconds"
ask many --target sm_86 grown
is "an index that lists too much" 3 0 "jitwarm: the package index lists too many files of grown"
# No command is silent for more than ten seconds.
wait $terminal
got=$? fetched=0 && cp on-terminal err && : >out
is "a late answer at a terminal" 3 0 $'\rjitwarm: working for 1' $'\r\e[Kjitwarm: ' "the package index has no package “grown”"
wait $pipe
got=$? && cp in-pipe err
is "a late answer in a pipe" 3 0 "the package index has no package “grown”"
[ "$(head -n 1 err)" = "jitwarm: waiting for the package index" ] && ok "a pipe says that it waits" || fail "a pipe says nothing: $(cat err)"
ask wrong-hash --target sm_86 grown
is "another hash" 3 1 "grown-1.23-py3-none-manylinux2014_x86_64.whl: its hash differs from the one in the index or list"
PIP_INDEX_URL=https://no.such.host.invalid/simple ask sized --target sm_86 grown
is "no network" 3 0 "no.such.host.invalid: the package index cannot be reached"
ask sized --target sm_86 ./grown
is "no name" 64 0
PIP_INDEX_URL=http://us:p%40ss@${site#http://}/sized/simple ask sized --target sm_86 grown
is "a login" 1 0 "jitwarm asked ${site#http://}/sized/simple"
! grep -qE 'p(@|%40)ss' out err && ok "no password" || fail "a password: $(cat out err)"

# Ctrl-C leaves no files.
rm -r state
PIP_INDEX_URL=$site/trickle/simple timeout -s KILL 60 "$jitwarm" which --ask grown --target sm_86 >out 2>err &
asking=$!
await sh -c 'find tmp -name "*.whl" | grep -q .' || fail "nothing is fetched: $(cat err)"
kill -INT "$(pgrep -P $asking)"; got=0; wait $asking || got=$?
[ $got = 130 ] && [ -z "$(ls tmp)" ] && ok "Ctrl-C leaves nothing" || fail "Ctrl-C: status $got: $(cat out err; ls tmp)"

[ "$failed" = 0 ] || echo "the first that failed: ${first%%$'\n'*}"
exit $failed
