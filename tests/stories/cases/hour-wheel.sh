# The author of a wheel, whose users have bought RTX 50 GPUs.
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
export HOME=$place/home/yun
mkdir -p "$HOME/project/dist"
cd "$HOME/project" || exit
python3 - "$sample" dist/fastconv-0.9-py3-none-manylinux2014_x86_64.whl <<'PYTHON' || fail "the wheel"
import sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as wheel:
    wheel.write(sys.argv[1], "fastconv/libfastconv.so")
    wheel.writestr("fastconv-0.9.dist-info/METADATA", "Metadata-Version: 2.1\nName: fastconv\nVersion: 0.9\n")
    wheel.writestr("fastconv-0.9.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\n")
    wheel.writestr("fastconv-0.9.dist-info/RECORD", "fastconv/libfastconv.so,,\n")
PYTHON
head -c 20000 dist/fastconv-0.9-py3-none-manylinux2014_x86_64.whl >dist/half.whl
JITWARM=${JITWARM##* }
hour
