// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of model_fuzz into the folder that is its only argument.
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "support/model_builder.h"

namespace {

struct Seed {
  std::string_view name;
  std::string_view text;
};

constexpr Seed k_seeds[] = {
    {"convolutions", R"(
      input x f32[1,8,8,3]
      const w f32[2,3,3,3]
      const b f32[2]
      a f32[1,8,8,2] = CONV_2D(x, w, b)
      c = RELU6(a)
      d = ADD(c, a)
      output d
    )"},
    {"quantised", R"(
      input x u8[?,4]@0.5:128
      const w i8[2,4]@0.25:0
      variable s f32[2]
      a f32[?,2] = FULLY_CONNECTED(x, w, -)
      output a
    )"},
    {"control_flow", R"(
      input c bool[1]
      input x f32[4]
      a f32[4] = IF(c, x) then=body else=body
      b = CUSTOM:Erf(a)
      d = CODE:412(b)
      output d
      graph body
      input x f32[4]
      output x
    )"},
};

void write(const std::string& folder, const Seed& seed, const std::string& variant,
           const stab::test::BuildOptions& options) {
  const std::string path = folder + "/" + std::string(seed.name) + "_" + variant;
  std::ofstream file(path, std::ios::binary);
  file << (options.format == stab::ModelFormat::tflite ? '\0' : '\1')
       << stab::test::build_model(seed.text, options);
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: model_seeds FOLDER\n";
    return 2;
  }
  for (const Seed& seed : k_seeds) {
    write(argv[1], seed, "tflite", {});
    write(argv[1], seed, "circle", {.format = stab::ModelFormat::circle});
    write(argv[1], seed, "old", {.old_codes = true});
    write(argv[1], seed, "external", {.external_constants = true});
  }
}
