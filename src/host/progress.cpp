// SPDX-License-Identifier: Apache-2.0
#include "stab/host/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace stab {
namespace {

using Clock = std::chrono::steady_clock;

bool set_and_not_zero(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

/// What COLUMNS asks for; 0 when it does not hold a width that makes sense.
int columns_wanted() {
  const char* value = std::getenv("COLUMNS");
  if (value == nullptr) return 0;
  const std::string_view text(value);
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool sensible = error == std::errc() && end == text.data() + text.size();
  return sensible && columns >= 20 && columns <= 1000 ? columns : 0;
}

bool smart_terminal(int descriptor) {
  const char* term = std::getenv("TERM");
  return isatty(descriptor) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

std::string duration_text(std::chrono::seconds time) {
  const long seconds = time.count();
  if (seconds < 60) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
}

/// Cuts at a character border of UTF-8.
std::string shorten(std::string text, std::size_t columns) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xc0) != 0x80 && ++used > columns) {
      text.resize(i);
      return text;
    }
  }
  return text;
}

class TerminalProgress : public Progress {
 public:
  ~TerminalProgress() override { clear(); }

  void update(const std::string& stage, double done, double total,
              const std::string& note) override {
    if (stage != stage_) {
      stage_ = stage;
      start_ = Clock::now();
    }
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
    const std::string line =
        render_progress(stage, done, total, note, elapsed, terminal_width(STDERR_FILENO, 80) - 1);
    if (line == drawn_) return;
    drawn_ = line;
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  }

  void clear() override {
    if (drawn_.empty()) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    drawn_.clear();
  }

 private:
  std::string stage_;
  std::string drawn_;
  Clock::time_point start_ = Clock::now();
};

class PlainProgress : public Progress {
 public:
  void update(const std::string& stage, double, double, const std::string& note) override {
    if (stage == stage_) return;
    stage_ = stage;
    std::fprintf(stderr, "stab: %s%s%s\n", stage.c_str(), note.empty() ? "" : ": ", note.c_str());
  }
  void clear() override {}

 private:
  std::string stage_;
};

class SilentProgress : public Progress {
 public:
  void update(const std::string&, double, double, const std::string&) override {}
  void clear() override {}
};

}  // namespace

std::string render_progress(const std::string& stage, double done, double total,
                            const std::string& note, std::chrono::seconds elapsed, int width) {
  std::string text = stage;
  if (total > 0) {
    const double part = std::clamp(done / total, 0.0, 1.0);
    text += "  " + std::to_string(static_cast<int>(part * 100)) + " %";
    if (part > 0.02 && part < 1 && elapsed.count() >= 1) {
      const auto left = std::chrono::seconds(
          static_cast<long>(static_cast<double>(elapsed.count()) * (1 - part) / part));
      text += ", " + duration_text(left) + " left";
    }
  }
  if (!note.empty()) text += "  " + note;
  return shorten(text, static_cast<std::size_t>(std::max(width, 10)));
}

std::string render_bytes(double bytes) {
  static constexpr const char* k_units[] = {" B", " KB", " MB", " GB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(k_units)) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || bytes >= 99.95 ? "%.0f" : "%.1f", bytes);
  return std::string(text) + k_units[unit];
}

std::unique_ptr<Progress> make_progress() {
  if (smart_terminal(STDERR_FILENO)) return std::make_unique<TerminalProgress>();
  return std::make_unique<PlainProgress>();
}

std::unique_ptr<Progress> make_silent_progress() {
  return std::make_unique<SilentProgress>();
}

int terminal_width(int descriptor, int otherwise) {
  if (const int columns = columns_wanted(); columns > 0) return columns;
  struct winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return otherwise;
}

bool colours_wanted(int descriptor) {
  if (set_and_not_zero("CLICOLOR_FORCE") || set_and_not_zero("FORCE_COLOR")) return true;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return smart_terminal(descriptor);
}

}  // namespace stab
