#!/bin/bash
# index.sh BUILD-FOLDER   --index: pip, from package indexes on this machine, honest and lying (index-server.py)
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

mkdir -p http/packages/{heavy,asked,pure,pyproject-toml,pinned,tensorflow,faiss-cpu,torch,jax,later,others,source,partly}
PYTHONPATH=$here/../framework python3 - "$build/tests/framework/libsample_framework.so" <<'P'
import os, pathlib, sys, zipfile
import fatbin
code = pathlib.Path(sys.argv[1]).read_bytes()
def wheel(version, tag, member="asked/lib.so", name="asked", code=code, requires="missing"):
    with zipfile.ZipFile(f"http/packages/{name.replace('_', '-')}/{name}-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, code)
        archive.writestr(f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: {requires}\n")
        archive.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        archive.writestr(f"{name}-{version}.dist-info/RECORD", f"{member},,\n")
for version in ("1.0", "1.0+cu121", "1.1", "1.1.post1", "1.2rc1"):
    wheel(version, "py3-none-manylinux2014_x86_64")
wheel("1.1.post1", "py3-none-manylinux_2_28_x86_64", "asked/newer.so")
wheel("1.0", "py3-none-win_amd64", "asked/lib.dll")
wheel("1.0", "py3-none-manylinux2014_aarch64", "asked/arm.so")
wheel("0.9", "py3-none-any")
wheel("3.0", "py3-none-macosx_11_0_arm64")
for minor in range(7, 30):
    wheel("0.5", f"cp3{minor}-cp3{minor}-manylinux2014_x86_64", f"asked/for3{minor}.so")
wheel("0.4", "cp37-cp37m-manylinux2014_x86_64", "asked/for37.so")
wheel("2.0", "py3-none-any", name="pure")
wheel("1.0", "cp310-cp310-manylinux_2_17_x86_64", name="pinned", requires="torch==2.1.0")
wheel("1.0", "py3-none-any", name="heavy", code=code + os.urandom(3 << 20))
for version in ("1.0", "2.0"):
    wheel(version, "py3-none-any", name="later")
for name, version, tag in (("tensorflow", "2.0.0", "py3-none-manylinux2014_x86_64"), ("tensorflow", "2.11.0", "py3-none-win_amd64"), ("tensorflow", "2.11.0", "py3-none-manylinux2014_aarch64"),
                           ("torch", "2.4.1", "py3-none-win_amd64"), ("faiss_cpu", "1.8", "py3-none-manylinux2014_x86_64"), ("jax", "0.5", "py3-none-any")):
    wheel(version, tag, "lib.so", name, b"no code")
wheel("1.0", "py3-none-any", name="pyproject_toml")
part = fatbin.library(*[fatbin.container(fatbin.entry(fatbin.CUBIN, sm, fatbin.old_cubin(sm, "k", 64))) for sm in (86, 90)])
wheel("1.0", "py3-none-manylinux2014_x86_64", "partly/lib.so", "partly", part)
for tag in ("py2.py3-none-win_amd64", "cp38-abi3-macosx_10_9_x86_64", "cp313-cp313t-manylinux_2_28_aarch64", "pp39-pypy39_pp73-linux_armv7l"):
    wheel("2.0+x", tag, "lib.so", "others", b"no code")
wheel("1.0", "cp36-cp36m-win_amd64", "lib.so", "others", b"no code")
for path in ("asked/asked-4.0.1.tar.gz", "source/source-1.0.tar.gz"):
    open(f"http/packages/{path}", "wb").write(b"source")
P
serve http
site=http://127.0.0.1:$(cat http/port)

timeout=$(command -v timeout)
# ask KIND WORD...: runs it against that kind of index, with the PATH in `path`
ask() {
	PIP_INDEX_URL=${PIP_INDEX_URL-$site/$1/simple} PATH=${path:-$PATH} "$timeout" 120 "$jitwarm" "${@:2}" >out 2>err
	forget_waiting $?
}
# pip asks for rustc's version; a wheel that was scanned two seconds after its last write is remembered
clean() { rm -rf home/.rustup state/inventory-* && [ -z "$(find tmp state home -mindepth 1 2>/dev/null)" ]; }
good() { # TEXT WHEEL KIND WORD...
	local text=$1 wheel=$2
	ask "$3" scan --target sm_86 --index "${@:4}"
	[ $? = 0 ] && [[ "$(head -n 1 out)" == "$wheel ("*"extras and dependencies are not looked at" ]] && grep -q "^$wheel:" out &&
		grep -q "to compile" out && ! grep -q jitwarm-run out err && clean && ok "$text" || fail "$text: $(cat out err; find tmp state home)"
}
bad() { # TEXT SAID KIND WORD...
	local text=$1 said=$2 got
	ask "$3" scan --target sm_86 --index "${@:4}"
	got=$?
	[ $got = 3 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$said" err && ! grep -qE 'p(@|%40)ss' err && clean && ok "$text ($said)" ||
		fail "$text: status $got, not “$said”: $(head -c 2000 out err; find tmp state home)"
}
usage() { # SAID WORD...
	ask good "${@:2}"
	[ $? = 64 ] && grep -qF -- "$1" err && clean && ok "$1" || fail "usage, not “$1”: $(cat out err)"
}

good "the newest, with the newest glibc" asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl good asked
grep -q "asked/newer.so" out || fail "another one was read: $(cat out)"
good "the highest label" asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl good asked==1.0
good "a post release" asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl good Asked==1.1.post1
good "a pre-release that is named" asked-1.2rc1-py3-none-manylinux2014_x86_64.whl good asked==1.2rc1
good "a wheel for any platform" asked-0.9-py3-none-any.whl good asked==0.9
good "a wheel for Windows" asked-1.0-py3-none-win_amd64.whl good asked==1.0 --platform windows
good "a wheel for Linux, whatever machine this is" asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl good asked --platform linux
good "a range" asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl good "asked<1.1"
good "a wheel for arm64" asked-1.0-py3-none-manylinux2014_aarch64.whl good asked==1.0 --platform linux-aarch64
# each GPU's own kind of machine
for gpu in sm_87 gb10 "NVIDIA GH200 480GB" gb200,gb300; do
	ask good scan --index asked==1.0 --target "$gpu"
	[ "$(head -n 1 out | cut -d' ' -f1)" = asked-1.0-py3-none-manylinux2014_aarch64.whl ] && ok "the platform of $gpu" || fail "$gpu: $(cat out err)"
done
for gpu in h100 gb10,h100; do
	ask good scan --index asked==1.0 --target "$gpu"
	[ "$(head -n 1 out | cut -d' ' -f1)" = asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl ] && ok "the platform of $gpu" || fail "$gpu: $(cat out err)"
done
# The Python is the active environment's, with pip or without, or the named one.
good "a Python whose ABI has a letter" asked-0.4-cp37-cp37m-manylinux2014_x86_64.whl good asked==0.4 --python 3.7
this=$("$python" -c 'import sys; print(f"3{sys.version_info[1]}")')
good "the active Python" "asked-0.5-cp$this-cp$this-manylinux2014_x86_64.whl" good asked==0.5
good "another Python" asked-0.5-cp38-cp38-manylinux2014_x86_64.whl good asked==0.5 --python 3.8
"$python" -m venv --without-pip venv && mv venv/lib/python3.* venv/lib/python3.29 && rm venv/bin/python*
VIRTUAL_ENV=$scratch/venv good "an environment whose Python is another" asked-0.5-cp329-cp329-manylinux2014_x86_64.whl good asked==0.5
"$python" -m venv own
mkdir tools && for tool in env sh; do ln -s "$(command -v $tool)" tools; done
path=$scratch/tools VIRTUAL_ENV=$scratch/own good "the pip of the active environment" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
mkdir folder && cp http/packages/asked/asked-1.0-py3-none-win_amd64.whl folder
PIP_NO_INDEX=1 PIP_FIND_LINKS=folder good "a folder of find-links, which stays" asked-1.0-py3-none-win_amd64.whl good asked --platform windows
[ -e folder/asked-1.0-py3-none-win_amd64.whl ] || fail "it is gone"
ask good scan --json --index asked==1.1 --target sm_86
grep -q '"path":.*"asked-1.1-py3-none-manylinux2014_x86_64.whl"' out && ! grep -q jitwarm-run out && ok "--json names the wheel" || fail "--json: $(head -n 20 out; cat err)"

for command in scan lint; do
	ask large $command --index heavy --target sm_86 --progress json && whole_progress heavy && ok "$command: the objects of --progress json" ||
		fail "$command: the objects of --progress json: $(cat out err)"
done

# bare LINE WORD...: the wheel has no device code, and LINE names the package that has it
bare() {
	ask good scan --target sm_86 --index "${@:2}"
	[ $? = 0 ] && grep -qxF -- "$1" out && clean && ok "$1" || fail "not “$1”: $(cat out err)"
}
cpu="a CPU build without device code"
bare "tensorflow-2.0.0-py3-none-manylinux2014_x86_64.whl: $cpu; for device code, use tensorflow-gpu" tensorflow==2.0.0
bare "tensorflow-2.11.0-py3-none-win_amd64.whl: $cpu; for device code, use tensorflow==2.10.*" tensorflow --platform windows
bare "tensorflow-2.11.0-py3-none-manylinux2014_aarch64.whl: $cpu" tensorflow --platform linux-aarch64
bare "torch-2.4.1-py3-none-win_amd64.whl: $cpu; for device code, use the index that PyTorch's installation page names" torch --platform windows
bare "faiss_cpu-1.8-py3-none-manylinux2014_x86_64.whl: $cpu; for device code, use faiss-gpu" faiss-cpu
bare "jax-0.5-py3-none-any.whl: no device code; for device code, use jax-cuda12-pjrt" jax

# Facts that jitwarm knows without the wheel are reported without fetching it, and the other GPU gets its answer.
: >http/log
ask good scan --index asked==1.1 --target rtx5090,b200 --driver 550; got=$?
[ $got = 2 ] && [ ! -s http/log ] && grep -q "RTX 5090: driver 550 (CUDA 12.4) does not run sm_120, which needs driver 570" err && [ "$(grep -c "does not run" err)" = 2 ] &&
	ok "no GPU that the driver runs" || fail "no GPU that the driver runs: status $got: $(cat out err http/log)"
for command in scan "lint --max-start 1h"; do
	[[ $command == scan ]] && rows=0 || rows=1 # lint's table has each GPU
	ask good $command --index asked==1.1 --target a5000,rtx5090 --driver 550; got=$?
	[ $got = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q "does not run sm_120" err && grep -q "sm_86 (a5000): up to 8 modules (" out && [ "$(grep -c sm_120 out)" = $rows ] && ok "$command: the other GPU" ||
		fail "$command: the other GPU: status $got: $(cat out err)"
done
: >http/log
for words in "--target rtx3070,rtx999" "--target orin,rtx3070" "--target rtx3070 --driver 55" "--target rtx3070 --platform macos"; do
	ask good scan --index asked==1.1 $words
	[ $? = 64 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s http/log ] && ok "nothing is asked for with $words" || fail "$words: $(cat out err http/log)"
done

# several names
ask good scan --index asked==1.1 jax asked==7 asked==1.0 tensorflow==2.0.0 --target sm_86,sm_120; got=$?
[ $got = 1 ] && clean && [ "$(cut -d' ' -f1,2 out | sed 5q)" = "asked-1.1-py3-none-manylinux2014_x86_64.whl, sm_86
asked-1.1-py3-none-manylinux2014_x86_64.whl, sm_120
jax-0.5-py3-none-any.whl: no
asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl, sm_86
asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl, sm_120" ] && grep -q "^tensorflow-2.0.0-.*: $cpu" out && grep -q "^sm_86 (RTX 30), all together: up to 8 modules (" out &&
	[ "$(wc -l <err)" = 1 ] && grep -q "^jitwarm: asked==7: the package index has no wheel of asked==7; it has wheels of 0.4, 0.5, …, 1.2rc1, 3.0" err && ok "several names" || fail "several names: status $got: $(cat out err)"
ask good scan --json --index asked==1.1 jax asked==7 --target sm_86
python3 - out <<'P' && ok "several names as JSON" || fail "several names as JSON: $(cat out err)"
import json, sys
document = json.load(open(sys.argv[1]))
assert [(row["asked"], row.get("wheel"), "why" in row) for row in document["packages"]] == [
    ("asked==1.1", "asked-1.1-py3-none-manylinux2014_x86_64.whl", False), ("jax", "jax-0.5-py3-none-any.whl", False), ("asked==7", None, True)], document
assert len(document["totals"]) == 1 and {file["path"] for file in document["files"]} == {"asked-1.1-py3-none-manylinux2014_x86_64.whl"}
P
ask good scan --index asked==7 nothing --target sm_86
[ $? = 3 ] && [ "$(wc -l <err)" = 2 ] && [ ! -s out ] && ok "several names of nothing" || fail "several names of nothing: $(cat out err)"
: >http/log
ask good scan --index asked "asked @ file:///x" --target sm_86
[ $? = 64 ] && [ ! -s http/log ] && ok "a name that is none, before another is asked for" || fail "a name that is none: $(cat out err http/log)"
usage "“1.1”: a version is written as in “asked==1.1”" scan --index asked 1.1 --target sm_86
usage "“asked=1.1”: a version is written as in “asked==1.1”" scan --index asked=1.1
usage "lint --index takes one package; scan --index takes several" lint --index asked pure
ask good scan --index asked pure
[ $? != 64 ] && grep -qF ": this is for rtx20..rtx50,a100,h100,b200; “--target rtx4090” names another one" err && grep -q "sm_120" out && ok "several packages, no GPU" ||
	fail "several packages, no GPU: $(cat out err)"
# Without a GPU the answer is for those GPUs on sale that the named driver runs.
echo asked==1.1 >one.txt
ask good scan --index -r one.txt --driver 470
[ $? != 64 ] && grep -qF ": this is for sm_75,sm_86,sm_80; “" err && ! grep -q "does not run" err && grep -q "^sm_86 (RTX 30) " out && ! grep -q sm_89 out && ok "an old driver, no GPU" ||
	fail "an old driver, no GPU: $(cat out err)"

bad "no wheel for the platform" "no wheel of asked 3.0 fits; its wheels are for Python 3 on macos; choose with --python and --platform" good asked==3.0
bad "no wheel for the Python" "no wheel of asked 0.4 fits; its wheels are for Python 3.7 on linux; choose with --python and --platform" good asked==0.4 --python 3.12
bad "no wheel of any version" "no wheel of others 2.0+x fits; its wheels are for Python 2, 3, 3.8+, 3.13t, PyPy 3.9 on linux-aarch64, linux_armv7l, macos, windows; choose with" good others
bad "no wheel of a version with a label" "no wheel of others 2.0+x fits; its" good others==2.*
bad "no version that fits" "the package index has no wheel of asked==7; it has wheels of 0.4, 0.5, …, 1.2rc1, 3.0" good asked==7
bad "only the source of a package" "the package index has source code of source, and no wheel: pip builds one when it installs the package; build one with “pip wheel”, and name its file" good source
bad "versions for another Python" "the package index has no wheel of later==3.0; it has wheels of 1.0, 2.0" good later==3.0
bad "only the source" "the package index has no wheel of asked==4.0.1; it has wheels of 0.4, " good asked==4.0.1
bad "no such package" "${site#http://}: the package index has no package “nothing”; check the spelling, or name the index that has it: PIP_EXTRA_INDEX_URL=URL" good nothing
bad "a package that is kept" "${site#http://}: the package index refused asked (403); check the package's spelling, and the name and password in" 403 asked
PIP_EXTRA_INDEX_URL=$site/403/simple bad "a second index that knows no such package" "no wheel of asked 3.0 fits" good asked==3.0
bad "an index that fails" "${site#http://}: the package index failed (too many 500 error responses); try again later" 500 asked
if command -v openssl >/dev/null && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost >openssl.log 2>&1; then
	cat key.pem cert.pem >both.pem
	serve https "$scratch/both.pem"
	PIP_INDEX_URL=https://localhost:$(cat https/port)/good/simple bad "a certificate of nobody" "the certificate of the package index cannot be verified (self" good asked
	rm ./*.pem openssl.log
else
	echo "(left out: certificates)"
fi
mkdir little
printf '#!/bin/sh\nTMPDIR=%s exec unshare -m sh -c "mount -t tmpfs -o size=1m none \\$0 && exec \\"\\$@\\"" %s %s "$@"\n' "$scratch/little" "$scratch/little" "$jitwarm" >in-little
chmod +x in-little
if unshare -m mount -t tmpfs none little 2>/dev/null; then
	jitwarm=$scratch/in-little bad "a full disk" ": no space is left for what pip downloads; free some, or name another folder: TMPDIR=DIR" good heavy --quiet
else
	echo "(left out: a full disk)"
fi
bad "a label" "; use the index that PyTorch's installation page names instead" good torch==2.4.1+cu118
bad "no wheel of that name" "the package index has no package “cupy”; use cupy-cuda12x instead" good "cupy>=8"
bad "what people call it" "; its package is called torch" good pytorch
bad "a version behind a hyphen" "; a version is written as in “asked==1.1”" good asked-1.1
bad "another hash" "asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl: its hash differs from the one in the index or list" wrong-hash asked
bad "a wheel that breaks off" "asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl: the download ended early; try again" cut-wheel asked
PIP_RETRIES=1 PIP_INDEX_URL=http://127.0.0.1:1/simple bad "no server" "127.0.0.1:1: the package index cannot be reached (Connection refused); check the network" good asked
PIP_INDEX_URL=https://no.such.host.invalid/simple bad "no network" "no.such.host.invalid: the package index cannot be reached (" good asked
PIP_INDEX_URL=http://no.such.host.invalid/simple bad "no encryption" "no.such.host.invalid: pip refuses a package index over plain HTTP; use the https address of the index, or set PIP_TRUSTED_HOST=no.such.host.invalid" good asked
https_proxy=http://127.0.0.1:1 no_proxy='' PIP_INDEX_URL=https://no.such.host.invalid/simple bad "no proxy" "no.such.host.invalid: the package index cannot be reached (Connection refused); check the network, the proxy" good asked
PIP_INDEX_URL=$site/login/simple bad "a login that is missing" "the package index refused the login (401); correct the name and password" good asked
PIP_INDEX_URL=http://us:p%40ss@${site#http://}/login/simple bad "a login that is refused" "the package index refused the login (401); correct the name and password" good asked
usage "is no package's name" scan --index -- "-r/etc/passwd"
usage "is no package's name" scan --index "asked @ file:///x"
usage "is no package's name" scan --index pyproject.toml
touch pyproject.toml asked asked.whl
usage "“pyproject.toml” is a file: name packages, or use “scan --index -r FILE” for a list of packages" scan --index pyproject.toml
usage "“asked.whl” is a file" lint --index asked.whl
good "a name is a requirement, whatever file is called like it" asked-1.0-py3-none-win_amd64.whl good asked==1.0 --platform windows
rm pyproject.toml asked asked.whl
usage "scan --index needs the name of a package" scan --index
usage "exists only in arm64 machines with Linux" scan --index asked --target sm_87 --platform linux
usage "exists only in arm64 machines with Linux" scan --index asked --target sm_86,sm_87
usage "--platform needs --index, too" scan --platform windows asked
usage "--python needs --index, too" lint --python 3.10 asked
usage "--python is a version such as 3.11, not “three”" scan --index asked --python three

# Another pip prints and leaves anything. No module of the current folder is taken for pip.
mkdir pip && echo 'print("mine"); open("../ran", "w")' | tee pip/__init__.py pip/__main__.py tempfile.py runpy.py >/dev/null
good "no code of the current folder" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
[ ! -e ran ] && [ ! -e ../ran ] || fail "it ran"
rm -r pip tempfile.py runpy.py
unrun() { [ ! -e ran ] && ok "$1: it did not run" || { fail "$1: it ran"; rm -f ran; }; }
echo "open('$scratch/ran', 'w')" >sitecustomize.py
for list in ":$scratch/none" "$scratch/none:" .; do
	PYTHONPATH=$list good "PYTHONPATH=$list" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
	unrun "sitecustomize.py of the current folder"
done
rm sitecustomize.py
mkdir near && printf '#!/bin/sh\ntouch "%s/ran"\nexec "%s" "$@"\n' "$scratch" "$python" >near/python3 && chmod +x near/python3
mkdir close && cp "$(type -P false)" close/python3
cp -r venv lacking && printf '#!/bin/sh\nexit 96\n' >lacking/bin/python3 && chmod +x lacking/bin/python3
refused="$scratch/lacking/bin/python3 ended with status 96 instead of an answer; “$scratch/lacking/bin/python3 -m pip --version” may show why"
path=close:$scratch/tools VIRTUAL_ENV=$scratch/lacking bad "a relative member of PATH" "$refused" good asked==1.1
PIP_PYTHON=$scratch/near/python3 good "PIP_PYTHON" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
unrun "another Python for pip"
fake_pip '__version__ = "19.3.1"'
VIRTUAL_ENV=$scratch/faked good "a pip that is too old, beside another one" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
# faked TEXT SAID PYTHON-LINE...: this pip alone is there
faked() {
	fake_pip "${@:3}"
	path=$scratch/tools VIRTUAL_ENV=$scratch/faked bad "$1" "$2" good asked
}
faked "a pip that is too old" "faked/bin/python3: pip 19.3.1 is older than 20.0" '__version__ = "19.3.1"'
faked "a pip that is another program" "faked/bin/python3: pip: ModuleNotFoundError: No module named 'pip._internal'" '__version__ = "99"'
faked "a pip that fails" "faked/bin/python3 ended with status 7 instead of an answer" 'raise SystemExit(7)'
faked "a pip that is killed" "faked/bin/python3: pip was ended by signal 9" 'import os' 'os.kill(os.getpid(), 9)'
faked "a pip that prints" "faked/bin/python3: pip 1 is older than 20.0" 'print("{\"end\": true}", flush=True)' 'import os' 'os.write(1, b"{}\n" * 100000)' '__version__ = "1"'
faked "files without end" "pip downloaded more than 16 GiB" 'import json, sys, time' 'open(json.loads(sys.argv[1])["temporary"] + "/x", "w").truncate(20 << 30)' 'time.sleep(60)'
# Messages contain no password, however it is written in the address.
export PIP_INDEX_URL=https://us%20er:p%40ss%2Fw@127.0.0.1:1/simple https_proxy=http://me:other-p@ss/w@127.0.0.1:1
for line in 'raise ValueError(os.environ["PIP_INDEX_URL"], os.environ["https_proxy"], "x=https://another:p@ss@host", "p@ss/w is wrong, and p%40ss%2Fw", os.environ)' \
	'raise ValueError("no\n  other-p@ss/w")' 'raise ValueError(os.environ["https_proxy"])'; do
	faked "$line" "pip: ValueError" 'import os' "$line"
done
unset PIP_INDEX_URL https_proxy
printf '[global]\nindex-url = https://me:p%%%%40ss@127.0.0.1:1/simple\n' >pip.conf
PIP_RETRIES=1 PIP_CONFIG_FILE=$scratch/pip.conf PIP_INDEX_URL='' bad "a password of pip's configuration" "the package index cannot be reached (Connection refused)" good asked

# Without an installed pip, the wheel that Python brings for ensurepip is started. A pip of an index, which would be its code, is not.
none="jitwarm asks package indexes through pip (python3 -m pip), and found none: install it (“uv pip install pip”, or the system's package python3-pip), or download the wheel on another machine (pip download --no-deps NAME), and name its file"
path=$scratch/tools bad "no pip" "$none" good asked
"$python" -m venv --without-pip bare
mkdir -p http/packages/pip && python3 - "$scratch/ran" <<'P'
import sys, zipfile
with zipfile.ZipFile("http/packages/pip/pip-99.0-py3-none-any.whl", "w") as archive:
    for module in ("__init__", "__main__"):
        archive.writestr(f"pip/{module}.py", f"open({sys.argv[1]!r}, 'w')\n")
    archive.writestr("pip-99.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pip\nVersion: 99.0\n")
    archive.writestr("pip-99.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    archive.writestr("pip-99.0.dist-info/RECORD", "pip/__init__.py,,\npip/__main__.py,,\n")
P
export UV_DEFAULT_INDEX=$site/good/simple UV_INDEX=$site/good/simple
path=$scratch/tools VIRTUAL_ENV=$scratch/bare good "the pip that Python brings" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
PIP_INDEX_URL=https://127.0.0.1:1/simple path=$scratch/tools VIRTUAL_ENV=$scratch/bare bad "an index that the pip of Python does not reach" "the package index cannot be reached" good asked
path=$scratch/tools VIRTUAL_ENV=$scratch/lacking bad "a Python without any pip" "$refused" good asked
if [ -e /usr/share/python-wheels ] && /usr/bin/python3 -m venv --without-pip debian 2>/dev/null; then
	path=$scratch/tools VIRTUAL_ENV=$scratch/debian good "the pip that Debian's Python brings" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
fi
uv=$cache/jitwarm/uv/bin/uv # installed by setup.sh
[ -x "$uv" ] || uv=$(command -v uv)
if [ -n "$uv" ]; then
	cp "$uv" tools
	mkdir found && ln -s "$python" "found/python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
	UV_NO_CACHE=1 "$uv" venv -q --python "$python" ordinary
	path=$scratch/tools VIRTUAL_ENV=$scratch/ordinary good "an environment of uv's" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
	echo ./near/python3 >.python-version
	path=$scratch/tools:$scratch/found good "uv finds a Python" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
	# uvx is not on PATH, but a variable says where uv is.
	mkdir apart && mv tools/uv apart
	UV=$scratch/apart/uv path=$scratch/tools:$scratch/found good "the uv of UV finds a Python" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
	UV=apart/uv path=$scratch/tools:$scratch/found bad "a uv that is named from the current folder" "$none" good asked
	UV=$scratch/none/uv path=$scratch/tools:$scratch/found bad "a uv that is gone" "$none" good asked
	unrun "a Python of .python-version"
	rm .python-version
else
	echo "(left out: uv)"
fi
unrun "the pip of an index"
unset UV_DEFAULT_INDEX UV_INDEX
[ "$(id -u)" != 0 ] || {
	chown 65534 own/bin
	ask_other() { path=$scratch/tools VIRTUAL_ENV=$scratch/own ask good scan --index asked --target sm_86; }
	ask_other; got=$?
	chown 0 own/bin
	[ $got = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qE "own/bin belongs to [^ ]+, so root does not use it" err && clean && ok "root, and a Python that another account may replace" ||
		fail "root, and a Python that another account may replace: status $got: $(cat out err)"
}

ask good lint --index asked==1.0 --gpus sm_86; got=$?
[ $got = 0 ] && grep -q "^asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl:" out && ! grep -q jitwarm-run out err && clean && ok lint || fail "lint: status $got: $(cat out err)"
rm -rf state home/.cache
ask good lint --index missing; got=$?
[ $got = 3 ] && clean && ok "lint of what is in no index" || fail "lint of what is in no index: status $got: $(cat out err; find tmp)"

# After Ctrl-C and after a kill, no pip is left; the next run removes a kill's leftovers.
no_children() { ! pgrep -f "^[^ ]*python.*$scratch/tmp/jitwarm-run" >/dev/null; }
for signal in INT KILL; do
	PIP_INDEX_URL=$site/trickle/simple timeout -s KILL 60 "$jitwarm" scan --index asked --target sm_86 >out 2>err &
	asking=$!
	await sh -c 'find tmp -name "*.whl" | grep -q .' || fail "nothing is fetched: $(cat err)"
	asker=$(pgrep -P $asking) # the child of timeout
	kill -$signal "$asker"; got=0; wait $asking || got=$?
	await no_children || fail "pip goes on after SIG$signal"
	if [ $signal = INT ]; then
		[ $got = 130 ] && clean && ok "Ctrl-C leaves nothing" || fail "Ctrl-C: status $got: $(cat out err; find tmp)"
	else
		[ -n "$(ls tmp)" ] && [ "$(ls tmp | grep -c -v '^jitwarm-run-')" = 0 ] || fail "a kill leaves something else: $(ls tmp)"
		find tmp -exec touch -d '5 minutes ago' {} +
		good "what a kill has left is gone" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1
	fi
done

# A file lists many packages, in all three forms.
hash=$(sha256sum http/packages/asked/asked-1.1-py3-none-manylinux2014_x86_64.whl | cut -d' ' -f1)
cat >requirements.txt <<E
# asked==1.5
asked[x] == 1.1
pure
missing==1 ; sys_platform == "darwin"
-r base.txt
own @ git+https://word@localhost/own
./setup
E
cat >pylock.toml <<E
lock-version = "1.0"
[[packages]]
name = "asked"
version = "1.0"
wheels = [
    { url = "https://localhost/asked-1.0-py3-none-win_amd64.whl", hashes = { sha256 = "$(sha256sum http/packages/asked/asked-1.0-py3-none-win_amd64.whl | cut -d' ' -f1)" } },
    { url = "https://localhost/asked-1.0-py3-none-manylinux2014_x86_64.whl", hashes = { sha256 = "$(sha256sum http/packages/asked/asked-1.0-py3-none-manylinux2014_x86_64.whl | cut -d' ' -f1)" } },
]
[[packages]]
name = "own"
directory = { path = "." }
E
echo '{"version": "1", "install": [{"is_direct": false, "metadata": {"name": "asked", "version": "1.1.post1"}}, {"is_direct": false, "metadata": {"name": "Asked", "version": "1.1"}}]}' >report.json
# listed STATUS WORD...: no wheel is fetched twice
listed() {
	: >http/log
	ask good scan --target sm_86 "${@:2}"
	local got=$?
	[ $got = "$1" ] && clean && [ -z "$(grep -o 'GET /[a-z]*/files/[^ ]*' http/log | sort | uniq -d)" ] && ! grep -q "word\|jitwarm-run" out err && ok "${*:2}" || fail "${*:2}: status $got: $(cat out err; find tmp state home)"
}
said() { # FILE TEXT...
	local text
	for text in "${@:2}"; do grep -qF -- "$text" "$1" || fail "not “$text”: $(cat out err)"; done
}
listed 0 --index -r requirements.txt
# A wheel for every platform is read, too: this one has device code.
said out "asked-1.1-py3-none-manylinux2014_x86_64.whl, sm_86 (RTX 30): " "pure-2.0-py3-none-any.whl, sm_86 (RTX 30): " "sm_86 (RTX 30), all together: "
said err "requirements.txt:5: another list is left out; scan it, too" "requirements.txt:6: a package from an address is left out" "requirements.txt:7: a file or folder is left out"
[ "$(wc -l <err)" = 3 ] || fail "not three lines: $(cat err)"
echo partly >partly.txt && listed 0 --index -r partly.txt
said out "partly-1.0-py3-none-manylinux2014_x86_64.whl, sm_86 (RTX 30): runs; 1 of 2 pieces has no code for sm_86 (chosen by the GPU)"
listed 0 --index -r pylock.toml
said out "asked-1.0-py3-none-manylinux2014_x86_64.whl, sm_86 (RTX 30): "
said err "pylock.toml:9: a file or folder is left out"
listed 0 --index --platform windows -r pylock.toml
said out "asked-1.0-py3-none-win_amd64.whl, sm_86 (RTX 30): "
listed 0 --index -r report.json
[ "$(grep -c "whl, sm_86 (RTX 30): " out)" = 2 ] || fail "not two packages: $(cat out)"
listed 0 --json --index -r requirements.txt
python3 - out <<'P' && ok "--json of a list" || fail "--json of a list: $(cat out)"
import json, sys
document = json.load(open(sys.argv[1]))
rows = document["packages"]
rows[3:] = sorted(rows[3:], key=lambda row: row["asked"])
assert [(row["asked"], row["line"], "wheel" in row, "why" in row) for row in rows] == [
    ("list", 5, False, True), ("address", 6, False, True), ("file", 7, False, True), ("asked==1.1", 0, True, False), ("pure==2.0", 0, True, False)], rows
assert {file["path"] for file in document["files"]} == {rows[3]["wheel"], rows[4]["wheel"]} and document["totals"][0]["modules"] > 0, document
P
for list in pyproject.toml uv.lock poetry.lock Pipfile.lock environment.yml; do
	printf '{"_meta": {}}\n[project]\nname = "x"\n' >$list && listed 3 -r $list
	grep -qE "^jitwarm: $list: (not a list that pip reads|a list of conda's, whose packages are not those of pip's index)" err || fail "not a list: $(cat err)"
	[ "$(grep -c ^jitwarm: err)" = 1 ] || fail "not one message: $(cat err)"
	rm $list
done
printf '%s\n' "asked==1.1 --hash=sha256:$hash" >hashed.txt && listed 0 --index -r hashed.txt
printf '%s\n' "asked==1.1 --hash=sha256:${hash:1}0" >hashed.txt && listed 3 --index -r hashed.txt
said err "hashed.txt: asked-1.1-py3-none-manylinux2014_x86_64.whl: its hash differs from the one in the index or list"
printf '%s\n' asked==1.1 missing==1 >missing.txt && listed 3 --index -r missing.txt
said err "missing.txt: ${site#http://}: the package index has no package “missing”"
# The lines about a whole wheel name it, and no folder of this run.
printf 'pinned\nasked==1.1\n' >pinned.txt
for list in "-r pinned.txt" "pinned asked==1.1" pinned; do
	# shellcheck disable=SC2086
	ask good scan --target rtx5090 --python 3.10 --index $list; got=$?
	[ $got = 2 ] && grep -qxF "pinned-1.0-cp310-cp310-manylinux_2_17_x86_64.whl: will fail: it requires torch 2.1.0, which fails: no code for sm_120" out &&
		! grep -q jitwarm-run out err && ok "a wheel that fails: $list" || fail "a wheel that fails: $list: status $got: $(cat out err)"
	# shellcheck disable=SC2086
	ask good scan --json --target rtx5090 --python 3.10 --index $list
	grep -q '"reason":.*"pinned-1.0' out && ! grep -q jitwarm-run out && ok "a wheel that fails in the document: $list" ||
		fail "a wheel that fails in the document: $list: $(grep jitwarm-run out; cat err)"
done
ask good lint --gpus rtx5090 --python 3.10 --index pinned
! grep -q jitwarm-run out err && ok "lint of a wheel that fails" || fail "lint of a wheel that fails: $(cat out err)"
echo 'asked; python_version < "3"' >markers.txt && ask good scan --target sm_86 --index -r markers.txt
[ $? = 2 ] && [ ! -s out ] && [ "$(cat err)" = "jitwarm: markers.txt: its markers leave out every package on this machine" ] && clean && ok "--index -r markers.txt" || fail "markers.txt: $(cat out err; find tmp state home)"
printf '%s\n' '--no-binary :all:' '--proxy=me:word@localhost:1' asked==1.1 >options.txt && listed 0 --index -r options.txt
said err "options.txt:1: an option of pip is left out" "options.txt:2: an option of pip is left out"
printf '%s\n' "--index-url $site/good/simple" asked==1.1 >options.txt
PIP_INDEX_URL=$site/empty/simple listed 0 --index -r options.txt
# A folder whose setup would run a package's code is not built.
mkdir setup && echo "open('$scratch/ran', 'w')" >setup/setup.py && echo "-e ./setup" >nested.txt
printf '%s\n' ./setup "-e ./setup" "--editable=./setup" setup/ "x @ file://$scratch/setup" "-r nested.txt" $'\\\n-e ./setup' "asked==1.1 --no-binary=:all:" >code.txt
printf '%s\n' '# coding: utf-7' '+AC0-e ./setup' >coded.txt
printf '%s\n' asked==4.0.1 >source.txt
for list in code coded source; do
	ask good scan --target sm_86 --index -r $list.txt
	[ $? != 0 ] && [ ! -e ran ] && clean && ok "no code of a package: $list.txt" || fail "code of a package, $list.txt: $(cat out err; ls ran)"
done
# An archive in the current folder has the name of a requirement, which pip would build.
mkdir evil && cp setup/setup.py evil && python3 - <<'P'
import shutil
for name, kind in (("evil.zip", "zip"), ("evil.ZIP", "zip"), ("evil.tar.gz", "gztar"), ("evil==1.0+a.zip", "zip"), ("evil===1.zip", "zip"), ("evil-zip.zip", "zip")):
    shutil.move(shutil.make_archive("made", kind, ".", "evil"), name)
P
printf '[[packages]]\nname = "evil.zip[x] #"\n' >evil.toml
for line in 'evil.zip[x]' 'evil.tar.gz[x]' evil.ZIP "-ihttps://user:password@127.0.0.1:1/"; do
	echo "$line" >evil.txt
	[[ $line != -i* ]] || printf '%s\n' 'root:$y$j9T$secret:1::' "./password" >>evil.txt
	for list in evil.txt evil.toml; do
		ask good scan --target sm_86 --index -r $list; got=$?
		[ $got = 2 ] && [ ! -e ran ] && clean && ! grep -q 'evil\.zip\|evil=\|password\|secret' out err && grep -q "$list:[12]: a .* left out" err && ok "no archive is built for “$line”, $list" ||
			fail "an archive for “$line”, $list: status $got: $(cat out err; ls ran)"
	done
done
# A version may look like an archive.
for line in 'evil==1.0+a.zip' 'evil===1.zip'; do
	ask good scan --target sm_86 --index "$line"; got=$?
	[[ $got == 3 || $got == 64 ]] && [ ! -e ran ] && clean && grep -qE "the package index has no package “evil”|“evil===1.zip” is a file" err && ok "no archive is built for “$line”" || fail "an archive for “$line”: status $got: $(cat out err; ls ran)"
done
# It is not built even if its name is exactly the requirement's.
mkdir empty && cp evil.zip empty/asked && echo "Asked==1.1 --hash=sha256:$hash" >dotted.txt && listed 0 --index -r dotted.txt
# A folder of a project, named like an address, is no index.
mkdir -p https:/index.invalid/simple/asked
PIP_INDEX_URL=https://index.invalid/simple bad "a folder with the name of an index" "index.invalid: the package index cannot be reached" good asked
echo "-e ." >own.txt && listed 2 --index -r own.txt
for hostile in 'n\0u' '' '# nothing\n' '{"install": [' '{"install": {}}'; do
	printf '%b' "$hostile" >hostile.txt
	listed 3 --index -r hostile.txt
	[ "$(wc -l <err)" = 1 ] && grep -q "^jitwarm: .*hostile.txt: " err || fail "“$hostile”: not a line with the file's name: $(cat err)"
done
yes -- -e | head -n 5000 >hostile.txt && listed 3 --index -r hostile.txt
listed 3 --index -r absent.txt
listed 0 -r requirements.txt # -r is for an index alone
listed 64 --index -r requirements.txt asked
# These lines are those that other commands print.
cp requirements.txt "my requirements.txt"
ask good check --environment own "my requirements.txt"
grep -qF "“jitwarm scan --index -r 'my requirements.txt'”" err && ok "a word in quotes" || fail "a word in quotes: $(cat err)"
for file in requirements.txt pylock.toml; do
	for command in check prime scan; do
		ask good $command --environment own $file
		grep -qF "$file: a list of packages: “jitwarm scan --index -r $file”" err && ok "$command $file" || fail "$command $file: $(cat out err)"
	done
done
# The wheel is larger than the memory limit, stored and packed.
PIP_NO_INDEX=1 PIP_FIND_LINKS=$scratch/folder python3 - "$jitwarm" "$build/tests/framework/libsample_framework.so" <<'P' && ok "150 MB of memory" || fail "memory: $(cat out err)"
import pathlib, resource, subprocess, sys, zipfile
for way in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile("folder/large-1.0-py3-none-manylinux2014_x86_64.whl", "w", way, compresslevel=0) as archive:
        with archive.open("large/lib.so", "w") as member:
            member.write(pathlib.Path(sys.argv[2]).read_bytes())
            for _ in range(200):
                member.write(bytes(1 << 20))
        archive.writestr("large-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: large\nVersion: 1.0\n")
        archive.writestr("large-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    with open("out", "w") as out:
        subprocess.run([sys.argv[1], "scan", "--target", "sm_86", "--index", "large"], stdout=out, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss # of jitwarm and of pip
    assert " to compile" in open("out").read() and peak < 150 << 10, peak
P
rm -r folder

mkdir -p env/bin env/lib/python3.11/site-packages
printf 'home = /usr/bin\nversion = 3.11.2\n' >env/pyvenv.cfg
ask good check -e env asked==1.0
grep -qF "“jitwarm scan --index asked==1.0” asks the package index" err && ok "an unknown name's error proposes the line" || fail "the line: $(cat out err)"
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
