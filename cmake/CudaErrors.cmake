# cuda_errors(TSV HEADER): writes the errors of CUDA and of its users, as rows CUDA_ERROR(number, name, words, means, cause, windows, cure). A
# line that breaks the rules of data/README.md ends the configuration.
function(cuda_errors tsv header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tsv})
  file(READ ${tsv} text)
  string(FIND "${text}" "\n" head)
  string(SUBSTRING "${text}" ${head} -1 text)
  string(REPLACE "\"" "\\\"" text "${text}")
  set(cell "[^\t\n]*")
  string(REGEX REPLACE "([0-9]+)\t(${cell})\t(${cell})\t(${cell})\t(${cell})\t(${cell})\t(${cell})\n"
    "CUDA_ERROR(\\1, \"\\2\", \"\\3\", \"\\4\", \"\\5\", \"\\6\", \"\\7\")\n" rows "${text}")
  if(rows MATCHES "\t")
    message(FATAL_ERROR "${tsv}: a line is not a row of the table")
  endif()
  file(CONFIGURE OUTPUT ${header} CONTENT "/* Made from data/errors.tsv by CMake. */\n@rows@" @ONLY)
endfunction()
