# cuda_errors(TSV HEADER): writes the errors of CUDA and of its users, as rows CUDA_ERROR(number, name, words, means, cause, windows, cure).
# error_words(TSV HEADER): writes the sets of words in these errors' patterns, as rows ERROR_WORDS(set, words).
# A line that breaks the rules of data/README.md ends the configuration.
function(cuda_errors tsv header)
  set(cell "([^\t\n]*)")
  write_rows(${tsv} ${header} "([0-9]+)\t${cell}\t${cell}\t${cell}\t${cell}\t${cell}\t${cell}\n"
    "CUDA_ERROR(\\1, \"\\2\", \"\\3\", \"\\4\", \"\\5\", \"\\6\", \"\\7\")\n")
endfunction()

function(error_words tsv header)
  write_rows(${tsv} ${header} "([a-z]+)\t([^\t\n]*)\n" "ERROR_WORDS(\"\\1\", \"\\2\")\n")
endfunction()

function(write_rows tsv header pattern line)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tsv})
  file(READ ${tsv} text)
  string(FIND "${text}" "\n" head)
  string(SUBSTRING "${text}" ${head} -1 text)
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REGEX REPLACE "${pattern}" "${line}" rows "${text}")
  if(rows MATCHES "\t")
    message(FATAL_ERROR "${tsv}: a line is not a row of the table")
  endif()
  cmake_path(GET tsv FILENAME name)
  file(CONFIGURE OUTPUT ${header} CONTENT "/* Made from data/@name@ by CMake. */\n@rows@" @ONLY)
endfunction()
