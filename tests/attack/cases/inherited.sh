# Root inherits a process's signal mask and umask from another account's shell (su -m): commands end all the same, and no other account can
# write to root's new files.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH XDG_CONFIG_HOME
cat >"$work/hostile" <<'PYTHON'
#!/usr/bin/python3 -E
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
os.umask(0)
os.execv(sys.argv[1], sys.argv[1:])
PYTHON
chmod 755 "$work/hostile"
# A shell would no longer block the signal, so it is blocked last.
JITWARM="${JITWARM% *} timeout -s KILL 60 $work/hostile ${JITWARM##* }"
run 0 run -- true
mkdir -m 755 "$work/cache"
run 0 prime --cache "$work/cache" "$sample"
run 0 prime "$sample"
run 0 export -o "$work/lab.jwpack"
run 0 config jobs 2
run 0 key generate
run '0|1' tune --apply --max-size 2GiB
mkdir "$work/given"
run 0 import --allow-unsigned --cache "$work/given" "$work/lab.jwpack"
# Others may read, and not write, a pack in a folder that machines share.
mkdir -m 1777 "$work/packs"
CUDA_CACHE_PATH=$work/for-packs JITWARM_STATE=$work/state-packs run 0 prime --store "$work/packs" --allow-unsigned "$sample"
[[ -n $(find "$work/packs" -name '*.jwpack' -perm 644) && -z $(find "$work/packs" -type f ! -perm 644) ]] || fail "the folder has $(ls -l "$work/packs")"
found=$(find "$work/cache" "$work/given" "$work/lab.jwpack" "$HOME" -type f ! -name index -perm /022) # NVIDIA's driver opens every index for writing
[[ -z $found ]] || fail "others may write: $found"
[[ $(find "$work/cache" -type f | wc -l) -gt 1 && -e $HOME/.config/jitwarm/config ]] || fail "no files"
# The command that root runs has the umask as it was.
run 0 run -- sh -c umask
out_has 0000
