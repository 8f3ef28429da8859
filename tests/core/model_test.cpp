// SPDX-License-Identifier: Apache-2.0
#include "stab/core/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "stab/core/error.h"
#include "stab/core/op_names.h"
#include "support/model_builder.h"
#include "support/real_world.h"
#include "support/recorded.h"
#include "support/temp_dir.h"
#include "test_model_generated.h"

namespace stab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Model real_model(std::string_view name) {
  const std::string bytes = test::read_text(test::require_model(name));
  return parse_model(bytes_of(bytes), ModelFormat::tflite, name);
}

// The text of the refusal; empty when the model is read.
std::string refusal(std::string_view bytes, ModelFormat format = ModelFormat::tflite) {
  try {
    parse_model(bytes_of(bytes), format, "a.tflite");
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("a.tflite"));
    return error.what();
  }
}

TEST(Model, OnetIsReadWholly) {
  const Model model = real_model("onet.tflite");
  ASSERT_EQ(model.subgraphs.size(), 1u);
  const Subgraph& graph = model.subgraphs[0];
  EXPECT_EQ(graph.operations.size(), 46u);
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.outputs.size(), 3u);
  const Tensor& input = graph.tensors[static_cast<std::size_t>(graph.inputs[0])];
  EXPECT_TRUE(input.input);
  EXPECT_FALSE(input.constant);
  EXPECT_EQ(input.type, DataType::float32);
  EXPECT_EQ(input.bytes, 1u * 48 * 48 * 3 * 4);
  const Operation& first = graph.operations[0];
  EXPECT_EQ(to_string(first.id), "0:0");
  EXPECT_EQ(first.type, "Conv2D");
  EXPECT_TRUE(graph.tensors[static_cast<std::size_t>(first.inputs.at(1))].constant);
}

TEST(Model, HandLandmarkAndMobileFaceNetAreReadWholly) {
  EXPECT_EQ(real_model("hand_landmark.tflite").subgraphs[0].operations.size(), 64u);
  const Model face = real_model("MobileFaceNet.tflite");
  EXPECT_EQ(face.subgraphs[0].operations.size(), 230u);
  const int input = face.subgraphs[0].inputs.at(0);
  EXPECT_EQ(face.subgraphs[0].tensors[static_cast<std::size_t>(input)].shape.at(0), 2);
}

TEST(Model, ATruncatedFileIsRefusedWhereverItEnds) {
  const std::string whole = test::read_text(test::require_model("onet.tflite"));
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    const std::string text = refusal(std::string_view(whole).substr(0, length));
    if (!text.empty()) continue;
    // What the tables refer to may end before the file does, but then nothing of it is missing.
    EXPECT_GT(length, whole.size() - 97);
  }
}

TEST(Model, RandomBytesAreRefused) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (bytes.size() >= 8 && round % 2 == 0) std::memcpy(bytes.data() + 4, "TFL3", 4);
    EXPECT_NE(refusal(bytes), "");
  }
}

TEST(Model, AnotherFormatOrNoneIsNamed) {
  EXPECT_THAT(refusal(""), HasSubstr("0 bytes"));
  EXPECT_THAT(refusal(std::string(4, '\x10') + "CIR0" + std::string(40, '\0')),
              HasSubstr("is a circle model, not tflite"));
  EXPECT_THAT(refusal(std::string(4, '\x10') + "PK\x03\x04" + std::string(40, '\0')),
              HasSubstr("bytes 4 to 7 are not 'TFL3'"));
}

constexpr std::string_view k_text = R"(
  input x f32[1,8,8,3]
  const w f32[4,3,3,3]
  const b f32[4]
  c f32[1,8,8,4] = CONV_2D(x, w, b) activation=RELU
  d = RELU6(c)
  e = ADD(d, c)
  output e d
)";

Model built(std::string_view text, const test::BuildOptions& options = {}) {
  return parse_model(bytes_of(test::build_model(text, options)), options.format, "built");
}

const Tensor& tensor_of(const Model& model, int index) {
  return model.subgraphs[0].tensors[static_cast<std::size_t>(index)];
}

