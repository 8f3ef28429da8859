// SPDX-License-Identifier: Apache-2.0
// stab-runner on the real runtimes of this machine's architecture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runner/runner_process.h"
#include "stab/core/runner_output.h"
#include "stab/core/sha256.h"
#include "support/model_builder.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab::test {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// RELU of a float matrix whose first dimension may be open.
std::string relu_model(bool open) {
  const std::string type = open ? "f32[?,4]" : "f32[1,4]";
  return build_model("input in " + type + "\nout = RELU(in)\noutput out\n");
}

/// FILL: as many floats of 1.5 as its input says, which nothing but a run can tell.
std::string fill_model() {
  return build_model(R"(
    input dims i32[1]
    const value f32[] = 1.5
    out f32[?] = FILL(dims, value)
    output out
  )");
}

std::string int32_bytes(std::int32_t value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

class RunnerReal : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { runtime_ = require_runtime(std::string(GetParam()) + "-" + host_arch()); }

  bool is_1_26() const { return std::string(GetParam()) == "onert-1.26"; }

  fs::path package(std::string_view model, std::string_view config = {}) const {
    return make_package(dir_.path(), "package", require_model(model), config);
  }

  fs::path built_package(const std::string& model) const {
    return make_package(dir_.path(), "built", dir_.write("built.tflite", model));
  }

  ProcessResult run(Arguments arguments, const Environment& environment = {}) const {
    arguments.insert(arguments.begin(), {"--library", runtime_.string()});
    return run_runner(arguments, environment);
  }

  /// As run(), for calls that must succeed.
  RunnerOutput run_well(const Arguments& arguments, const Environment& environment = {}) const {
    const ProcessResult result = run(arguments, environment);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.signal, 0);
    const RunnerOutput output = parse_runner_output(result.out);
    EXPECT_TRUE(output.stab_runner) << result.out << output.problem;
    EXPECT_EQ(output.problem, "");
    return output;
  }

  std::string path(const std::string& name) const { return (dir_.path() / name).string(); }
  std::string content(const std::string& name) const { return read_text(dir_.path() / name); }

  TempDir dir_;
  fs::path runtime_;
};

