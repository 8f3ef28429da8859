// SPDX-License-Identifier: Apache-2.0
#include "stab/app/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <set>
#include <sstream>

#include "stab/app/version.h"
#include "stab/core/error.h"

namespace stab {
namespace {

constexpr const char* k_what = "Required";
constexpr const char* k_device = "Device";
constexpr const char* k_measure = "Measuring";
constexpr const char* k_decide = "Deciding and proving";
constexpr const char* k_results = "Results";

/// Help without the library's decorations: type and default as we name them, descriptions wrapped
/// under themselves.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    constexpr std::size_t k_column = 30;
    constexpr std::size_t k_width = 100;
    std::string line = "  " + make_option_name(option, is_positional);
    if (option->get_expected_max() > 0 && !option->get_option_text().empty())
      line += " " + option->get_option_text();
    std::string text = option->get_description();
    if (!option->get_default_str().empty())
      text += " (default " + plain_default(option->get_default_str()) + ")";
    std::size_t used = line.size();
    if (used + 1 > k_column) {
      line += "\n";
      used = 0;
    }
    line.append(k_column - used, ' ');
    std::size_t column = k_column;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (column > k_column && column + 1 + word.size() > k_width) {
        line += "\n" + std::string(k_column, ' ');
        column = k_column;
      } else if (column > k_column) {
        line += ' ';
        ++column;
      }
      line += word;
      column += word.size();
    }
    return line + "\n";
  }

 private:
  static std::string plain_default(std::string text) {
    if (text.size() > 2 && text.front() == '[' && text.back() == ']')
      text = text.substr(1, text.size() - 2);
    return text;
  }
};

[[noreturn]] void refuse(const std::string& option, const std::string& why,
                         const std::string& hint = {}) {
  throw Error(ErrorKind::usage, "cannot use option", option, why, hint);
}

/// What CLI11 fills before it becomes Options.
struct Raw {
  std::string lock_wait, max_time, timeout, tolerance, runner, algorithm, format, max_regression;
  std::vector<std::string> set, env;
  bool no_profile = false, no_verify = false, no_check = false;
};

std::pair<std::string, std::string> parse_pair(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse(option, "'" + text + "' is not KEY=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

double parse_number(std::string_view text, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) {
    refuse(option, "'" + std::string(text) + "' is not a number of 0 or more");
  }
  return value;
}

Tolerance parse_tolerance(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) refuse("--tolerance", "'" + text + "' is not ABS,REL");
  return {parse_number(std::string_view(text).substr(0, comma), "--tolerance"),
          parse_number(std::string_view(text).substr(comma + 1), "--tolerance")};
}

double parse_percent(std::string text, const std::string& option) {
  constexpr double k_most = 1000;
  if (!text.empty() && text.back() == '%') text.pop_back();
  const double percent = parse_number(text, option);
  if (percent > k_most) refuse(option, "'" + text + "' is more than 1000 %");
  return percent;
}

void add_device_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("-u,--user", options.user, "Remote user")->option_text("USER")->group(k_device);
  app.add_option("-p,--port", options.port, "SSH port")
      ->option_text("PORT")
      ->group(k_device)
      ->check(CLI::Range(1, 65535));
  app.add_option("-i,--identity", options.identity, "SSH private key")
      ->option_text("FILE")
      ->group(k_device);
  app.add_flag(
         "--accept-new-host-key", options.accept_new_host_key,
         "Trust and remember the key of a host never met before (a changed key is always refused)")
      ->group(k_device);
  app.add_option("--lock-wait", raw.lock_wait,
                 "Wait this long for a busy device (90s, 10m, 2h) instead of failing at once")
      ->option_text("DUR")
      ->group(k_device);
  app.add_option("--remote-dir", options.remote_dir,
                 "Work folder on the device (default /tmp/ONE; /tmp/ONE-<uid> for local)")
      ->option_text("DIR")
      ->group(k_device);
}

