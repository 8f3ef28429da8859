// SPDX-License-Identifier: Apache-2.0
#include "core/html_page.h"

#include "core/html_style.h"
#include "core/markup.h"

namespace stab {

void HtmlPage::open_card(const std::string& heading) {
  body_ += "<section class=\"card\">\n<h2>" + escape_markup(heading) + "</h2>\n";
}

void HtmlPage::close_card() {
  body_ += "</section>\n";
}

void HtmlPage::paragraph(const std::string& text, const std::string& kind) {
  body_ += (kind.empty() ? "<p>" : "<p class=\"" + kind + "\">") + escape_markup(text) + "</p>\n";
}

void HtmlPage::terms(const std::vector<std::pair<std::string, std::string>>& terms) {
  body_ += "<dl>\n";
  for (const auto& [term, text] : terms)
    body_ += "<dt>" + escape_markup(term) + "</dt><dd>" + escape_markup(text) + "</dd>\n";
  body_ += "</dl>\n";
}

void HtmlPage::table(const std::string& caption, const std::vector<std::string>& head,
                     const std::vector<std::vector<std::string>>& rows, std::size_t numbers) {
  const auto cells = [&](const std::vector<std::string>& row, const std::string& open,
                         const std::string& element) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      body_ += "<" + open + (i >= numbers ? " class=\"number\">" : ">") + escape_markup(row[i]) +
               "</" + element + ">";
    }
  };
  body_ += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
           escape_markup(caption) + "\"><table>\n<thead><tr>";
  cells(head, "th scope=\"col\"", "th");
  body_ += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    body_ += "<tr>";
    cells(row, "td", "td");
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void HtmlPage::open_details(const std::string& summary) {
  body_ += "<details><summary>" + escape_markup(summary) + "</summary>\n";
}

void HtmlPage::close_details() {
  body_ += "</details>\n";
}

std::string HtmlPage::finish(const std::string& title) const {
  return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
         "<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\"/>\n<title>" +
         escape_markup(title) + "</title>\n<style>" + std::string(k_html_style) +
         "</style>\n</head>\n<body>\n<main>\n" + body_ + "</main>\n</body>\n</html>\n";
}

}  // namespace stab