TEST_P(RunnerReal, PrintsTheBlockThatAllRunnersPrintAndOneLineOfJson) {
  const ProcessResult result = run({"-w", "2", "-r", "7", package("onet.tflite").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, MatchesRegex("={35}\n"
                                       "MODEL_LOAD   takes [0-9]+\\.[0-9]{3} ms\n"
                                       "PREPARE      takes [0-9]+\\.[0-9]{3} ms\n"
                                       "EXECUTE      takes [0-9]+\\.[0-9]{3} ms\n"
                                       "- MEAN     :  [0-9]+\\.[0-9]{3} ms\n"
                                       "- MAX      :  [0-9]+\\.[0-9]{3} ms\n"
                                       "- MIN      :  [0-9]+\\.[0-9]{3} ms\n"
                                       "- GEOMEAN  :  [0-9]+\\.[0-9]{3} ms\n"
                                       "={35}\n"
                                       "stab-runner \\{.*\\}\n"));
  EXPECT_THAT(json_line(result), HasSubstr("\"backends_set\":false"));
  EXPECT_THAT(json_line(result), HasSubstr(runtime_.string()));
}

TEST_P(RunnerReal, ItsFiguresAgreeWithEachOther) {
  const RunnerOutput output = run_well({"-w", "2", "-r", "7", package("onet.tflite").string()});
  ASSERT_TRUE(output.samples_us);
  ASSERT_EQ(output.samples_us->size(), 7U);
  const auto [least, most] =
      std::minmax_element(output.samples_us->begin(), output.samples_us->end());
  double sum = 0;
  double product = 1;
  for (const double sample : *output.samples_us) {
    sum += sample;
    product *= sample;
  }
  // The block is in whole microseconds.
  EXPECT_NEAR(output.mean_us.value(), sum / 7, 1);
  EXPECT_NEAR(output.min_us.value(), *least, 1);
  EXPECT_NEAR(output.max_us.value(), *most, 1);
  EXPECT_NEAR(output.geomean_us.value(), std::pow(product, 1.0 / 7), 1);
  EXPECT_GT(output.cpu_time_us.value(), 0);
  EXPECT_GT(output.peak_rss_kb.value(), 1000);
  EXPECT_EQ(output.version, is_1_26() ? "1.26.0" : "1.30.0");
  EXPECT_EQ(output.tracing, "none");
  ASSERT_EQ(output.inputs.size(), 1U);
  EXPECT_EQ(output.inputs[0], (RunnerTensor{0, "f32", 27648, {1, 48, 48, 3}}));
  ASSERT_EQ(output.outputs.size(), 3U);
  EXPECT_EQ(output.outputs[2], (RunnerTensor{2, "f32", 40, {1, 10}}));
}

TEST_P(RunnerReal, WarmsUpForLongerThanTheRunsAskedWhereTheseAreShort) {
  const fs::path tiny = built_package(relu_model(false));
  EXPECT_GT(run_well({"-w", "1", tiny.string()}).warmup_runs.value(), 10);
  EXPECT_EQ(run_well({"-w", "0", tiny.string()}).warmup_runs.value(), 0);
  EXPECT_EQ(run_well({tiny.string()}).warmup_runs.value(), 0);
}

TEST_P(RunnerReal, LoadsTheInputsItDumpedAndGivesTheSameOutputs) {
  const std::string onet = package("onet.tflite").string();
  run_well({"--seed", "7", "--dump_input:raw", path("in"), "--dump:raw", path("out"), onet});
  run_well({"--load:raw", path("in"), "--dump_input:raw", path("in2"), "--dump:raw", path("out2"),
            "--fixed_input", "-r", "3", onet});
  EXPECT_EQ(content("in.0").size(), 27648U);
  EXPECT_EQ(content("in.0"), content("in2.0"));
  for (const char* suffix : {".0", ".1", ".2"}) {
    EXPECT_EQ(content(std::string("out") + suffix), content(std::string("out2") + suffix));
  }
}

TEST_P(RunnerReal, ASeedGivesTheSameInputsEverywhere) {
  const std::string onet = package("onet.tflite").string();
  run_well({"--seed", "7", "--dump_input:raw", path("a"), onet});
  run_well({"--seed", "8", "--dump_input:raw", path("b"), onet});
  run_well({"--dump_input:raw", path("c"), onet});
  EXPECT_NE(content("a.0"), content("b.0"));
  // Measurements of different releases and machines are compared, so these bytes must never change.
  EXPECT_EQ(sha256_hex(content("a.0")),
            "7bdf0d60473540ce0f0e197b3b5fe3a40874aaa02d599e4bac4690db38ab4059");
  EXPECT_EQ(sha256_hex(content("c.0")),
            "27fe829209ad49ce5f5021cee5f3ca8b80cb8f3ea0777e75a16d42e74708dccb");
  const std::vector<float> values = read_floats(path("a.0"));
  EXPECT_THAT(values, Each(testing::AllOf(testing::Ge(-1.0F), testing::Lt(1.0F))));
  EXPECT_LT(*std::min_element(values.begin(), values.end()), -0.99F);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.99F);
}

TEST_P(RunnerReal, RefusesInputFilesThatAreMissingOrOfAnotherSize) {
  const std::string onet = package("onet.tflite").string();
  const ProcessResult missing = run({"--load:raw", path("none"), onet});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("cannot read " + path("none.0") + ": No such file"));
  dir_.write("short.0", std::string(27647, 'x'));
  const ProcessResult small = run({"--load:raw", path("short"), onet});
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_THAT(small.err, HasSubstr("has 27647 bytes, but input 0 takes 27648"));
  dir_.write("long.0", std::string(99999, 'x'));
  const ProcessResult large = run({"--load:raw", path("long"), onet});
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.err, HasSubstr("has at least 27649 bytes, but input 0 takes 27648"));
}