void add_runtime_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--runtime", options.runtime,
                 "ONE runtime for the device: a build's 'out' folder or a folder of its libraries "
                 "(default: "
                 "$STAB_RUNTIME, then Product/<arch>-linux.release/out, then Product/out, upwards "
                 "from here)")
      ->option_text("DIR")
      ->group(k_device);
  app.add_option("--runner", raw.runner,
                 "Runner to use: 'stab' (stab-runner) or 'own' (the runtime folder's)")
      ->option_text("own|stab")
      ->group(k_device)
      ->check(CLI::IsMember({"own", "stab"}));
  app.add_option("--env", raw.env,
                 "KEY=VALUE for the process on the device only, never written to the package")
      ->option_text("KEY=VALUE")
      ->group(k_device)
      ->take_all();
  app.add_flag("--rehash", options.rehash,
               "Hash everything on the device again instead of trusting sizes and times")
      ->group(k_device);
  app.add_option("--device-name", options.device_name, "The device's name in results")
      ->option_text("NAME")
      ->group(k_device);
  app.add_option("--timeout", raw.timeout, "Longest time for one run on the device (default 10m)")
      ->option_text("DUR")
      ->group(k_device);
}

void add_measuring_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("-n,--num_threads", options.threads,
                 "Threads of the runtime; several values (1,2,4) are each profiled and the fastest "
                 "is written (default 1)")
      ->option_text("N[,N...]")
      ->delimiter(',')
      ->group(k_measure)
      ->check(CLI::Range(1, 1024));
  app.add_option("-w,--warmup", options.warmup,
                 "Warm-up runs of each process, at least 0.5 s and at most 5 s of them")
      ->option_text("N")
      ->group(k_measure)
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("-r,--runs", options.runs, "Timed runs of each backend, split over the rounds")
      ->option_text("N")
      ->group(k_measure)
      ->check(CLI::Range(1, 50000))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Interleaved rounds; each is a process of its own")
      ->option_text("N")
      ->group(k_measure)
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--max-rounds", options.max_rounds,
                 "Up to so many rounds while results are not stable")
      ->option_text("N")
      ->group(k_measure)
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--max-time", raw.max_time, "Start no further round after this long")
      ->option_text("DUR")
      ->group(k_measure);
  app.add_option("--affinity", options.affinity, "CPU mask for taskset on the device (0xf0)")
      ->option_text("MASK")
      ->group(k_measure);
  app.add_option("--input", options.inputs,
                 "Raw input tensors, one file for each graph input (default: seeded random)")
      ->option_text("FILE")
      ->group(k_measure)
      ->take_all();
  app.add_option("--shape", options.shape,
                 "Shapes of graph inputs, by position or name: '0:1,224,224,3' or "
                 "'image:1,224,224,3;mask:1,1' "
                 "(default: each dynamic dimension becomes 1)")
      ->option_text("SPEC")
      ->group(k_measure);
  app.add_option("--set", raw.set,
                 "One more runtime key for every run and for the written schedule")
      ->option_text("KEY=VALUE")
      ->group(k_measure)
      ->take_all();
}

void add_deciding_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--backends", options.backends, "Candidates, in order; cpu is always among them")
      ->option_text("LIST")
      ->delimiter(',')
      ->group(k_decide)
      ->capture_default_str();
  app.add_option(
         "--op-list", options.op_list,
         "Operations of each backend, in the form of op_list.txt (ruy:Conv2D,FullyConnected)")
      ->option_text("FILE")
      ->group(k_decide);
  app.add_option("--pin", options.pins,
                 "Fix an operation to a backend: 12=ruy, 0:12=ruy, type:Conv2D=ruy, name:<first "
                 "output tensor>=ruy")
      ->option_text("OP=BACKEND")
      ->group(k_decide)
      ->take_all();
  app.add_option("--algorithm", raw.algorithm,
                 "'exact', or 'greedy' (fastest average per operation)")
      ->option_text("exact|greedy")
      ->group(k_decide)
      ->check(CLI::IsMember({"exact", "greedy"}));
  app.add_flag("--no-profile", raw.no_profile,
               "Schedule from the traces that are there; no device is contacted")
      ->group(k_decide);
}

void add_proof_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_flag("--no-verify", raw.no_verify, "Leave out the timing proof")->group(k_decide);
  app.add_flag("--no-check", raw.no_check, "Leave out the comparison of outputs")->group(k_decide);
  app.add_option("--tolerance", raw.tolerance, "Allowed difference of outputs (default: by type)")
      ->option_text("ABS,REL")
      ->group(k_decide);
  app.add_flag("--force", options.force, "Overwrite or accept what would be refused")
      ->group(k_decide);
}

