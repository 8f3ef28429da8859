// SPDX-License-Identifier: Apache-2.0
// Reads a trace as stab does and prints one line: CPU seconds, peak memory in KiB, executions,
// entries. For bench/trace_vs_python.
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <exception>
#include <memory>

#include "stab/core/trace.h"

namespace {

stab::Trace read(const char* name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name, "rb"), std::fclose);
  if (!file) throw stab::Error(stab::ErrorKind::input, "cannot open", name, "no such file");
  stab::TraceReader reader;
  reader.begin_file(name);
  std::array<char, 65536> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get())) {
    reader.feed({piece.data(), size});
  }
  return reader.finish();
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const stab::Trace trace = read(argv[1]);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%.6f %ld %lld %zu\n", seconds(usage.ru_utime) + seconds(usage.ru_stime),
                usage.ru_maxrss, static_cast<long long>(trace.executions), trace.ops.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
