# The libraries and flags of the page's module, for the machine wasm32: libraries of headers alone,
# without the headers of this machine's C library beside them.
set(CONCLAVE_WASM_LEVEL -Os CACHE STRING "How much the module is optimized")

set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(library IN ITEMS fmt hwy nlohmann Random123)
  find_path(place_of_${library} ${library} PATHS /usr/include /usr/local/include
            NO_DEFAULT_PATH REQUIRED)
  file(CREATE_LINK ${place_of_${library}}/${library} ${headers}/${library} SYMBOLIC)
endforeach()
set(RANDOM123_INCLUDE_DIR ${headers})
foreach(target IN ITEMS fmt::fmt PkgConfig::hwy nlohmann_json::nlohmann_json)
  add_library(${target} INTERFACE IMPORTED)
  target_include_directories(${target} SYSTEM INTERFACE ${headers})
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY FMT_STATIC_THOUSANDS_SEPARATOR=',')
target_compile_definitions(PkgConfig::hwy INTERFACE HWY_COMPILE_ONLY_STATIC)

# Sizes have 32 bits here and numbers of agents 64; what a page cannot hold is refused before it is
# allocated, so narrowing is no error.
target_compile_options(conclave_flags INTERFACE ${CONCLAVE_WASM_LEVEL} -fwasm-exceptions -msimd128
                       -Wno-c++11-narrowing)
