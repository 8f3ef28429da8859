// SPDX-License-Identifier: Apache-2.0
#include "app/trace_file.h"

#include <array>
#include <fstream>

#include "stab/core/error.h"

namespace stab {
namespace {

void feed_file(TraceReader& reader, const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw Error(ErrorKind::input, "cannot read trace", file.string(), "it cannot be opened");
  reader.begin_file(file.filename());
  std::array<char, 65536> piece{};
  while (stream.read(piece.data(), piece.size()) || stream.gcount() > 0) {
    reader.feed({piece.data(), static_cast<std::size_t>(stream.gcount())});
  }
}

}  // namespace

Trace read_trace_files(const std::optional<std::filesystem::path>& chrome,
                       const std::optional<std::filesystem::path>& averaged,
                       std::optional<int> runs) {
  TraceOptions options;
  if (runs) options.last_runs = *runs;
  TraceReader reader(options);
  if (chrome) feed_file(reader, *chrome);
  if (averaged) feed_file(reader, *averaged);
  return reader.finish();
}

}  // namespace stab
