// SPDX-License-Identifier: Apache-2.0
// The context that all three documents share: package, model, runtime, device, settings (values
// only).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stab/core/model.h"

namespace stab {

/// Which stab wrote a document.
struct StabInfo {
  std::string version;
  std::string commit;
};

struct PackageInfo {
  std::string name;
  std::string sha256;  ///< over the sorted list of its files and their hashes
  std::map<std::string, std::string>
      config_keys;  ///< of the source's own config, as the runtime reads it
};

struct ModelInfo {
  std::string file;  ///< as the MANIFEST names it
  std::string sha256;
  ModelFormat format = ModelFormat::tflite;
  std::vector<int> op_counts;  ///< per subgraph
};

struct BackendInfo {
  std::string name;
  std::string sha256;  ///< of libbackend_<name>.so
  bool usable = false;
  std::string reason;  ///< why not usable; empty when usable
};

struct RuntimeInfo {
  std::string sha256;
  std::optional<std::string> version;  ///< "1.30.0", where the runtime says
  bool own_runner = true;              ///< stab-runner, not the runtime's own
  std::vector<std::string>
      keys;  ///< configuration keys found as literals in the core library, sorted
  std::vector<BackendInfo> backends;  ///< by name
};

struct CoreGroup {
  std::optional<std::int64_t> max_khz;
  int count = 0;
  std::string mask;  ///< as taskset takes it, hexadecimal: "0xf0"
};

struct DeviceInfo {
  std::string id;                   ///< salted hash
  std::optional<std::string> name;  ///< --device-name
  std::string transport;            ///< "ssh" or "local"
  std::string host;
  std::string kernel;
  std::string boot_id;
  bool emulated = false;
  std::string arch;                      ///< of the userland: "x86_64", "aarch64", "armv7l"
  std::optional<std::string> float_abi;  ///< "hard" or "soft" on 32-bit ARM
  std::string libc;                      ///< "glibc 2.36", "musl", or empty
  std::optional<std::string> soc;
  std::vector<CoreGroup> cores;
  std::int64_t memory_bytes = 0;
};

struct Settings {
  int warmup = 5;
  int runs = 50;
  int rounds = 10;
  std::optional<std::string> affinity;
  std::string executor = "Linear";
  std::vector<int> seeds;
  std::vector<std::string> inputs;  ///< sha256 of each --input file
  std::map<std::string, std::vector<int>> shapes;
  std::map<std::string, std::string> set;
  std::map<std::string, std::string> env;
};

struct Context {
  PackageInfo package;
  ModelInfo model;
  RuntimeInfo runtime;
  std::optional<DeviceInfo>
      device;  ///< absent: traces of the original's flat layouts, which do not say
  Settings settings;
};

/// What a device was doing at one moment; absent where the device does not tell.
struct DeviceState {
  std::optional<std::string> governor;
  std::vector<std::int64_t> khz;
  std::optional<std::int64_t> temperature_mc;
  std::optional<bool> throttled;
  std::optional<double> load1;
};

}  // namespace stab
