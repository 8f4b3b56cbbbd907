# weir_embed(VARIABLE NAMESPACE name=file ...): sets VARIABLE to a source file that holds files as they are: `NAMESPACE::name()` is
# a std::string_view of each, and of a file given as "" an empty one. The assembler takes the bytes in, however many they are.
function(weir_embed variable namespace)
  set(assembly "")
  set(declarations "")
  set(functions "")
  set(files "")
  foreach(pair IN LISTS ARGN)
    string(REGEX MATCH "^([a-z_]+)=(.*)$" matched ${pair})
    set(name ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    set(symbol ${variable}_${name})
    string(APPEND functions "std::string_view ${name}();\nstd::string_view ${name}() { ")
    if(file)
      list(APPEND files ${file})
      foreach(place ${symbol} ${symbol}_end)
        string(APPEND declarations "extern const char ${place}[];\n")
      endforeach()
      string(APPEND assembly "    \".globl ${symbol}\\n.hidden ${symbol}\\n${symbol}:\\n.incbin \\\"${file}\\\"\\n\"\n"
        "    \".globl ${symbol}_end\\n.hidden ${symbol}_end\\n${symbol}_end:\\n.byte 0\\n\"\n")
      string(APPEND functions "return {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}; }\n")
    else()
      string(APPEND functions "return {}; }\n")
    endif()
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/generated/${variable}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// Made by CMake.
#include <cstddef>
#include <string_view>

__asm__(
    ".pushsection .rodata\n"
@assembly@    ".popsection\n");
extern "C" {
@declarations@}
namespace @namespace@ {
@functions@}
]])
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}")
  set(${variable} ${source} PARENT_SCOPE)
endfunction()
