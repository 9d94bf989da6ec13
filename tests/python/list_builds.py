#!/usr/bin/env python3
"""list_builds.py   scripts/list-builds.py reads the build scripts of each release at its tag, whatever form they have, compares them with PyPI's
wheels, and leaves the other lines of a list alone. Skipped (77) without git."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
if not shutil.which("git"):
    print("skipped: no git")
    sys.exit(77)

MATRIX = ".github/scripts/generate_binary_build_matrix.py"
WINDOWS = ".ci/pytorch/windows/"
# Releases of PyTorch, each with another form of the scripts.
CASE = """case ${CUDA_VERSION} in
    12.6)
        if [[ "$GPU_ARCH_TYPE" = "cuda-aarch64" ]]; then
            TORCH_CUDA_ARCH_LIST="9.0"
        else
            TORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST};9.0+PTX" # a comment
        fi
        ;;
    11.8 | 11.7)
        TORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST};3.7;9.0"
        ;;
    *)
        TORCH_CUDA_ARCH_LIST="1.0"
        ;;
esac
export TORCH_CUDA_ARCH_LIST=${TORCH_CUDA_ARCH_LIST}
"""
RELEASES = {
    "v2.5.0": {MATRIX: 'CUDA_ARCHES = ["12.4"]\n'},  # of another repository's scripts
    "v2.6.0": {MATRIX: 'CUDA_ARCHES = ["11.8", "12.6"]\nCUDA_AARCH64_ARCHES = []\n',
               ".ci/manywheel/build_cuda.sh": 'TORCH_CUDA_ARCH_LIST="5.0;8.6"\n' + CASE,
               WINDOWS + "cuda118.bat": "set TORCH_CUDA_ARCH_LIST=3.7+PTX;5.0\n", WINDOWS + "cuda126.bat": "    set TORCH_CUDA_ARCH_LIST=5.0;6.1;9.0\n"},
    "v2.9.0": {MATRIX: 'CUDA_ARCHES = ["13.0"]\nCUDA_AARCH64_ARCHES = ["12.6-aarch64"]\n',
               ".ci/manywheel/build_cuda.sh": 'case ${CUDA_VERSION} in\n    13.0)\n        TORCH_CUDA_ARCH_LIST="7.5;$([[ "$ARCH" == "aarch64" ]] && echo "11.0;" || echo "8.6;")12.0+PTX"\n        ;;\nesac\n',
               ".ci/aarch64_linux/aarch64_ci_build.sh": 'if [[ "$GPU_ARCH_VERSION" == *"12.6"* ]]; then\n    export TORCH_CUDA_ARCH_LIST="8.0;9.0"\n'
                                                        'elif [[ "$GPU_ARCH_VERSION" == *"13.0"* ]]; then\n    export TORCH_CUDA_ARCH_LIST="8.0;11.0"\nfi\n',
               WINDOWS + "internal/cuda_config.bat": 'if "%CUDA_VER%"=="126" (\n    set "CUDA_ARCH_LIST=5.0"\n) else if "%CUDA_VER%"=="130" (\n    set "CUDA_ARCH_LIST=7.5;12.0"\n) else (\n'},
    "v2.10.0": {MATRIX: 'CUDA_ARCHES = ["12.6", "13.0"]\nCUDA_AARCH64_ARCHES = ["12.6-aarch64", "13.0-aarch64"]\n',
                ".ci/manywheel/build_cuda.sh": 'TORCH_CUDA_ARCH_LIST="7.5;8.0;8.6"\ncase ${CUDA_VERSION} in\n'
                                               '    12.6) TORCH_CUDA_ARCH_LIST="5.0;${TORCH_CUDA_ARCH_LIST}" ;;  # a comment\n    13.0)\n'
                                               '        TORCH_CUDA_ARCH_LIST="8.0;8.6;$([[ "$ARCH" == "aarch64" ]] && echo "11.0;" || echo "")12.0+PTX"\n'
                                               '        if [[ "$PACKAGE_TYPE" == "libtorch" ]]; then\n            TORCH_CUDA_ARCH_LIST="1.0"\n        fi\n        ;;\n'
                                               '    *) echo "unknown"; exit 1 ;;\nesac\n'
                                               '[[ "$ARCH" == "aarch64" ]] && TORCH_CUDA_ARCH_LIST=$(filter_aarch64_archs "$TORCH_CUDA_ARCH_LIST")\n'
                                               'export TORCH_CUDA_ARCH_LIST=${TORCH_CUDA_ARCH_LIST}\n',
                WINDOWS + "internal/cuda_config.bat": 'if "%CUDA_VER%"=="126" (\n    set "CUDA_ARCH_LIST=5.0"\n) else if "%CUDA_VER%"=="130" (\n    set "CUDA_ARCH_LIST=7.5;12.0"\n) else (\n'},
    "v2.13.0": {MATRIX: 'CUDA_ARCHES: list[str] = ["12.6"]\nCUDA_AARCH64_ARCHES = ["12.6-aarch64"]\n',
                ".ci/manywheel/build_env_setup.py": 'TORCH_CUDA_ARCH_LIST_TABLE: dict = {"12.6": {"x86_64": {90, 50}, "aarch64": {80}}}\n',
                WINDOWS + "internal/cuda_config.bat": 'if "%CUDA_VER%"=="126" (\n    set "CUDA_ARCH_LIST=5.0;6.1"\n) else (\n'},
    "v2.14.0": {MATRIX: 'CUDA_ARCHES = ["12.6"]\n', ".ci/manywheel/build_cuda.sh": 'TORCH_CUDA_ARCH_LIST="$(made elsewhere)"\n'},
    "v2.14.0-rc1": {MATRIX: "x"},
    "v2.15.0": {MATRIX: 'CUDA_ARCHES = ["13.0"]\n', ".ci/manywheel/build_env_setup.py": 'TORCH_CUDA_ARCH_LIST_TABLE = {"13.0": {"x86_64": {75, 90}}}\n',
                WINDOWS + "internal/cuda_config.bat": 'if "%CUDA_VER%"=="130" (\n    set "CUDA_ARCH_LIST=7.5"\n) else (\n'},
}
HASH = "aa"
WHEEL = f"wheel 2.15.0 linux cp311 torch-2.15.0-cp311-cp311-linux_x86_64.whl {HASH}"
BEFORE = f"""jitwarm-wheels 1 2026-11-28
package flash-attn
unseen 2.8.3 linux py3
unseen 1.0.0 linux py3
package torch
{WHEEL}
library library 13000 torch/lib/libtorch_cuda.so
piece 9 registered sm_75 sm_80#13000z
piece 1 registered sm_90a#13000z
same 2.13.0 linux cp310,cp311 2.15.0
unseen 2.10.0 linux cp310
unseen 2.9.0 linux cp310
unseen 2.6.0 linux cp39
unseen 2.6.0 windows cp38
build 2.13.0+cu999 linux cp310 99 sm_10
build 2.5.1+cu118 linux cp39 11080 sm_50
package torchaudio
package torchvision
wheel 0.29.2 linux cp310 torchvision-0.29.2-cp310-cp310-linux_x86_64.whl {HASH}
requires torch>=2.10
wheel 0.29.1 linux cp310 torchvision-0.29.1-cp310-cp310-linux_x86_64.whl {HASH}
requires torch>=2.10
unseen 0.29.1 windows cp310
wheel 0.28.0 linux cp310 torchvision-0.28.0-cp310-cp310-linux_x86_64.whl {HASH}
requires numpy
requires torch==2.13.0
same 0.27.1 linux cp39 0.28.0
requires torch (==2.9.0)
same 0.27.0 linux cp39 0.28.0
requires -
unseen 0.26.0 linux cp310
build 0.5.0+cu101 linux cp36 10010 sm_37
requires torch==1.4.0+cu101
"""
AFTER = BEFORE.replace("build 2.13.0+cu999 linux cp310 99 sm_10\n", """build 2.13.0+cu126 linux cp310,cp311 12060 sm_50 sm_90
build 2.13.0+cu126 windows cp310,cp311 12060 sm_50 sm_61
build 2.13.0+cu126 linux-aarch64 cp310,cp311 12060 sm_80
build 2.10.0+cu130 linux cp310 13000 sm_80 sm_86 sm_120
build 2.10.0+cu126 linux cp310 12060 sm_50 sm_75 sm_80 sm_86
build 2.10.0+cu130 windows cp310 13000 sm_75 sm_120
build 2.10.0+cu126 windows cp310 12060 sm_50
build 2.10.0+cu130 linux-aarch64 cp310 13000 sm_80 sm_110 sm_120
build 2.10.0+cu126 linux-aarch64 cp310 12060 sm_80
build 2.9.0+cu130 linux cp310 13000 sm_75 sm_86 sm_120
build 2.9.0+cu130 windows cp310 13000 sm_75 sm_120
build 2.9.0+cu126 linux-aarch64 cp310 12060 sm_80 sm_90
build 2.6.0+cu126 linux cp39 12060 sm_50 sm_86 sm_90
build 2.6.0+cu118 linux cp39 11080 sm_37 sm_50 sm_86 sm_90
build 2.6.0+cu126 windows cp38 12060 sm_50 sm_61 sm_90
build 2.6.0+cu118 windows cp38 11080 sm_37 sm_50
""").replace("build 0.5.0", """build 0.29.1+cu130 linux cp310 13000 sm_80 sm_86 sm_120
requires torch>=2.10
build 0.29.1+cu126 linux cp310 12060 sm_50 sm_75 sm_80 sm_86
requires torch>=2.10
build 0.29.1+cu130 windows cp310 13000 sm_75 sm_120
requires torch>=2.10
build 0.29.1+cu126 windows cp310 12060 sm_50
requires torch>=2.10
build 0.28.0+cu126 linux cp310 12060 sm_50 sm_90
requires torch==2.13.0+cu126
build 0.27.1+cu130 linux cp39 13000 sm_75 sm_86 sm_120
requires torch==2.9.0+cu130
build 0.5.0""")


def make_clone(folder, releases):
    def git(*words):
        subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false", *words],
                       check=True, capture_output=True)
    subprocess.run(["git", "init", "-q", folder], check=True, capture_output=True)
    for tag, files in releases.items():
        for old in folder.iterdir():
            if old.name != ".git":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", tag)
        git("tag", tag)


def lists(path, *words):
    return subprocess.run([sys.executable, ROOT / "scripts/list-builds.py", *words, "--list", path], capture_output=True, text=True)


def differ(found, wanted):
    import difflib
    return "\n".join(difflib.unified_diff(wanted.splitlines(), found.splitlines(), "wanted", "found", lineterm=""))


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    path = folder / "wheels.txt"
    make_clone(folder / "torch", RELEASES)
    path.write_text(BEFORE)
    answer = lists(path, folder / "torch")
    assert not (wrong := differ(path.read_text(), AFTER)), wrong
    # A release that cannot be read, and one that is not as PyPI's wheel, have a line each; the list has nothing of them.
    assert answer.returncode == 1 and len(answer.stderr.splitlines()) == 2, answer.stderr
    assert "v2.14.0: “$(made elsewhere)” is no list of architectures" in answer.stderr, answer.stderr
    assert "2.15.0+cu130 for linux has [75, 90] by its scripts, and [75, 80] in PyPI's wheel" in answer.stderr, answer.stderr
    # It is made again without a change.
    lists(path, folder / "torch")
    assert path.read_text() == AFTER

    # A table has what no tag has.
    table = folder / "table.tsv"
    table.write_text("2.6.0\tcu124\tlinux\t5.0;6.0+PTX\n")
    answer = lists(path, "--table", table)
    assert answer.returncode == 0 and "build 2.6.0+cu124 linux cp39 12040 sm_50 sm_60\nbuild 2.5.1" in path.read_text(), answer.stderr
    for text in ("2.6.0\tcu124\tlinux\n", "2.6.0\tcu124\tlinux\tsm_50\n", "2.6.0\tcpu\tlinux\t5.0\n", "2.6.0\tcu124\tmac\t5.0\n"):
        table.write_text(text)
        answer = lists(path, "--table", table)
        assert answer.returncode == 1 and "line 1: not “RELEASE build platform" in answer.stderr, answer.stderr

    # The wheels of flash-attn: an architecture counts from the toolkit on that its script names, and all toolkits have to agree.
    setup = 'cc_flag.append("arch=compute_80,code=sm_80")\nif bare_metal_version >= Version("12.8") and x:\n    cc_flag.append("arch=compute_120,code=sm_120")\n'
    publish = ".github/workflows/publish.yml"
    make_clone(folder / "flash", {"v2.8.3": {"setup.py": setup, publish: "          torch-version: ['2.4.0', '2.8.0', '2.9.0.dev1']\n          cuda-version: ['12.9.1', '13.0.0']\n"},
                                  "v1.0.0": {"setup.py": setup, publish: "          torch-version: ['2.4.0']\n          cuda-version: ['12.4.1', '12.9.1']\n"}})
    answer = lists(path, "--package", "flash-attn", folder / "flash")
    assert answer.returncode == 1 and answer.stderr.startswith("list-builds.py: v1.0.0: ") and len(answer.stderr.splitlines()) == 1, answer.stderr
    assert "package flash-attn\nunseen 1.0.0 linux py3\nbuild 2.8.3 linux py3 0 sm_80 sm_120\nrequires torch>=2.4,<2.9\npackage torch\n" in path.read_text()

    answer = lists(path, folder)
    assert answer.returncode == 1 and "no tag such as v2.6.0; name a clone of PyTorch with its tags" in answer.stderr, answer.stderr
