# A PC with an RTX 3070 has TensorFlow 2.3.1 from pip, which is older than that GPU: minutes of silence after “Adding visible gpu devices:
# 0”.
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
folder=$place/Users/민수
export VIRTUAL_ENV JITWARM_STATE CUDA_CACHE_PATH
VIRTUAL_ENV=$(native "$folder/tf")
JITWARM_STATE=$(native "$folder/AppData/Local/jitwarm")
CUDA_CACHE_PATH=$(native "$folder/AppData/Roaming/NVIDIA/ComputeCache")
wheel "$folder/tf/Lib/site-packages" tensorflow 2.3.1 tensorflow/python/_pywrap_tensorflow_internal.pyd
printf 'home = C:\\Python38\nversion = 3.8.10\n' >"$folder/tf/pyvenv.cfg"
cd "$folder" || exit
start() { simulated "$app" | tail -n 1; }
hour
