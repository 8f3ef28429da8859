// SPDX-License-Identifier: Apache-2.0
// Texts in columns: padding, tables and wrapped sentences of the report for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stab {

/// A number with so many digits behind the point, whatever the locale.
std::string fixed_digits(double value, int decimals);

/// A number with so many significant digits, in whichever form is shorter, whatever the locale:
/// "2e-06", "0.013".
std::string significant_digits(double value, int digits);

/// Columns that a UTF-8 text takes; all our characters are one column wide.
std::size_t text_columns(std::string_view text);

/// Fills up with blanks behind or in front; a longer text stays as it is.
std::string pad_right(std::string text, std::size_t width);
std::string pad_left(const std::string& text, std::size_t width);

/// At most `width` columns; what is cut off shows as "…".
std::string shorten(const std::string& text, std::size_t width);

/// "1 round", "3 rounds".
std::string count_of(std::size_t count, const std::string& noun);

}  // namespace stab
