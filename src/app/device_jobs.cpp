// SPDX-License-Identifier: Apache-2.0
#include "stab/app/device_jobs.h"

#include <iostream>
#include <vector>

#include "stab/app/connect.h"
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

}  // namespace

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
