#!/bin/bash
# fetch.sh BUILD-FOLDER   jitwarm compiler fetch, from package indexes on this machine, honest and lying (index-server.py)
#
# Exit status 1 if a case fails, 77 where something is not at hand.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
program=ptxas linker=libnvJitLink.so.12 jitwarm=$build/src/jitwarm
# shellcheck source=tests/elsewhere/indexes.sh
. "$here/indexes.sh"

serve http
: >http/log
site=http://127.0.0.1:$(cat http/port)

export XDG_CONFIG_HOME=$scratch/home/.config JITWARM_PTXAS=$scratch/store

fetch() { timeout 120 "$jitwarm" compiler fetch "$@" >out 2>err; }
whole() { # VERSION: it is there, and nothing else
	[ "$(find store -mindepth 1 | sort)" = "$(printf '%s\n' "store/$1" "store/$1/$linker" "store/$1/$program" | sort)" ] && [ -x "store/$1/$program" ]
}
# good TEXT KIND [VERSION [FULL]]: fetched from that index
good() {
	local text=$1 kind=$2 version=${3:-12.3} full=${4:-12.3.107}
	rm -rf store
	if PIP_INDEX_URL=${PIP_INDEX_URL-$site/$kind/simple} fetch "$version" && whole "$version" && [ "$(cat out)" = "$scratch/store/$version/$program" ] &&
		grep -q "V$full\"" "store/$version/$program"; then
		ok "$text"
	else
		fail "$text: $(cat out err; find store; tail -n 5 http/log)"
	fi
}
# bad TEXT KIND SAID [VERSION]: one line that says SAID, and nothing is left
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

# ---- what an index says
good "the newest that fits" good
grep -q "GET /good/simple/nvidia-cuda-nvcc-cu12/ 127.0.0.1 None application/vnd.pypi.simple.v1+json$" http/log && ok "asked for JSON" || fail "asked: $(cat http/log)"
bad "a page without hashes" unhashed "the index lists no SHA-256 of it"
good "just this one" good 12.3.52 12.3.52
bad "one that was taken back" good "no wheel nvidia-cuda-nvcc-cu12==12.3.999 for " 12.3.999
bad "none of that version" good "; the newest is 12.4.99" 12.7
bad "no such project" empty "no wheel nvidia-cuda-nvcc-cu12==12.3.*"
good "a redirect" moved
good "a redirect to another host" moved-away
good "the wheel is on another host" elsewhere
PIP_RETRIES=1 good "a server that is busy once" busy-once
PIP_RETRIES=1 good "a wheel that breaks off once" cut-once
export PIP_INDEX_URL=$site/500/simple PIP_EXTRA_INDEX_URL="$site/empty/simple $site/good/simple/"
good "what one index cannot say, another does" ""
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL
fetch 12.3 && [ "$(cat out)" = "$scratch/store/12.3/$program" ] && [ ! -s err ] && ok "not fetched again" || fail "not fetched again: $(cat out err)"
rm "store/12.3/$linker"
PIP_INDEX_URL=$site/good/simple fetch 12.3 && whole 12.3 && ok "a kept ptxas gets its linker" || fail "a kept ptxas gets its linker: $(cat out err; find store)"
for kind in other-program silent-program; do
	PIP_INDEX_URL=$site/good/simple fetch 12.4 && rm -rf store/12.3 && mv store/12.4 store/12.3 # as an earlier jitwarm kept what such an index served
	PIP_INDEX_URL=$site/$kind/simple fetch 12.3; got=$?
	[ $got = 3 ] && [ ! -s out ] && grep -q 'V12.4.99"' "store/12.3/$program" && [ "$(ls -A store)" = 12.3 ] && ok "a kept one of another version stays where $kind is served" ||
		fail "a kept one of another version, $kind: status $got: $(cat out err; find store)"
	PIP_INDEX_URL=$site/good/simple fetch 12.3 && whole 12.3 && grep -q 'V12.3.107"' "store/12.3/$program" && grep -qa 'Create_12_3' "store/12.3/$linker" &&
		! grep -qa 'Create_12_4' "store/12.3/$linker" && ok "and is replaced by the right one" || fail "a kept one of another version is not replaced: $(cat err; tail -n 3 "store/12.3/$program")"
