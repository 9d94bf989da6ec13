"""recorded.py NAME NVRTC: has the driver compile PTX that is in no file, as programs in the field do. recording.sh runs it.

nvrtc      three sources, by NVRTC
options    one text of NVRTC, loaded with options of its own, with others, and without any
packed     PTX that a file of the program's holds by its own means, at level 4
link       two texts, by the driver's linker, and once more with an option
container  a container without a NUL in it, made in memory
written    a text whose version is the driver's, as Dr.Jit writes it
"""
import ctypes, os, struct, sys, zlib
name, nvrtc = sys.argv[1], ctypes.CDLL(sys.argv[2])
cuda, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
LOG_VERBOSE, MAX_REGISTERS, LEVEL, LINE_INFO = 12, 0, 7, 13


def check(result):
    if result:
        sys.exit("%s: error %d" % (name, result))


def compiled(source, *options):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    words = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None))
    check(nvrtc.nvrtcCompileProgram(program, len(options), words))
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, text))
    return text.raw


def options_of(*pairs):
    keys = (ctypes.c_int * len(pairs))(*[key for key, _ in pairs])
    return len(pairs), keys, (ctypes.c_void_p * len(pairs))(*[value for _, value in pairs])


def load(image, *pairs):
    module = ctypes.c_void_p()
    check(cuda.cuModuleLoadDataEx(ctypes.byref(module), image, *options_of(*pairs)))


def link(texts, *pairs):
    state, cubin, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    check(cuda.cuLinkCreate_v2(*options_of(*pairs), ctypes.byref(state)))
    for text in texts:
        check(cuda.cuLinkAddData_v2(state, 1, text, ctypes.c_size_t(len(text)), b"part", 0, None, None))
    check(cuda.cuLinkComplete(state, ctypes.byref(cubin), ctypes.byref(size)))
    load(cubin)


SOURCE = b'extern "C" __global__ void k(float *y, float a) { y[threadIdx.x] = a / y[threadIdx.x] + COUNT; }'
PTX = b".version 7.0\n.target sm_70\n.address_size 64\n%s\n"
check(cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
      or cuda.cuCtxSetCurrent(context))
if name == "nvrtc":
    for count in range(3):
        load(compiled(SOURCE, "--gpu-architecture=compute_86", "-DCOUNT=%d" % count))
elif name == "options":
    text = compiled(SOURCE, "--gpu-architecture=compute_80", "-DCOUNT=7", "-lineinfo", "--use_fast_math")
    for registers in 16, 32:
        load(text, (MAX_REGISTERS, registers), (LEVEL, 3), (LINE_INFO, 1))
    load(text)
elif name == "packed":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "packed.z"), "rb") as file:
        load(zlib.decompress(file.read()), (LEVEL, 4))
elif name == "link":
    parts = [b".visible .func (.reg .b32 r) f() { mov.b32 r, 7; ret; }",
             b".extern .func (.reg .b32 r) f(); .visible .entry linked() { .reg .b32 %%r; call (%%r), f; ret; }".replace(b"%%", b"%")]
    link([PTX % part + b"\0" for part in parts])
    link([PTX % part + b"\0" for part in parts], (MAX_REGISTERS, 24))
elif name == "container":
    text = PTX % b".visible .entry bare() { ret; }"
    text += b" " * (-len(text) % 8)  # so that, stored raw, it has no NUL
    entry = struct.pack("<HHIQIIHHIIIQQQQ", 1, 0x101, 72, len(text), 0, 64, 0, 7, 70, 0, 0, 0x11, 0, 0, 0)
    load(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + len(text)) + entry + text)
elif name == "written":
    driver = ctypes.c_int()
    check(cuda.cuDriverGetVersion(ctypes.byref(driver)))
    # CUDA 12.n has PTX 8.n.
    load(b".version 8.%d\n.target sm_80\n.address_size 64\n.visible .entry written() { ret; }\n" % (driver.value % 1000 // 10))
else:
    sys.exit("no such program: " + name)
