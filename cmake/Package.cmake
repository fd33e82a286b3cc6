# `cmake --install` installs the program, and the election library as conclave::election for
# find_package(conclave). The library is one archive, so that its users link one file.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

add_library(conclave_package STATIC
            $<TARGET_OBJECTS:conclave_base> $<TARGET_OBJECTS:conclave_election>)
add_dependencies(conclave conclave_package)  # `cmake --install` works after ./demo, too
set_target_properties(conclave_package PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME conclave_election
                      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/package EXPORT_NAME election)
target_compile_features(conclave_package INTERFACE cxx_std_17)
target_link_libraries(conclave_package INTERFACE fmt::fmt OpenSSL::SSL Threads::Threads
                      $<INSTALL_INTERFACE:hwy>)
if(CONCLAVE_SANITIZE)
  target_link_options(conclave_package INTERFACE -fsanitize=${CONCLAVE_SANITIZE})
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/conclave)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/conclaveConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/package/conclaveConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/conclaveConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

install(TARGETS conclave conclave-check COMPONENT program)
install(TARGETS conclave-bench COMPONENT program OPTIONAL)  # nothing if it was not built
# The parts of the program, as the libraries of the machine tell on which it is built.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(bill ${PROJECT_BINARY_DIR}/package/sbom.cdx.json)
install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/sbom
                              ${PROJECT_BINARY_DIR}/conclave ${PROJECT_VERSION}
                              OUTPUT_FILE ${bill} COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT program)
install(FILES ${bill} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# Manual pages, made from the program's own commands; completions, which ask the program.
set(generated ${PROJECT_BINARY_DIR}/package/share)
install(CODE "file(REMOVE_RECURSE ${generated})
              execute_process(COMMAND ${PROJECT_BINARY_DIR}/conclave generate ${generated}
                              COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT program)
install(DIRECTORY ${generated}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT program)
set(completions ${PROJECT_SOURCE_DIR}/deploy/completions)
install(FILES ${completions}/conclave.bash RENAME conclave COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(FILES ${completions}/conclave.fish COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
install(FILES ${completions}/_conclave COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/protocols ${PROJECT_SOURCE_DIR}/experiments
        DESTINATION ${CMAKE_INSTALL_DATADIR}/conclave COMPONENT program
        PATTERN results EXCLUDE)  # databases of 9 MB, which `reproduce --full` makes again
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/web DESTINATION ${CMAKE_INSTALL_DATADIR}/conclave
        COMPONENT program OPTIONAL)  # the explorer, where tools/page has built it
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
        COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
              ${PROJECT_SOURCE_DIR}/CITATION.cff ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

install(TARGETS conclave_package EXPORT conclaveTargets COMPONENT election
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/election/election.hpp COMPONENT election
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/conclave/election)
install(EXPORT conclaveTargets NAMESPACE conclave:: DESTINATION ${package_folder}
        COMPONENT election)
install(FILES ${PROJECT_BINARY_DIR}/package/conclaveConfig.cmake
              ${PROJECT_BINARY_DIR}/package/conclaveConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT election)

# `cpack -G DEB` in the build folder: conclave, and libconclave-election-dev for find_package. What
# they depend on is read off the files by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME conclave)
set(CPACK_PACKAGE_VENDOR conclave)
set(CPACK_PACKAGE_CONTACT "The conclave developers <conclave@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program election)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME conclave)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
"conclave simulates the leader election protocols of the literature, population
protocols with up to 2^62 agents as well as message passing against adversaries,
from any initial configuration and with faults, reproducibly and exactly in law.
It verifies lemmas and computes exact expected times on small instances, solves
Markov chains with certified errors, estimates rare failures, runs resumable sweeps
with reports, and elects a leader between real processes over TLS.

Protocols can also be written as short files. The explorer, which runs the engines in
a browser, is included where it had been built.")
set(CPACK_DEBIAN_ELECTION_PACKAGE_NAME libconclave-election-dev)
set(CPACK_DEBIAN_ELECTION_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_ELECTION_PACKAGE_DEPENDS "libfmt-dev, libssl-dev, libhwy-dev")
set(CPACK_DEBIAN_ELECTION_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_ELECTION_DESCRIPTION
"Leader election as a library for C++: members with terms and leases that elect a
leader over TLS, as conclave::election for find_package(conclave).")
if(TARGET conclave_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-conclave)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  math(EXPR next_python "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next_python})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS
      "python3-numpy, python3-pandas, python3-matplotlib, python3-scipy, gnuplot-nox")
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION
"The engines of conclave as a Python module, with protocols written in Python.")
endif()
include(CPack)

# API pages of the library's headers, in build/.../api: cmake --build ... --target docs-api
find_program(DOXYGEN_EXECUTABLE doxygen)
if(DOXYGEN_EXECUTABLE)
  add_custom_target(docs-api
    COMMAND ${CMAKE_COMMAND} -E env CONCLAVE_VERSION=${PROJECT_VERSION}
            CONCLAVE_API=${PROJECT_BINARY_DIR}/api ${DOXYGEN_EXECUTABLE} docs/Doxyfile
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
