// SPDX-License-Identifier: Apache-2.0
// Results of any bytes: the reader either refuses them or gives something that can be compared and
// told in every form.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "stab/core/compare_report.h"
#include "stab/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::vector<stab::EarlierResult> earlier = {
        stab::parse_earlier_result({reinterpret_cast<const char*>(data), size}, "old.json")};
    const stab::EarlierResult& now = earlier.front();
    const stab::ComparisonReport report =
        stab::make_comparison_report(earlier, now, stab::compare_nights(earlier, now, 5));
    const std::string told = stab::render_comparison_text(report, {80, true, 1}) +
                             stab::render_comparison_markdown(report) +
                             stab::render_comparison_json(report);
    if (told.empty()) std::abort();
  } catch (const stab::Error& error) {
    if (error.kind() != stab::ErrorKind::input) std::abort();
  }
  return 0;
}
