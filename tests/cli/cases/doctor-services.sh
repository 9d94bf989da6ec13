# doctor --unit, --container, --pid of a process with other files: whose eyes, what hostile answers do, and that nothing there is run
# shellcheck source=/dev/null
. "$cases/../doctors.sh"
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
is_wine && skip "Windows has no units, and shows no other process's variables"
fresh
victim=
trap '[ -z "$victim" ] || kill "$victim"; rm -rf "$place"; [ -z "${all-}" ] || rm -rf "$all"' EXIT
gone() { kill "$1"; wait "$1" 2>/dev/null || true; victim=; }

# A program of the manager's name that prints $work/answer, and notes what it was asked.
for tool in systemctl docker podman nerdctl; do
	printf '#!/bin/sh\necho "$0 $*" >>%q\n[ ! -e %q ] || exit 1\ncat %q\n' "$work/asked" "$work/$tool.no" "$work/answer" >"$work/bin/$tool"
	chmod +x "$work/bin/$tool"
done
program_path=$work/bin:$PATH
answer() { printf -- "$@" >"$work/answer"; : >"$work/asked"; }

# ---- a unit that runs: its process
CUDA_CACHE_DISABLE=1 CUDA_CACHE_PATH="$place/of it" sleep 60 &
victim=$!
await grep -q sleep "/proc/$victim/comm"
answer 'LoadState=loaded\nMainPID=%d\nUser=\nEnvironment=CUDA_FORCE_PTX_JIT=1\n' "$victim"
found 1 cache-disabled --unit fake
json 'd["process"]["pid"] == '"$victim"
grep -q -e 'show .*MainPID.* -- fake$' "$work/asked" || fail "systemctl was asked something else"
# A command with the same eyes names what differs.
json "d['before'].endswith(\"env 'CUDA_CACHE_PATH=$place/of it' CUDA_CACHE_DISABLE=1\")"
gone "$victim"

# ---- a unit that does not run: what it would start with
answer 'MainPID=0\nLoadState=loaded\nEnvironment=CUDA_CACHE_DISABLE=0 "CUDA_CACHE_PATH=%s/a \\"b\\"" CUDA_INJECTION64_PATH=/x CUDA_FORCE_PTX_JIT=1\n' "$place"
if [ "$(id -u)" = 0 ]; then
	found 1 jit-forced --unit fake
	json "d['before'].endswith(\"env -u HOME 'CUDA_CACHE_PATH=$place/a \\\"b\\\"' CUDA_CACHE_DISABLE=0 CUDA_FORCE_PTX_JIT=1\") and 'INJECTION' not in d['before']"
	# Root's unit has no HOME of its own.
	answer 'MainPID=0\nLoadState=loaded\nUser=\nEnvironment=\n'
	found 1 no-cache-path --unit fake
	answer 'MainPID=0\nLoadState=loaded\nUser=nobody\nEnvironment=CUDA_CACHE_DISABLE=1\n'
	run "0|1|2" doctor --json --no-probe --unit fake
	json '"cache-disabled" in [f["id"] for f in d["findings"]] and d["before"].startswith("sudo -u nobody env HOME=")'
	answer 'MainPID=0\nLoadState=loaded\nUser=no-such-account\n'
	run 3 doctor --unit fake
	err_has "no such account"
fi

# ---- its EnvironmentFile=, which count after its Environment=; one that is missing, no file, a pattern or has a NUL sets nothing
printf '# comment \\\nCUDA_CACHE_DISABLE=1\n  CUDA_CACHE_PATH = "%s/of a \\"file\\""  \nCUDA_FORCE_PTX_JIT=\\\n1\nCUDA_INJECTION64_PATH=/x\n' "$place" >"$work/unit.env"
mkfifo "$work/fifo.env"
printf 'CUDA_CACHE_DISABLE=1\n\0HIDDEN=1\n' >"$work/nul.env"
echo CUDA_CACHE_DISABLE=1 >"$work/a*.env"
answer 'MainPID=0\nLoadState=loaded\nEnvironment=CUDA_FORCE_PTX_JIT=0\nEnvironmentFiles=%s/none (ignore_errors=yes)\nEnvironmentFiles=%s/unit.env (ignore_errors=no)\nEnvironmentFiles=%s/fifo.env (ignore_errors=no)\nEnvironmentFiles=%s/nul.env (ignore_errors=no)\nEnvironmentFiles=%s/a*.env (ignore_errors=no)\nEnvironmentFiles=relative\nEnvironmentFiles=/*\n' "$work" "$work" "$work" "$work" "$work"
if [ "$(id -u)" = 0 ]; then
	found 1 jit-forced --unit fake
	json "d['before'].endswith(\"env -u HOME 'CUDA_CACHE_PATH=$place/of a \\\"file\\\"' CUDA_FORCE_PTX_JIT=1\")"
