// SPDX-License-Identifier: Apache-2.0
// The built `stab` on this machine and a real runtime, in folders of its own; and what a written
// package really does when it is run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/placement.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace stab::test {

using Words = std::vector<std::string>;

class StabProgram {
 public:
  /// Makes the folders. A test that lacks the built program ends (skip_or_fail). `more` joins the
  /// environment of all that is started.
  explicit StabProgram(Environment more = {});

  /// Everything of this object lies here: traces, scheduled packages, the work folder.
  const std::filesystem::path& folder() const { return dir_.path(); }
  const TempDir& dir() const { return dir_; }
  std::filesystem::path traces(std::string_view package) const;
  std::filesystem::path written(std::string_view package) const;

  /// A folder `name` with a package around a model of text form (model_builder.h).
  std::filesystem::path package(const std::string& name, std::string_view model_text,
                                std::string_view config = {}) const;
  /// The same around a fetched model.
  std::filesystem::path real_package(const std::string& name, std::string_view model,
                                     std::string_view config = {}) const;

  /// `stab WORDS...`, with a clean environment.
  ProcessResult run(const Words& words) const;
  /// The main job with a fetched runtime ("onert-1.30"), as short as it can be: three rounds of two
  /// runs; on this machine unless `more` has another --ip. The runtime is empty where `more` has
  /// it.
  ProcessResult schedule(const std::filesystem::path& package, const std::string& runtime,
                         const Words& more = {}) const;
  /// The words of that job, to be run otherwise.
  Words schedule_words(const std::filesystem::path& package, const std::string& runtime,
                       const Words& more = {}) const;
  /// `--no-profile` from the same folders.
  ProcessResult schedule_again(const std::filesystem::path& package, const Words& more = {}) const;
  /// The words of that job, to be run otherwise.
  Words schedule_again_words(const std::filesystem::path& package, const Words& more = {}) const;
  /// How all of these are started.
  ProcessOptions process_options() const;

 private:
  TempDir dir_;
  Environment environment_;
  std::string program_;
};

/// The last line of a text, without its line break.
std::string last_line(const std::string& text);

/// A report with every run of blanks and line breaks as one blank, so that it does not matter where
/// it wraps.
std::string unwrapped(const std::string& text);

/// Where the operations of subgraph 0 ran in one run of the package by stab-runner alone; with
/// `source_environment` after `. metadata/stab.env`. Operations on cpu are left out. Fails the test
/// when the run does.
Placement placement_in_a_run(const std::filesystem::path& package, const std::string& runtime,
                             bool source_environment);

}  // namespace stab::test
