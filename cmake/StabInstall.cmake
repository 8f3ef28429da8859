# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts beside the programs, and the Debian package. The man page and the completions are made from
# what the built stab says of itself. The installed tree may be moved: stab looks for its runners beside itself.
set(stab_docs ${CMAKE_CURRENT_BINARY_DIR}/docs)
set(doc_parts docs/_stab.head docs/_stab.tail docs/stab.1.head docs/stab.1.tail docs/stab.bash.head docs/stab.bash.tail)
add_custom_command(
  OUTPUT ${stab_docs}/stab.1 ${stab_docs}/stab.bash ${stab_docs}/_stab
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cmake/make_docs.sh $<TARGET_FILE:stab> ${CMAKE_CURRENT_SOURCE_DIR} ${stab_docs}
  DEPENDS stab cmake/make_docs.sh cmake/help.awk ${doc_parts}
  COMMENT "Man page and completions" VERBATIM)
add_custom_target(stab_docs ALL DEPENDS ${stab_docs}/stab.1 ${stab_docs}/stab.bash ${stab_docs}/_stab)

install(FILES ${stab_docs}/stab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${stab_docs}/stab.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stab)
# Debian's zsh looks below /usr in a folder of its own.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder vendor-completions)
  endif()
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\" TYPE FILE
       FILES \"${stab_docs}/_stab\")")
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.json")

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # packing does not build the tests
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The stab authors <stab@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Backend scheduler for neural networks on the ONE runtime")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "stab measures each backend of Samsung's ONE runtime (onert) on a device, picks the best one
for each operation of a neural network package, proves the schedule on the
device, and writes the scheduled package.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openssh-client)
# CPack would look into the runners for foreign machines, too, whose libraries are not here.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/deb_depends.cmake)
set(CPACK_STAB_PROGRAM ${CMAKE_CURRENT_BINARY_DIR}/stab)
include(CPack)
