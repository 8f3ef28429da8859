// SPDX-License-Identifier: Apache-2.0
// Writes a job for --no-profile: a package around a model of 1,000 operations, and the traces of
// three backends in the forms that the runtime writes.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>

#include "stab/core/profile.h"
#include "stab/core/sha256.h"
#include "support/model_builder.h"

namespace {

namespace fs = std::filesystem;

constexpr int k_operations = 1000;
constexpr int k_rounds = 10;
constexpr int k_warmup = 5;
constexpr int k_runs = 5;

/// A residual network: every second operation is a convolution, the others add what came before.
std::string model_text() {
  std::string text = "input t0 f32[1,8,8,8]\nconst w f32[8,1,1,8]\nconst b f32[8]\n";
  for (int op = 0; op < k_operations; ++op) {
    const std::string in = "t" + std::to_string(op);
    const std::string out = "t" + std::to_string(op + 1);
    const std::string before = "t" + std::to_string(op < 2 ? 0 : op - 1);
    text += out + (op % 2 == 0 ? " f32[1,8,8,8] = CONV_2D(" + in + ", w, b)\n"
                               : " = ADD(" + in + ", " + before + ")\n");
  }
  return text + "output t" + std::to_string(k_operations) + "\n";
}

std::string name_of(int op) {
  return op % 2 == 0 ? "Conv2D" : "Add";
}

/// Times of one process: per execution and operation, in microseconds.
class Run {
 public:
  Run(std::string backend, std::mt19937& random) : backend_(std::move(backend)) {
    std::uniform_int_distribution<int> spread(-20, 20);
    for (int execution = 0; execution < k_warmup + k_runs; ++execution) {
      std::vector<int> times;
      for (int op = 0; op < k_operations; ++op)
        times.push_back(200 + (op * 7919 + static_cast<int>(backend_.size()) * 104729) % 300 +
                        spread(random) + (execution == 0 ? 500 : 0));
      times_.push_back(std::move(times));
    }
  }

  std::string chrome() const {
    std::string text = "{\n  \"traceEvents\": [\n";
    long now = 1'000'000;
    for (const std::vector<int>& times : times_) {
      event(text, "#0 model $0 subg", "$0 sess, #0 model $0 subg", 'B', now, "");
      for (int op = 0; op < k_operations; ++op) {
        const std::string name = "@" + std::to_string(op) + " " + name_of(op);
        const std::string thread = "$0 sess, #0 model $0 subg, " + backend_of(op);
        event(text, name, thread, 'B', now, "\"input_shape_0\" : \"shape(1 8 8 8)\", ");
        now += times[static_cast<std::size_t>(op)];
        event(text, name, thread, 'E', now, "");
        now += 1;
      }
      event(text, "#0 model $0 subg", "$0 sess, #0 model $0 subg", 'E', now, "");
      now += 20;
    }
    return text + "    { }\n  ]\n}\n";
  }

  std::string averaged() const {
    std::string text = "{\n\t\"Execution_Data\" : \n\t{\n\t\t\"memory\" : {}";
    for (const std::string& backend : {std::string("cpu"), backend_}) {
      if (text.find("\"" + backend + "\" :") != std::string::npos) continue;
      text += ",\n\t\t\"" + backend + "\" : \n\t\t{";
      bool first = true;
      for (int op = 0; op < k_operations; ++op) {
        if (backend_of(op) != backend) continue;
        text += std::string(first ? "" : ",") + "\n\t\t\t\"$0 subgraph $" + std::to_string(op) +
                " " + name_of(op) + "\" : \n\t\t\t" + entry(op, backend);
        first = false;
      }
      text += "\n\t\t}";
    }
    return text + ",\n\t\t\"runtime\" : \n\t\t{\n\t\t\t\"Graph\" : \n\t\t\t" +
           entry(-1, "runtime") + "\n\t\t}\n\t},\n\t\"version\" : \"2\"\n}\n";
  }

