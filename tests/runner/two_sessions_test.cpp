// SPDX-License-Identifier: Apache-2.0
// What the config of one package does to the next one that the same process opens: measured on the
// real runtimes, because it decides where a schedule may be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/process.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_ruy_config = "BACKENDS=cpu;ruy\nOP_BACKEND_Conv2D=ruy\n";

class TwoSessions : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(dir_.path() / "trace");
    first_ = make_package(dir_.path(), "first", require_model("onet.tflite"), k_ruy_config);
  }

  fs::path second(std::string_view config) const {
    return make_package(dir_.path(), "second", require_model("rnet.tflite"), config);
  }

  /// Operations on ruy in the trace of the first package, or of the one opened after it.
  std::size_t on_ruy(const fs::path& library, bool trace_first, const fs::path& second) const {
    const std::string trace = (dir_.path() / "trace").string();
    ProcessOptions options;
    options.environment = Environment{};
    const ProcessResult result =
        run_process({STAB_BUILD_DIR "/tests/two_sessions", library.string(), first_.string(),
                     trace_first ? trace : "-", second.string(), trace_first ? "-" : trace},
                    options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "A good\nB good\n");
    const nlohmann::json document = nlohmann::json::parse(read_text(trace + "/trace.json"));
    const nlohmann::json& backends = document.at("Execution_Data");
    EXPECT_TRUE(backends.contains("cpu"));
    return backends.contains("ruy") ? backends.at("ruy").size() : 0;
  }

  TempDir dir_;
  fs::path first_;
};

TEST_F(TwoSessions, On130AConfigDoesNothingToItsPackageAndMovesOperationsOfTheNext) {
  const fs::path library = require_runtime("onert-1.30-" + host_arch()) / "libonert.so";
  EXPECT_EQ(on_ruy(library, true, second("")), 0U);
  EXPECT_EQ(on_ruy(library, false, second("")), 3U);
  // Not even a config of its own protects the next package: it is read after the session's options
  // are made.
  EXPECT_EQ(on_ruy(library, false, second("NUM_THREADS=1\n")), 3U);
  EXPECT_EQ(on_ruy(library, false, second("BACKENDS=cpu\nOP_BACKEND_Conv2D=cpu\n")), 3U);
}

TEST_F(TwoSessions, On126AConfigServesItsPackageAndTheNextOneThatHasNone) {
  const fs::path library = require_runtime("onert-1.26-" + host_arch()) / "libnnfw-dev.so";
  EXPECT_EQ(on_ruy(library, true, second("")), 4U);
  EXPECT_EQ(on_ruy(library, false, second("")), 3U);
  EXPECT_EQ(on_ruy(library, false, second("NUM_THREADS=1\n")), 0U);
}

}  // namespace
}  // namespace stab::test
