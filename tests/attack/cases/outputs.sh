# -o onto what is not a regular file: a device and a pipe stay what they are and get nothing, the target of a link is written
. "$cases/../lib.sh"
with_simdriver sm_86
run 0 prime "$sample"
mknod "$open/null" c 1 3 2>/dev/null || skip "no device can be made here"
mkfifo "$open/pipe"
kind() { stat -c %F "$1"; }
for name in null pipe; do
	was=$(kind "$open/$name")
	for command in export run; do
		arguments=(export -o "$open/$name")
		[[ $command == export ]] || arguments=(run --record "$open/$name" -- true)
		run 64 "${arguments[@]}"
		err_has "$open/$name: is not a regular file: not replaced"
		[[ $(kind "$open/$name") == "$was" ]] || fail "$name is a $(kind "$open/$name") now"
	done
done
ln -s target "$open/link"
: >"$open/target"
run 0 export -o "$open/link"
[[ -L $open/link && -s $open/target ]] || fail "the link was replaced"

# The symlink of another account is not followed, even to a pack, which -o would replace.
cp "$open/target" "$treasure/pack" && before=$(state_of)
as_mallory ln -s "$treasure/pack" "$home/pack"
run 2 export -o "$home/pack"
untouched
# It is not followed either if the account counts as root.
JITWARM_TRUST_ACCOUNTS=$mallory run 3 export -o "$home/pack"
err_has "is a symlink, which root does not follow"
untouched

# The number of “nobody” is no exception, though a user namespace shows it for the accounts that the namespace lacks.
mkdir "$open/of-nobody"
ln -s "$treasure/folder" "$open/of-nobody/link"
chown -h 65534:65534 "$open/of-nobody" "$open/of-nobody/link"
run 2 export -o "$open/of-nobody/link/planted"
err_has "$open/of-nobody belongs to"
untouched
if unshare -r true 2>/dev/null; then
	chmod 777 "$open/of-nobody"
	JITWARM="unshare -r $JITWARM" run 2 export -o "$open/of-nobody/written"
	err_has "other accounts may write to"
	JITWARM_TRUST_ACCOUNTS='*' JITWARM="unshare -r $JITWARM" run 0 export -o "$open/of-nobody/written"
fi

# For every kind of output: a device and a pipe stay what they are, and root's file behind another account's symlink is not written.
run 0 key generate outputs
as_mallory ln -s "$treasure/pack" "$home/out"
kinds() { # kinds COMMAND: runs it with each of the three
	local path was
	for path in "$open/null" "$open/pipe" "$home/out"; do
		was=$(kind "$path")
		limit=20 run '0|1|2|3|64|124' "${@//OUT/$path}"
		[[ $(kind "$path") == "$was" ]] || fail "$* made it a $(kind "$path")"
	done
	untouched
}
kinds prime "$sample" --json-log OUT
kinds run --record OUT -- true
kinds export -o OUT
