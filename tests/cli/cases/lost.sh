# The cache goes with its container, pod or job: status, tune and doctor say so, and how to keep it; they also report the caches of other
# compilers.
is_wine && skip "containers of Linux"
[[ $(id -u) == 0 ]] && unshare -m true 2>/dev/null || skip "needs mounts of its own"

with_simdriver sm_86
[[ $(stat -f -c %T /var/tmp) != overlay* ]] || skip "/var/tmp is in a container's own layer"

# The program's files are on an overlay, as in a container. The folder is not below /tmp, which is emptied anyway.
place=$(mktemp -d "/var/tmp/jitwarm-lost.XXXXXX")
trap 'rm -rf "$place"' EXIT
mkdir -p "$place"/{lower,disk,seen,home}
cat >"$place/inside" <<'S'
#!/bin/bash
# inside PLACE JITWARM WORD...: runs with PLACE/seen in a container's own layer
place=$1
shift
mount -t tmpfs none "$place/disk" && mkdir "$place/disk/upper" "$place/disk/work" &&
	mount -t overlay overlay -o "lowerdir=$place/lower,upperdir=$place/disk/upper,workdir=$place/disk/work" "$place/seen" || exit 77
mkdir -p "$place/seen/.triton/cache" && printf '%2048s' x >"$place/seen/.triton/cache/kernel"
for default in ${LOST_DEFAULTS-}; do mkdir -p "$default" && printf '%2048s' x >"$default/kernel"; done
[[ -z ${LOST_READ_ONLY-} ]] || mount -o remount,ro "$place/seen"
exec "$@"
S
chmod +x "$place/inside"
unshare -m "$place/inside" "$place" true || skip "no overlay here"
outside=$JITWARM
JITWARM="unshare -m $place/inside $place $outside"
export CUDA_CACHE_PATH=$place/seen/cache
snapshot run "0|1|2" status
out_has "$place/seen/cache is lost with the container"
out_has "docker run -v compute-cache:$place/seen/cache"
snapshot run 0 tune
out_has "docker run -v compute-cache:$place/seen/cache"
run "0|1|2" doctor --json --no-probe
json '"lost with the container" in next(f for f in d["findings"] if f["id"] == "bad-place")["evidence"]'
json '"-v compute-cache:" in next(f for f in d["findings"] if f["id"] == "bad-place")["fix"]'
KUBERNETES_SERVICE_HOST=10.0.0.1 snapshot run "0|1|2" doctor --json --no-probe
LOST_READ_ONLY=1 run "0|1|2" doctor --json --no-probe
json '"read-only" in next(f for f in d["findings"] if f["id"] == "bad-place")["evidence"]'

# The driver's cache is kept, but caches of other compilers are not.
HOME=$place/seen CUDA_CACHE_PATH=$place/home/cache snapshot run "0|1|2" doctor --json --no-probe
json '"seen/.triton/cache (Triton, 2 KiB)" in next(f for f in d["findings"] if f["id"] == "bad-place")["evidence"].replace("2.00", "2").replace("2.0", "2")'
# So are those of every row of the table, at the row's default.
defaults=$(tail -n +2 "$cases/../../../data/jit-caches.csv" | awk -F, -v seen="$place/seen" -v account="$(id -un)" '$3 {
	sub("^~", seen "/", $3); sub("^@TMP", seen "/tmp", $3); sub("^@CACHE", seen "/.cache", $3); sub("@USER", account, $3)
	print $3 ($4 ? "/" $4 : "")
}' | tr -s /)
LOST_DEFAULTS=$defaults HOME=$place/seen TMPDIR=$place/seen/tmp LOGNAME='' USER='' XDG_CACHE_HOME='' CUDA_CACHE_PATH=$place/home/cache \
	snapshot run "0|1|2" doctor --json --no-probe
for default in $defaults; do
	json "'$default (' in next(f for f in d['findings'] if f['id'] == 'bad-place')['evidence']"
done
JITWARM=$outside

# One folder is the job's own, and the other one stays.
mkdir -p "$place/job"
SLURM_TMPDIR=$place/job CUDA_CACHE_PATH=$place/job/cache snapshot run "0|1|2" status
SLURM_JOB_ID=7 TMPDIR=$place/job CUDA_CACHE_PATH=$place/job/cache run "0|1|2" status
out_has "is lost with the job"
TMPDIR=$place/job CUDA_CACHE_PATH=$place/jobs/cache run "0|1|2" status
out_lacks "is lost with"
SLURM_TMPDIR=$place/job CUDA_CACHE_PATH=$place/jobs/cache run "0|1|2" status
out_lacks "is lost with"

# A pod's emptyDir: kubelet makes a folder below its own, or a tmpfs there, and the container sees it as a mount at another path. Root and
# an account get the same answer.
volume=$place/var/lib/kubelet/pods/7d0c/volumes/kubernetes.io~empty-dir/cache
mkdir -p "$volume" "$place/mnt" && chmod 777 "$volume" "$place/mnt"
cat >"$place/pod" <<'S'
#!/bin/bash
# pod PLACE VOLUME MEDIUM WORD...: runs with VOLUME mounted at PLACE/mnt, as kubelet and the engine do; MEDIUM: disk or Memory
place=$1 volume=$2 medium=$3
shift 3
[[ $medium == disk ]] || mount -t tmpfs -o mode=777 tmpfs "$volume" || exit 77
mount --bind "$volume" "$place/mnt" || exit 77
exec "$@"
S
chmod +x "$place/pod"
# shellcheck source=tests/accounts.sh
. "$cases/../../accounts.sh"
chmod 755 "$place"
for medium in disk Memory; do
	for account in root other; do
		as=()
		[[ $account == root ]] || as=("${as_other[@]}" env HOME="$place/mnt/home" JITWARM_STATE_DIR="$place/mnt/state")
		[[ $account == root ]] || "${as_other[@]}" test -x "$outside" || continue
		JITWARM="unshare -m $place/pod $place $volume $medium ${as[*]} $outside"
		JITWARM_TRUST_ACCOUNTS=1 CUDA_CACHE_PATH=$place/mnt/cache run "0|1|2" doctor --json --no-probe
		lost="is in an emptyDir, and is lost with the pod"
		[[ $medium == disk ]] || lost="is lost at a restart"
		json "'$lost' in next((f for f in d['findings'] if f['id'] == 'bad-place'), {'evidence': str(d)})['evidence']"
	done
done
JITWARM=$outside

# The printed lines keep all caches: one folder, and every variable of the table.
CUDA_CACHE_PATH=$place/home/cache
for form in docker apptainer kubernetes compose slurm sh systemd; do
	snapshot run 0 tune --print "$form" --all-caches /srv/jit
	for variable in CUDA_CACHE_PATH $(tail -n +2 "$cases/../../../data/jit-caches.csv" | cut -d, -f1); do out_has "$variable"; done
done
run 0 tune --print docker --all-caches /srv/jit
out_has "-v '/srv/jit':/var/cache/jit"
out_has "TRITON_CACHE_DIR='/var/cache/jit/triton'"
run 0 tune --print sh --all-caches /srv/jit
(eval "$(cat "$out")" && [[ $CUPY_CACHE_DIR == /srv/jit/cupy ]]) || fail "not what a shell sets: $(cat "$out")"
snapshot run 64 tune --all-caches /srv/jit
snapshot run 64 tune --print docker --all-caches srv
run 64 tune --print docker --all-caches /srv/jit --path /srv/x
