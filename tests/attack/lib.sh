# shellcheck shell=bash
# Sourced by every case: root, and an account that attacks it. $open is a folder that both get into, $home the account's own in it,
# $treasure root's, with files that the account may read at most.
#
#   as_mallory COMMAND…   with that account's rights
#   untouched             nothing in $treasure has changed: content, owner, mode, names

((EUID == 0)) || skip "attacks on root need root"
# shellcheck source=tests/accounts.sh
. "$cases/../../accounts.sh"
open=$(folder_for_all) || skip "this root cannot act as another account, or no folder is open to it"
trap 'jobs -p | xargs -r kill -9 2>/dev/null; rm -rf "$open"' EXIT
# shellcheck disable=SC2034
place=$open # cli/steps.sh restores it
mallory=64321
as_mallory() { setpriv --reuid=$mallory --regid=$mallory --clear-groups --inh-caps=-all "$@"; }

# Root becomes that account, which must be able to read the program and its folder.
build=$(dirname "$(dirname "$JITWARM")")
mkdir "$open/build"
(cd "$build" && ls -d src/jitwarm tests/simdriver/lib tests/framework/libsample_framework.so tests/framework/framework-app tests/nvrtc 2>/dev/null) >"$open/parts"
mapfile -t parts <"$open/parts"
copy_for_all "$build" "$open/build" "${parts[@]}" || fail "copying for another account"
JITWARM=$open/build/src/jitwarm
cd "$open" || fail "$open is not there"

home=$open/home treasure=$open/treasure
mkdir -m 700 "$home" && chown $mallory:$mallory "$home"
mkdir -p "$treasure/folder"
printf 'precious' >"$treasure/file"
printf 'secret' >"$treasure/secret"
printf 'in a folder' >"$treasure/folder/file"
mkdir "$treasure/empty"
chmod 600 "$treasure/secret"
state_of() { (cd "$treasure" && find . -printf '%p %U %G %m %y\n' | sort && find . -type f -exec sha256sum {} + | sort); }
before=$(state_of)
untouched() { [[ $(state_of) == "$before" ]] || fail "root's files have changed: $(diff <(echo "$before") <(state_of))"; }
# The commands that jitwarm printed are not run here, since they would run with a state folder of root's (cli/steps.sh).
run_step() { :; }
# cached DIR: prints how many entries it has
cached() { find "$1/" -path '*/?/?/*' -type f 2>/dev/null | wc -l; }
