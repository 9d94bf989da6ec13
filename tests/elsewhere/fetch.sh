#!/bin/bash
# fetch.sh BUILD-FOLDER   jitwarm compiler fetch: pip, from package indexes on this machine, honest and lying (index-server.py)
#
# Exit status 1 if a case fails, 77 if something is not at hand.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
program=ptxas jitwarm=$build/src/jitwarm
# shellcheck source=tests/elsewhere/indexes.sh
. "$here/indexes.sh"

serve http
: >http/log
site=http://127.0.0.1:$(cat http/port)
export JITWARM_PTXAS=$scratch/store

fetch() {
	timeout 120 "$jitwarm" compiler fetch "$@" >out 2>err
	forget_waiting $?
}
# whole VERSION: this version is there, and no other file
whole() {
	[ "$(find store -mindepth 1 | sort)" = "$(printf '%s\n' "store/$1" "store/$1/$program" | sort)" ] && [ -x "store/$1/$program" ] &&
		rm -rf home/.rustup && [ -z "$(find tmp home -mindepth 1)" ] # pip asks for rustc's version
}
# good TEXT KIND [VERSION [FULL]]: the compiler is fetched from that kind of index
good() {
	local text=$1 kind=$2 version=${3:-12.3} full=${4:-12.3.107}
	rm -rf store
	if PIP_INDEX_URL=${PIP_INDEX_URL-$site/$kind/simple} fetch "$version" && whole "$version" && [ "$(cat out)" = "$scratch/store/$version/$program" ] &&
		grep -q "V$full\"" "store/$version/$program"; then
		ok "$text"
	else
		fail "$text: $(cat out err; find store tmp home; tail -n 5 http/log)"
	fi
}
# bad TEXT KIND SAID [VERSION]: prints one line with SAID, and leaves no file
bad() {
	local text=$1 kind=$2 said=$3 version=${4:-12.3} got
	rm -rf store
	PIP_INDEX_URL=${PIP_INDEX_URL-$site/$kind/simple} fetch "$version"
	got=$?
	if [ $got = 3 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$said" err && [ -z "$(find store -mindepth 1 2>/dev/null)" ] && ! grep -qE 'p(@|%40)ss' err; then
		ok "$text ($said)"
	else
		fail "$text: status $got, not “$said”, or something is left: $(cat out err; find store)"
	fi
}

# ---- the index's pages
good "the newest that fits, for any Python" good
rm -rf store
PIP_INDEX_URL=$site/large/simple fetch --progress json 12.3 && whole_progress 12.3 && ok "the last object of --progress json has all of it" ||
	fail "the objects of --progress json: $(cat err)"
good "just this one" good 12.3.52 12.3.52
bad "none of that version" good "the package index has no wheel of nvidia-cuda-nvcc-cu12==12.7.*; it has wheels of 12.3.52, 12.3.103, 12.3.107, 12.3.999, 12.4.99; name the ptxas" 12.7
bad "no such project" empty ": the package index has no package “nvidia-cuda-nvcc-cu12”; name the ptxas of a CUDA toolkit (--ptxas FILE)"
bad "a server that fails" 500 ": the package index failed (too many 500 error responses); try again later"
PIP_INDEX_URL=$site/good/simple fetch 12.3 && : >http/log && fetch 12.3 && [ "$(cat out)" = "$scratch/store/12.3/$program" ] && [ ! -s err ] && [ ! -s http/log ] && ok "not fetched again" ||
	fail "not fetched again: $(cat out err)"
PIP_INDEX_URL=$site/good/simple fetch 12.4 && rm -rf store/12.3 && mv store/12.4 store/12.3 # stored by an earlier jitwarm
PIP_INDEX_URL=$site/other-program/simple fetch 12.3; got=$?
[ $got = 3 ] && [ ! -s out ] && grep -q 'V12.4.99"' "store/12.3/$program" && [ "$(ls -A store)" = 12.3 ] && ok "a kept one of another version stays where another is served" ||
	fail "a kept one of another version: status $got: $(cat out err; find store)"
PIP_INDEX_URL=$site/good/simple fetch 12.3 && whole 12.3 && grep -q 'V12.3.107"' "store/12.3/$program" && ok "and is replaced by the right one" || fail "a kept one of another version is not replaced: $(cat err; tail -n 3 "store/12.3/$program")"
JITWARM_PTXAS=store PIP_INDEX_URL=$site/good/simple fetch 12.3.103 && [ -x store/12.3.103/ptxas ] && ok "a store whose path is not whole" || fail "a store whose path is not whole: $(cat out err)"

# ---- the content of a wheel
bad "a ptxas of another version" other-program "nvidia_cuda_nvcc_cu12-12.3.107-py3-none-manylinux2014_x86_64.whl: its ptxas reports CUDA 12.4, not 12.3"
bad "a ptxas that does not say its version" silent-program "does not say which ptxas it is"
bad "another hash" wrong-hash "manylinux2014_x86_64.whl: its hash differs from the one in the index or list"
bad "a wheel that breaks off" cut-wheel "manylinux2014_x86_64.whl: the download ended early; try again"
bad "half a zip file" torn-zip "manylinux2014_x86_64.whl: no sound wheel (File is not a zip file)"
bad "no zip file" no-zip "manylinux2014_x86_64.whl: no sound wheel (File is not a zip file)"
bad "no program in it" no-program "has no bin/$program"
bad "two of them" two-programs "two programs, the second is nvidia/cu"
bad "a link" link "has no bin/$program"
good "members that climb out of the folder stay inside" climbing
[ -z "$(find . -name outside)" ] && [ ! -e ../outside ] && ok "and nothing is written outside" || fail "written outside"

# ---- names, passwords and certificates in pip's own ways
PIP_INDEX_URL=http://us%20er:p%40ss%2Fw@127.0.0.1:${site##*:}/login/simple good "a name and password in the address" login
bad "none" login ": the package index refused the login (401); correct the name"
PIP_INDEX_URL=http://us%20er:wrong-p%40ss@127.0.0.1:${site##*:}/login/simple bad "wrong ones" login ": the package index refused the login (401); correct the name"
printf 'machine 127.0.0.1\nlogin "us er"\npassword p@ss/w\n' >netrc
chmod 600 netrc
NETRC=$scratch/netrc good "~/.netrc" login
printf '[global]\nindex-url = %s/good/simple\n' "$site" >pip.conf
PIP_CONFIG_FILE=$scratch/pip.conf PIP_INDEX_URL='' good "pip's configuration" good
if command -v openssl >/dev/null &&
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost >openssl.log 2>&1; then
	cat key.pem cert.pem >both.pem
	serve https "$scratch/both.pem"
	export PIP_INDEX_URL=https://localhost:$(cat https/port)/good/simple
	PIP_CERT=$scratch/cert.pem good "https, with the certificate that “cert” names" good
	PIP_RETRIES=1 bad "https, unknown to all" good ": the certificate of the package index cannot be verified (self-signed certificate); name the file"
	unset PIP_INDEX_URL
else
	echo "(left out: https)"
fi
mkdir wheels && PIP_INDEX_URL=$site/good/simple python3 -m pip download -q --no-deps --ignore-requires-python -d wheels nvidia-cuda-nvcc-cu12==12.3.52
PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels good "a folder of wheels, without an index" good 12.3 12.3.52

# ---- which pip is used
mkdir tools && for tool in env sh; do ln -s "$(command -v $tool)" tools; done
rm -rf store
path=$PATH
PATH=$scratch/tools
"$jitwarm" compiler fetch 12.3 >out 2>err; got=$?
PATH=$path
[ $got = 3 ] && grep -qxF "jitwarm: jitwarm asks package indexes through pip (python3 -m pip), and found none: install it (“uv pip install pip”, or the system's package python3-pip), or name the ptxas of a CUDA toolkit (--ptxas FILE)" err &&
	[ "$(wc -l <err)" = 1 ] && [ -z "$(find store -mindepth 1 2>/dev/null)" ] && ok "no pip" || fail "no pip: status $got: $(cat out err; find store)"

# ---- a folder of that name exists
mkdir -p store/12.3/mine
PIP_INDEX_URL=$site/good/simple fetch 12.3; got=$?
[ $got = 3 ] && grep -qF "remove it, then fetch again" err && [ ! -s out ] && [ -d store/12.3/mine ] && ok "a folder without a compiler is no compiler" ||
	fail "a folder without a compiler: status $got: $(cat out err)"
rm -rf store

# ---- usage, Ctrl-C, and leftovers of killed runs
fetch twelve; [ $? = 64 ] && ok "no version" || fail "no version: $(cat err)"
fetch 10.2; [ $? = 64 ] && ok "too old" || fail "too old: $(cat err)"
fetch; [ $? = 64 ] && ok "no version at all" || fail "no version at all: $(cat err)"
no_children() { ! pgrep -f "^[^ ]*python.*$scratch/store" >/dev/null; }
for signal in INT KILL; do
	rm -rf store
	PIP_INDEX_URL=$site/trickle/simple timeout -s KILL 60 "$jitwarm" compiler fetch 12.3 >out 2>err &
	fetcher=$!
	await sh -c 'find store -name "*.whl" | grep -q .' || fail "nothing is fetched: $(cat err)"
	kill -$signal "$(pgrep -P $fetcher)"; got=0; wait $fetcher || got=$?
	await no_children || fail "pip goes on after SIG$signal"
	[ $signal = KILL ] || { [ $got = 130 ] && [ -z "$(find store -mindepth 1)" ] && ok "Ctrl-C" || fail "Ctrl-C: status $got: $(cat err; find store)"; }
done
[ "$(ls -A store | grep -c '^\.new-')" = 1 ] && [ "$(ls -A store | wc -l)" = 1 ] || fail "a kill leaves something else: $(ls -A store)"
killed=$(ls -A store)
mkdir -p store/.new-f00 store/.new-old/x
touch -d '2 days ago' store/.new-old "store/$killed"
PIP_INDEX_URL=$site/good/simple fetch 12.3 && [ -e store/.new-f00 ] && [ -e store/.new-old/x ] && [ "$(ls -A store | wc -l)" = 3 ] && ok "what killed runs left goes after a day, and nothing else" ||
	fail "left by killed runs: $(cat err; ls -A store)"
# Only complete compilers are used.
printf '#!/bin/sh\ntouch %s/started\n' "$scratch" >store/.new-f00/ptxas; chmod +x store/.new-f00/ptxas
"$jitwarm" make -o cache/ --target sm_86 --driver 535.309.01 "$build/tests/framework/libsample_framework.so" >out 2>&1
[ ! -e started ] && ok "what is being fetched is not started" || fail "what is being fetched was started"
# make prints the line that fetches the compiler. The fake ptxas compiles nothing.
library=$build/tests/framework/libsample_framework.so
export PATH=$scratch/bin:/usr/bin:/bin
: >http/log
for rest in "make --target sm_86 --driver 550.163.01 -o cache/"; do
	rm -rf store
	got=0
	# shellcheck disable=SC2086
	PIP_INDEX_URL=$site/good/simple "$jitwarm" $rest "$library" >out 2>err || got=$?
	[[ $got == 2 ]] && grep -qE "“jitwarm compiler fetch 12.[04]”( gets it|, or add)" err && grep -qF -- "--fetch" err && [ ! -s http/log ] && ok "${rest%% *}: the line to type" ||
		fail "${rest%% *}: the line to type: status $got: $(cat out err http/log)"
done
cp "$(type -P true)" codeless
rm -rf store
: >http/log
got=0
PIP_INDEX_URL=$site/good/simple "$jitwarm" make --fetch --target sm_86 --driver 550.163.01 -o cache/ codeless >out 2>err || got=$?
[ $got = 0 ] && grep -q "no device code found" out && [ ! -s http/log ] && [ ! -e store ] && ok "make --fetch: a file without device code costs no download" ||
	fail "make --fetch of a file without device code: status $got: $(cat out err http/log)"
PIP_INDEX_URL=$site/good/simple "$jitwarm" make --fetch --target sm_86 --driver 550.163.01 -o cache/ "$library" >out 2>err
whole 12.4 && ok "make --fetch" || fail "make --fetch: $(cat out err; find store)"
rm -rf store cache
exit $failed
