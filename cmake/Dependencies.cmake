# The libraries that jitwarm stands on, each as an imported target jitwarm_dep::NAME. pkg-config finds them;
# a cross build points PKG_CONFIG_LIBDIR at its own (scripts/build-windows.sh) and links them statically.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(jitwarm_dependency name module)
  pkg_check_modules(${name} REQUIRED ${module})
  add_library(jitwarm_dep::${name} INTERFACE IMPORTED GLOBAL)
  set(form "")
  if(WIN32)
    set(form "STATIC_")
  endif()
  target_include_directories(jitwarm_dep::${name} SYSTEM INTERFACE ${${name}_${form}INCLUDE_DIRS})
  target_compile_options(jitwarm_dep::${name} INTERFACE ${${name}_${form}CFLAGS_OTHER})
  target_link_directories(jitwarm_dep::${name} INTERFACE ${${name}_${form}LIBRARY_DIRS})
  target_link_libraries(jitwarm_dep::${name} INTERFACE ${${name}_${form}LIBRARIES})
endfunction()

jitwarm_dependency(zstd libzstd)
jitwarm_dependency(lz4 liblz4)
jitwarm_dependency(cjson libcjson)
jitwarm_dependency(sodium libsodium)
jitwarm_dependency(archive libarchive)
jitwarm_dependency(uv libuv)
