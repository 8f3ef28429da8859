// SPDX-License-Identifier: Apache-2.0
// Finds what tests need from the real world: ONE runtimes, models and the built runners; ends a
// test that lacks one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace stab::test {

/// The folder of fetched runtimes and models: `$STAB_CACHE`, else `$XDG_CACHE_HOME/stab`, else
/// `$HOME/.cache/stab`.
std::filesystem::path cache_dir();

/// A fetched runtime's folder of libraries by its name, for instance "onert-1.30-x86_64"; nothing
/// when absent.
std::optional<std::filesystem::path> runtime_dir(std::string_view name);

/// A fetched model by its file name, for instance "onet.tflite"; nothing when absent.
std::optional<std::filesystem::path> model_file(std::string_view name);

/// The built stab-runner of an architecture (x86_64, aarch64, armhf, armel); nothing when it was
/// not built.
std::optional<std::filesystem::path> runner_binary(std::string_view arch);

/// This machine's architecture in the runner's terms: x86_64, aarch64 or armhf.
std::string host_arch();

/// Whether the tests run where nothing may be skipped (the environment variable CI is "true").
bool in_ci();

/// A program on PATH; nothing when there is none.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// Ends the running test at once, skipped with this reason. Works as skip_or_fail does.
[[noreturn]] void skip(const std::string& reason);

/// Ends the running test at once: skipped with this reason, or failed with it where nothing may be
/// skipped. Works from a test's body and from SetUp, at any depth of calls.
[[noreturn]] void skip_or_fail(const std::string& reason);

/// As runtime_dir, model_file and runner_binary, but a test that lacks the thing ends
/// (skip_or_fail).
std::filesystem::path require_runtime(std::string_view name);
std::filesystem::path require_model(std::string_view name);
std::filesystem::path require_runner(std::string_view arch);
/// The path of a program found on PATH; a test that lacks it ends (skip_or_fail).
std::filesystem::path require_program(std::string_view name);

/// Makes an nnpackage `parent/name` around a copy of a model file, with `metadata/config.cfg` when
/// `config` is not empty; returns the package's folder.
std::filesystem::path make_package(const std::filesystem::path& parent, std::string_view name,
                                   const std::filesystem::path& model,
                                   std::string_view config = {});

}  // namespace stab::test
