# The administrator of a Slurm cluster with homes on NFS, two kinds of nodes, and a login node without a GPU.
program=$JITWARM
with_simdriver sm_80
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
on_a_node=$JITWARM
empty_environment "$place/sw/torch"
export VIRTUAL_ENV=$place/sw/torch
wheel "$(site_of "$place/sw/torch")" torch 1.7.1 torch/lib/libtorch_cuda.so
mkdir -p "$place/nfs/share"
machine() { # NAME
	export HOME=$place/nfs/admin JITWARM_STATE=$place/$1/state CUDA_CACHE_PATH=$place/$1/scratch/cache
	mkdir -p "$HOME" "$place/$1/scratch"
	cd "$HOME" || exit
}
login_node() { JITWARM=$program; export JITWARM_PCI_DEVICES=; machine login; }
node() { JITWARM=$on_a_node; unset JITWARM_PCI_DEVICES; machine "$1"; }
job() { simulated "$app" | tail -n 1; }
hour
