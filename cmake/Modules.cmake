configure_file(cmake/version_info.hpp.in generated/version_info.hpp @ONLY)
configure_file(cmake/build_info.hpp.in generated/build_info.hpp @ONLY)

# weir_module(NAME SOURCES ... [DEPENDS module ...] [LINK library ...] [PRIVATE_LINK library ...])
#
# One static library per folder of src/. A module's headers are included as "NAME/header.hpp", and only the headers of the
# modules it DEPENDS on can be found at all: the direction of dependencies is kept by the compiler.
function(weir_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  set(view ${PROJECT_BINARY_DIR}/modules/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${view}/${name} SYMBOLIC)

  list(TRANSFORM ARG_SOURCES PREPEND ${name}/)
  add_library(weir_${name} STATIC ${ARG_SOURCES})
  target_include_directories(weir_${name} PUBLIC ${view} ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_BINARY_DIR}/generated)
  list(TRANSFORM ARG_DEPENDS PREPEND weir_)
  target_link_libraries(weir_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK} PRIVATE weir_build_flags ${ARG_PRIVATE_LINK})
endfunction()
