// SPDX-License-Identifier: Apache-2.0
// Checked access to the tables of an ELF file of either class and byte order, for elf.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/error.h"
#include "stab/core/machine.h"

namespace stab {

/// Where the fields of one ELF class lie; offsets and sizes in bytes.
struct ElfLayout {
  std::size_t word;  // of addresses, offsets and dynamic entries
  std::size_t header_size, flags, program_offset, section_offset;
  std::size_t program_entry, program_count, section_entry, section_count, section_names;
  std::size_t segment_offset, segment_address, segment_size, segment_entry_size;
  std::size_t section_offset_field, section_size_field, section_entry_size;
};

inline constexpr ElfLayout k_elf_layout32 = {4,  52, 36, 28, 32, 42, 44, 46, 48,
                                             50, 4,  8,  16, 32, 16, 20, 40};
inline constexpr ElfLayout k_elf_layout64 = {8,  64, 48, 32, 40, 54, 56, 58, 60,
                                             62, 8,  16, 32, 56, 24, 32, 64};

/// A part of the file.
struct ElfRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// A program header.
struct ElfSegment {
  std::uint32_t type = 0;
  std::uint64_t address = 0;
  ElfRange file;
};

/// A section header.
struct ElfSection {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  ElfRange file;
};

/// The bytes of a file, read as numbers and texts; throws Error(input) for everything that lies
/// outside them.
class ElfReader {
 public:
  ElfReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, "cannot read library", std::string(name_), why);
  }

  void set_class(bool is64, bool little) {
    layout_ = is64 ? &k_elf_layout64 : &k_elf_layout32;
    little_ = little;
  }
  const ElfLayout& layout() const { return *layout_; }
  std::uint64_t size() const { return bytes_.size(); }

  std::uint64_t number(std::uint64_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      refuse("it ends before byte " + std::to_string(offset + size));
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = little_ ? size - 1 - i : i;
      value = value << 8U | static_cast<unsigned char>(bytes_[offset + at]);
    }
    return value;
  }
  std::uint64_t word(std::uint64_t offset) const { return number(offset, layout_->word); }

  /// Text up to its NUL, at most a kilobyte.
  std::string text(std::uint64_t offset, std::uint64_t end) const {
    constexpr std::uint64_t k_longest = 1024;
    end = std::min({end, size(), offset + k_longest});
    if (offset >= end) refuse("a name lies outside it");
    const std::string_view field = bytes_.substr(offset, end - offset);
    const std::size_t length = field.find('\0');
    if (length == std::string_view::npos) refuse("a name has no end");
    return std::string(field.substr(0, length));
  }

  /// The part of `range` that lies in the file.
  std::string_view view(ElfRange range) const {
    if (range.offset > size() || range.size > size() - range.offset)
      refuse("a section lies outside it");
    return bytes_.substr(range.offset, range.size);
  }

 private:
  std::string_view bytes_;
  std::string_view name_;
  const ElfLayout* layout_ = &k_elf_layout64;
  bool little_ = true;
};

/// True when `bytes` start as an ELF file of a class and byte order that exist.
bool is_elf(std::string_view bytes);

/// Reads the header of an ELF file and tells `reader` its class and byte order.
Machine read_machine(ElfReader& reader, std::string_view bytes);

/// The program headers.
std::vector<ElfSegment> read_segments(const ElfReader& reader);

/// The section table; empty when there is none or it is cut off, as `strip` and signing tools leave
/// it.
std::vector<ElfSection> read_sections(const ElfReader& reader);

/// True when one of `sections` has this name.
bool has_section(const ElfReader& reader, const std::vector<ElfSection>& sections,
                 std::string_view name);

}  // namespace stab
