# Release builds are hardened as distributions do it; tests/end_to_end/hardening_test.py looks at
# the program. Sanitizers bring their own checks.

# Libraries are found where they were found when linking. No other folder may stand in the run path,
# not even the empty one that CMake leaves room with: it means the current folder.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CONCLAVE_SANITIZE)
  target_compile_options(conclave_flags INTERFACE -fstack-protector-strong
                         -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(conclave_flags INTERFACE -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-fcf-protection=full CONCLAVE_PROTECTS_CONTROL_FLOW)
  if(CONCLAVE_PROTECTS_CONTROL_FLOW)
    target_compile_options(conclave_flags INTERFACE -fcf-protection=full)
  endif()
endif()
