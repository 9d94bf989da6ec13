# What programs of others link: jitwarm_shared and jitwarm_static, both of libjitwarm's objects. Visible in either are the
# functions that include/jitwarm declares, and nothing else.
if(JITWARM_SANITIZE)
  return() # these programs are ours, and test libjitwarm itself
endif()

file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/jitwarm/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_headers})
list(FILTER public_headers EXCLUDE REGEX "/api[.]h$") # has no function
set(names)
foreach(header ${public_headers})
  file(READ ${header} text)
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" "" text "${text}")
  string(REGEX MATCHALL "jw_[a-z0-9_]+[(]" found "${text}")
  list(APPEND names ${found})
endforeach()
string(REPLACE "(" "" names "${names}")
list(REMOVE_DUPLICATES names)
list(SORT names)
list(JOIN names "\n" lines)
set(visible ${CMAKE_CURRENT_BINARY_DIR}/visible)
file(CONFIGURE OUTPUT ${visible}.names CONTENT "@lines@\n" @ONLY)
file(CONFIGURE OUTPUT ${visible}.def CONTENT "EXPORTS\n@lines@\n" @ONLY)
list(JOIN names ";\n" lines)
file(CONFIGURE OUTPUT ${visible}.map CONTENT "JITWARM_${JITWARM_SOVERSION} {\nglobal:\n@lines@;\nlocal: *;\n};\n" @ONLY)

get_target_property(linked libjitwarm LINK_LIBRARIES)
list(REMOVE_ITEM linked jitwarm_flags)
if(JITWARM_LATE_LIBRARIES)
  list(REMOVE_ITEM linked jitwarm_dep::archive jitwarm_dep::curl)
endif()

add_library(jitwarm_shared SHARED $<TARGET_OBJECTS:libjitwarm>)
set_target_properties(jitwarm_shared PROPERTIES OUTPUT_NAME jitwarm EXPORT_NAME shared LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION ${JITWARM_SOVERSION})
target_link_libraries(jitwarm_shared PRIVATE ${linked} jitwarm_flags)
if(WIN32)
  target_sources(jitwarm_shared PRIVATE ${visible}.def)
else()
  target_link_options(jitwarm_shared PRIVATE -Wl,--version-script=${visible}.map -Wl,--no-undefined)
  set_property(TARGET jitwarm_shared APPEND PROPERTY LINK_DEPENDS ${visible}.map)
endif()

set(object ${CMAKE_CURRENT_BINARY_DIR}/jitwarm.o)
# One object, in which every name but the visible ones has become local. With -flto it is here that it is compiled: what others link
# must not need this compiler's plugin, and objcopy finds no names in what is not compiled.
string(REGEX MATCH "-fuse-ld=[^ ]+" joining "${CMAKE_EXE_LINKER_FLAGS}")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT WIN32)
  list(APPEND joining -flinker-output=nolto-rel)
endif()
add_custom_command(OUTPUT ${object}
  COMMAND ${CMAKE_C_COMPILER} ${joining} -r -nostdlib -o ${object} $<TARGET_OBJECTS:libjitwarm>
  COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${visible}.names ${object}
  DEPENDS libjitwarm $<TARGET_OBJECTS:libjitwarm> ${visible}.names COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
add_library(jitwarm_static STATIC ${object})
set_target_properties(jitwarm_static PROPERTIES OUTPUT_NAME jitwarm EXPORT_NAME static LINKER_LANGUAGE C)
target_link_libraries(jitwarm_static PRIVATE ${linked})

# ---- installing

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/jitwarm)
foreach(kind shared static)
  target_include_directories(jitwarm_${kind} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS jitwarm_${kind} EXPORT jitwarm-${kind} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT jitwarm-${kind} NAMESPACE jitwarm:: DESTINATION ${package_folder})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

get_property(modules GLOBAL PROPERTY JITWARM_MODULES)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/jitwarmConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/jitwarmConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/jitwarmConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/jitwarmConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/jitwarmConfigVersion.cmake
  DESTINATION ${package_folder})

list(JOIN modules " " modules)
set(system "-pthread")
if(WIN32)
  list(FILTER linked EXCLUDE REGEX "::")
  list(TRANSFORM linked PREPEND -l)
  list(JOIN linked " " system)
elseif(CMAKE_DL_LIBS)
  string(APPEND system " -l${CMAKE_DL_LIBS}")
endif()
# Debian's libraries lie one level deeper.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
foreach(name jitwarm jitwarm-static)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
