# Every target of the project has these compiler flags: target_link_libraries(x PRIVATE jitwarm_flags).
add_library(jitwarm_flags INTERFACE)

target_compile_options(jitwarm_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wformat=2 -Wundef -Wcast-align
  -Wcast-qual -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wpointer-arith -Wnull-dereference -Wdouble-promotion -Wvla -Wswitch-enum -Wunused
  -fno-common -fstack-protector-strong)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(jitwarm_flags INTERFACE -Wlogical-op -Wduplicated-cond -Wjump-misses-init)
else()
  # clang warns about {90} also inside designated initializers, in which missing members are meant to be 0. From release 19 on with -Wextra,
  # it also warns about constants of anonymous enums beside a double, though they are ordinary ints.
  target_compile_options(jitwarm_flags INTERFACE -Wno-missing-field-initializers -Wno-enum-float-conversion)
endif()
if(JITWARM_WERROR)
  target_compile_options(jitwarm_flags INTERFACE -Werror)
endif()

if(JITWARM_SANITIZE)
  target_compile_options(jitwarm_flags INTERFACE
    -fsanitize=${JITWARM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(jitwarm_flags INTERFACE -fsanitize=${JITWARM_SANITIZE})
elseif(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
  # Only optimized code can be fortified; a packager's own level stays.
  target_compile_options(jitwarm_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

# Tracking which register holds which variable of optimized code costs a tenth of a build's time, and nobody steps through such a build.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(jitwarm_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-fno-var-tracking>)
endif()

if(WIN32)
  # Windows 10 is the oldest supported version; mingw's printf understands %zu and %lld only with its own stdio.
  target_compile_definitions(jitwarm_flags INTERFACE
    _WIN32_WINNT=0x0A00 WINVER=0x0A00 UNICODE _UNICODE WIN32_LEAN_AND_MEAN __USE_MINGW_ANSI_STDIO=1)
  # gcc takes the stack protector's own part from libssp only if the flag is also given at the link.
  target_link_options(jitwarm_flags INTERFACE -static -fstack-protector-strong -Wl,--high-entropy-va -Wl,--dynamicbase -Wl,--nxcompat)
else()
  target_compile_definitions(jitwarm_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
  target_link_options(jitwarm_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
