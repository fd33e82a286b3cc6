# Writes the version and the commit that is being built into OUTPUT, which is touched only when they
# change. In a tarball made by `git archive` the commit stands in archive-revision.txt; a tarball
# that lies inside another repository is not taken for a part of that.
# Usage: cmake -DSOURCE=folder -DVERSION=x -DOUTPUT=file -P revision.cmake
set(revision "")
file(STRINGS ${SOURCE}/cmake/archive-revision.txt archived LIMIT_COUNT 1)
if(archived MATCHES "^[0-9a-f]+$")
  set(revision ${archived})
elseif(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#define CONCLAVE_VERSION \"${VERSION}\"\n#define CONCLAVE_REVISION \"${revision}\"\n")
