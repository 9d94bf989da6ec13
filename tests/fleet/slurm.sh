#!/bin/bash
# slurm.sh BUILD-FOLDER   the recipe of “tune --print slurm” on Debian's slurmctld and four slurmd, on loopback, as another account
#
# Each node has a disk of its own at the recipe's path. One task compiles, the others take its pack from a folder; then the application starts
# warm on each of them, with the cache that Prolog and TaskProlog gave it. Exit status 1 if not, 77 if root, Slurm or munge is missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
PATH=$PATH:/usr/sbin
. "$here/../accounts.sh"
for program in slurmctld slurmd srun munged; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
unshare -m true 2>/dev/null && open=$(folder_for_all) || { echo "skipped: this needs root, and mount namespaces"; exit 77; }
servers=() nodes=()
# slurmd's leftover processes end with its process namespace.
trap 'kill -KILL "${nodes[@]}"; kill "${servers[@]}"; wait; rm -rf "$open"' EXIT
cd "$open" || exit 3
for name in $(env | grep -oE '^(SLURM|SRUN|SBATCH|CUDA|JITWARM)[A-Z_]*=' | tr -d =); do unset "$name"; done
fail() { tail -n 4 log/*; echo "FAILED: $*"; exit 1; }
mkdir build log state bin
mkdir -m 777 home share
copy_for_all "$build" build src/jitwarm tests/framework/{libsample_framework.so,framework-app} tests/simdriver
mkdir tests && cp -r "$here/../../scripts" scripts && cp -r "$here/../simdriver" tests/
printf '#!/bin/sh\necho "535.309.01, 8.6"\n' >bin/nvidia-smi # as the simulated driver answers
chmod -R a+rX build scripts tests bin && chmod 755 bin/nvidia-smi
read -r -a ports < <(python3 -c 'import socket; s = [socket.create_server(("127.0.0.1", 0)) for _ in range(5)]; print(*(x.getsockname()[1] for x in s))')

# munge has its own key and socket.
mkdir -m 700 munge-key && mkdir munge
head -c 1024 /dev/urandom >munge-key/key && chmod 400 munge-key/key
munged --foreground --force --key-file="$open/munge-key/key" --socket="$open/munge/socket" --pid-file="$open/munge/pid" --log-file="$open/log/munge" \
	--seed-file="$open/munge/seed" >log/munge.said 2>&1 &
servers+=($!)
cat >slurm.conf <<-CONF
	ClusterName=jitwarm
	SlurmctldHost=$(hostname)(127.0.0.1)
	SlurmctldPort=${ports[0]}
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$open/munge/socket
	StateSaveLocation=$open/state
	SlurmdSpoolDir=$open/spool-%n
	SlurmctldPidFile=$open/slurmctld.pid
	SlurmdPidFile=$open/slurmd-%n.pid
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	MpiDefault=none
	SelectType=select/linear
	ReturnToService=2
	SlurmdTimeout=60
	Prolog=$open/jitwarm.sh
	TaskProlog=$open/jitwarm.sh
$(for i in 1 2 3 4; do echo "	NodeName=n$i NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=${ports[$i]} CPUs=1 State=UNKNOWN"; done)
	PartitionName=all Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$open/slurm.conf
disk=$open/disk/caches
mkdir disk
# typed PATTERN: the commands of docs/many-machines.md, with this test's places
typed() { sed -n "s|^[$] $1||p" "$here/../../docs/many-machines.md" | sed "s|/var/cache/jitwarm|$disk|; s|/shared/jitwarm|$open/share|; s| >.*||; s|tensorflow|$open/build/tests/framework/libsample_framework.so|"; }
read -r -a recipe < <(typed 'jitwarm tune ')
read -r -a first < <(typed 'srun --nodes=1 --ntasks=1 jitwarm ')
read -r -a prime < <(typed 'srun --nodes=4 --ntasks-per-node=1 jitwarm ')
"$build/src/jitwarm" tune "${recipe[@]}" >jitwarm.sh && [ "${first[0]} ${prime[0]}" = "prime prime" ] || fail "tune ${recipe[*]}"
chmod 755 jitwarm.sh
slurmctld -D -i -f slurm.conf >log/slurmctld 2>&1 &
servers+=($!)
# Prolog gets no PATH: nvidia-smi must be where every shell looks for programs.
for i in 1 2 3 4; do
	mkdir "disk-$i"
	unshare -m -p -f --kill-child --mount-proc sh -c 'mount --bind "$1" "$2" && mount --bind "$5" /usr/local/bin && slurmd -D -N "$3" -f "$4"' sh "$open/disk-$i" "$open/disk" n$i "$open/slurm.conf" "$open/bin" >log/n$i 2>&1 &
	nodes+=($!)
	disown
done
end=$((SECONDS + 60))
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 4 ]; do [ $SECONDS -lt $end ] || { sinfo; fail "Slurm has not four idle nodes"; }; sleep 0.2; done

span=(--nodes=4 --ntasks-per-node=1)
on_nodes() { HOME=$open/home timeout 300 "${as_other[@]}" srun --chdir="$open/home" "${span[@]}" --label "$@" >out 2>err; }
on_nodes sh -c 'echo "$CUDA_CACHE_PATH $CUDA_CACHE_MAXSIZE"; stat -c %a-%u "$(dirname "$CUDA_CACHE_PATH")"' || { cat out err; fail "srun"; }
[ "$(grep -c "$disk/65534/535.309.01-8.6 4294967296" out)" = 4 ] && [ "$(grep -c 700-65534 out)" = 4 ] || { cat out err; fail "not the cache of the recipe"; }
run='SIMDRIVER_STATE=$HOME/sim-$SLURMD_NODENAME JITWARM_STATE=$HOME/$SLURMD_NODENAME exec "$0" -B "$1" sm_86 -- "$2" "${@:3}"'
sim=("$open/scripts/with-simdriver.sh" "$open/build")
# The account's key, which is in its home on all nodes
HOME=$open/home JITWARM_STATE=$open/home/key "${as_other[@]}" "$open/build/src/jitwarm" key generate >out 2>err || { cat out err; fail "key generate"; }
for i in 1 2 3 4; do "${as_other[@]}" cp -r "$open/home/key" "$open/home/n$i" || fail "the key"; done
# compiled: how many modules the tasks have compiled together
compiled() { echo $(($(sed -nE 's/^[0-9]:\s*"compiled":\s*([0-9]+),$/\1/p' out | paste -sd+))); }
span=(--nodes=1 --ntasks=1)
on_nodes bash -c "$run" "${sim[@]}" "$open/build/src/jitwarm" "${first[@]}" --json || { cat out err; fail "prime on one node"; }
[ "$(compiled)" = 8 ] && [ "$(grep -c '"placed":\s*8' out)" = 1 ] || { cat out err; fail "the first task has not compiled and put all"; }
span=(--nodes=4 --ntasks-per-node=1)
on_nodes bash -c "$run" "${sim[@]}" "$open/build/src/jitwarm" "${prime[@]}" --json || { cat out err; fail "prime"; }
[ "$(compiled)" = 0 ] || { cat out err; fail "the nodes compiled $(compiled) modules again"; }
on_nodes bash -c "$run" "${sim[@]}" "$open/build/tests/framework/framework-app" || { cat out err; fail "the application"; }
[ "$(grep -c 'compiled 0 of ' out)" = 4 ] || { cat out err; fail "a start compiled"; }
echo "one task compiled 8 modules, and four nodes none; the application compiles 0 on each"