done
bad "a ptxas of another version" other-program "/other-program/files/nvidia_cuda_nvcc_cu12-12.3.107-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl: its ptxas says that it is of CUDA 12.4, not 12.3"
bad "a ptxas that does not say its version" silent-program "does not say which ptxas it is"
bad "an nvJitLink of another version" other-linker "its $linker says that it is of CUDA 12.4, not 12.3"
bad "no linker" no-linker "no wheel nvidia-nvjitlink-cu12==12.3.*"
for kind in 400 500 503; do bad "status $kind" $kind "$site/$kind/simple/nvidia-cuda-nvcc-cu12/: the server answers with status $kind"; done
bad "no wheel at that address" missing-wheel "the server answers with status 404"
bad "a page that breaks off" cut-index "nvidia-cuda-nvcc-cu12/: "
bad "a page without end" endless "sends more than 16777216 bytes"
bad "no JSON" garbage "not JSON at byte"
bad "a page of HTML, as older indexes have" html "the content type “text/html” is not the JSON of an index (PEP 691); check index-url"
bad "another page" login-page "the content type “text/html”"
bad "broken JSON" torn "not JSON at byte"
bad "JSON of another version" json-2 "not a project's page of API version 1"
bad "redirects without end" circle "redirects more than 5 times"
bad "a redirect to another protocol" moved-to-ftp "only https is allowed"
bad "a redirect to a host that is not trusted" moved-to-http "http://other.invalid:80: only https is allowed; PIP_TRUSTED_HOST=other.invalid:80 allows plain http"
PIP_TIMEOUT=1 bad "no answer" silent "$site/silent/simple/"
PIP_INDEX_URL=http://127.0.0.1:1/simple bad "no server" "" "http://127.0.0.1:1/simple/nvidia-cuda-nvcc-cu12/: "
PIP_INDEX_URL=http://example.invalid/simple bad "plain http" "" "only https is allowed; PIP_TRUSTED_HOST="
PIP_INDEX_URL=http://127.0.0.1.example.invalid/simple bad "a name that begins like this machine" "" "only https is allowed; PIP_TRUSTED_HOST="
PIP_INDEX_URL=ftp://127.0.0.1/simple bad "another protocol" "" "only https is allowed"
PIP_INDEX_URL="http://x:p@ss@" bad "no address" "" "gives an invalid address"

# ---- the content of a wheel
bad "another hash" wrong-hash "its SHA-256 is "
bad "another hash, of an address with a password" wrong-hash-login "its SHA-256 is "
bad "no zip file, at an address with a password" no-zip-login "no-zip-login/files/"
bad "a wheel that breaks off" cut-wheel "cut-wheel/files/"
bad "half a zip file" torn-zip "torn-zip/files/"
bad "no zip file" no-zip "no-zip/files/"
bad "no program in it" no-program "has no bin/$program"
bad "two of them" two-programs "two programs, the second is nvidia/cu"
bad "a link" link "has no bin/$program"
good "members that climb out of the folder stay inside" climbing
[ -z "$(find . -name outside)" ] && [ ! -e ../outside ] && ok "and nothing is written outside" || fail "written outside"

