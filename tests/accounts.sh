# shellcheck shell=bash
# Commands of another account, read by the tests that need one. Where the checkout lies below a folder of mode 0700 (/root, many
# homes), that account reads nothing of it: the tests copy what it needs into a folder that every account gets into.

as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)

# Makes a folder that every account may enter, and prints its path. Fails if this account cannot act as another one, or no folder for
# temporary files is open to all.
folder_for_all() {
	local base made
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 1
	for base in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
		made=$(mktemp -d "$base/jitwarm-all-XXXXXX") || continue
		chmod 755 "$made"
		"${as_other[@]}" test -x "$made/." 2>/dev/null && { echo "$made"; return 0; }
		rmdir "$made"
	done
	return 1
}

# Makes a folder to whose whole path only root may write, and prints its path. Fails if this account is not root, or if no such place
# exists.
folder_of_root() {
	local base made
	[ "$(id -u)" = 0 ] || return 1
	for base in /usr/local/lib /usr/lib /opt /var/lib; do
		[ "$(stat -c '%u %A' "$base" 2>/dev/null)" = "0 drwxr-xr-x" ] || continue
		made=$(mktemp -d "$base/jitwarm-tests-XXXXXX") && chmod 755 "$made" && { echo "$made"; return 0; }
	done
	return 1
}

# copy_for_all FROM TO PATH...: copies these paths below FROM to the same paths below TO, for every account to read
copy_for_all() {
	local from=$1 to
	to=$(cd "$2" && pwd) || return 1
	shift 2
	(cd "$from" && cp -rL --parents -t "$to" "$@" && chmod -R a+rX "$to")
}
