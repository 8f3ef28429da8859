// SPDX-License-Identifier: Apache-2.0
// What `stab doctor` prints.
#pragma once

#include <string>
#include <vector>

#include "stab/core/context.h"
#include "stab/device/preflight.h"

namespace stab {

struct DoctorReport {
  StabInfo stab;
  DeviceInfo device;
  std::vector<Check> checks;
};

/// {schema_version, kind: "doctor", stab, context: {device}, checks: [{id, verdict, value, text,
/// remedy}]}
std::string render_doctor_json(const DoctorReport& report);

/// One line per check: verdict, id, value, sentence; the remedy below where there is one; a closing
/// line.
std::string render_doctor_text(const DoctorReport& report, int width);

}  // namespace stab