// A built model with something changed that the text form cannot say.
std::string changed(const std::function<void(test::schema::ModelT&)>& change,
                    std::string_view text = k_text) {
  const std::string bytes = test::build_model(text);
  test::schema::ModelT model;
  test::schema::GetModel(bytes.data())->UnPackTo(&model);
  change(model);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(test::schema::Model::Pack(builder, &model), "TFL3");
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

TEST(Model, OperationsTensorsAndEdgesAreRead) {
  const Model model = built(k_text);
  const Subgraph& graph = model.subgraphs[0];
  EXPECT_EQ(graph.name, "main");
  EXPECT_THAT(graph.inputs, ElementsAre(0));
  EXPECT_THAT(graph.outputs, ElementsAre(5, 4));
  ASSERT_EQ(graph.operations.size(), 3u);
  const Operation& add = graph.operations[2];
  EXPECT_EQ(add.id, (OpId{0, 2}));
  EXPECT_EQ(add.schema_name, "ADD");
  EXPECT_EQ(add.type, "Add");
  EXPECT_EQ(add.key, "BinaryArithmetic");
  EXPECT_THAT(add.inputs, ElementsAre(4, 3));
  EXPECT_THAT(add.outputs, ElementsAre(5));
  EXPECT_FALSE(add.custom || add.control_flow);
  const Tensor& weights = tensor_of(model, 1);
  EXPECT_EQ(weights.id, (TensorId{0, 1}));
  EXPECT_EQ(weights.name, "w");
  EXPECT_THAT(weights.shape, ElementsAre(4, 3, 3, 3));
  EXPECT_EQ(weights.bytes, 432u);
  EXPECT_TRUE(weights.constant);
  EXPECT_FALSE(weights.quantised || weights.dynamic() || weights.input || weights.output);
  EXPECT_TRUE(tensor_of(model, 0).input);
  EXPECT_TRUE(tensor_of(model, 4).output);
  EXPECT_FALSE(tensor_of(model, 3).constant);
}

TEST(Model, CircleIsReadAlike) {
  const test::BuildOptions circle{.format = ModelFormat::circle};
  const Model model = built(k_text, circle);
  EXPECT_EQ(model.format, ModelFormat::circle);
  EXPECT_EQ(model.subgraphs[0].operations[0].type, "Conv2D");
  const Model own = built(R"(
    input x f32[1,4]
    const g f32[4]
    a = RMS_NORM(x, g)
    b = INSTANCE_NORM(a, g, g)
    output b
  )",
                          circle);
  EXPECT_EQ(own.subgraphs[0].operations[0].builtin_code, -6);
  EXPECT_EQ(own.subgraphs[0].operations[0].type, "RmsNorm");
  EXPECT_EQ(own.subgraphs[0].operations[1].key, "InstanceNorm");
}

TEST(Model, OperatorCodesOfOldAndNewFilesAreRead) {
  const Model old = built(k_text, {.old_codes = true});
  EXPECT_EQ(old.subgraphs[0].operations[1].schema_name, "RELU6");
  const Model recent = built("input x f32[4]\na = GELU(x)\noutput a\n");
  EXPECT_EQ(recent.subgraphs[0].operations[0].builtin_code, 150);
  EXPECT_EQ(recent.subgraphs[0].operations[0].type, "GELU");
  const Model old_circle = built("input x f32[4]\na = BCQ_GATHER(x)\noutput a\n",
                                 {.format = ModelFormat::circle, .old_codes = true});
  EXPECT_EQ(old_circle.subgraphs[0].operations[0].builtin_code, -4);
  EXPECT_EQ(old_circle.subgraphs[0].operations[0].type, "BCQGather");
  const std::string new_field_only = changed([](test::schema::ModelT& model) {
    for (auto& code : model.operator_codes) code->deprecated_builtin_code = 0;
  });
  const Model model = parse_model(bytes_of(new_field_only), ModelFormat::tflite, "built");
  EXPECT_EQ(model.subgraphs[0].operations[0].schema_name, "CONV_2D");
}

