// SPDX-License-Identifier: Apache-2.0
// The folder of measurements of a package: written as runs end, read back to decide. The only thing
// between measuring and deciding, so that a recorded folder replays the second half exactly.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stab/core/profile.h"
#include "stab/core/timings.h"

namespace stab {

/// A measurement in the making: `<traces>/<package>.partial/`, which replaces `<traces>/<package>/`
/// when it is complete.
class ProfileWriter {
 public:
  /// Starts anew: what an interrupted measurement left is removed. Throws Error(output).
  ProfileWriter(const std::filesystem::path& traces, const std::string& package, Profile profile);

  /// Where the runs' files go.
  const std::filesystem::path& folder() const { return partial_; }
  Profile& profile() { return profile_; }
  /// Adds a run and saves profile.json.
  void add(ProfileRun run);
  /// Saves it as complete and puts the folder in its place; returns that place.
  std::filesystem::path complete();

 private:
  void save() const;

  std::filesystem::path partial_;
  std::filesystem::path final_;
  Profile profile_;
};

/// A measurement as it was read back.
struct LoadedProfile {
  Profile profile;
  std::vector<RunTrace> runs;
  std::string sha256;  ///< of profile.json; empty for flat layouts
  std::vector<Warning> warnings;
};

/// What of a trace folder is wanted.
struct ProfileQuery {
  std::filesystem::path traces;
  std::string package;
  std::vector<std::string> backends;  ///< for flat layouts, whose files are named by them
  std::optional<int> threads;         ///< for flat layouts: only this number
  bool force = false;                 ///< flat layouts of another package, too
};

/// Reads `<traces>/<package>/profile.json` and the trace files that it lists (no other file is
/// looked at), else the flat layouts `<traces>/[<package>_]<backend>_<threads>` of the tool that
/// came first, whose device and model are not known. A run whose files are missing, changed or
/// unreadable is left out with a warning. Throws Error(input) when nothing usable is there.
LoadedProfile load_profile(const ProfileQuery& query);

}  // namespace stab