void add_result_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--format", raw.format, "Result on standard output")
      ->option_text("text|json")
      ->group(k_results)
      ->check(CLI::IsMember({"text", "json"}));
  app.add_flag("-v,--verbose", options.verbosity,
               "More talk on standard error, and every operation in the report (repeatable)")
      ->group(k_results);
}

void add_gate_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option(
         "--max-regression", raw.max_regression,
         "Gate: exit status 6 when it surely is slower than the baseline by more than this (the "
         "main job then writes no package); a warning where noise does not let it tell")
      ->option_text("P%")
      ->group(k_results);
  app.add_flag("--strict", options.strict, "A gate that cannot tell fails, too")->group(k_results);
}

void add_baseline(CLI::App& app, Options& options) {
  app.add_option(
         "--baseline", options.baseline,
         "Compare with an earlier result (JSON) or stab.json: its schedule is timed now, in "
         "the same rounds; with --no-profile file against file")
      ->option_text("FILE")
      ->group(k_results);
}

/// For the jobs that end in a result.
void add_result_files(CLI::App& app, Options& options) {
  const auto add = [&](const char* name, std::optional<std::filesystem::path>& file,
                       const char* text) {
    app.add_option(name, file, text)->option_text("FILE")->group(k_results);
  };
  add("--json", options.json_file,
      "Also write the result as JSON; here and for the next three '-' prints it instead of the "
      "report");
  add("--html", options.html_file, "Also write a page with charts, whole in one file");
  add("--junit", options.junit_file, "Also write the proofs and the gate as a JUnit report");
  add("--csv", options.csv_file, "Also write the operations as a table for spreadsheets");
}

CLI::Option* add_ip(CLI::App& app, Options& options) {
  return app
      .add_option("--ip", options.ip,
                  "Device: address, name, user@host, host:port, an alias of ~/.ssh/config, or "
                  "'local' for this machine")
      ->option_text("HOST")
      ->group(k_what);
}

CLI::Option* add_nnpackage(CLI::App& app, Options& options) {
  return app
      .add_option("--nnpackage", options.nnpackage,
                  "nnpackage folder, zip, or a .tflite/.circle file")
      ->option_text("DIR")
      ->group(k_what);
}

void finish(Options& options, const Raw& raw) {
  if (!raw.lock_wait.empty()) options.lock_wait = parse_duration(raw.lock_wait, "--lock-wait");
  if (!raw.max_time.empty()) options.max_time = parse_duration(raw.max_time, "--max-time");
  if (!raw.timeout.empty()) options.timeout = parse_duration(raw.timeout, "--timeout");
  if (!raw.tolerance.empty()) options.tolerance = parse_tolerance(raw.tolerance);
  options.use_runtime_runner = raw.runner == "own";
  options.algorithm = raw.algorithm == "greedy" ? Algorithm::greedy : Algorithm::exact;
  options.format = raw.format == "json" ? OutputFormat::json : OutputFormat::text;
  options.profile = !raw.no_profile;
  options.verify = !raw.no_verify;
  options.check = !raw.no_check;
  if (raw.format == "markdown") options.format = OutputFormat::markdown;
  if (!raw.max_regression.empty())
    options.max_regression = parse_percent(raw.max_regression, "--max-regression");
  for (const std::string& text : raw.set)
    options.set.insert_or_assign(parse_pair(text, "--set").first, parse_pair(text, "--set").second);
  for (const std::string& text : raw.env)
    options.env.insert_or_assign(parse_pair(text, "--env").first, parse_pair(text, "--env").second);
}

/// Standard output carries one thing.
void check_files(const Options& options) {
  int printed = options.format == OutputFormat::json ? 1 : 0;
  for (const auto* file :
       {&options.json_file, &options.html_file, &options.junit_file, &options.csv_file})
    printed += *file == "-" ? 1 : 0;
  if (printed > 1) refuse("-", "standard output carries one result, not several");
}

