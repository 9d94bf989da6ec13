# Import libraries that load their DLL at the first call, and not before main(): libNAME.a below the build folder for each
# NAME, in place of mingw-w64's. The linker finds them first with delay_load(TARGET).
set(delay_load_folder ${PROJECT_BINARY_DIR}/delay-load)
set(delay_load_names version userenv iphlpapi bcrypt crypt32)
file(MAKE_DIRECTORY ${delay_load_folder})
string(REGEX REPLACE "gcc$" "" delay_load_tools ${CMAKE_C_COMPILER})
foreach(name ${delay_load_names})
  if(EXISTS ${delay_load_folder}/lib${name}.a)
    continue()
  endif()
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${name}.a
    OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${delay_load_tools}nm -g --defined-only ${library} OUTPUT_VARIABLE symbols ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " T [A-Za-z_0-9]+" symbols "${symbols}")
  string(REPLACE " T " "" symbols "${symbols}")
  list(REMOVE_DUPLICATES symbols)
  list(JOIN symbols "\n" symbols)
  string(TOUPPER ${name} dll)
  file(WRITE ${delay_load_folder}/${name}.def "LIBRARY ${dll}.dll\nEXPORTS\n${symbols}\n")
  execute_process(COMMAND ${delay_load_tools}dlltool -d ${name}.def --output-delaylib lib${name}.a
    WORKING_DIRECTORY ${delay_load_folder} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# The helper that loads the DLLs is linked before the libraries that need it. The linker sorts imports by the names of their libraries'
# files; it leaves out that of the build folder (where Ninja links), so that programs built in two folders are the same bytes.
function(delay_load target)
  target_link_options(${target} PRIVATE -Ldelay-load -Wl,-u,__delayLoadHelper2)
  target_link_libraries(${target} PRIVATE delayimp)
endfunction()