fi

# ---- one of this account's own manager, where the system has none of that name
cat >"$work/bin/systemctl" <<'SCRIPT'
#!/bin/sh
case "$1 $2" in
"--user show-environment") echo 'CUDA_CACHE_PATH=$'"'$place/its own'"; echo CUDA_FORCE_PTX_JIT=0; echo broken ;;
"--user show") printf 'LoadState=%s\nMainPID=0\nEnvironment=CUDA_CACHE_DISABLE=1\n' "${own:-loaded}" ;;
*) printf 'LoadState=not-found\nMainPID=0\n' ;;
esac
SCRIPT
export place
found 1 cache-disabled --unit fake
json "d['before'].endswith(\" 'CUDA_CACHE_PATH=$place/its own' CUDA_CACHE_DISABLE=1 CUDA_FORCE_PTX_JIT=0\")"
own=not-found run 3 doctor --unit fake
err_has "no such unit"
cp "$work/bin/docker" "$work/bin/systemctl"
sed -i "s|docker.no|systemctl.no|" "$work/bin/systemctl"

# ---- hostile answers, and names
for bad in 'MainPID=-1' 'MainPID=12x' 'MainPID=99999999999999999999' 'MainPID=' 'MainPID= 1'; do
	answer 'LoadState=loaded\n%s\n' "$bad"
	run 3 doctor --unit fake
	err_one_line
	err_has "does not answer with a process"
done
answer 'LoadState=not-found\nMainPID=0\n'
run 3 doctor --unit fake
err_has "no such unit"
answer 'MainPID=1\0LoadState=loaded\n'
run 2 doctor --unit fake
err_has "is systemd running"
answer ''; head -c 2000000 /dev/zero | tr '\0' x >"$work/answer"
run 3 doctor --unit fake
err_one_line
err_has "systemctl: more than"
touch "$work/systemctl.no"
run 2 doctor --unit fake
err_has "is systemd running"
: >"$work/asked"
for name in --unit=-x --unit= "--unit=a b" --unit=/etc/passwd --container=-x '--container={{x}}' "--container=a/b"; do
	run 64 doctor "$name"
	err_one_line
done
[ ! -s "$work/asked" ] || fail "a name that is none was asked for"
run 64 doctor --unit a --container b
run 64 doctor --pid 1 --unit b
run 64 doctor --user nobody --container b
answer '0\n'
run 3 doctor --container c1
err_has "does not run"
for bad in 'x\n' '12\n13\n' '-3\n' '99999999999\n' '\n'; do
	answer "$bad"
	run 3 doctor --container c1
	err_one_line
	err_has "does not answer with a process"