void check_schedule(Options& options) {
  const bool main_job = options.kind == JobKind::schedule;
  if (main_job && options.nnpackage.empty())
    refuse("--nnpackage", "it is required", "stab --nnpackage DIR --ip HOST");
  if (main_job && options.profile && options.ip.empty()) {
    refuse("--ip", "it is required unless --no-profile is given", "--ip local for this machine");
  }
  if (options.kind != JobKind::compare && options.max_regression && !options.baseline)
    refuse("--max-regression", "it is the limit against a baseline", "--baseline FILE");
  if (!options.ip.empty() && options.ip.front() == '-')
    refuse("--ip", "'" + options.ip + "' is no host");
  if (options.max_rounds < options.rounds) options.max_rounds = options.rounds;
  if (options.runs < options.rounds) options.rounds = options.runs;
  if (std::set<int>(options.threads.begin(), options.threads.end()).size() !=
      options.threads.size()) {
    refuse("--num_threads", "a value stands there twice");
  }
  std::vector<std::string> unique;
  for (const std::string& name : options.backends) {
    if (name.empty() ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
            std::string::npos) {
      refuse("--backends", "'" + name + "' is no backend name");
    }
    if (name == "builtin" || name == "controlflow")
      refuse("--backends", "'" + name + "' is part of the runtime and takes no operations");
    if (std::find(unique.begin(), unique.end(), name) == unique.end()) unique.push_back(name);
  }
  if (std::find(unique.begin(), unique.end(), "cpu") == unique.end())
    unique.insert(unique.begin(), "cpu");
  options.backends = unique;
}

std::string version_text() {
  return std::string("stab ") + k_version + " (" + k_commit + "), libssh " + libssh_version() +
         "\n";
}

}  // namespace

std::chrono::seconds parse_duration(const std::string& text, const std::string& option) {
  static constexpr std::string_view k_units = "smhd";
  static constexpr long k_seconds[] = {1, 60, 3600, 86400};
  std::string_view digits = text;
  long unit = 1;
  if (!digits.empty()) {
    const std::size_t found = k_units.find(digits.back());
    if (found != std::string_view::npos) {
      unit = k_seconds[found];
      digits.remove_suffix(1);
    }
  }
  long value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty() || value < 0 ||
      value > 10000000) {
    refuse(option, "'" + text + "' is no duration", "90s, 10m or 2h");
  }
  return std::chrono::seconds(value * unit);
}

