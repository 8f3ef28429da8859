// SPDX-License-Identifier: Apache-2.0
// The main job on a device behind SSH, from its command line to the written package and to what is
// left on the device.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "support/stab_program.h"

namespace stab::test {

/// A device behind SSH, and what is known of it.
struct FarDevice {
  std::string ip;                 ///< as --ip takes it
  std::filesystem::path ssh_dir;  ///< holds keys and known_hosts
  std::string work_folder;        ///< for --remote-dir; not there yet
  std::string processor;          ///< as the device calls it
  std::function<std::string(const std::string& command)> shell;  ///< runs it there: its output
};

/// A `stab` whose keys and known hosts are those of the device.
StabProgram stab_for(const FarDevice& device);

/// The words that name the device to every job.
Words words_for(const FarDevice& device);

/// Schedules onet there with a fetched runtime ("onert-1.26-armv7l") as short as it can be, proofs
/// included. Checks that it is proven, the written package (a mixed plan reaches the runtime as
/// `delivery` says), and that the device is left with nothing but stab's cache; then that `verify`
/// confirms the written package and that `clean` removes exactly what stab made.
void expect_whole_job(const FarDevice& device, const std::string& runtime,
                      const std::string& delivery);

}  // namespace stab::test
