# On a machine on which nothing can be written (docker run --read-only), commands that only read give their answer, and say once that they
# remember nothing.
is_wine && skip "mount namespaces are Linux's"
unshare -rm true 2>/dev/null || unshare -m true 2>/dev/null || skip "no mount namespaces"
with_simdriver sm_86
sample=$build/tests/framework/libsample_framework.so
cat >"$work/read-only" <<'S'
#!/bin/bash
# Runs "$@" where no file system can be written to
[ "$(id -u)" = 0 ] && way=-m || way=-rm
exec unshare $way bash -c 'for place in $(findmnt -rno TARGET | tac); do
	case $place in /proc* | /sys* | /dev | /dev/pts*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null ;; esac
done
! touch /tmp/read-only-$$ 2>/dev/null || { rm -f /tmp/read-only-$$; exit 77; }
exec "$@"' _ "$@"
S
chmod +x "$work/read-only"
"$work/read-only" true || skip "a file system that cannot be made read-only"
unset JITWARM_STATE XDG_STATE_HOME XDG_CONFIG_HOME CUDA_CACHE_PATH TMPDIR
mkdir "$work/nobody"
export HOME=$work/nobody JITWARM="$work/read-only $JITWARM"
forgets="jitwarm: $HOME/.local/state/jitwarm cannot be written to ($HOME: Read-only file system); jitwarm remembers nothing of this run; name a writable folder: JITWARM_STATE=DIR"
once() { [ "$(grep -cxF -- "$forgets" "$err")" = 1 ] && [ "$(grep -c "Read-only" "$err")" = 1 ] || fail "not said once"; }
varies run ^find # depends on this machine's files
for words in "" status tune find "scan $sample" "scan --target sm_86 $sample" "lint --gpus sm_86 $sample"; do
	# shellcheck disable=SC2086
	snapshot run "0|2$([ "$words" != find ] || echo "|1")" $words # find may meet files that others are removing
	case $words in lint* | *--target*) ;; *) once ;; esac
done
snapshot run "1|2" check "$sample"
once
snapshot run "1|2" doctor --json "$sample"
for command in "key generate" "key trust x"; do
	# shellcheck disable=SC2086
	run 3 $command
	err_has "Read-only file system; name a writable folder: JITWARM_STATE=DIR"
done
for command in "key list" "store list" config "config jobs"; do snapshot run 0 $command; done
snapshot run 3 prime "$sample"
snapshot run 3 scan --index torch
