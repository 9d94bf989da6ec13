# embed_compressed(FILE HEADER NAME): writes a header with the file as one zstd frame, `static const unsigned char NAME[]`, and
# its size before that, `NAME_SIZE`.
function(embed_compressed file header name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(ARCHIVE_CREATE OUTPUT ${header}.zst PATHS ${file} FORMAT raw COMPRESSION Zstd COMPRESSION_LEVEL 9)
  file(READ ${header}.zst bytes HEX)
  file(SIZE ${file} size)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(CONFIGURE OUTPUT ${header} CONTENT "/* Made from @file@ by CMake. */\nenum { @name@_SIZE = @size@ };\nstatic const unsigned char @name@[] = {\n@bytes@};\n" @ONLY)
endfunction()