# ---- names and passwords
PIP_INDEX_URL=http://us%20er:p%40ss%2Fw@127.0.0.1:${site##*:}/login/simple good "a name and password in the address" login
grep -q "/login/files/.* Basic " http/log && ok "for wheels on the same host too" || fail "for wheels: $(tail -n 3 http/log)"
bad "none" login "status 401; write the name and password into the index-url of pip's configuration, or into ~/.netrc"
PIP_INDEX_URL=http://us%20er:wrong@127.0.0.1:${site##*:}/login/simple bad "wrong ones" login "status 401"
: >http/log
PIP_INDEX_URL=http://us%20er:p%40ss%2Fw@127.0.0.1:${site##*:}/elsewhere-login/simple good "wheels on another host" elsewhere-login
PIP_INDEX_URL=http://us%20er:p%40ss%2Fw@127.0.0.1:${site##*:}/login-away/simple good "a redirect to another host" login-away
grep -q "localhost None" http/log && ! grep -q "localhost Basic" http/log && ok "no password goes to another host" || fail "to another host: $(cat http/log)"
for kind in moved-named no-zip-login; do
	: >http/log
	rm -rf store
	PIP_INDEX_URL=$site/$kind/simple fetch 12.3
	[ -s http/log ] && ! grep -q Basic http/log && ok "nobody is named in an address that a server gives ($kind)" || fail "a server's own name, $kind: $(cat err http/log)"
done
printf 'machine 127.0.0.1\nlogin "us er"\npassword p@ss/w\n' >netrc
chmod 600 netrc
NETRC=$scratch/netrc good "~/.netrc" login
serve other
other=$(cat other/port)
for kind in moved files; do
	: >other/log
	NETRC=$scratch/netrc good "$kind to another port of the same host" "$kind-port-$other"
	grep -q " 127.0.0.1 None" other/log && ! grep -q Basic other/log && ok "~/.netrc is not for that port" || fail "another port is told: $(cat other/log)"
done
PIP_EXTRA_INDEX_URL=http://127.0.0.1:$other/empty/simple NETRC=$scratch/netrc good "unless pip's configuration names it" "files-port-$other"
grep -q "/good/files/.* Basic " other/log && ok "then it is" || fail "not named: $(cat other/log)"
mv netrc home/.netrc
good "the same in the home folder" login
rm home/.netrc

# ---- what is no file: libcurl would wait for a pipe's writer, and Ctrl-C would not end it
mkfifo home/.netrc
good "a pipe called .netrc" good
for option in CERT CLIENT_CERT; do
	export PIP_$option=$scratch/home/.netrc
	bad "a pipe in $option" good "/home/.netrc: is not a regular file"
	unset PIP_$option
done
rm home/.netrc