TEST(Model, CustomAndUnknownOperationsAreCarriedAndNotGuessed) {
  const Model model = built(R"(
    input x f32[4]
    a = CUSTOM:MyOperation(x)
    b = CUSTOM:AddV2(a, x)
    c = CODE:412(b)
    d = HARD_SWISH(c)
    output d
  )");
  const auto& operations = model.subgraphs[0].operations;
  EXPECT_TRUE(operations[0].custom);
  EXPECT_EQ(operations[0].schema_name, "CUSTOM");
  EXPECT_EQ(operations[0].custom_code, "MyOperation");
  EXPECT_EQ(operations[0].type, "MyOperation");
  EXPECT_TRUE(operations[1].custom);
  EXPECT_EQ(operations[1].type, "Add");
  EXPECT_EQ(operations[2].builtin_code, 412);
  EXPECT_EQ(operations[2].schema_name, "BUILTIN_412");
  EXPECT_EQ(operations[2].type, "");
  EXPECT_EQ(operations[2].key, "");
  EXPECT_EQ(operations[3].schema_name, "HARD_SWISH");
  EXPECT_EQ(operations[3].type, "");
}

TEST(Model, ControlFlowAndItsSubgraphsAreRead) {
  const Model model = built(R"(
    input c bool[1]
    input x f32[4]
    a f32[4] = IF(c, x) then=yes else=no
    output a
    graph yes
    input x f32[4]
    a = RELU(x)
    output a
    graph no
    input x f32[4]
    output x
  )");
  ASSERT_EQ(model.subgraphs.size(), 3u);
  EXPECT_TRUE(model.operation({0, 0}).control_flow);
  EXPECT_EQ(model.operation({0, 0}).type, "If");
  EXPECT_EQ(model.operation({1, 0}).id, (OpId{1, 0}));
  EXPECT_EQ(model.subgraphs[2].name, "no");
  EXPECT_TRUE(model.subgraphs[2].tensors[0].input && model.subgraphs[2].tensors[0].output);
}

TEST(Model, DynamicDimensionsAreOneInTheShapeAndMinusOneInTheSignature) {
  const Model model = built("input x f32[?,8,8,3]\na = RELU(x)\noutput a\n");
  const Tensor& input = tensor_of(model, 0);
  EXPECT_TRUE(input.dynamic());
  EXPECT_THAT(input.shape, ElementsAre(1, 8, 8, 3));
  EXPECT_THAT(input.shape_signature, ElementsAre(-1, 8, 8, 3));
  EXPECT_EQ(input.bytes, 768u);
  // Some writers put -1 into the shape, or give only a signature.
  const std::string in_shape = changed([](test::schema::ModelT& m) {
    m.subgraphs[0]->tensors[0]->shape = {-1, 8, 8, 3};
    m.subgraphs[0]->tensors[3]->shape = {};
    m.subgraphs[0]->tensors[3]->shape_signature = {-1, 4};
  });
  const Model other = parse_model(bytes_of(in_shape), ModelFormat::tflite, "built");
  EXPECT_THAT(tensor_of(other, 0).shape, ElementsAre(1, 8, 8, 3));
  EXPECT_TRUE(tensor_of(other, 0).dynamic());
  EXPECT_THAT(tensor_of(other, 3).shape, ElementsAre(1, 4));
}

TEST(Model, ASignatureWithoutDynamicDimensionsSaysNothing) {
  const std::string bytes = changed([](test::schema::ModelT& model) {
    model.subgraphs[0]->tensors[0]->shape_signature = {1, 8, 8, 3};
  });
  const Model model = parse_model(bytes_of(bytes), ModelFormat::tflite, "built");
  EXPECT_FALSE(tensor_of(model, 0).dynamic());
  EXPECT_THAT(tensor_of(model, 0).shape_signature, ElementsAre());
}

TEST(Model, QuantisationIsAScaleOrDetailsNotAnEmptyTable) {
  const Model model = built("input x u8[4]@0.5:128\na = RELU(x)\noutput a\n");
  EXPECT_TRUE(tensor_of(model, 0).quantised);
  EXPECT_EQ(tensor_of(model, 0).type, DataType::uint8);
  const std::string bytes = changed([](test::schema::ModelT& changed_model) {
    auto& tensor = changed_model.subgraphs[0]->tensors[0];
    tensor->quantization = std::make_unique<test::schema::QuantizationT>();
    tensor->quantization->min = {0};
  });
  EXPECT_FALSE(tensor_of(parse_model(bytes_of(bytes), ModelFormat::tflite, "built"), 0).quantised);
}

