// SPDX-License-Identifier: Apache-2.0
#include "app/deliver.h"

#include <unistd.h>

#include <iostream>
#include <utility>
#include <vector>

#include "stab/host/files.h"
#include "stab/host/progress.h"

namespace stab {
namespace {

constexpr int k_plain_width = 100;
constexpr std::uint64_t k_room = 1 << 20;
constexpr const char* k_standard_output = "-";

struct Destination {
  const std::optional<std::filesystem::path>* file;
  std::string (*render)(const Result&);
};

std::vector<Destination> destinations(const Options& options) {
  std::vector<Destination> wanted;
  for (const Destination& destination :
       {Destination{&options.json_file, render_result}, Destination{&options.csv_file, render_csv},
        Destination{&options.junit_file, render_junit},
        Destination{&options.html_file, render_html}}) {
    if (*destination.file) wanted.push_back(destination);
  }
  return wanted;
}

/// True when one of the files is standard output, which then carries that and nothing else.
bool write_all(const Options& options, const Result& result, std::ostream& out,
               std::optional<Error>& failed) {
  bool printed = false;
  for (const Destination& destination : destinations(options)) {
    const std::filesystem::path& file = **destination.file;
    if (file == k_standard_output) {
      out << destination.render(result);
      printed = true;
      continue;
    }
    try {
      write_file_atomically(file, destination.render(result));
    } catch (const Error& error) {
      if (!failed) failed = error;
    }
  }
  return printed;
}

/// Nothing that the job was about to claim holds any more.
void take_failure(const std::exception& failure, Result& result) {
  ErrorRow row{ErrorKind::internal, "internal error", "", failure.what(), ""};
  if (const auto* error = dynamic_cast<const Error*>(&failure))
    row = {error->kind(), error->what_failed(), error->subject(), error->why(), error->hint()};
  result.exit_status = exit_status(row.kind);
  result.summary.package_path.reset();
  result.written.reset();
  if (row.kind == ErrorKind::interrupted) {
    result.outcome = Outcome::interrupted;
    result.warnings.push_back({"interrupted", Severity::warning, row.subject, row.why, ""});
    return;
  }
  result.outcome = Outcome::failed;
  result.error = std::move(row);
}

}  // namespace

TextStyle text_style(const Options& options) {
  TextStyle style;
  style.width = terminal_width(STDOUT_FILENO, k_plain_width);
  style.colour = colours_wanted(STDOUT_FILENO);
  style.verbosity = options.verbosity;
  return style;
}

void check_destinations(const Options& options) {
  for (const Destination& destination : destinations(options)) {
    const std::filesystem::path& file = **destination.file;
    if (file == k_standard_output) continue;
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
      throw Error(ErrorKind::output, "cannot write", file.string(), "it is a folder");
    check_writable(file.has_parent_path() ? file.parent_path() : ".", k_room);
  }
}

void deliver(const Options& options, const Result& result, std::ostream& out) {
  std::optional<Error> failed;
  if (!write_all(options, result, out, failed)) {
    out << (options.format == OutputFormat::json ? render_result(result)
                                                 : render_text(result, text_style(options)));
  }
  out.flush();
  if (failed) throw Error(*failed);
}

void deliver_failure(const Options& options, const std::exception& failure, Result& result,
                     std::ostream& out) {
  take_failure(failure, result);
  std::optional<Error> failed;
  if (!write_all(options, result, out, failed) && options.format == OutputFormat::json)
    out << render_result(result);
  out.flush();
  if (failed) std::cerr << "stab: " << failed->what() << "\n";
}

}  // namespace stab
