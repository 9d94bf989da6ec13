# A program is slow at every start: a line of ~/.profile from an old recipe limits the cache.
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
export HOME=$place/home/min JITWARM_STATE=$place/home/min/.local/state/jitwarm VIRTUAL_ENV=
mkdir -p "$HOME/project"
empty_environment "$HOME/project/.venv"
wheel "$(site_of "$HOME/project/.venv")" torch 1.7.1 torch/lib/libtorch_cuda.so
unset VIRTUAL_ENV CUDA_CACHE_PATH
# login: a shell with the settings of ~/.profile
login() {
	unset CUDA_CACHE_MAXSIZE
	# shellcheck source=/dev/null
	. "$HOME/.profile"
}
start() { simulated "$app" | tail -n 1; }
printf 'export CUDA_CACHE_MAXSIZE=200000\n' >"$HOME/.profile"
login
cd "$HOME/project" || exit
hour