TEST(Model, ConstantsMayLieBehindTheTables) {
  const Model model = built(k_text, {.external_constants = true});
  EXPECT_TRUE(tensor_of(model, 1).constant);
  EXPECT_FALSE(tensor_of(model, 0).constant);
  const std::string bytes = test::build_model(k_text, {.external_constants = true});
  EXPECT_THAT(refusal(std::string_view(bytes).substr(0, bytes.size() - 16)),
              AllOf(HasSubstr("buffer"), HasSubstr("outside the file")));
}

TEST(Model, OptionalInputsVariablesAndEmptyConstantsAreToldApart) {
  const Model model = built(R"(
    input x f32[1,16]
    variable s f32[4]
    const w f32[4,16]
    a f32[1,4] = FULLY_CONNECTED(x, w, -)
    output a
  )");
  EXPECT_THAT(model.subgraphs[0].operations[0].inputs, ElementsAre(0, 2, -1));
  EXPECT_FALSE(tensor_of(model, 1).constant);
}

TEST(Model, SizesThatOverflowAreUnknown) {
  const std::string bytes = changed([](test::schema::ModelT& model) {
    model.subgraphs[0]->tensors[0]->shape = {2147483647, 2147483647, 2147483647};
    model.subgraphs[0]->tensors[3]->shape = {2147483647, 0, 2147483647, 2147483647};
  });
  const Model model = parse_model(bytes_of(bytes), ModelFormat::tflite, "built");
  EXPECT_EQ(tensor_of(model, 0).bytes, std::nullopt);
  EXPECT_EQ(tensor_of(model, 3).bytes, 0u);
}

TEST(Model, TypesThatNoTableKnowsAreCarried) {
  const std::string bytes = changed([](test::schema::ModelT& model) {
    model.subgraphs[0]->tensors[0]->type = static_cast<test::schema::TensorType>(99);
    model.subgraphs[0]->tensors[3]->type = static_cast<test::schema::TensorType>(-4);
  });
  const Model model = parse_model(bytes_of(bytes), ModelFormat::tflite, "built");
  EXPECT_EQ(tensor_of(model, 0).type, DataType::unknown);
  EXPECT_EQ(tensor_of(model, 0).bytes, std::nullopt);
  EXPECT_EQ(tensor_of(model, 3).type, DataType::unknown);
}

TEST(Model, NamesBecomePrintableUtf8) {
  const std::string bytes = changed([](test::schema::ModelT& model) {
    model.subgraphs[0]->tensors[0]->name = "a\xFF\xC3\xA9\xED\xA0\x80\x1B[2J";
  });
  const Model model = parse_model(bytes_of(bytes), ModelFormat::tflite, "built");
  EXPECT_EQ(tensor_of(model, 0).name,
            "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD[2J");
}

TEST(Model, IndicesOutsideTheirListsAreRefusedWithTheirPlace) {
  using test::schema::ModelT;
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->operators[2]->inputs[1] = 6; })),
              HasSubstr("operation 0:2: input 1 is tensor 6 of 6"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->operators[2]->inputs[1] = -2; })),
              HasSubstr("operation 0:2: input 1 is tensor -2"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->operators[0]->outputs[0] = 99; })),
              HasSubstr("operation 0:0: output 0 is tensor 99"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->operators[1]->opcode_index = 7; })),
              HasSubstr("operation 0:1 names operator code 7 of 3"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->inputs = {-1}; })),
              HasSubstr("subgraph 0: input 0 is tensor -1"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->outputs = {5, 2147483647}; })),
              HasSubstr("subgraph 0: output 1 is tensor 2147483647"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->tensors[1]->buffer = 4000000000u; })),
              HasSubstr("tensor 0:1 names buffer 4000000000 of 3"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->tensors[1]->shape[2] = -3; })),
              HasSubstr("tensor 0:1: dimension 2 is -3"));
  EXPECT_THAT(
      refusal(changed([](ModelT& m) { m.subgraphs[0]->tensors[1]->shape_signature = {1}; })),
      HasSubstr("tensor 0:1 has 4 dimensions and a signature of 1"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs.clear(); })), HasSubstr("no subgraph"));
}

