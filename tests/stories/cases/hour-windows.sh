# A PC with an RTX 3070 and TensorFlow 2.3.1 from pip, which came before that GPU: minutes of silence at “Adding visible gpu devices: 0”
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
export HOME=$place/Users/민수 JITWARM_STATE=$place/Users/민수/AppData/Local/jitwarm CUDA_CACHE_PATH=$place/Users/민수/AppData/Roaming/NVIDIA/ComputeCache
export VIRTUAL_ENV=$HOME/tf
wheel "$VIRTUAL_ENV/Lib/site-packages" tensorflow 2.3.1 tensorflow/python/_pywrap_tensorflow_internal.pyd
printf 'home = C:\\Python38\nversion = 3.8.10\n' >"$VIRTUAL_ENV/pyvenv.cfg"
cd "$HOME" || exit
start() { simulated "$app" | tail -n 1; }
hour
