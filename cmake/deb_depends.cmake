# SPDX-License-Identifier: Apache-2.0
# Read by cpack: the packages that stab needs, by its own libraries.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(folder ${CPACK_PACKAGE_DIRECTORY}/shlibdeps)
  file(WRITE ${folder}/debian/control "Source: stab\n\nPackage: stab\nArchitecture: any\n")
  execute_process(COMMAND dpkg-shlibdeps -O ${CPACK_STAB_PROGRAM} WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE found
                  ERROR_VARIABLE said RESULT_VARIABLE status)
  file(REMOVE_RECURSE ${folder})
  if(NOT status EQUAL 0 OR NOT found MATCHES "shlibs:Depends=([^\n]+)")
    message(FATAL_ERROR "dpkg-shlibdeps (package dpkg-dev) did not tell what stab needs: ${said}")
  endif()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
endif()
