// SPDX-License-Identifier: Apache-2.0
#include "support/recorded.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "support/temp_dir.h"

namespace stab::test {
namespace {

namespace fs = std::filesystem;

std::string inflate(const fs::path& file) {
  const std::unique_ptr<archive, int (*)(archive*)> stream(archive_read_new(), archive_read_free);
  archive_read_support_filter_gzip(stream.get());
  archive_read_support_format_raw(stream.get());
  archive_entry* entry = nullptr;
  std::string text;
  std::array<char, 65536> piece;
  la_ssize_t size = -1;
  if (archive_read_open_filename(stream.get(), file.c_str(), piece.size()) == ARCHIVE_OK &&
      archive_read_next_header(stream.get(), &entry) == ARCHIVE_OK) {
    while ((size = archive_read_data(stream.get(), piece.data(), piece.size())) > 0) {
      text.append(piece.data(), static_cast<std::size_t>(size));
    }
  }
  if (size < 0) throw std::runtime_error("cannot inflate " + file.string());
  return text;
}

// The averaged form's file: the label and the threads, with or without ".json".
bool is_averaged(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.find(".chrome.") == std::string::npos && file.extension() != ".md";
}

RecordedRun read_run(const fs::path& averaged) {
  RecordedRun run;
  run.model = averaged.parent_path().filename().string();
  run.runtime = averaged.parent_path().parent_path().filename().string();
  const std::string stem = averaged.stem().string();
  const std::size_t line = stem.rfind('_');
  run.label = stem.substr(0, line);
  run.threads = std::stoi(stem.substr(line + 1));
  run.averaged = read_inflated(averaged);
  run.chrome = read_inflated(averaged.parent_path() / (stem + ".chrome.json.gz"));
  return run;
}

}  // namespace

std::string read_inflated(const fs::path& file) {
  return file.extension() == ".gz" ? inflate(file) : read_text(file);
}

std::vector<RecordedRun> recorded_runs() {
  std::vector<RecordedRun> runs;
  for (const auto& file : fs::recursive_directory_iterator(STAB_TEST_DATA "/traces")) {
    if (file.is_regular_file() && is_averaged(file.path())) runs.push_back(read_run(file.path()));
  }
  std::sort(runs.begin(), runs.end(),
            [](const RecordedRun& a, const RecordedRun& b) { return a.name() < b.name(); });
  return runs;
}

RecordedRun recorded_run(std::string_view runtime, std::string_view model, std::string_view label,
                         int threads) {
  const fs::path folder = fs::path(STAB_TEST_DATA "/traces") / runtime / model;
  const std::string stem = std::string(label) + "_" + std::to_string(threads);
  for (const char* const extension : {"", ".json"}) {
    if (fs::exists(folder / (stem + extension))) return read_run(folder / (stem + extension));
  }
  throw std::runtime_error("no recorded run " + (folder / stem).string());
}

Trace read_recorded(const RecordedRun& run, TraceOptions options) {
  TraceReader reader(options);
  reader.begin_file(run.name());
  reader.feed(run.averaged);
  reader.begin_file(run.name() + ".chrome.json");
  reader.feed(run.chrome);
  return reader.finish();
}

}  // namespace stab::test