 private:
  std::string backend_of(int op) const { return op % 2 == 0 ? backend_ : "cpu"; }

  static void event(std::string& text, const std::string& name, const std::string& thread,
                    char phase, long at, const std::string& more) {
    text += "    { \"name\" : \"" + name + "\", \"pid\" : \"0\", \"tid\" : \"" + thread +
            "\", \"ph\" : \"" + phase + "\", \"ts\" : \"" + std::to_string(at) +
            "\", \"args\" : { " + more +
            "\"session\" : \"0\", \"model\" : \"0\", \"subgraph\" : \"0\"} },\n";
  }

  /// Operation -1 is the whole graph.
  std::string entry(int op, const std::string& backend) const {
    long sum = 0;
    long least = 0;
    long most = 0;
    for (const std::vector<int>& times : times_) {
      long time = 0;
      if (op >= 0) {
        time = times[static_cast<std::size_t>(op)];
      } else {
        for (const int one : times) time += one + 1;
      }
      least = sum == 0 ? time : std::min(least, time);
      most = std::max(most, time);
      sum += time;
    }
    return "{\n\t\t\t\t\"Avg_Time\" : " + std::to_string(sum / static_cast<long>(times_.size())) +
           ",\n\t\t\t\t\"Max_Time\" : " + std::to_string(most) +
           ",\n\t\t\t\t\"Min_Time\" : " + std::to_string(least) + ",\n\t\t\t\t\"Runtime\" : \"" +
           backend + "\"\n\t\t\t}";
  }

  std::string backend_;
  std::vector<std::vector<int>> times_;
};

stab::RunFile write(const fs::path& folder, const std::string& name, const std::string& text) {
  fs::create_directories(folder);
  std::ofstream stream(folder / name, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + (folder / name).string());
  return {name, static_cast<std::int64_t>(text.size()), stab::sha256_hex(text)};
}

void write_job(const fs::path& folder) {
  const std::string model = stab::test::build_model(model_text());
  write(folder / "net", "net.tflite", model);
  write(folder / "net" / "metadata", "MANIFEST",
        "{\"major-version\": \"1\", \"minor-version\": \"2\", \"patch-version\": \"0\", "
        "\"configs\": [], \"models\": [\"net.tflite\"], \"model-types\": [\"tflite\"]}\n");
  stab::Profile profile;
  profile.complete = true;
  profile.measured_at = "2026-01-01T00:00:00Z";
  profile.context.package.name = "net";
  profile.context.model = {
      "net.tflite", stab::sha256_hex(model), stab::ModelFormat::tflite, {k_operations}};
  profile.context.settings.rounds = k_rounds;
  profile.context.settings.runs = k_rounds * k_runs;
  std::mt19937 random(1);
  const std::vector<std::string> backends = {"cpu", "ruy", "xnnpack"};
  const fs::path traces = folder / "traces" / "net";
  for (int round = 0; round < k_rounds; ++round) {
    for (std::size_t order = 0; order < backends.size(); ++order) {
      const Run times(backends[order], random);
      stab::ProfileRun run;
      run.id = "r" + std::to_string(profile.runs.size());
      run.label = backends[order];
      run.round = round;
      run.order = static_cast<int>(order);
      run.warmup = k_warmup;
      run.runs = k_runs;
      run.placement.emplace();
      for (int op = 0; op < k_operations && run.label != stab::k_cpu; op += 2)
        (*run.placement)[{0, op}] = run.label;
      const std::string name = run.label + "_1." + std::to_string(round);
      run.averaged = write(traces, name + ".json", times.averaged());
      run.chrome = write(traces, name + ".chrome.json", times.chrome());
      profile.runs.push_back(std::move(run));
    }
  }
  write(traces, "profile.json", stab::render_profile(profile));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: no_profile_job FOLDER\n";
    return 2;
  }
  try {
    write_job(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "no_profile_job: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
