# SPDX-License-Identifier: Apache-2.0
# stab_settings: what every target of our own code links PRIVATE (warnings, sanitizers); never used by dependencies.
add_library(stab_settings INTERFACE)
target_compile_options(stab_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # When it optimises, GCC 12 sees an overlap in "literal" + std::string that is not there (its bug 105651).
  target_compile_options(stab_settings INTERFACE $<$<NOT:$<CONFIG:Debug>>:-Wno-restrict>)
endif()
if(STAB_WERROR)
  target_compile_options(stab_settings INTERFACE -Werror)
endif()
if(STAB_SANITIZE)
  target_compile_options(stab_settings INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                         -fno-omit-frame-pointer)
  target_link_options(stab_settings INTERFACE -fsanitize=address,undefined)
endif()
if(STAB_FUZZ)
  target_compile_options(stab_settings INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  target_link_options(stab_settings INTERFACE -fsanitize=address,undefined)
endif()

# stab_add_library(NAME SOURCES...): one layer of stab as a static library.
function(stab_add_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE stab_settings)
endfunction()
