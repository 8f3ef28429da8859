// SPDX-License-Identifier: Apache-2.0
#include "support/model_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "stab/core/op_names.h"
#include "stab/core/trace.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab::test {
namespace {

using testing::HasSubstr;

std::string mistake(std::string_view text) {
  try {
    build_model(text);
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(ModelBuilder, NamesTheLineOfAMistake) {
  EXPECT_THAT(mistake("input x f32[4]\noutput y\n"), HasSubstr("line 2"));
  EXPECT_THAT(mistake("input x\n"), HasSubstr("line 1"));
  EXPECT_THAT(mistake("input x f33[4]\n"), HasSubstr("f33"));
  EXPECT_THAT(mistake("input x f32[4]\ny = RELU9(x)\n"), HasSubstr("RELU9"));
  EXPECT_THAT(mistake("input x f32[4]\ny = RELU(x) stride=2\n"), HasSubstr("stride"));
  EXPECT_THAT(mistake("input x f32[4]\ny = RELU(z)\n"), HasSubstr("named z"));
}

TEST(ModelBuilder, WritesTheSameBytesEveryTime) {
  const std::string_view text = "input x f32[4]\nconst k f32[4]\ny = ADD(x, k)\noutput y\n";
  EXPECT_EQ(build_model(text), build_model(text));
}

// A model and what its trace must show: each operation under the model's own names.
struct Case {
  std::string name;
  std::string text;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

class ModelOnARuntime : public testing::TestWithParam<Case> {};

// Runs the model, traced, and returns the trace.
Trace run_traced(const TempDir& dir, const std::filesystem::path& model) {
  const auto runtime = require_runtime("onert-1.30-" + host_arch());
  const auto runner = require_runner(host_arch());
  std::filesystem::create_directories(dir.path() / "trace");
  const ProcessResult result =
      run_process({runner.string(), "--library", runtime.string(), "--trace",
                   (dir.path() / "trace").string(), "-r", "2", model.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  if (result.exit_code != 0) return {};
  TraceReader reader;
  for (const char* file : {"trace.json", "trace.chrome.json"}) {
    reader.begin_file(file);
    reader.feed(read_text(dir.path() / "trace" / file));
  }
  return reader.finish();
}

TEST_P(ModelOnARuntime, RunsThereAndItsTraceShowsTheModelsTypes) {
  for (const ModelFormat format : {ModelFormat::tflite, ModelFormat::circle}) {
    const TempDir dir;
    const std::string bytes = build_model(GetParam().text, {.format = format});
    const auto file = dir.write("model." + std::string(to_string(format)), bytes);
    const Model model = parse_model(std::as_bytes(std::span(bytes)), format, "model");
    const Trace trace = run_traced(dir, file);
    std::set<OpId> seen;
    for (const OpTrace& op : trace.ops) {
      const auto& subgraph = model.subgraphs.at(static_cast<std::size_t>(op.op.subgraph));
      if (static_cast<std::size_t>(op.op.index) >= subgraph.operations.size()) continue;  // Permute
      EXPECT_TRUE(same_type(model.operation(op.op), op.type)) << to_string(op.op) << " " << op.type;
      seen.insert(op.op);
    }
    for (const Operation& operation : model.subgraphs[0].operations) {
      EXPECT_TRUE(seen.contains(operation.id)) << to_string(operation.id);
    }
  }
}

const Case k_cases[] = {
    {"chain", R"(
      input x f32[1,8,8,3]
      const w f32[4,3,3,3]
      const b f32[4]
      const d f32[1,3,3,4]
      const f f32[10,64]
      const g f32[10]
      const s i32[2] = 1 64
      c f32[1,8,8,4] = CONV_2D(x, w, b) activation=RELU
      e f32[1,4,4,4] = DEPTHWISE_CONV_2D(c, d, b) stride=2
      h = ADD(e, e)
      i = RELU6(h)
      j = MUL(i, e)
      k = MAX_POOL_2D(j) stride=1 filter=2
      l f32[1,64] = RESHAPE(k, s) shape=1x64
      m f32[1,10] = FULLY_CONNECTED(l, f, g)
      n = SOFTMAX(m)
      output n i
    )"},
    {"elementwise", R"(
      input x f32[1,4,4,8]
      input y f32[1,4,4,8]
      const axis i32[1] = 3
      const order i32[2] = 1 0
      a = SUB(x, y)
      b = DIV(a, y)
      c = ABS(b)
      d = NEG(c)
      e = EXP(d)
      f f32[1,4,4,16] = CONCATENATION(e, a) axis=3
      g f32[1,4,4] = SUM(f, axis)
      h f32[1,4,4] = REDUCE_MAX(f, axis)
      i f32[1,4,4] = MEAN(f, axis)
      j = LOGISTIC(i)
      k = TANH(j)
      l = MAXIMUM(k, g)
      m = MINIMUM(l, h)
      n f32[4,4] = SQUEEZE(m) dims=0
      o = LEAKY_RELU(n)
      p f32[1,2,2,8] = AVERAGE_POOL_2D(a) stride=2
      q f32[4,4] = TRANSPOSE(o, order)
      r = RSQRT(q)
      s = SQRT(r)
      t = SQUARED_DIFFERENCE(s, q)
      u bool[4,4] = GREATER(t, s)
      v = ELU(t)
      z f32[4,4] = SELECT(u, v, s)
      output z p
    )"},
    {"quantised", R"(
      input x u8[1,8,8,3]@0.02:128
      const w u8[4,3,3,3]@0.01:128
      const b i32[4]@0.0002:0
      const w2 u8[4,3,3,4]@0.01:128
      const b2 i32[4]@0.0005:0
      a u8[1,8,8,4]@0.05:128 = CONV_2D(x, w, b)
      c u8[1,8,8,4]@0.1:128 = CONV_2D(a, w2, b2)
      output c
    )"},
    {"dynamic_batch", R"(
      input x f32[?,8,8,3]
      const w f32[4,3,3,3]
      const b f32[4]
      a f32[?,8,8,4] = CONV_2D(x, w, b)
      c = RELU(a)
      output c
    )"},
    {"int8_weights", R"(
      input x f32[1,16]
      const w i8[4,16]@0.25:0
      const b f32[4]
      a f32[1,4] = FULLY_CONNECTED(x, w, b)
      output a
    )"},
    {"int32_input", R"(
      input x i32[4]
      const k i32[4] = 1 2 3 4
      a = ADD(x, k)
      output a
    )"},
    {"if", R"(
      input c bool[1]
      input x f32[1,16]
      const w f32[16,16]
      const b f32[16]
      a = FULLY_CONNECTED(x, w, b)
      d f32[1,16] = IF(c, a) then=yes else=no
      e = FULLY_CONNECTED(d, w, b)
      output e
      graph yes
      input x f32[1,16]
      a = RELU(x)
      output a
      graph no
      input x f32[1,16]
      a = NEG(x)
      output a
    )"},
    {"while", R"(
      input i i32[1]
      input x f32[1,4]
      a i32[1], b f32[1,4] = WHILE(i, x) cond=cond body=body
      c = ADD(b, b)
      output c
      graph cond
      input i i32[1]
      input x f32[1,4]
      const n i32[1] = 3
      r bool[1] = LESS(i, n)
      output r
      graph body
      input i i32[1]
      input x f32[1,4]
      const one i32[1] = 1
      j = ADD(i, one)
      y = ADD(x, x)
      output j y
    )"},
};

INSTANTIATE_TEST_SUITE_P(Built, ModelOnARuntime, testing::ValuesIn(k_cases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace stab::test
