# Writes the version and the commit that is being built into OUTPUT, which is touched only when they
# change.
# Usage: cmake -DSOURCE=folder -DVERSION=x -DOUTPUT=file -P revision.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#define CONCLAVE_VERSION \"${VERSION}\"\n#define CONCLAVE_REVISION \"${revision}\"\n")
