# Cross build for 64-bit Windows with Debian's mingw-w64. scripts/build-windows.sh builds the libraries first, into the folder that
# JITWARM_WINDOWS_PREFIX names; without that variable, its last libraries are used.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# Compiler checks read this file again without the variables of the command line, so the environment carries this one.
if(NOT JITWARM_WINDOWS_PREFIX)
  if(DEFINED ENV{JITWARM_WINDOWS_PREFIX})
    set(JITWARM_WINDOWS_PREFIX "$ENV{JITWARM_WINDOWS_PREFIX}")
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(JITWARM_WINDOWS_PREFIX "$ENV{XDG_CACHE_HOME}/jitwarm/windows/current")
  else()
    set(JITWARM_WINDOWS_PREFIX "$ENV{HOME}/.cache/jitwarm/windows/current")
  endif()
endif()
set(ENV{JITWARM_WINDOWS_PREFIX} "${JITWARM_WINDOWS_PREFIX}")

# The build machine's own libraries must not be found.
set(ENV{PKG_CONFIG_LIBDIR} "${JITWARM_WINDOWS_PREFIX}/lib/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")

set(CMAKE_FIND_ROOT_PATH "${JITWARM_WINDOWS_PREFIX}" /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