TEST(Model, BuffersAtFourGibibytesAndBeyondAreRefused) {
  using test::schema::ModelT;
  for (const std::uint64_t offset : {std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{16}, ~std::uint64_t{0}}) {
      EXPECT_THAT(refusal(changed([&](ModelT& m) {
                    m.buffers[1]->offset = offset;
                    m.buffers[1]->size = size;
                  })),
                  HasSubstr("buffer 1 lies outside the file"));
    }
  }
}

TEST(Model, EdgesThatNoRuntimeCouldFollowAreRefused) {
  using test::schema::ModelT;
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->operators[1]->outputs = {3}; })),
              HasSubstr("operations 0:0 and 0:1 both write tensor 3"));
  EXPECT_THAT(refusal(changed([](ModelT& m) { m.subgraphs[0]->operators[0]->inputs[0] = 5; })),
              HasSubstr("operation 0:0 waits for a result that depends on its own"));
}

TEST(Model, OperationsNeedNotStandInTheOrderTheyRun) {
  const std::string bytes = changed([](test::schema::ModelT& model) {
    std::swap(model.subgraphs[0]->operators[0], model.subgraphs[0]->operators[2]);
  });
  EXPECT_EQ(refusal(bytes), "");
}

TEST(Model, ABuiltModelIsRefusedWhereverItEnds) {
  for (const bool external : {false, true}) {
    const std::string whole = test::build_model(k_text, {.external_constants = external});
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::string text = refusal(std::string_view(whole).substr(0, length));
      // FlatBuffers ends with padding that nothing refers to.
      EXPECT_TRUE(!text.empty() || length + 16 >= whole.size()) << length;
    }
  }
}

TEST(Model, WordsThatPointElsewhereNeverLeadOutsideTheFile) {
  const std::string whole = test::build_model(k_text);
  int refused = 0;
  for (std::size_t at = 0; at + 4 <= whole.size(); at += 4) {
    for (const std::uint32_t word : {0xFFFFFFFFu, 0x80000000u, 0x7FFFFFFFu, 0x7FFFFFF0u, 0u, 4u,
                                     static_cast<std::uint32_t>(whole.size())}) {
      std::string bytes = whole;
      std::memcpy(bytes.data() + at, &word, sizeof(word));
      refused += refusal(bytes).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Model, TheDamagedTableIsNamed) {
  const std::string whole = test::build_model(k_text);
  const auto* model = test::schema::GetModel(whole.data());
  const auto broken = [&](const void* table) {
    std::string bytes = whole;
    const auto at = reinterpret_cast<const char*>(table) - whole.data();
    const std::int32_t far = 1 << 30;
    std::memcpy(bytes.data() + at, &far, sizeof(far));
    return refusal(bytes);
  };
  EXPECT_THAT(broken(model), HasSubstr("root table"));
  EXPECT_THAT(broken(model->buffers()->Get(1)), HasSubstr("buffer 1 "));
  EXPECT_THAT(broken(model->operator_codes()->Get(2)), HasSubstr("operator code 2 "));
  EXPECT_THAT(broken(model->subgraphs()->Get(0)), HasSubstr("subgraph 0 "));
  EXPECT_THAT(broken(model->subgraphs()->Get(0)->tensors()->Get(4)),
              HasSubstr("subgraph 0: tensor 4 "));
  EXPECT_THAT(broken(model->subgraphs()->Get(0)->operators()->Get(1)),
              HasSubstr("subgraph 0: operation 1 "));
}

// One table or text that a crafted file refers to again and again.
TEST(Model, AFileThatUnfoldsToManyTimesItsSizeIsRefused) {
  namespace schema = test::schema;
  const auto finish = [](flatbuffers::FlatBufferBuilder& builder, std::size_t tensors,
                         std::size_t subgraphs, std::size_t name_size) {
    const auto name = builder.CreateString(std::string(name_size, 'x'));
    const auto tensor = schema::CreateTensor(builder, 0, schema::TensorType::FLOAT32, 0, name);
    const auto list =
        builder.CreateVector(std::vector<flatbuffers::Offset<schema::Tensor>>(tensors, tensor));
    const auto graph = schema::CreateSubGraph(builder, list);
    const auto graphs =
        builder.CreateVector(std::vector<flatbuffers::Offset<schema::SubGraph>>(subgraphs, graph));
    builder.Finish(schema::CreateModel(builder, 3, 0, graphs), "TFL3");
    return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                       builder.GetSize());
  };
  flatbuffers::FlatBufferBuilder texts;
  EXPECT_THAT(refusal(finish(texts, 10000, 1, 100000)), HasSubstr("32 times its size"));
  flatbuffers::FlatBufferBuilder tables;
  EXPECT_THAT(refusal(finish(tables, 10000, 10000, 4)), HasSubstr("more often than its size"));
}

TEST(Model, MisalignedBytesAreReadAlike) {
  const std::string whole = test::build_model(k_text);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::string moved = std::string(shift, '\0') + whole;
    const Model model =
        parse_model(bytes_of(std::string_view(moved).substr(shift)), ModelFormat::tflite, "built");
    EXPECT_EQ(model.subgraphs[0].operations.size(), 3u);
  }
}

