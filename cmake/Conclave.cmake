# How modules, tests and the protocol folder become targets. Flags live in one INTERFACE target.

# The oldest compilers, which Debian 12 has; CONTRIBUTING says so.
foreach(oldest IN ITEMS "GNU 12" "Clang 14")
  separate_arguments(oldest)
  list(POP_FRONT oldest compiler version)
  if(CMAKE_CXX_COMPILER_ID STREQUAL compiler AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS version)
    message(FATAL_ERROR "conclave is C++20 and needs GCC 12, Clang 14 or newer; "
            "${CMAKE_CXX_COMPILER} is ${compiler} ${CMAKE_CXX_COMPILER_VERSION}")
  endif()
endforeach()

add_library(conclave_flags INTERFACE)
target_compile_features(conclave_flags INTERFACE cxx_std_20)
target_include_directories(conclave_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(conclave_flags INTERFACE -Wall -Wextra)
if(NOT CONCLAVE_PAGE)  # whose sizes have 32 bits: cmake/Page.cmake
  target_compile_options(conclave_flags INTERFACE -Wpedantic -Wconversion)
  # Sources that are compiled together may use the same names, each for itself.
  target_compile_options(conclave_flags INTERFACE
                         $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
endif()
# No fused multiply-add where the source does not say so: results have the same bits everywhere.
target_compile_options(conclave_flags INTERFACE -ffp-contract=off)
if(CONCLAVE_PACKAGE)
  target_compile_options(conclave_flags INTERFACE
                         -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
                         -ffile-prefix-map=${PROJECT_BINARY_DIR}/=)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping and oversized copies inside std::string where there are none (GCC
  # bug 105651); Clang and newer GCC keep watch.
  target_compile_options(conclave_flags INTERFACE -Wno-restrict -Wno-stringop-overflow
                         -Wno-stringop-overread -Wno-array-bounds)
endif()
if(CONCLAVE_WERROR)
  target_compile_options(conclave_flags INTERFACE -Werror)
endif()
if(CONCLAVE_SANITIZE)
  target_compile_options(conclave_flags INTERFACE -fsanitize=${CONCLAVE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(conclave_flags INTERFACE -fsanitize=${CONCLAVE_SANITIZE})
  # Address finds what matters of these four; they would double the time to compile.
  if(CONCLAVE_SANITIZE MATCHES "undefined")
    target_compile_options(conclave_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  # GCC takes the instrumented reading of an empty std::optional for the use of its value.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(conclave_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
# The program and the Python module are linked from the same objects. Hidden symbols are called
# directly, as in a program of its own, so that the engines lose nothing by it.
if(NOT CONCLAVE_PAGE)
  target_compile_options(conclave_flags INTERFACE -fPIC -fvisibility=hidden
                         -fno-semantic-interposition)
endif()

# Code that runs once per command, or calls code that is optimized, is worth little optimization.
# The page has one level for all (cmake/Page.cmake).
set(conclave_cold_flags $<IF:$<CONFIG:Release>,-O1,-O0>)
if(CONCLAVE_PAGE)
  set(conclave_cold_flags "")
endif()

# conclave_on_page(LIST)
# The list as it is, and in a build of the page without the word PROGRAM and all that comes after
# it: what only the program needs, or what needs an operating system.
function(conclave_on_page list)
  list(FIND ${list} PROGRAM place)
  if(CONCLAVE_PAGE AND place GREATER_EQUAL 0)
    list(SUBLIST ${list} 0 ${place} ${list})
  endif()
  list(REMOVE_ITEM ${list} PROGRAM)
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

# conclave_add_module(NAME [COLD] [FUZZED] [TOGETHER number|groups] [DEPENDS targets...]
#                     [SOURCES files...] [COLD_SOURCES files...])
# A module is the folder of that name; without sources it is headers only. COLD is one that is worth
# little optimization, COLD_SOURCES are those of its sources that are. FUZZED is one whose branches
# the fuzzers follow. Its sources are compiled as one; in a large module so many of them TOGETHER,
# or those of the same group (cmake/Speed.cmake). In each list the word PROGRAM stands before what
# the page leaves out.
function(conclave_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD;FUZZED" "TOGETHER"
                        "DEPENDS;SOURCES;COLD_SOURCES")
  foreach(list IN ITEMS DEPENDS SOURCES COLD_SOURCES)
    conclave_on_page(arg_${list})
  endforeach()
  set(target conclave_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(targets ${target})
    if(arg_COLD_SOURCES)
      add_library(${target}_cold OBJECT ${arg_COLD_SOURCES})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cold>)
      target_compile_options(${target}_cold PRIVATE ${conclave_cold_flags})
      list(APPEND targets ${target}_cold)
    endif()
    if(arg_COLD)
      target_compile_options(${target} PRIVATE ${conclave_cold_flags})
    endif()
    foreach(each IN LISTS targets)
      target_link_libraries(${each} PUBLIC conclave_flags ${arg_DEPENDS})
      if(arg_FUZZED AND CONCLAVE_FUZZERS)
        target_compile_options(${each} PRIVATE -fsanitize=fuzzer-no-link)
      endif()
    endforeach()
    conclave_precompile(${target})
    conclave_compile_together(${target} ${arg_TOGETHER})
    if(arg_COLD_SOURCES)
      conclave_precompile(${target}_cold)
      conclave_compile_together(${target}_cold)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE conclave_flags ${arg_DEPENDS})
  endif()
endfunction()

# conclave_add_test(NAME LABELS labels... [COLD] [TOGETHER number] [DEPENDS targets...]
#                   SOURCES files...)
# One executable, one ctest entry, with its kind as label. COLD is one that spends its time in the
# libraries it calls.
function(conclave_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "TOGETHER" "LABELS;DEPENDS;SOURCES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gtest_main)
  # Laws take many trials and are worth optimizing; other tests take longer to compile than to run.
  set(kind laws)
  set(options "")
  if(arg_COLD)
    set(kind cold)
    set(options ${conclave_cold_flags})
  elseif(NOT arg_LABELS MATCHES "statistical")
    set(kind plain)
    set(options $<$<CONFIG:Release>:-O1>)
  endif()
  target_compile_options(${name} PRIVATE ${options})
  conclave_precompile_gtest(${name} ${kind} ${options})
  if(arg_TOGETHER)
    conclave_compile_together(${name} ${arg_TOGETHER})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900)
  if(arg_LABELS MATCHES "statistical|conformance")
    set_tests_properties(${name} PROPERTIES COST 50)  # the long ones begin first
  endif()
  if(arg_LABELS MATCHES "unit|property|conformance" AND NOT arg_LABELS MATCHES "optimized")
    add_dependencies(fast_tests ${name})
  endif()
  if(arg_LABELS MATCHES "threads")
    add_dependencies(threads_tests ${name})
  endif()
endfunction()

# The tests that ./test repeats under the address and undefined-behaviour sanitizers, and those it
# repeats under the thread sanitizer.
add_custom_target(fast_tests)
add_custom_target(threads_tests)

# The type that a file defines: CoinDuel in coin_duel.hpp.
function(conclave_type_of out file)
  string(REPLACE "_" ";" words ${file})
  set(type "")
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 initial)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${initial} initial)
    string(APPEND type ${initial}${rest})
  endforeach()
  set(${out} ${type} PARENT_SCOPE)
endfunction()

# conclave_list_protocols(OUT folder)
# Writes one source per protocol file in folder/population and folder/message, which instantiates
# its catalog entry with all that runs it, and one that lists them all; returns the sources in OUT.
# They share a few objects, by a hash of the name, since most of what an object costs is common to
# all: three protocols of populations take 14 CPU seconds together, and 24 apart. A new or edited
# protocol costs one object.
# Entries of the page have no analyses (verify, search, rare, explore).
function(conclave_list_protocols out folder)
  set(sources "")
  set(declarations "")
  set(calls "")
  set(population_objects 6)
  set(message_objects 3)
  set(analyses 1)
  if(CONCLAVE_PAGE)
    set(analyses 0)
  endif()
  file(GLOB all_lemmas CONFIGURE_DEPENDS  # to notice a new one
       ${folder}/population/lemmas/*.hpp ${folder}/population/importance/*.hpp)
  foreach(kind IN ITEMS population message)
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/${kind}/*.hpp)
    foreach(header IN LISTS headers)
      get_filename_component(file ${header} NAME_WE)
      if(CONCLAVE_PROTOCOLS AND NOT file IN_LIST CONCLAVE_PROTOCOLS)
        continue()
      endif()
      conclave_type_of(type ${file})
      set(lemmas "")
      if(EXISTS ${folder}/${kind}/lemmas/${file}.hpp)
        set(lemmas "#include \"conclave/protocols/${kind}/lemmas/${file}.hpp\"\n")
      endif()
      set(importance "")
      set(rare "")
      if(EXISTS ${folder}/${kind}/importance/${file}.hpp)
        set(importance "#include \"conclave/catalog/make_rare.hpp\"
#include \"conclave/protocols/${kind}/importance/${file}.hpp\"\n")
        set(rare "    add_rarity<P>(entry);\n")
      endif()
      set(source ${CMAKE_CURRENT_BINARY_DIR}/entries/${file}.cpp)
      configure_file(${PROJECT_SOURCE_DIR}/cmake/${kind}_entry.cpp.in ${source} @ONLY)
      list(APPEND sources ${source})
      string(SHA1 hash ${file})
      string(SUBSTRING ${hash} 0 2 hash)
      math(EXPR group "0x${hash} % ${${kind}_objects}")
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${kind}_${group})
      if(CONCLAVE_PAGE)  # compiled as a whole
        set_property(SOURCE ${source} PROPERTY UNITY_GROUP entries)
      endif()
      string(APPEND declarations "Entry entry_of_${file}();\n")
      string(APPEND calls "      entry_of_${file}(),\n")
    endforeach()
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/entries/all.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/entries.cpp.in ${source} @ONLY)
  set(${out} ${sources} ${source} PARENT_SCOPE)
endfunction()

# conclave_list_gpu_engines(OUT KERNELS folder)
# Writes the sources of the gpu engine: in KERNELS one per protocol, for the CUDA compiler, and in
# OUT one that says whether there are any.
function(conclave_list_gpu_engines out kernels folder)
  set(sources "")
  set(gpu_engines "")
  set(gpu_is_built false)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/population/*.hpp)
  foreach(header IN LISTS headers)
    get_filename_component(file ${header} NAME_WE)
    if(CONCLAVE_PROTOCOLS AND NOT file IN_LIST CONCLAVE_PROTOCOLS)
      continue()
    endif()
    conclave_type_of(type ${file})
    if(CONCLAVE_CUDA)
      set(gpu_is_built true)
      set(source ${CMAKE_CURRENT_BINARY_DIR}/entries/${file}_gpu.cu)
      configure_file(${PROJECT_SOURCE_DIR}/cmake/gpu_engine.cu.in ${source} @ONLY)
      list(APPEND sources ${source})
    else()
      set(function "std::unique_ptr<Engine> engine_of_${file}(const void*, unsigned)")
      string(APPEND gpu_engines "${function};\n${function} { return nullptr; }\n")
    endif()
  endforeach()
  if(CONCLAVE_CUDA)
    list(APPEND sources ${PROJECT_SOURCE_DIR}/src/conclave/gpu/table_engine.cu)
  else()
    foreach(bits IN ITEMS 8 16)
      string(APPEND gpu_engines
             "std::unique_ptr<Engine> engine_of_table_${bits}(const void*, unsigned) "
             "{ return nullptr; }\n")
    endforeach()
    string(APPEND gpu_engines "unsigned device_count() { return 0; }\n")
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/entries/gpu_engines.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/gpu_engines.cpp.in ${source} @ONLY)
  set(${out} ${source} PARENT_SCOPE)
  set(${kernels} ${sources} PARENT_SCOPE)
endfunction()

# conclave_name_folders(NAME source_folder installed_folder)
# Writes the header NAME/folders.hpp of a module, with a folder of the source tree and the one that
# it is installed as, below share/conclave.
function(conclave_name_folders namespace source_folder installed_folder)
  set(source_folders "\"${source_folder}\", ")
  if(CONCLAVE_PACKAGE)
    set(source_folders "")
  endif()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/folders.hpp.in
                 ${generated}/conclave/${namespace}/folders.hpp @ONLY)
  foreach(target IN ITEMS conclave_${namespace} conclave_${namespace}_cold)
    if(TARGET ${target})
      target_include_directories(${target} PRIVATE ${generated})
    endif()
  endforeach()
endfunction()

# conclave_embed(OUT namespace header NAME file [NAME file ...])
# Writes the source that defines the header's string views as the contents of files; returns it in
# OUT.
function(conclave_embed out namespace header)
  set(definitions "")
  while(ARGN)
    list(POP_FRONT ARGN name file)
    file(READ ${file} content)
    string(APPEND definitions
           "const std::string_view ${name} = R\"embedded(${content})embedded\";\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endwhile()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${namespace}_assets.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/assets.cpp.in ${source} @ONLY)
  set(${out} ${source} PARENT_SCOPE)
endfunction()