namespace {

/// What a subcommand takes beside --ip and the connection.
enum Takes : unsigned {
  takes_package = 1,
  takes_runtime = 2,
  takes_measuring = 4,
  takes_proofs = 8,
  takes_deciding = 16,
  takes_traces = 32,
  takes_result_files = 64
};

CLI::App* add_job(CLI::App& app, Options& options, Raw& raw, JobKind kind, const char* name,
                  const char* text, unsigned takes) {
  CLI::App* job = app.add_subcommand(name, text);
  job->formatter(app.get_formatter());
  job->set_help_flag();
  if ((takes & takes_package) != 0) add_nnpackage(*job, options);
  if ((takes & takes_deciding) == 0) {
    add_ip(*job, options);
    add_device_options(*job, options, raw);
  }
  if ((takes & takes_runtime) != 0) add_runtime_options(*job, options, raw);
  if ((takes & takes_measuring) != 0) add_measuring_options(*job, options, raw);
  if ((takes & takes_deciding) != 0) add_deciding_options(*job, options, raw);
  if ((takes & takes_proofs) != 0) add_proof_options(*job, options, raw);
  if ((takes & takes_traces) != 0) {
    job->add_option("--trace-dir", options.trace_dir, "Where traces are")
        ->option_text("DIR")
        ->group(k_results)
        ->capture_default_str();
  }
  if ((takes & takes_result_files) != 0) add_result_files(*job, options);
  add_result_options(*job, options, raw);
  job->set_help_flag("-h,--help", "This text")->group(k_results);
  job->callback([&options, kind] { options.kind = kind; });
  return job;
}

void add_compare(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* job = app.add_subcommand(
      "compare",
      "Compare results of several nights: faster, slower, the same, or too noisy to say");
  job->formatter(app.get_formatter());
  job->set_help_flag();
  job->add_option("FILE", options.results,
                  "Results (JSON) or stab.json: one baseline or, better, several, which show how "
                  "nights differ; the newest last")
      ->option_text("...")
      ->group(k_what);
  job->add_flag("--force", options.force,
                "Compare other models, devices, threads or settings all the same")
      ->group(k_results);
  job->add_option("--format", raw.format, "On standard output; markdown is for a pull request")
      ->option_text("text|json|markdown")
      ->group(k_results)
      ->check(CLI::IsMember({"text", "json", "markdown"}));
  job->add_option("--json", options.json_file, "Also write the comparison as JSON")
      ->option_text("FILE")
      ->group(k_results);
  add_gate_options(*job, options, raw);
  job->add_flag("-v,--verbose", options.verbosity, "Every operation, changed or not")
      ->group(k_results);
  job->set_help_flag("-h,--help", "This text")->group(k_results);
  job->callback([&options] { options.kind = JobKind::compare; });
}

void add_jobs(CLI::App& app, Options& options, Raw& raw) {
  app.require_subcommand(0, 1);
  CLI::App* verify =
      add_job(app, options, raw, JobKind::verify, "verify",
              "Prove a package that was scheduled earlier, as it is; writes nothing",
              takes_package | takes_runtime | takes_measuring | takes_proofs | takes_result_files);
  add_baseline(*verify, options);
  add_gate_options(*verify, options, raw);
  add_compare(app, options, raw);
  add_job(app, options, raw, JobKind::explain, "explain",
          "Say why the plan for the traces that are there is as it is",
          takes_package | takes_deciding | takes_traces);
  add_job(app, options, raw, JobKind::doctor, "doctor",
          "Look at a device and say what stands in the way, with remedies", takes_runtime);
  CLI::App* unlock = add_job(app, options, raw, JobKind::unlock, "unlock",
                             "Remove the lock of a stab that is gone from a device", 0);
  unlock->add_flag("--force", options.force, "End the stab that holds it, too")->group(k_device);
  add_job(app, options, raw, JobKind::clean, "clean", "Remove what stab made on a device, no more",
          0);
}

void check_job(const Options& options) {
  if (options.kind == JobKind::verify && options.nnpackage.empty()) {
    refuse("--nnpackage", "it is required", "stab verify --nnpackage nnpkg_sched/NAME --ip HOST");
  }
  if (options.kind == JobKind::explain) {
    if (options.nnpackage.empty())
      refuse("--nnpackage", "it is required", "stab explain --nnpackage DIR");
    return;
  }
  if (options.kind == JobKind::compare) {
    if (options.results.size() < 2)
      refuse("FILE", "two files or more are required", "stab compare OLD.json NEW.json");
    return;
  }
  if (options.ip.empty()) refuse("--ip", "it is required", "--ip local for this machine");
}

std::string help_of(const CLI::App& app) {
  for (const CLI::App* job : app.get_subcommands()) return job->help(app.get_name());
  return app.help();
}

}  // namespace

std::optional<Options> parse_command_line(int argc, const char* const* argv, std::ostream& out) {
  Options options;
  Raw raw;
  CLI::App app(
      "stab measures each backend of the ONE runtime on a device, picks the best one for each "
      "operation of a neural\n"
      "network package, proves the schedule on the device, and writes the scheduled package.",
      "stab");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag();
  bool version = false;
  add_nnpackage(app, options);
  add_ip(app, options);
  add_measuring_options(app, options, raw);
  add_deciding_options(app, options, raw);
  add_proof_options(app, options, raw);
  add_device_options(app, options, raw);
  add_runtime_options(app, options, raw);
  app.add_option("--trace-dir", options.trace_dir, "Where traces go")
      ->option_text("DIR")
      ->group(k_results)
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Where scheduled packages go")
      ->option_text("DIR")
      ->group(k_results)
      ->capture_default_str();
  add_result_files(app, options);
  add_result_options(app, options, raw);
  add_baseline(app, options);
  add_gate_options(app, options, raw);
  app.set_config("--config", "stab.toml", "Read any of these options from a TOML file (if present)")
      ->option_text("FILE")
      ->group(k_results);
  app.set_help_flag("-h,--help", "This text")->group(k_results);
  app.add_flag("--version", version, "Version, commit and libssh version")->group(k_results);
  add_jobs(app, options, raw);
  app.footer(
      "Exit status: 0 done, 2 usage, 3 bad input, 4 device or SSH, 5 cannot write, 6 a proof or "
      "gate failed, 130 interrupted.");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    out << help_of(app);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, "cannot read the command line", "", error.what(), "stab --help");
  }
  if (version) {
    out << version_text();
    return std::nullopt;
  }
  finish(options, raw);
  if (options.kind != JobKind::schedule) check_job(options);
  check_files(options);
  check_schedule(options);
  return options;
}

}  // namespace stab
