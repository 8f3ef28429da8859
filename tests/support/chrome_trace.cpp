// SPDX-License-Identifier: Apache-2.0
#include "support/chrome_trace.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace stab::test {
namespace {

using nlohmann::json;

std::optional<double> number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool names_a_track(const json& event, const char* member) {
  return event.contains(member) && (event[member].is_number() || event[member].is_string());
}

class Checker {
 public:
  void check(const json& event, std::size_t index) {
    place_ = "event " + std::to_string(index) + ": ";
    if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string())
      return fail("no phase");
    if (!event.contains("ts") || !number_of(event["ts"])) return fail("no time");
    if (!names_a_track(event, "pid") || !names_a_track(event, "tid")) return fail("no track");
    if (!event.contains("name") || !event["name"].is_string()) return fail("no name");
    nest(event);
  }

  std::string finish() {
    for (const auto& [track, open] : open_) {
      if (!open.empty()) found_ += track + ": '" + open.back() + "' does not end\n";
    }
    return found_;
  }

 private:
  void fail(const std::string& what) { found_ += place_ + what + "\n"; }

  void nest(const json& event) {
    const std::string track = event["pid"].dump() + event["tid"].dump();
    const std::string phase = event["ph"];
    std::vector<std::string>& open = open_[track];
    const double time = *number_of(event["ts"]);
    if (time < last_[track]) fail("goes back in time");
    last_[track] = time;
    if (phase == "B") {
      open.push_back(event["name"]);
    } else if (phase == "E") {
      if (open.empty() || open.back() != event["name"].get<std::string>())
        return fail("ends what is not open");
      open.pop_back();
    } else {
      fail("phase " + phase);
    }
  }

  std::string place_;
  std::string found_;
  std::map<std::string, std::vector<std::string>> open_;
  std::map<std::string, double> last_;
};

}  // namespace

std::string chrome_trace_violations(std::string_view trace) {
  const json document = json::parse(trace, nullptr, false);
  if (document.is_discarded()) return "no JSON\n";
  const json* events = &document;
  if (document.is_object()) {
    if (!document.contains("traceEvents")) return "no traceEvents\n";
    events = &document["traceEvents"];
  }
  if (!events->is_array() || events->empty()) return "no list of events\n";
  Checker checker;
  for (std::size_t i = 0; i < events->size(); ++i) {
    const bool end_mark = i + 1 == events->size() && (*events)[i] == json::object();
    if (!end_mark) checker.check((*events)[i], i);
  }
  return checker.finish();
}

}  // namespace stab::test