done
touch "$work/docker.no" "$work/podman.no" "$work/nerdctl.no"
run 3 doctor --container c1
err_has "neither docker, podman nor nerdctl knows"
[ "$(cut -d' ' -f1 "$work/asked" | tail -3 | xargs -n1 basename | xargs)" = "docker podman nerdctl" ] || fail "not each was asked"
rm "$work"/*.no

# ---- a library that was replaced while the process runs
cp "$sample" "$place/lib.so"
python=$(PATH=/usr/bin:/bin command -v python3) || skip "no python3"
# As code, and not run: this build's sample may need what Python has not.
map_it='import mmap, sys, time
file = open(sys.argv[1], "rb")
mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
open(sys.argv[2], "w").close()
time.sleep(300)'
"$python" -c "$map_it" "$place/lib.so" "$place/loaded" &
victim=$!
await test -e "$place/loaded"
run 1 doctor --json --no-probe --pid "$victim"
json 'd["process"]["replaced"] == [] and "cold" in [f["id"] for f in d["findings"]]'
cp "$sample" "$place/new.so" && mv "$place/new.so" "$place/lib.so"
run 1 doctor --no-probe --pid "$victim"
out_has "1 library was replaced or removed since it started ($place/lib.so)"
out_lacks "All is well"
gone "$victim"

# ---- a process with files of its own: a container
! is_emulated || exit 0 # its threads share what setns() wants alone
all=$(folder_for_all) || exit 0
unshare --mount true 2>/dev/null || exit 0
cp "$sample" "$all/hidden.so"
export marker=$place/inside
rm -f "$marker"
# In its files, another program has jitwarm's own path.
mkdir "$all/mnt"
(cd / && HOME=$all/mnt exec env -u CUDA_CACHE_PATH unshare --mount bash -c '
	mount -t tmpfs none "$0/mnt" && cp "$0/hidden.so" "$0/mnt/inside.so" || exit 1
	printf "#!/bin/sh\ntouch %q\n" "$marker" >"$0/mnt/program" && chmod 755 "$0/mnt/program"
	mount --bind "$0/mnt/program" "$2"
	exec "$1" -c "$3" "$0/mnt/inside.so" "$0/ready"' \
	"$all" "$python" "${program##* }" "$map_it") >/dev/null 2>&1 &
victim=$!
await test -e "$all/ready"
answer '%d\n' "$victim"
run 1 doctor --json --container c1
json '"cold" in [f["id"] for f in d["findings"]] and d["probe"] == "not asked" and d["before"].startswith("docker exec c1 env HOME=")'
json 'f"{d}".count("inside.so") and d["cold"] > 0'
run 1 doctor --container c1
out_has "mnt/inside.so"
# The same by its number, and a file of it by name.
run 1 doctor --json --pid "$victim"
json '"before" not in d and d["cold"] > 0 and not any(f["command"] for f in d["findings"])'
run 1 doctor --json --container c1 "$all/mnt/inside.so"
json 'd["cold"] > 0'
run 3 doctor --no-probe "$all/mnt/inside.so" # there is no such file outside
err_has "inside.so"
run 2 doctor --fix --container c1
err_has "only reads"
run 1 doctor --json --no-probe --pid "$victim"
[ ! -e "$marker" ] || fail "a program of the container was run"
gone "$victim"

# ---- mounts that an account has made, which has called itself root: a command of root's is not to run what lies there, and
# accounts have no names there (a pipe without a writer). Of two GPUs it was given both, and chose one.
JITWARM=$program
with_simdriver sm_75,sm_86
export CUDA_CACHE_PATH=$place/cache
all_unshare="setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urm"
$all_unshare true 2>/dev/null || exit 0
mkfifo "$all/pipe" && chmod 666 "$all/pipe"
chmod 777 "$all" && rm -f "$all/ready"
# shellcheck disable=SC2086
(cd / && HOME=$all/mnt NVIDIA_VISIBLE_DEVICES=1,0 CUDA_VISIBLE_DEVICES=1 exec $all_unshare bash -c '
	mount --bind "$0/pipe" /etc/passwd && mount --bind "$0/pipe" /etc/group || exit 1
	exec "$1" -c "$2" "$0/hidden.so" "$0/ready"' \
	"$all" "$python" "$map_it") >/dev/null 2>&1 &
victim=$!
await test -e "$all/ready"
run 2 doctor --json --pid "$victim"
json '"before" not in d and "cold" in [f["id"] for f in d["findings"]] and not any(f["command"] for f in d["findings"]) and d["cold"] == 8'
run 2 doctor --pid "$victim"
out_has "run jitwarm there"
out_lacks nsenter
out_lacks "jitwarm prime $all"
# As the container's own tool enters it, it is as safe as that.
answer '%d\n' "$victim"
run 2 doctor --json --container c1
json 'd["before"].startswith("docker exec c1 ") and any(f["command"] for f in d["findings"])'
run 0 watch --for 500ms "$victim"
out_has "was watched for"
out_lacks nsenter
err_lacks nsenter
gone "$victim"