# ---- pip's configuration: what a pip says, and variables before it
from() { # KIND TEXT: the index that was asked
	rm -rf store
	: >http/log
	fetch 12.3 && [ "$(sed -n '1s|^GET /\([a-z-]*\)/simple/.*|\1|p' http/log)" = "$1" ] && ok "$2" || fail "$2: $(cat err http/log)"
}
pip_says() { # LINE...
	mkdir -p pips
	printf '%s\n' '#!/bin/sh' '[ "$*" = "config list" ] || exit 9' "cat <<'E'" "$@" E >pips/pip
	chmod 755 . pips pips/pip
}
unset PIP_CONFIG_FILE
export PATH=$scratch/pips:$PATH
pip_says ":env:.index-url='$site/500/simple'" "global.index-url='$site/good/simple'" "global.timeout='60'" "list.index-url='$site/500/simple'"
from good "what pip says"
pip_says "download.index-url='$site/moved/simple'" "global.index-url='$site/500/simple'" "install.index-url='$site/500/simple'"
from moved "[download] is heavier than [install] and [global]"
pip_says "global.index-url='$site/500/simple'" "install.index-url='$site/moved/simple'"
from moved "[install] is heavier than [global]"
pip_says "global.extra-index-url='\n$site/500/simple\n$site/good/simple'" "global.index-url=\"$site/it's-empty/simple\""
rm -rf store
fetch 12.3 && whole 12.3 && grep -q "/it's-empty/" http/log && ok "several values, and Python's quotes" || fail "several values: $(cat err http/log)"
pip_says "global.index-url='$site/500/simple'"
PIP_INDEX_URL=$site/moved/simple from moved "a variable is heavier than pip's files"
PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL=$site/good/simple from good "PIP_CONFIG_FILE=/dev/null"
pip_says "global.index-url='$site/good/simple'"
PIP_INDEX_URL='' from good "an empty variable is none"
printf '#!/bin/sh\nexit 3\n' >pips/pip
bad "a pip that fails" good "pip's configuration (PIP_CONFIG_FILE=/dev/null leaves it out): “$scratch/pips/pip config list” ends with exit status 3"
[ "$(id -u)" != 0 ] || {
	printf '#!/bin/sh\ntouch %s/ran\n' "$scratch" >pips/pip
	chown 65534 pips
	bad "root, and a pip that another account may replace" good "pips/pip is not run as root"
	chown 0 pips
	[ ! -e ran ] && ok "and it is not started" || fail "it was started"
	mkdir shells
	printf '#!/usr/bin/env sh\nexit 4\n' >pips/pip
	printf '#!/bin/sh\ntouch %s/ran\n' "$scratch" >shells/sh
	chmod 755 shells shells/sh
	PATH=$scratch/shells:$PATH bad "root's own pip gets the system's PATH" good "ends with exit status 4"
	[ ! -e ran ] || fail "another shell was started"
}
PATH=${PATH#*:}
export PIP_CONFIG_FILE=/dev/null

# ---- folders of wheels
mkdir wheels && python3 - "$site" <<-'P'
	import sys, urllib.request
	for version in ("12.3.52", "12.4.99"):
	    for tag in ("manylinux1_x86_64", "win_amd64"):
	        name = f"nvidia_cuda_nvcc_cu12-{version}-py3-none-{tag}.whl"
	        open("wheels/" + name, "wb").write(urllib.request.urlopen(f"{sys.argv[1]}/good/files/{name}").read())
	for tag in ("manylinux2014_x86_64", "win_amd64"):
	    for version in ("12.3.101", "12.4.127"):
	        name = f"nvidia_nvjitlink_cu12-{version}-py3-none-{tag}.whl"
	        open("wheels/" + name, "wb").write(urllib.request.urlopen(f"{sys.argv[1]}/good/files/{name}").read())
P
export PIP_NO_INDEX=1
PIP_FIND_LINKS=wheels good "a folder of wheels, without an index" good 12.3 12.3.52
PIP_FIND_LINKS="nowhere wheels" good "several folders" good 12.3 12.3.52
PIP_FIND_LINKS="$site/good/simple/nvidia-cuda-nvcc-cu12/" bad "a page of links" good "of find-links, folders alone are searched"
PIP_FIND_LINKS=wheels bad "not in it" good "wheels: no wheel nvidia-cuda-nvcc-cu12==12.5.*" 12.5
bad "neither index nor folder" good "no package index is known"
PIP_FIND_LINKS=ftp://x:p%40ss@127.0.0.1/wheels bad "an address with a password" good "ftp://127.0.0.1/wheels: of find-links, folders alone are searched"
cp -r wheels home/wheels
PIP_FIND_LINKS="~/wheels" good "a folder of the home folder" good 12.3 12.3.52
unset PIP_NO_INDEX
PIP_FIND_LINKS=wheels good "the newest of folder and index" good

# ---- https
if command -v openssl >/dev/null &&
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost >openssl.log 2>&1; then
	cat key.pem cert.pem >both.pem
	serve https "$scratch/both.pem"
	safe=https://localhost:$(cat https/port)/good/simple
	export PIP_INDEX_URL=$safe
	PIP_CERT=$scratch/cert.pem good "https, with the certificate that “cert” names" good
	REQUESTS_CA_BUNDLE=$scratch/cert.pem good "https, with REQUESTS_CA_BUNDLE" good
	PIP_TRUSTED_HOST="x.example localhost:$(cat https/port)" good "https, with trusted-host" good
	bad "https, unknown to all" good "$safe/nvidia-cuda-nvcc-cu12/: "
	PIP_TRUSTED_HOST=127.0.0.1 bad "https, another host is trusted" good "$safe/nvidia-cuda-nvcc-cu12/: "
	PIP_INDEX_URL=${safe/good/moved-away} PIP_CERT=$scratch/cert.pem bad "https, redirected to http" good "redirects from https to plain http"
	unset PIP_INDEX_URL
else
	echo "(left out: https)"
fi

# ---- a folder of that name
mkdir -p store/12.3/mine
PIP_INDEX_URL=$site/good/simple fetch 12.3; got=$?
[ $got = 3 ] && grep -qF "remove it, then fetch again" err && [ ! -s out ] && [ -d store/12.3/mine ] && ok "a folder without a compiler is no compiler" ||
	fail "a folder without a compiler: status $got: $(cat out err)"
rm -rf store

# ---- usage, Ctrl-C, and what killed runs leave
fetch twelve; [ $? = 64 ] && ok "no version" || fail "no version: $(cat err)"
fetch 10.2; [ $? = 64 ] && ok "too old" || fail "too old: $(cat err)"
fetch; [ $? = 64 ] && ok "no version at all" || fail "no version at all: $(cat err)"
rm -rf store
: >http/log
PIP_INDEX_URL=$site/trickle/simple timeout -s KILL 60 "$jitwarm" compiler fetch 12.3 >out 2>err &
fetcher=$!
await grep -q "/trickle/files/" http/log
[ -n "$(find store -name wheel)" ] || await sh -c 'find store -name wheel | grep -q .'
kill -INT $fetcher; got=0; wait $fetcher || got=$?
[ $got = 1 ] && [ -z "$(find store -mindepth 1)" ] && ok "Ctrl-C" || fail "Ctrl-C: status $got: $(cat err; find store)"
mkdir -p store/.new-01d/x store/.new-f00 store/.new-old/x
touch -d '2 days ago' store/.new-01d store/.new-old
PIP_INDEX_URL=$site/good/simple fetch 12.3 && [ ! -e store/.new-01d ] && [ -e store/.new-f00 ] && [ -e store/.new-old/x ] && ok "what killed runs left goes after a day, and nothing else" || fail "left by killed runs: $(cat err; ls -A store)"
# Only whole ones are looked at.
printf '#!/bin/sh\ntouch %s/started\n' "$scratch" >store/.new-f00/ptxas; chmod +x store/.new-f00/ptxas
"$jitwarm" make -o cache/ --target sm_86 --driver 535.309.01 "$build/tests/framework/libsample_framework.so" >out 2>&1
[ ! -e started ] && ok "what is being fetched is not started" || fail "what is being fetched was started"
# On the way, and the exact line where that is not asked for. The fake ptxas compiles nothing.
library=$build/tests/framework/libsample_framework.so
: >http/log
for rest in "bake --target sm_86 --driver 12.4 -o baked" "make --target sm_86 --driver 550.163.01 -o cache/"; do
	rm -rf store
	got=0
	# shellcheck disable=SC2086
	PIP_INDEX_URL=$site/good/simple PATH=/usr/bin:/bin "$jitwarm" $rest "$library" >out 2>err || got=$?
	[[ $got == 2 ]] && grep -qE "“jitwarm compiler fetch 12.[04]” gets it" err && grep -qF -- "--fetch" err && [ ! -s http/log ] && [ ! -e baked ] && ok "${rest%% *}: the line to type" ||
		fail "${rest%% *}: the line to type: status $got: $(cat out err http/log)"
done
PIP_INDEX_URL=$site/good/simple PATH=/usr/bin:/bin "$jitwarm" make --fetch --target sm_86 --driver 550.163.01 -o cache/ "$library" >out 2>err
whole 12.4 && ok "make --fetch" || fail "make --fetch: $(cat out err; find store)"
rm -rf store cache
# Relocatable code: ptxas and nvJitLink of CUDA 12.0 are the first of which both are there. This index has none of them.
PIP_INDEX_URL=$site/good/simple PATH=/usr/bin:/bin "$jitwarm" bake --fetch --target sm_86 -o baked "$library" >out 2>err
grep -qF "no wheel nvidia-cuda-nvcc-cu12==12.0.*" err && ok "bake --fetch: the oldest that will do" || fail "bake --fetch: $(cat out err)"
exit $failed
