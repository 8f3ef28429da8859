// SPDX-License-Identifier: Apache-2.0
// The HTML report: whole in one file, safe whatever the names in it are, and as wide as its reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/report.h"
#include "support/golden.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/simulated_job.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

using test::simulated_job;
using ::testing::HasSubstr;
using ::testing::Not;

/// What the XML parser says of a page; empty when it is well-formed.
std::string malformed(const std::string& page) {
  const test::TempDir dir;
  const test::ProcessResult result =
      test::run_process({test::require_program("xmllint").string(), "--noout", "--nonet",
                         dir.write("page.html", page).string()});
  return result.exit_code == 0 ? "" : result.err;
}

std::string browser() {
  for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser"}) {
    if (const auto found = test::find_program(name)) return found->string();
  }
  test::skip("no browser here (chromium-headless-shell or chromium)");
}

/// What a browser makes of a page below `dir`.
std::string dom_of(const test::TempDir& dir, const std::string& page) {
  test::ProcessOptions options;
  options.environment = test::Environment{{"PATH", "/usr/bin:/bin"}, {"HOME", dir.path().string()}};
  const test::ProcessResult result = test::run_process(
      {browser(), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
       "--virtual-time-budget=5000", "--user-data-dir=" + (dir.path() / "profile").string(),
       "--dump-dom", "file://" + (dir.path() / page).string()},
      options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

/// A job whose names try everything that they can.
Result hostile() {
  const std::string bad =
      "</title></style><script>alert(1)</script><img src=x onerror=\"a\">'&\x01\xff";
  Result result = simulated_job().result;
  result.context.package.name = bad;
  result.context.device->name = bad;
  result.context.device->host = bad;
  result.context.device->soc = bad;
  result.context.runtime.version = bad;
  result.delivery.command = bad;
  result.summary.package_path = bad;
  result.state.moved = {bad};
  result.state.before->governor = bad;
  result.left_out = {{{0, 1}, bad, bad}};
  result.warnings = {{bad, Severity::warning, bad, bad, bad}};
  result.certificate.method = bad;
  for (OpRow& op : result.ops) op.name = op.type = bad;
  for (Plan& plan : result.plans) plan.equal.reason = bad;
  for (BackendRow& row : result.backends) row.reason = bad;
  result.error = ErrorRow{ErrorKind::proof, bad, bad, bad, bad};
  return result;
}

TEST(Html, OfARecordedJobIsAsItWas) {
  test::expect_golden("report.html", render_html(simulated_job().result));
}

TEST(Html, ShowsEverythingThatTheJobFoundOut) {
  const std::string page = render_html(simulated_job().result);
  EXPECT_EQ(malformed(page), "");
  for (const char* text :
       {"proven: wrote", "What was measured", "Proofs of the chosen plan", "Backends", "Plans",
        "Operations", "Samples", "Copies paid", "What the device was doing", "Warnings",
        "Left out of the schedule", "Run it", "xnnpack missing", "Certificate of the optimum",
        "Histogram of optimum", "governor ondemand", "All 14 operations as a table"})
    EXPECT_THAT(page, HasSubstr(text));
}

TEST(Html, NeedsNothingElse) {
  const std::string page = render_html(simulated_job().result);
  for (const char* text :
       {"<script", "src=", "href=", "url(", "@import", "<link", "<iframe", "on="})
    EXPECT_THAT(page, Not(HasSubstr(text)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'")) << "the page itself forbids it";
}

TEST(Html, HasWordsForEveryChart) {
  const std::string page = render_html(simulated_job().result);
  std::size_t charts = 0;
  for (std::size_t at = page.find("<svg"); at != std::string::npos;
       at = page.find("<svg", at + 1)) {
    ++charts;
    const std::string start = page.substr(at, 60);
    EXPECT_TRUE(start.starts_with("<svg role=\"img\"><title>") ||
                start.starts_with("<svg aria-hidden=\"true\">"))
        << start;
  }
  EXPECT_GT(charts, 30U);
}

TEST(Html, LetsNoNameActAsMarkup) {
  const std::string page = render_html(hostile());
  EXPECT_EQ(malformed(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;/title&gt;&lt;/style&gt;&lt;script&gt;"));
}

TEST(Html, OfOtherJobsIsWholeToo) {
  EXPECT_THAT(render_html(test::simulated_estimate()), HasSubstr("verdict doubt"));
  EXPECT_EQ(malformed(render_html(test::simulated_estimate())), "");
  Result early;
  early.context.package.name = "net";
  early.error = ErrorRow{ErrorKind::device, "cannot reach", "board", "no route", "a cable"};
  const std::string page = render_html(early);
  EXPECT_EQ(malformed(page), "");
  EXPECT_THAT(page, Not(HasSubstr("operations")));
  EXPECT_THAT(page, HasSubstr("cannot reach &#39;board&#39;: no route; try a cable"));
}

TEST(Html, FitsIntoNarrowAndWideWindowsOfABrowser) {
  const test::TempDir dir;
  dir.write("report.html", render_html(hostile()));
  dir.write("frames.html", R"(<html><body><iframe src="report.html" style="width:400px"></iframe>
<iframe src="report.html" style="width:1200px"></iframe><script>addEventListener("load", () => {
document.title = [...document.querySelectorAll("iframe")].map(frame => {
const page = frame.contentDocument; const root = page.documentElement;
return (root.scrollWidth <= root.clientWidth ? "fits" : "too wide by " + (root.scrollWidth -
root.clientWidth)) + (page.querySelectorAll("script,img").length == 0 ? "" : ", not escaped") +
(page.querySelectorAll("svg").length > 30 ? "" : ", no charts"); }).join("; ") })</script></body>
</html>)");
  EXPECT_THAT(dom_of(dir, "frames.html"), HasSubstr("<title>fits; fits</title>"));
}

}  // namespace
}  // namespace stab
