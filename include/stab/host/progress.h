// SPDX-License-Identifier: Apache-2.0
// How far a long job is: one line that is redrawn on a terminal, one plain line a stage elsewhere.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace stab {

/// Told by the job; draws nothing itself where nobody looks.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `stage` names the work ("profile"), `done` of `total` steps or bytes are done (total 0: not
  /// known), `note` is the current finding. A change of stage ends the line of the one before.
  virtual void update(const std::string& stage, double done, double total,
                      const std::string& note) = 0;
  /// Clears what was drawn, before something else is printed.
  virtual void clear() = 0;
};

/// The line for one moment, at most `width` columns: stage, bar or percent, time left, note. A pure
/// function, so that it can be tested without a terminal.
std::string render_progress(const std::string& stage, double done, double total,
                            const std::string& note, std::chrono::seconds elapsed, int width);

/// "812 B", "4.2 MB": powers of 1000.
std::string render_bytes(double bytes);

/// Draws on standard error: redrawn when it is a terminal that understands it (TERM is not "dumb"),
/// else a line a stage.
std::unique_ptr<Progress> make_progress();

/// Says nothing.
std::unique_ptr<Progress> make_silent_progress();

/// Columns to write: what COLUMNS says, else those of the terminal behind a descriptor, else
/// `otherwise`.
int terminal_width(int descriptor, int otherwise);

/// Whether colours may be used on a descriptor: a terminal, NO_COLOR unset, TERM not "dumb";
/// CLICOLOR_FORCE and FORCE_COLOR win.
bool colours_wanted(int descriptor);

}  // namespace stab
