// SPDX-License-Identifier: Apache-2.0
// Whether a runtime can work on a device, told from its ELF files before anything is sent or run.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stab/core/context.h"
#include "stab/core/error.h"
#include "stab/device/runtime.h"

namespace stab {

/// What is known of the machine that the runtime shall run on. Absent: not known, and not checked.
struct RuntimeTarget {
  Machine machine;                     ///< of its userland, by its /bin/sh
  std::string libc;                    ///< "glibc 2.36", "musl", or empty
  std::optional<std::string> glibcxx;  ///< highest GLIBCXX version of its libstdc++: "3.4.30"
  std::optional<std::set<std::string>> libraries;  ///< those of outside_libraries() that it has
  std::string looked_in;                           ///< where those were looked for, for messages
};

/// Libraries that the runtime's own ones need and its folder does not hold for their machine,
/// sorted. Without what every C library brings along (libc, libm, libdl, libpthread, librt, the
/// loader).
std::vector<std::string> outside_libraries(const Runtime& runtime);

struct RuntimeCheck {
  std::vector<BackendInfo> backends;  ///< those in the folder and those asked for, by name
  std::vector<Warning> warnings;      ///< what concerns the runtime as a whole
};

/// Checks the libraries and each backend. A backend that cannot work is not usable, with the
/// reason: its library is missing, was built for another machine or a newer C library, or needs a
/// library that is missing or for another machine. Throws Error(input) when the runtime itself is
/// for another machine, and Error(device) when it needs what the device lacks.
RuntimeCheck check_runtime(const Runtime& runtime, const RuntimeTarget& target,
                           const std::vector<std::string>& backends);

/// The runtime's part of the context of all documents. The version is not in the files: the runner
/// tells it.
RuntimeInfo runtime_info(const Runtime& runtime, const RuntimeCheck& check, bool own_runner);

/// Where this machine's loader looks for libraries: its standard folders, then those of
/// /etc/ld.so.conf.
std::vector<std::string> local_library_folders();

/// Those of outside_libraries() that this machine has for the runtime's machine: in `folders`, or
/// in a folder that the runtime's RUNPATHs name absolutely.
std::set<std::string> find_local_libraries(const Runtime& runtime,
                                           const std::vector<std::string>& folders);

/// Highest GLIBCXX version of the libstdc++ in one of `folders`; absent when there is none.
std::optional<std::string> local_glibcxx(const Machine& machine,
                                         const std::vector<std::string>& folders);

}  // namespace stab
