# Run as a test by conclave_add_compile_fail_test; see there.
set(ENV{LC_ALL} C)
set(command ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow
            -Werror -I${INCLUDE} ${SOURCE})

execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE message)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "Without the mistake, ${SOURCE} should compile:\n${message}")
endif()

set(mistake -DCONCLAVE_MISTAKE)
if(MISTAKE)
  string(APPEND mistake "=${MISTAKE}")
endif()
execute_process(COMMAND ${command} ${mistake} RESULT_VARIABLE result ERROR_VARIABLE message)
if(result EQUAL 0)
  message(FATAL_ERROR "With the mistake, ${SOURCE} should not compile")
endif()
string(FIND "${message}" "${MESSAGE}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "The compiler's message does not contain \"${MESSAGE}\":\n${message}")
endif()
