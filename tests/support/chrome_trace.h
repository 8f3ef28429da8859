// SPDX-License-Identifier: Apache-2.0
// Checks that a trace is in the form that Perfetto and Chrome open.
#pragma once

#include <string>
#include <string_view>

namespace stab::test {

/// What an importer would not take of a trace in Chrome's form, a line each; empty when it opens as
/// it is. After "Trace Event Format" (Chromium's documentation) and what Perfetto's importer does
/// (google/perfetto, src/trace_processor/importers/json/json_trace_tokenizer.cc and
/// json_trace_parser.cc): an array of events or an object with `traceEvents`; each event has `ph`,
/// and a `ts` that is a number or a number's text; `pid` and `tid` are numbers or texts, where a
/// text is taken as the name; begins and ends nest within a thread. An event without `ts` is
/// counted as one failure and left out: onert ends its list with one such, `{ }`, and only there it
/// is allowed.
std::string chrome_trace_violations(std::string_view trace);

}  // namespace stab::test
