#!/usr/bin/env bash
# test_install.sh JITWARM   packaging/install.sh from a server of this machine: what is signed is installed, upgraded and removed;
# whatever was changed on the way is refused, by minisign and by OpenSSL alike, and nothing is written
set -uo pipefail
jitwarm=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
script=$here/../../packaging/install.sh
for tool in minisign openssl curl python3; do
	command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
[[ $(openssl pkeyutl -help 2>&1) == *-rawin* ]] || { echo "skipped: OpenSSL is older than 3"; exit 77; }
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME=$work/home XDG_CACHE_HOME='' XDG_STATE_HOME='' XDG_CONFIG_HOME='' XDG_DATA_HOME='' JITWARM_SYSTEM_ROOT=$work/machine
mkdir -p home site
machine=x86_64
fail() { cat "$work/out"; echo "FAILED: $*"; exit 1; }

# release VERSION FILE…: makes a signed archive with the program and these files of documentation
release() {
	local name=jitwarm-$1-linux-$machine version=$1
	shift
	mkdir -p "$name/bin" "$name/include/jitwarm" "$name/share/doc/jitwarm"
	: >"$name/include/jitwarm/key.h"
	strip -o "$name/bin/jitwarm" "$jitwarm"
	for file; do echo "$version" >"$name/share/doc/jitwarm/$file"; done
	tar -czf "site/$name.tar.gz" "$name" && rm -r "$name"
	(cd site && sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS)
	sign key
}
sign() { # KEY OPTION…
	local key=$1
	shift
	rm -f site/SHA256SUMS.minisig
	minisign -S "$@" -s "$key.sec" -m site/SHA256SUMS -t "jitwarm" </dev/null >/dev/null 2>&1 || fail "minisign"
}
for key in key other; do minisign -G -W -p $key.pub -s $key.sec >/dev/null 2>&1 || fail "minisign -G"; done
python3 - site >port 2>/dev/null <<'PYTHON' &
import functools, http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):  # the releases' host redirects
        if not self.path.startswith("/moved/"):
            return super().do_GET()
        self.send_response(302)
        self.send_header("Location", self.path.replace("/moved", "", 1))
        self.end_headers()