TEST_P(RunnerReal, SaysWhenAnOutputCannotBeWritten) {
  fs::create_directory(dir_.path() / "out.1");
  const ProcessResult result = run({"--dump:raw", path("out"), package("onet.tflite").string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot write " + path("out.1") + ": Is a directory"));
}

/// The trace names differ: 1.26 adds to the path it is given, 1.30 has fixed names in a folder.
TEST_P(RunnerReal, TracesByApiWithAnEmptyEnvironment) {
  fs::create_directory(dir_.path() / "trace");
  const RunnerOutput output =
      run_well({"-r", "3", "--trace", path("trace"), package("onet.tflite").string()});
  EXPECT_EQ(output.tracing, "api");
  EXPECT_THAT(content("trace/trace.json"), HasSubstr("$0 subgraph $0 Conv2D"));
  EXPECT_THAT(content(is_1_26() ? "trace/trace.json.chrome.json" : "trace/trace.chrome.json"),
              HasSubstr("traceEvents"));
}

TEST_P(RunnerReal, SaysWhenTheEnvironmentAsksForTraces) {
  fs::create_directory(dir_.path() / "trace");
  const Environment environment = {{"TRACE_FILEPATH", path("trace/trace.json")},
                                   {"TRACING_MODE", "1"},
                                   {"WORKSPACE_DIR", path("trace")}};
  EXPECT_EQ(run_well({package("onet.tflite").string()}, environment).tracing, "env");
  EXPECT_THAT(content("trace/trace.json"), HasSubstr("$0 subgraph $0 Conv2D"));
}

TEST_P(RunnerReal, SetsTheBackendOfEachOperationByApi) {
  fs::create_directory(dir_.path() / "trace");
  const std::string onet = package("onet.tflite").string();
  dir_.write("map", "0=ruy\n");
  for (const std::string& map : {std::string("0=ruy"), "@" + path("map")}) {
    const ProcessResult result =
        run({"--backends", "cpu;ruy", "--per-op", map, "--trace", path("trace"), onet});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(json_line(result), HasSubstr("\"backends_set\":true"));
    const std::string trace = content("trace/trace.json");
    const std::size_t ruy = trace.find("\"ruy\"");
    ASSERT_NE(ruy, std::string::npos) << trace;
    EXPECT_NE(trace.find("$0 subgraph $0 Conv2D", ruy), std::string::npos);
    fs::remove(dir_.path() / "trace" / "trace.json");
  }
}

TEST_P(RunnerReal, LeavesBackendsToTheRuntimeUnlessAsked) {
  fs::create_directory(dir_.path() / "trace");
  const Environment environment = {{"BACKENDS", "cpu;ruy"}, {"OP_BACKEND_Conv2D", "ruy"}};
  const ProcessResult result =
      run({"--trace", path("trace"), package("onet.tflite").string()}, environment);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(json_line(result), HasSubstr("\"backends_set\":false"));
  EXPECT_THAT(content("trace/trace.json"), HasSubstr("\"ruy\""));
}

TEST_P(RunnerReal, NamesTheFailedFunctionBesideTheRuntimesWords) {
  const std::string onet = package("onet.tflite").string();
  const ProcessResult unknown = run({"--backends", "cpu", "--per-op", "0=none", onet});
  EXPECT_EQ(unknown.exit_code, 255);
  EXPECT_THAT(unknown.err, HasSubstr("Fail to find backend for Conv2D operation"));
  EXPECT_THAT(unknown.err, HasSubstr("stab-runner: nnfw_prepare failed: status 1 (error)"));
  EXPECT_EQ(unknown.out, "");
  const ProcessResult many = run({"--backends", "cpu;ruy;xnnpack;acl_neon;acl_cl;gpu_cl", onet});
  EXPECT_EQ(many.exit_code, 255);
  EXPECT_THAT(many.err, HasSubstr("at most 31 characters of backends"));
  EXPECT_THAT(many.err, HasSubstr("nnfw_set_available_backends failed"));
}

TEST_P(RunnerReal, RefusesAPackageThatCannotBeLoaded) {
  const fs::path empty = dir_.path() / "empty";
  fs::create_directory(empty);
  const ProcessResult nothing = run({empty.string()});
  EXPECT_EQ(nothing.exit_code, 255);
  EXPECT_THAT(nothing.err, HasSubstr("nnfw_load_model_from_file failed: status 1 (error)"));
  const fs::path without_model = package("onet.tflite");
  fs::remove(without_model / "onet.tflite");
  const ProcessResult missing = run({without_model.string()});
  EXPECT_EQ(missing.exit_code, 255);
  EXPECT_THAT(missing.err, HasSubstr("nnfw_load_model_from_file failed"));
}

TEST_P(RunnerReal, RunsABareModelFile) {
  const std::string model = require_model("onet.tflite").string();
  EXPECT_EQ(run_well({"-r", "2", model}).outputs.size(), 3U);
}

TEST_P(RunnerReal, TakesAnOutputThatOnlyARunCanSizeAndStillTraces) {
  fs::create_directory(dir_.path() / "trace");
  dir_.write("in.0", int32_bytes(100000));
  const fs::path fill = built_package(fill_model());
  const ProcessResult result = run({"-r", "3", "--load:raw", path("in"), "--dump:raw", path("out"),
                                    "--trace", path("trace"), fill.string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(parse_runner_output(result.out).outputs,
              ElementsAre(RunnerTensor{0, "f32", 400000, {100000}}));
  const std::vector<float> values = read_floats(path("out.0"));
  EXPECT_EQ(values.size(), 100000U);
  EXPECT_THAT(values, Each(1.5F));
  EXPECT_THAT(content("trace/trace.json"), HasSubstr("$0 subgraph $0 Fill"));
}

/// A run that fails costs the whole trace, and both runtimes say so in vain.
TEST_P(RunnerReal, GrowsTheBufferOfAnOutputAndSaysWhatThatCosts) {
  fs::create_directory(dir_.path() / "trace");
  dir_.write("in.0", int32_bytes(100000));
  const fs::path fill = built_package(fill_model());
  const ProcessResult result =
      run({"-r", "3", "--load:raw", path("in"), "--dump:raw", path("out"), "--trace", path("trace"),
           "--output_sizes", "[0, 8]", fill.string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("running again with larger ones (the runtime drops its trace"));
  const RunnerOutput output = parse_runner_output(result.out);
  EXPECT_EQ(output.samples_us.value().size(), 3U);
  EXPECT_THAT(output.outputs, ElementsAre(RunnerTensor{0, "f32", 400000, {100000}}));
  EXPECT_THAT(read_floats(path("out.0")), Each(1.5F));
  EXPECT_EQ(content("trace/trace.json"), "");
}

TEST_P(RunnerReal, GivesUpOnAnOutputOfAbsurdSize) {
  dir_.write("in.0", int32_bytes(1 << 29));
  const ProcessResult result =
      run({"--load:raw", path("in"), built_package(fill_model()).string()});
  EXPECT_EQ(result.exit_code, 255);
  EXPECT_THAT(result.err, HasSubstr("nnfw_run failed: status 5 (output buffer too small)"));
}

/// 1.30 would write past a buffer that is smaller than the output, silently.
TEST_P(RunnerReal, NeverGivesAnOutputLessRoomThanItNeeds) {
  const RunnerOutput output = run_well({"--output_sizes", "[0, 1, 2, 1]", "--dump:raw", path("out"),
                                        package("onet.tflite").string()});
  EXPECT_EQ(output.outputs.at(2).bytes, 40);
  EXPECT_EQ(content("out.2").size(), 40U);
}

TEST_P(RunnerReal, GivesOpenDimensionsTheShapeAskedOr1) {
  const std::string open = built_package(relu_model(true)).string();
  EXPECT_THAT(run_well({open}).outputs, ElementsAre(RunnerTensor{0, "f32", 16, {1, 4}}));
  const RunnerOutput three =
      run_well({"--shape_prepare", "[0, [3, 4]]", "--dump:raw", path("out"), open});
  EXPECT_THAT(three.inputs, ElementsAre(RunnerTensor{0, "f32", 48, {3, 4}}));
  EXPECT_THAT(three.outputs, ElementsAre(RunnerTensor{0, "f32", 48, {3, 4}}));
  EXPECT_THAT(read_floats(path("out.0")), Each(testing::Ge(0.0F)));
  const ProcessResult outside = run({"--shape_prepare", "[1,[3,4]]", open});
  EXPECT_EQ(outside.exit_code, 1);
  EXPECT_THAT(outside.err, HasSubstr("names input 1, but the model has 1 inputs"));
}

TEST_P(RunnerReal, FindsTheLibraryByTheLoadersPathAndAroundItself) {
  const std::string onet = package("onet.tflite").string();
  const ProcessResult by_path = run_runner({onet}, {{"LD_LIBRARY_PATH", runtime_.string()}});
  EXPECT_EQ(by_path.exit_code, 0) << by_path.err;
  fs::create_directory(dir_.path() / "bin");
  fs::copy_file(require_runner(host_arch()), dir_.path() / "bin" / "stab-runner");
  fs::create_directory_symlink(runtime_, dir_.path() / "lib");
  ProcessOptions options;
  options.environment = Environment{};
  const ProcessResult around = run_process({path("bin/stab-runner"), onet}, options);
  EXPECT_EQ(around.exit_code, 0) << around.err;
  EXPECT_THAT(json_line(around), HasSubstr("bin/../lib/"));
}

TEST_P(RunnerReal, TellsTheRuntimesVersionOnRequest) {
  const ProcessResult result = run({"--version"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(is_1_26() ? "\nruntime 1.26.0 (" : "\nruntime 1.30.0 ("));
}

INSTANTIATE_TEST_SUITE_P(On, RunnerReal, testing::Values("onert-1.30", "onert-1.26"),
                         [](const auto& which) {
                           return std::string(which.param) == "onert-1.30" ? "Onert130"
                                                                           : "Onert126";
                         });

struct TypedInput {
  const char* name;
  std::size_t width;
  bool only_bits;
};

/// RESHAPE copies what it gets, so the runtime takes it for every type.
class RunnerInputs : public testing::TestWithParam<TypedInput> {};

TEST_P(RunnerInputs, AreRandomOverTheirWholeRangeOrBits) {
  const auto [name, width, only_bits] = GetParam();
  const fs::path runtime = require_runtime("onert-1.30-" + host_arch());
  const TempDir dir;
  const std::string scale = name == std::string("i8") ? "@0.5:0" : "";
  const std::string model = build_model("input in " + std::string(name) + "[4096]" + scale +
                                        "\nconst shape i32[2] = 64 64\nout " + name + "[64,64]" +
                                        scale + " = RESHAPE(in, shape)\noutput out\n");
  const fs::path package = make_package(dir.path(), "typed", dir.write("typed.tflite", model));
  const std::string prefix = (dir.path() / "in").string();
  const ProcessResult result =
      run_runner({"--library", runtime.string(), "--dump_input:raw", prefix, package.string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const RunnerOutput output = parse_runner_output(result.out);
  ASSERT_EQ(output.inputs.size(), 1U);
  EXPECT_EQ(output.inputs[0].dtype, name);
  const std::string bytes = read_text(prefix + ".0");
  ASSERT_EQ(bytes.size(), 4096 * width);
  std::vector<int> seen(256, 0);
  for (const char byte : bytes) ++seen[static_cast<unsigned char>(byte)];
  if (only_bits) {
    EXPECT_EQ(static_cast<std::size_t>(seen[0] + seen[1]), bytes.size());
    EXPECT_GT(seen[1], 1500);
    EXPECT_LT(seen[1], 2600);
  } else {
    EXPECT_THAT(seen, Each(testing::Gt(0)));
  }
}

INSTANTIATE_TEST_SUITE_P(Typed, RunnerInputs,
                         testing::Values(TypedInput{"i32", 4, true}, TypedInput{"i64", 8, true},
                                         TypedInput{"bool", 1, true}, TypedInput{"u8", 1, false},
                                         TypedInput{"i8", 1, false}),
                         [](const auto& which) { return std::string(which.param.name); });

TEST(RunnerWarmUp, EndsAfterFiveSecondsWhateverWasAsked) {
  const fs::path runtime = require_runtime("onert-1.30-" + host_arch());
  const TempDir dir;
  const fs::path package = make_package(dir.path(), "net", require_model("hand_landmark.tflite"));
  const ProcessResult result =
      run_runner({"--library", runtime.string(), "-w", "100000", package.string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const int warmup_runs = parse_runner_output(result.out).warmup_runs.value();
  EXPECT_GE(warmup_runs, 1);
  EXPECT_LT(warmup_runs, 100000);
}

}  // namespace
}  // namespace stab::test
