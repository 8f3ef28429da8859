// SPDX-License-Identifier: Apache-2.0
// Pieces of the HTML report that its sections share: cards, tables, lists of terms.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stab {

/// Sections are put in one after the other. All text given is plain and escaped here, except what
/// is called markup.
class HtmlPage {
 public:
  void open_card(const std::string& heading);
  void close_card();
  void paragraph(const std::string& text, const std::string& kind = {});
  void terms(const std::vector<std::pair<std::string, std::string>>& terms);
  /// `numbers`: from this column on cells are set as numbers.
  void table(const std::string& caption, const std::vector<std::string>& head,
             const std::vector<std::vector<std::string>>& rows, std::size_t numbers);
  /// What follows until close_details shows on demand.
  void open_details(const std::string& summary);
  void close_details();
  void markup(const std::string& markup) { body_ += markup; }

  /// The whole document.
  std::string finish(const std::string& title) const;

 private:
  std::string body_;
};

}  // namespace stab
