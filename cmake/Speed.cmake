# Faster builds: ccache and a parallel linker where the machine has them, precompiled headers, and
# sources that are compiled together. None of it changes a result.

option(CONCLAVE_TOGETHER "Compile several sources of a module as one, with precompiled headers" OFF)

find_program(CONCLAVE_CCACHE ccache)
if(CONCLAVE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this word ccache keeps away from files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  ${CONCLAVE_CCACHE})
endif()

include(CheckLinkerFlag)
foreach(linker IN ITEMS mold lld)
  find_program(CONCLAVE_LD_${linker} ld.${linker})
  if(CONCLAVE_LD_${linker})
    check_linker_flag(CXX -fuse-ld=${linker} CONCLAVE_LINKS_WITH_${linker})
  endif()
  if(CONCLAVE_LINKS_WITH_${linker})
    target_link_options(conclave_flags INTERFACE -fuse-ld=${linker})
    break()
  endif()
endforeach()

# GCC collects garbage as soon as it has used 128 MB, again and again in large sources; half a
# gigabyte saves a fifteenth of the time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(conclave_flags INTERFACE --param=ggc-min-heapsize=524288)
endif()

# The presets of ./demo and ./test compile sources together and precompile headers. Such a build
# does not notice a missing #include; tools/tidy.py notices most, and builds that read every source
# by itself notice all: a plain `cmake -B build`, tools/page, and tools/lint for files that were
# edited.
if(CONCLAVE_TOGETHER)
  set(CMAKE_PCH_WARN_INVALID OFF)  # a header that does not fit is read as text
  target_compile_options(conclave_flags INTERFACE  # both for ccache
                         $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                         $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endif()

# Headers of others that many modules include.
set(conclave_common_headers
    <algorithm> <array> <atomic> <bit> <cmath> <concepts> <cstddef> <cstdint>
    <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <sstream> <stdexcept>
    <string> <string_view> <tuple> <type_traits> <utility> <variant> <vector> <fmt/format.h>)

# conclave_precompile(TARGET)
# Precompiles the common headers for a target; all targets share them. Our own headers are not worth
# it: a module is a few large objects. With GCC alone: Clang would need one per set of options.
function(conclave_precompile target)
  if(NOT CONCLAVE_TOGETHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(target STREQUAL "conclave_base")
    target_precompile_headers(${target} PRIVATE ${conclave_common_headers})
  else()
    target_precompile_headers(${target} REUSE_FROM conclave_base)
  endif()
endfunction()

# conclave_precompile_gtest(TARGET KIND [options...])
# Precompiles GoogleTest for a test, once for all tests of a kind, which are those with the same
# options.
function(conclave_precompile_gtest target kind)
  if(NOT CONCLAVE_TOGETHER)
    return()
  endif()
  set(shared conclave_gtest_${kind})
  if(NOT TARGET ${shared})
    set(source ${PROJECT_BINARY_DIR}/${shared}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing but precompiled headers.\n")
    add_library(${shared} OBJECT ${source})
    target_link_libraries(${shared} PRIVATE conclave_flags GTest::gtest)
    target_compile_options(${shared} PRIVATE ${ARGN})
    target_precompile_headers(${shared} PRIVATE <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

# conclave_compile_together(TARGET [number|groups])
# Compiles the sources of a target as one, or up to so many of them, or those with the same property
# UNITY_GROUP, so that the headers they share are read, and the templates they share are compiled,
# once. What they define for themselves alone must then differ in its name.
function(conclave_compile_together target)
  if(NOT CONCLAVE_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)  # all
  if(ARGV1 STREQUAL "groups")
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  elseif(ARGN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${ARGV1})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes what is not the main file for a header, where types of one source may not be used.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
