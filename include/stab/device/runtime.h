// SPDX-License-Identifier: Apache-2.0
// A ONE runtime in a folder of this machine: what it is, what it knows, what has to be sent.
// Generations are told apart by what the files hold, never by a version number.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/elf.h"
#include "stab/core/error.h"
#include "stab/core/file_list.h"

namespace stab {

struct Runtime {
  std::string folder;                 ///< absolute, resolved; all other paths are relative to it
  Machine machine;                    ///< that its C library was built for
  std::string api_library;            ///< "lib/libonert.so", or libnnfw-dev.so before 1.30
  std::string core_library;           ///< "lib/nnfw/libonert_core.so"
  std::optional<std::string> runner;  ///< its own: "bin/onert_run", "bin/nnpackage_run"
  std::vector<std::string>
      library_folders;            ///< of LD_LIBRARY_PATH, in order; "." is the folder itself
  std::vector<std::string> keys;  ///< configuration keys that its core library knows, sorted
  bool debug_build = false;
  FileList files;      ///< to send: libraries and the runner; no headers, unit tests or test suites
  std::string sha256;  ///< hash_of(files)
  std::map<std::string, std::string> backends;  ///< name -> path of libbackend_<name>.so
  std::map<std::string, ElfInfo> libraries;     ///< path -> what its ELF file says, runner included
  std::map<std::string, std::string> unreadable;  ///< path of a library -> why it is none
  std::vector<Warning> warnings;
};

/// True when the core library holds the key ("TRACE_FILEPATH", "NUM_THREADS").
bool knows_key(const Runtime& runtime, std::string_view key);

/// Reads a runtime: the `out` folder of a build (bin/, lib/) or the folder above it, or a folder
/// with only its libraries, flat or nested. Throws Error(input) naming the folder when it holds no
/// runtime, or one that cannot be read.
Runtime read_runtime(const std::filesystem::path& folder);

struct RuntimeSearch {
  std::optional<std::filesystem::path> given;  ///< --runtime
  std::optional<std::string> environment;      ///< value of STAB_RUNTIME
  std::string device_arch;                     ///< "x86_64", "aarch64", "armv7l"
  std::filesystem::path start;                 ///< current folder
};

/// The folder that is named by --runtime, else by STAB_RUNTIME; nothing where the device decides.
std::optional<std::filesystem::path> named_runtime(const RuntimeSearch& search);

/// The runtime's folder: what was given, else STAB_RUNTIME, else `Product/<device
/// arch>-linux.release/out` or `Product/out` in the current folder or the nearest one above. Throws
/// Error(input) that says where was looked.
std::filesystem::path locate_runtime(const RuntimeSearch& search);

}  // namespace stab
