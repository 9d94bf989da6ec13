"""start_cupy.py: what a CuPy program does first: arrays, reductions, random numbers, kernels of its own. cupy_first_start.py runs it."""
import os
import sys
import time

# The libraries that CuPy 12 links, such as cuBLAS, are neither called here nor installed.
sys.setdlopenflags(os.RTLD_LAZY)
began = time.monotonic()

import cupy  # noqa: E402


def at(what):
    print("%6.1f s  %s" % (time.monotonic() - began, what), flush=True)


a = cupy.arange(1000, dtype=cupy.float32)
b = a * 2 + 1
at("elementwise")
b.sum()
b.max()
at("reductions")
cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * x - 3", "users_kernel")(a)
cupy.RawKernel('extern "C" __global__ void raw(float *x) { x[threadIdx.x] += 1; }', "raw")((1,), (32,), (a,))
at("kernels of its own")
cupy.random.default_rng(1).random(100)
at("random numbers")
cupy.sort(b)
at("sort")
cupy.cuda.Device().synchronize()
