// SPDX-License-Identifier: Apache-2.0
#include "stab/app/device_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "app/assemble.h"
#include "app/doctor_report.h"
#include "stab/app/connect.h"
#include "stab/app/target.h"
#include "stab/core/error.h"
#include "stab/device/lock.h"
#include "stab/device/work_folder.h"

namespace stab {
namespace {

std::unique_ptr<Transport> connect_and_warn(const Options& options, Progress& progress,
                                            const StopRequested& stop) {
  std::vector<Warning> warnings;
  std::unique_ptr<Transport> transport = connect(options, progress, stop, warnings);
  progress.clear();
  for (const Warning& warning : warnings) {
    std::cerr << "stab: " << warning.subject << ": " << warning.text
              << (warning.remedy.empty() ? "" : "; try " + warning.remedy) << "\n";
  }
  return transport;
}

Verdict worst(const std::vector<Check>& checks) {
  Verdict verdict = Verdict::ok;
  for (const Check& check : checks) verdict = std::max(verdict, check.verdict);
  return verdict;
}

/// Whether the runtime of --runtime can work on the device: one check, and one for each backend
/// asked for.
void check_runtime_there(const Options& options, Transport& transport, const Preflight& found,
                         std::vector<Check>& checks) {
  if (!options.runtime) return;
  try {
    const Runtime runtime = read_runtime(*options.runtime);
    const RuntimeCheck check =
        check_runtime(runtime, runtime_target(transport, runtime, found), options.backends);
    checks.push_back({"runtime", Verdict::ok, to_string(runtime.machine),
                      "this runtime can run there", std::nullopt});
    for (const BackendInfo& backend : check.backends) {
      checks.push_back(
          {"backend_" + backend.name, backend.usable ? Verdict::ok : Verdict::warning,
           backend.usable ? "usable" : "not usable",
           backend.usable ? "its library and what that needs are there" : backend.reason,
           std::nullopt});
    }
  } catch (const Error& error) {
    checks.push_back({"runtime", Verdict::fail, options.runtime->string(), error.why(),
                      error.hint().empty() ? std::nullopt : std::optional(error.hint())});
  }
}

}  // namespace

int doctor(const Options& options, Progress& progress, const StopRequested& stop,
           std::ostream& out) {
  const auto transport = connect_and_warn(options, progress, stop);
  Preflight found = preflight(*transport, {work_folder_of(options, *transport)});
  found.device.name = options.device_name;
  check_runtime_there(options, *transport, found, found.checks);
  const DoctorReport report{stab_info(), found.device, found.checks};
  if (options.format == OutputFormat::json) {
    out << render_doctor_json(report);
  } else {
    out << render_doctor_text(report, terminal_width(STDOUT_FILENO, 100));
  }
  return worst(found.checks) == Verdict::fail ? exit_status(ErrorKind::device) : 0;
}

int unlock_device(const Options& options, Progress& progress, const StopRequested& stop,
                  std::ostream& out) {
  const auto transport = connect_and_warn(options, progress, stop);
  const auto holder = unlock(*transport, options.force);
  if (holder) {
    out << "unlocked " << transport->link().address << ": it was held by " << describe(*holder)
        << "\n";
  } else {
    out << transport->link().address << " is not locked\n";
  }
  return 0;
}

int clean_device(const Options& options, Progress& progress, const StopRequested& stop,
                 std::ostream& out) {
  const auto transport = connect_and_warn(options, progress, stop);
  const DeviceLock lock(*transport, lock_options(options, progress));
  progress.clear();
  const std::string folder = work_folder_of(options, *transport);
  const Cleaned cleaned = clean_work_folder(*transport, folder);
  if (cleaned.removed.empty())
    out << "nothing of stab's in " << folder << " on " << transport->link().address << "\n";
  for (const std::string& name : cleaned.removed) out << "removed " << name << "\n";
  for (const std::string& name : cleaned.left) out << "left " << name << "\n";
  return 0;
}

}  // namespace stab
