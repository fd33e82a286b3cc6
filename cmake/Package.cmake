# What `cmake --install` installs: the program, and the election library as conclave::election for
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

install(TARGETS conclave COMPONENT program)
# What the program is made of, told by the libraries of the machine that it is built on.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(bill ${PROJECT_BINARY_DIR}/package/sbom.cdx.json)
install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/sbom
                              ${PROJECT_BINARY_DIR}/conclave ${PROJECT_VERSION}
                              OUTPUT_FILE ${bill} COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT program)
install(FILES ${bill} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(TARGETS conclave_package EXPORT conclaveTargets COMPONENT election
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/src/conclave/election/election.hpp COMPONENT election
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/conclave/election)
install(EXPORT conclaveTargets NAMESPACE conclave:: DESTINATION ${package_folder}
        COMPONENT election)
install(FILES ${PROJECT_BINARY_DIR}/package/conclaveConfig.cmake
              ${PROJECT_BINARY_DIR}/package/conclaveConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT election)
