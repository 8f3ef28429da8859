// SPDX-License-Identifier: Apache-2.0
// Builds small ELF libraries and programs for any machine, so that tests need no cross compiler.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stab::test {

class ElfBuilder {
 public:
  /// "x86_64", "aarch64", "arm" or "arm-big-endian".
  explicit ElfBuilder(const std::string& machine);

  ElfBuilder& flags(std::uint32_t value);
  ElfBuilder& soname(const std::string& name);
  ElfBuilder& needs(const std::string& library);
  ElfBuilder& runpath(const std::string& paths);
  ElfBuilder& interpreter(const std::string& path);
  /// A version asked of a library; calls for one library stand together.
  ElfBuilder& version(const std::string& library, const std::string& version);
  /// An empty section of that name.
  ElfBuilder& section(const std::string& name);
  /// A NUL-terminated text in the file.
  ElfBuilder& literal(const std::string& text);

  /// The file: header, program headers (one LOAD over all, DYNAMIC, INTERP), tables, sections.
  std::string bytes() const;

 private:
  using Versions = std::vector<std::pair<std::string, std::vector<std::string>>>;

  std::string number(std::uint64_t value, int size) const;
  std::string word(std::uint64_t value) const { return number(value, is64_ ? 8 : 4); }

  bool is64_;
  bool little_ = true;
  int machine_ = 0;
  std::uint32_t flags_ = 0;
  std::string soname_;
  std::string runpath_;
  std::string interpreter_;
  std::vector<std::string> needed_;
  Versions versions_;
  std::vector<std::string> sections_;
  std::string literals_;
};

}  // namespace stab::test
