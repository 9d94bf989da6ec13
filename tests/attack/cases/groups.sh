# Root trusts a group only if no other account is in it, whichever of the group's names has the member, and none can join it.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
export HOME=$work/home
mkdir -p "$HOME" "$open/place"
group=54321
chown 0:$group "$open/place" && chmod 775 "$open/place"
# as_files STATUS GROUP-LINES GSHADOW-LINE: primes into the folder of that group, with these two files instead of the machine's
as_files() {
	printf '%b' "root:x:0:\n$2" >"$open/group"
	printf '%b' "root:*::\nothers:\$6\$x::\n$3" >"$open/gshadow"
	cp /etc/passwd "$open/passwd" && echo "mallory:x:$mallory:$mallory::/:/bin/sh" >>"$open/passwd"
	JITWARM="unshare -m $open/with-files $program" run "$1" prime --cache "$open/place/cache" "$sample"
}
program=$JITWARM
cat >"$open/with-files" <<END
#!/bin/sh
for name in passwd group gshadow; do
	mount --bind "$open/\$name" "/etc/\$name" || exit 77
done
exec "\$@"
END
chmod 755 "$open/with-files"
cp /etc/passwd /etc/group /etc/gshadow "$open" 2>/dev/null && unshare -m "$open/with-files" "$build/tests/attack/asking-threads" "$open/place" || fail "threads get wrong answers"

as_files 0 "ours:x:$group:root\n" 'ours:!::root\n'
as_files 0 "ours:x:$group:\n" ''
for files in "ours:x:$group:mallory\n|ours:*::mallory\n" "first:x:$group:\nsecond:x:$group:mallory\n|first:!::\n" \
	"ours:x:$group:\n|ours:\$6\$salt\$hash::\n" "ours:x:$group:\n|ours:!:mallory:\n" "first:x:$group:\nsecond:x:$group:\n|second:*:mallory:\n" \
	"ours:\$6\$salt\$hash:$group:\n|" "ours:x:$group:\n|ours:*::root,mallory\n" "ours:x:$group:to-come\n|" "ours:x:$group:\n|ours:!:to-come:\n" "|"; do
	as_files 2 "${files%|*}" "${files#*|}"
	err_has "other accounts may write to $open/place"
done
# the account's own group, which lists nobody; and root's group, whose members count as root
chgrp $mallory "$open/place"
as_files 2 "theirs:x:$mallory:\n" ''
err_has "other accounts may write to $open/place"
chgrp 0 "$open/place"
as_files 0 "operators:x:0:mallory\n" ''
# Threads ask at the same time.
{
	echo "root:x:0:"
	for number in {1..600}; do echo "g$number:x:$((60000 + number)):root"; done
	echo "ours:x:$group:mallory"
} >"$open/group"
chgrp $group "$open/place"
unshare -m "$open/with-files" "$build/tests/attack/asking-threads" "$open/place" || fail "threads get wrong answers"
untouched
