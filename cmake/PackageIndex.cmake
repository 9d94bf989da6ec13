# The package index that “jitwarm compiler fetch” asks where pip's configuration names none. Unless the build names one, it is
# pip's own, read off the pip of the build machine; without either, the program asks its user to name one.
set(JITWARM_PACKAGE_INDEX "" CACHE STRING "Package index (PEP 691) that is asked where pip's configuration names none")
set(package_index "${JITWARM_PACKAGE_INDEX}")
if(package_index STREQUAL "")
  find_program(JITWARM_PYTHON python3)
  if(JITWARM_PYTHON)
    execute_process(COMMAND ${JITWARM_PYTHON} -c "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
      OUTPUT_VARIABLE package_index OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(NOT package_index MATCHES "^(https://[^\"\\ ]+)?$")
  message(FATAL_ERROR "JITWARM_PACKAGE_INDEX: not an https address: ${package_index}")
endif()