TEST(Model, EveryOperationOfARecordedTraceHasTheModelsTypeAtItsIndex) {
  const std::map<std::string, Model> models = {
      {"onet", real_model("onet.tflite")}, {"hand_landmark", real_model("hand_landmark.tflite")}};
  int compared = 0;
  for (const test::RecordedRun& run : test::recorded_runs()) {
    if (!models.contains(run.model)) continue;
    const Model& model = models.at(run.model);
    const Trace trace = parse_trace(run.averaged, run.name());
    std::set<OpId> seen;
    for (const OpTrace& op : trace.ops) {
      if (op.backend == "builtin") continue;
      ASSERT_LT(static_cast<std::size_t>(op.op.index), model.subgraphs[0].operations.size());
      EXPECT_TRUE(same_type(model.operation(op.op), op.type))
          << run.name() << ": " << to_string(op.op) << " " << op.type;
      EXPECT_NO_THROW(check_type(model.operation(op.op), op.type, run.name()));
      seen.insert(op.op);
      ++compared;
    }
    EXPECT_EQ(seen.size(), model.subgraphs[0].operations.size()) << run.name();
  }
  EXPECT_GT(compared, 1000);
}

TEST(Model, ATraceOfAnotherModelIsFoundOut) {
  const Model model = real_model("onet.tflite");
  const auto run = test::recorded_run("onert-1.26-armv7", "hand_landmark", "cpu");
  const Trace trace = parse_trace(run.averaged, run.name());
  EXPECT_THROW(
      {
        for (const OpTrace& op : trace.ops) {
          if (static_cast<std::size_t>(op.op.index) >= model.subgraphs[0].operations.size()) break;
          check_type(model.operation(op.op), op.type, run.name());
        }
      },
      Error);
}

TEST(Model, TheFormatIsToldByIdentifierThenByName) {
  EXPECT_EQ(detect_format(bytes_of("....TFL3"), "a.circle"), ModelFormat::tflite);
  EXPECT_EQ(detect_format(bytes_of("....CIR0"), "a"), ModelFormat::circle);
  EXPECT_EQ(detect_format(bytes_of("...."), "dir/a.TFLITE"), ModelFormat::tflite);
  EXPECT_EQ(detect_format(bytes_of(""), "a.circle"), ModelFormat::circle);
  EXPECT_EQ(detect_format(bytes_of("....PK03"), "a.zip"), std::nullopt);
}

TEST(Model, ElementTypesHaveNamesAndSizes) {
  EXPECT_EQ(to_string(DataType::float32), "f32");
  EXPECT_EQ(to_string(DataType::boolean), "bool");
  EXPECT_EQ(element_size(DataType::complex128), 16u);
  EXPECT_EQ(element_size(DataType::int4), std::nullopt);
  EXPECT_EQ(element_size(DataType::string), std::nullopt);
}

}  // namespace
}  // namespace stab
