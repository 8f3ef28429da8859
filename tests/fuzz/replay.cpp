// SPDX-License-Identifier: Apache-2.0
// Gives the files of a folder to a fuzz target where there is no libFuzzer: whole, cut short, and
// with single bytes damaged. Ends with status 1 when the folder has none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// An allocation of exactly this size, so that a sanitizer sees a read beyond it.
void run(std::span<const std::uint8_t> bytes) {
  const auto copy = std::make_unique<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  LLVMFuzzerTestOneInput(copy.get(), bytes.size());
}

void run_with_damage(std::vector<std::uint8_t> bytes) {
  constexpr std::size_t k_cuts = 32;
  constexpr std::size_t k_damaged_bytes = 64;
  run(bytes);
  for (std::size_t i = 0; i < k_cuts; ++i) {
    run(std::span(bytes).first(bytes.size() * i / k_cuts));
  }
  const std::size_t step = bytes.size() / k_damaged_bytes + 1;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::uint8_t whole = bytes[at];
    for (const int damage : {0x01, 0x80, 0xff}) {
      bytes[at] = static_cast<std::uint8_t>(whole ^ damage);
      run(bytes);
    }
    bytes[at] = whole;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::cerr << "no seeds\n";
    return 1;
  }
  for (const auto& file : files) {
    std::cout << file.string() << std::endl;  // flushed: a crash shall name its file
    std::ifstream in(file, std::ios::binary);
    run_with_damage({std::istreambuf_iterator<char>(in), {}});
  }
  return 0;
}
