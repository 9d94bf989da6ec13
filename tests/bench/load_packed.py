#!/usr/bin/env python3
"""load_packed.py BUILD PTXAS DRIVER...

How long NVIDIA's drivers on the phantom GPU (sm_86) take to load machine code that is raw, LZ4 and zstd in its container: one kernel for
each of many sums, compiled by PTXAS. Milliseconds of cuModuleLoadDataEx over ROUNDS, after a first load that is not counted.
"""
import os, random, statistics, subprocess, sys, tempfile

ROUNDS, KERNELS, STATEMENTS = 40, 1500, 400
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, root + "/tests/framework")
import fatbin  # noqa: E402


def kernel(name, rng):
    lines = [".visible .entry %s(.param .u64 p)\n{\n.reg .f32 %%f<9>;\n.reg .u64 %%d<2>;\nld.param.u64 %%d1, [p];" % name]
    lines += ["ld.global.f32 %%f%d, [%%d1+%d];" % (i, 4 * i) for i in range(9)]
    for _ in range(STATEMENTS):
        lines.append("fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f%08x;" % (*rng.choices(range(9), k=3), 0x3F000000 + rng.randrange(1 << 20)))
    return "\n".join(lines + ["st.global.f32 [%%d1+%d], %%f%d;" % (4 * i, i) for i in range(9)] + ["ret;\n}\n"])


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: load_packed.py BUILD PTXAS DRIVER...")
    build, ptxas = os.path.abspath(sys.argv[1]), sys.argv[2]
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/k.ptx", "w", encoding="ascii") as file:
            file.write(".version 7.1\n.target sm_86\n.address_size 64\n" + "".join(kernel("k%d" % i, rng) for i in range(KERNELS)))
        subprocess.run([ptxas, "-arch", "sm_86", "-o", folder + "/k.cubin", folder + "/k.ptx"], check=True)
        with open(folder + "/k.cubin", "rb") as file:
            cubin = file.read()
        kinds = {"raw": None, "LZ4": "lz4", "zstd": "zstd"}
        for name, compression in kinds.items():
            with open(folder + "/" + name, "wb") as file:
                file.write(fatbin.container(fatbin.entry(fatbin.CUBIN, 86, cubin, compression=compression, isa=(7, 0))))
        print("cubin %d bytes; containers" % len(cubin), ", ".join("%s %d" % (name, os.path.getsize(folder + "/" + name)) for name in kinds))
        for driver in sys.argv[3:]:
            def load(paths):
                said = subprocess.run([root + "/scripts/with-driver.sh", "-B", build, "-d", driver, "sm_86", "--",
                                       build + "/tests/phantom/phantom-probe", "load", "0", *paths], check=False, capture_output=True, text=True)
                return [line.split() for line in said.stdout.splitlines() if "result" in line.split()]

            # The probe ends at the first one that is refused. In turns, so that what else the machine does hits all alike
            loaded = [name for name in kinds if load([folder + "/" + name])[0][2] == "0"]
            lines = load([folder + "/" + name for name in loaded] * (ROUNDS + 1))
            for at, name in enumerate(loaded):
                times = sorted(float(line[-2]) for line in lines[len(loaded) + at::len(loaded)])
                print(driver, name, "least %g ms, median %g ms" % (times[0], statistics.median(times)))


main()