handler = functools.partial(Handler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
server=$!
until [ -s port ]; do kill -0 $server 2>/dev/null || fail "no server"; sleep 0.05; done
export JITWARM_BASE_URL JITWARM_PUBLIC_KEY JITWARM_VERSION=1.0
JITWARM_BASE_URL=http://127.0.0.1:$(cat port) JITWARM_PUBLIC_KEY=$(tail -n 1 key.pub)

# The system has no minisign, or neither minisign nor OpenSSL.
for kind in openssl none; do
	mkdir $kind
	for tool in sh sed grep awk cat cp mv rm rmdir mkdir mktemp dirname find sort comm tar gzip sha256sum base64 dd cmp wc tr id uname curl head; do
		ln -s "$(command -v $tool)" "$kind/$tool"
	done
done
ln -s "$(command -v openssl)" openssl/openssl
minisign_path=$PATH
run() { # STATUS PATH ARGUMENT…
	local wanted=$1 path=$2 status=0
	shift 2
	PATH=$path sh "$script" --prefix "$work/prefix" "$@" >out 2>&1 || status=$?
	[ $status = "$wanted" ] || fail "install.sh $* ended with $status, not $wanted"
}
says() { grep -qF -e "$1" out || fail "not said: $1"; }
refused() { # WHAT
	local path
	for path in "$minisign_path" "$work/openssl"; do
		run 1 "$path"
		says "$1"
		[ ! -e prefix ] || fail "something was written: $1"
	done
}

release 1.0 README old
cp -r site sound
# Another account put symlinks under names that can be foreseen into a folder to which it may write (exec keeps the process's number), and
# one in a file's own place: nothing is written through them.
mkdir -p prefix/bin prefix/include/jitwarm
echo mine >victim
PATH=$minisign_path sh -c 'for name in bin/jitwarm include/jitwarm/key.h; do
	for new in .new-$$ .new .tmp .$$; do ln -s "$1/victim" "$1/prefix/$name$new"; done
done
ln -s "$1/victim" "$1/prefix/bin/jitwarm"
exec sh "$2" --prefix "$1/prefix"' sh "$work" "$script" >out 2>&1 || fail "install.sh beside links"
[ "$(cat victim)" = mine ] || fail "it wrote through a link"
[ ! -L prefix/bin/jitwarm ] && [ -x prefix/bin/jitwarm ] && [ -f prefix/include/jitwarm/key.h ] || fail "what lies there is not jitwarm's"
[ -z "$(find prefix -name '.jitwarm-*')" ] || fail "left: $(find prefix -name '.jitwarm-*')"
rm -r prefix
# A folder replaces the new one before anything is written there, as an account that may write beside it can do.
mkdir swap swapped
ln -s "$work/victim" swapped/file
printf '#!/bin/sh\nmade=$(%s "$@") && case $made in %s/prefix/*) rm -r "$made" && ln -s %s/swapped "$made" ;; esac\necho "$made"\n' \
	"$(command -v mktemp)" "$work" "$work" >swap/mktemp && chmod +x swap/mktemp
run 1 "$work/swap:$minisign_path"
says "another account has replaced it"
[ "$(cat victim)" = mine ] || fail "it wrote into a folder that was swapped"
rm -rf prefix
# Root neither believes another account's list, nor runs its program, nor follows its symlink.
if [ "$(id -u)" = 0 ]; then
	mkdir -p prefix theirs && echo mine >theirs/file
	ln -s "$work/theirs" prefix/include && chown -h 65534 prefix/include
	run 1 "$minisign_path"
	says "belongs to another account"
	[ "$(ls theirs)" = file ] || fail "it installed through another account's link"
	rm prefix/include
	run 0 "$minisign_path"
	printf '#!/bin/sh\n: >%s/ran\n' "$work" >prefix/bin/jitwarm && chown 65534 prefix/bin/jitwarm
	ln -s "$work/theirs" prefix/planted && chown -h 65534 prefix/planted
	echo planted/file >>prefix/share/jitwarm/installed.txt && chown 65534 prefix/share/jitwarm/installed.txt
	run 1 "$minisign_path" --uninstall
	[ -f prefix/bin/jitwarm ] && [ ! -e ran ] || fail "it believed another account's list"
	chown 0 prefix/share/jitwarm/installed.txt
	run 0 "$minisign_path" --uninstall
	[ -f theirs/file ] || fail "it removed a file through another account's link"
	[ ! -e ran ] || fail "it ran another account's program"
	[ ! -e prefix/bin/jitwarm ] || fail "the program is there"
	rm -rf prefix
	# Files set up for the machine are removed with the program.
	run 0 "$minisign_path"
	# shellcheck source=tests/accounts.sh
	. "$here/../accounts.sh"
	safe=$(folder_of_root) || fail "no folder of root's alone"
	trap 'kill $server 2>/dev/null; rm -rf "$work" "$safe"' EXIT
	mkdir -p "$JITWARM_SYSTEM_ROOT/etc/systemd/system" calls && printf '#!/bin/sh\n' >calls/systemctl && chmod +x calls/systemctl
	cp "$jitwarm" "$safe/jitwarm"
	for service in web other; do
		PATH=$work/calls:$PATH "$safe/jitwarm" startup enable --service $service --account root "$work" >out 2>&1 || fail "startup enable --service"
	done
	[ "$(find "$JITWARM_SYSTEM_ROOT" -name '60-jitwarm.conf' | wc -l)" = 2 ] || fail "no units of services"
	run 0 "$work/calls:$minisign_path" --uninstall
	[ -z "$(find "$JITWARM_SYSTEM_ROOT" -type f)" ] || fail "units of services stay: $(find "$JITWARM_SYSTEM_ROOT" -type f)"
	rm -rf prefix
fi
restore() { rm -rf site && cp -r sound site; }
sed -i '1s/^\(.\)/0\1/;1s/^\(.\{64\}\)./\1/' site/SHA256SUMS && refused "does not have the signature"
restore
sign other && refused "does not have the signature"
restore
sed -i '3s/jitwarm/jitwurm/' site/SHA256SUMS.minisig && refused "does not have the signature"
restore
# The signer's name is not signed: another key's signature is still refused.
python3 - site/SHA256SUMS.minisig <<'PYTHON'
import base64, sys
lines = open(sys.argv[1]).read().splitlines()
bytes_ = bytearray(base64.b64decode(lines[1]))
bytes_[2] ^= 1
lines[1] = base64.b64encode(bytes_).decode()
open(sys.argv[1], "w").write("\n".join(lines) + "\n")
PYTHON
refused "does not have the signature"
restore
printf 'x' >>site/jitwarm-1.0-linux-$machine.tar.gz && refused "is not the one that was signed"
restore
JITWARM_VERSION=1.1 refused "the signed list does not name jitwarm-1.1"
: >site/SHA256SUMS.minisig && refused "does not have the signature"
rm site/SHA256SUMS.minisig && refused "cannot be fetched"
restore
run 1 "$work/none"
says "install minisign or OpenSSL 3"
[ ! -e prefix ] || fail "something was written without a check"
JITWARM_PUBLIC_KEY='' run 1 "$minisign_path"
says "belongs to no release"

# The connection of “curl | sh” breaks: the partial script does nothing, wherever it ends.
mkdir cut
while read -r line; do
	head -n "$line" "$script" | PATH=$work/openssl sh -s -- --prefix "$work/prefix" >cut/$line 2>&1
	[ ! -s cut/$line ] || grep -q "yntax error" cut/$line || fail "line $line: $(cat cut/$line)"
	[ ! -e prefix ] || fail "$line lines of it have written"
done < <(grep -nE '^(put|verify|tar|while)|^(\[|fetch).*(manifest|work)' "$script" | cut -d: -f1)
[ "$(find cut -type f | wc -l)" -gt 8 ] || fail "not cut off often enough"
PATH=$work/openssl sh -s -- --prefix "$work/prefix" --unknown <"$script" >out 2>&1
[ $? = 64 ] && says "usage: install.sh" || fail "the usage, from a pipe"
# Folders that the system has empty are not removed.
mkdir -p prefix/include prefix/lib
# An installation that broke off half way can be removed.
mkdir -p prefix/share/doc/jitwarm/README/mine
run 1 "$work/openssl"
says "README: a folder is in the way"
[ -x prefix/bin/jitwarm ] || fail "it did not get as far as that"
run 0 "$minisign_path" --uninstall
[ -z "$(find prefix -type f)" ] && [ -d prefix/share/doc/jitwarm/README/mine ] || fail "left: $(find prefix)"
[ -d prefix/include ] && [ -d prefix/lib ] && [ ! -e prefix/include/jitwarm ] || fail "not the folders of before: $(find prefix -type d)"
rm -r prefix/share/doc
run 0 "$work/openssl"
says "installed jitwarm"
[ -x prefix/bin/jitwarm ] && [ -f prefix/share/doc/jitwarm/old ] || fail "it is not there"
sign key -l # the older form of signature, without a hash
run 0 "$work/openssl"
run 0 "$minisign_path"
# An upgrade removes files that the new release lacks, and leaves files that are not the script's.
release 2.0 README
echo mine >prefix/share/doc/jitwarm/mine
mkdir -p home/.nv/ComputeCache && echo entry >home/.nv/ComputeCache/entry
JITWARM_VERSION=2.0 run 0 "$minisign_path"
[ "$(cat prefix/share/doc/jitwarm/README)" = 2.0 ] && [ ! -e prefix/share/doc/jitwarm/old ] && [ -f prefix/share/doc/jitwarm/mine ] ||
	fail "the upgrade"
# Names in the list that lead out of the folder are ignored.
echo kept >outside && printf '../outside\n%s/outside\n' "$work" >>prefix/share/jitwarm/installed.txt
run 0 "$minisign_path" --uninstall
[ -f outside ] || fail "removed something outside"
[ "$(find prefix -type f)" = prefix/share/doc/jitwarm/mine ] || fail "left: $(find prefix)"
[ -f home/.nv/ComputeCache/entry ] || fail "the cache is gone"
run 1 "$minisign_path" --uninstall
says "nothing was installed"
rm prefix/share/doc/jitwarm/mine
# A release's script prints its help, also from a pipe.
sh -s -- --help <"$script" >out 2>&1 && says "--uninstall    remove" || fail "--help"
# After an error, package.sh and release.sh end before they build anything.
while IFS=, read -r wrong words; do
	# shellcheck disable=SC2086
	timeout 60 "$here/../../scripts/"$wrong </dev/null >out 2>&1
	[ $? = 64 ] && says "$words" || fail "$wrong"
done <<'END'
package.sh -o dist nonsense,no target nonsense
package.sh -o,-o wants a value
package.sh installer a RW 2.0,not a plain address
package.sh installer http://a/b RW 2.0,not a public key
release.sh --key none.sec 1.0.0,there is no key none.sec
release.sh --key,--key wants a value
release.sh --no-sign -o new 1.0,not a version
release.sh -o new 0.0.0.0 x,release.sh --rebuild
release.sh -o site 1.0.0,site has files in it
END
[ ! -e new ] && [ ! -e dist ] || fail "something was made"
# The script of a release needs no variables.
"$here/../../scripts/package.sh" installer "$JITWARM_BASE_URL" "$JITWARM_PUBLIC_KEY" 2.0 >release.sh || fail "package.sh installer"
"$here/../../scripts/package.sh" installer "http://a/vVERSION" "$JITWARM_PUBLIC_KEY" 2.0 >out && grep -q '^base=.*:-http://a/v2\.0}$' out || fail "a version in the address"
env -u JITWARM_BASE_URL -u JITWARM_PUBLIC_KEY -u JITWARM_VERSION PATH="$work/prefix/bin:$PATH" sh release.sh --prefix prefix/ >out 2>&1 || fail "the release's script"
! grep -q "not in PATH" out || fail "PATH has it"
# The documents' line works, from a host that redirects.
cp release.sh site/install.sh
for page in install.md contributing/packages.md; do
	line=$(grep -o 'curl [-A-Za-z]* https://HOST/PATH/install.sh && sh install.sh' "$here/../../docs/$page") || fail "no line in $page"
	(mkdir fetched && cd fetched && sh -c "${line/https:\/\/HOST\/PATH/$JITWARM_BASE_URL\/moved} --help") >out 2>&1
	says "install.sh [--prefix DIR]" && rm -r fetched
done
# The documents' line verifies another file.
line=$(sed -n 's/^\$ \(minisign -V.*\)/\1/p' "$here/../../docs/install.md")
(cd site && sh -c "${line/KEY/$JITWARM_PUBLIC_KEY}") >out 2>&1 || fail "$line"
says "jitwarm-2.0-linux-$machine.tar.gz: OK"
cp -r site changed && printf 'x' >>"changed/jitwarm-2.0-linux-$machine.tar.gz"
(cd changed && sh -c "${line/KEY/$JITWARM_PUBLIC_KEY}") >out 2>&1 && fail "a changed file passes: $line"
"$here/../../scripts/package.sh" installer 'http://a/"; true' "$JITWARM_PUBLIC_KEY" 2.0 >out 2>&1 && fail "an address that ends the word"
run 0 "$minisign_path" --uninstall
[ -z "$(find prefix -type f -o -path '*jitwarm*')" ] || fail "left: $(find prefix)"
echo "install.sh: passed"
