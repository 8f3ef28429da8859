// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of the trace fuzzer: the begins of recorded traces, each closed as the runtime
// closes it.
#include <filesystem>
#include <fstream>
#include <string>

#include "support/recorded.h"

namespace {

constexpr std::size_t k_longest = 4000;

constexpr const char* k_chrome_labels = R"json({"traceEvents":[
{"name":"Graph","tid":"runtime","ph":"B","ts":"1"},
{"name":"$0 Conv2D (+5)","tid":"cpu","ph":"B","ts":"2"},
{"name":"$0 Conv2D (+5)","tid":"cpu","ph":"E","ts":"9"},
{"name":"Graph","tid":"runtime","ph":"E","ts":"10"},{}]})json";

constexpr const char* k_averaged_labels = R"json({"Execution_Data":{
"cpu":{"$3 Add":{"Avg_Time":3},
"$1 session $1 subgraph $4 Mul":{"Avg_Time":4,"Min_Time":1,"Max_Time":9}},
"builtin":{"#0 model $0 subgraph $9 Permute":{"Avg_Time":3}},"memory":{},
"runtime":{"Graph":{"Avg_Time":20}}},"version":"3"})json";

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << '\x21' << text;
}

// The first events up to the end of an operation, then the end of the graph and the footer.
std::string shortened_chrome(const std::string& text) {
  const std::size_t last_end = text.rfind("\"ph\" : \"E\"", k_longest);
  const std::string events = text.substr(0, text.find('\n', last_end) + 1);
  const std::size_t graph_end = text.rfind("    { \"name\"");
  return events + text.substr(graph_end);
}

// The first labels of the first backend.
std::string shortened_averaged(const std::string& text) {
  const std::size_t last = text.rfind("},", k_longest);
  return last == std::string::npos || text.size() < k_longest ? text
                                                              : text.substr(0, last) + "}}}}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  for (const stab::test::RecordedRun& run : stab::test::recorded_runs()) {
    const bool wanted = run.label == "cpu" || run.label == "mixed";
    if (run.model != "onet" || run.threads != 1 || !wanted) continue;
    const std::string name = run.runtime + "_" + run.label;
    write(folder / (name + ".chrome.json"), shortened_chrome(run.chrome));
    write(folder / (name + ".json"), shortened_averaged(run.averaged));
  }
  write(folder / "labels.chrome.json", k_chrome_labels);
  write(folder / "labels.json", k_averaged_labels);
  return 0;
}
