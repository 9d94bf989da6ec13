# catalogue(PO HEADER NAME): writes the messages of a .po file as `static const struct message NAME[]`. The strings of that format
# are those of C, so that neither gettext's tools nor a file at run time are needed.
function(catalogue po header name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${po})
  file(READ ${po} text)
  # A CMake list would lose these characters.
  string(REPLACE ";" "@semicolon@" text "${text}")
  string(REPLACE "[0]" "" text "${text}")
  string(REGEX REPLACE "(^|\n)#[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\nmsgid_plural " ",\n.plural = " text "${text}")
  string(REGEX REPLACE "\nmsgid " "\n},{\n.id = " text "${text}")
  string(REGEX REPLACE "\nmsgstr " ",\n.text = " text "${text}")
  string(REGEX REPLACE "^[ \n]*},{" "{" text "${text}")
  string(REPLACE "@semicolon@" ";" text "${text}")
  file(CONFIGURE OUTPUT ${header} CONTENT "/* Made from @po@ by CMake. */\nstatic const struct message @name@[] = {\n@text@}};\n" @ONLY)
endfunction()
