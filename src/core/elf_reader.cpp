// SPDX-License-Identifier: Apache-2.0
#include "elf_reader.h"

#include <elf.h>

namespace stab {
namespace {

constexpr std::size_t k_max_headers = 4096;

std::string arch_name(std::uint64_t machine, bool is64) {
  switch (machine) {
    case EM_X86_64:
      return is64 ? "x86_64" : "x32";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_386:
      return "x86";
    case EM_RISCV:
      return is64 ? "riscv64" : "riscv32";
    case EM_MIPS:
      return "mips";
    case EM_PPC64:
      return "ppc64";
    default:
      return "machine " + std::to_string(machine);
  }
}

}  // namespace

bool is_elf(std::string_view bytes) {
  return bytes.size() >= EI_NIDENT && bytes.starts_with(ELFMAG) &&
         (bytes[EI_CLASS] == ELFCLASS32 || bytes[EI_CLASS] == ELFCLASS64) &&
         (bytes[EI_DATA] == ELFDATA2LSB || bytes[EI_DATA] == ELFDATA2MSB);
}

Machine read_machine(ElfReader& reader, std::string_view bytes) {
  Machine machine;
  const bool is64 = bytes[EI_CLASS] == ELFCLASS64;
  machine.bits = is64 ? 64 : 32;
  machine.little_endian = bytes[EI_DATA] == ELFDATA2LSB;
  reader.set_class(is64, machine.little_endian);
  constexpr std::uint64_t k_machine_offset = 18;
  machine.arch = arch_name(reader.number(k_machine_offset, 2), is64);
  if (machine.arch == "arm") {
    const std::uint64_t flags = reader.number(reader.layout().flags, 4);
    if ((flags & EF_ARM_ABI_FLOAT_HARD) != 0) machine.float_abi = "hard";
    if ((flags & EF_ARM_ABI_FLOAT_SOFT) != 0) machine.float_abi = "soft";
  }
  return machine;
}

std::vector<ElfSegment> read_segments(const ElfReader& reader) {
  const ElfLayout& at = reader.layout();
  const std::uint64_t table = reader.word(at.program_offset);
  const std::uint64_t entry_size = reader.number(at.program_entry, 2);
  const std::uint64_t count = reader.number(at.program_count, 2);
  if (count == 0) return {};
  if (count > k_max_headers || entry_size < at.segment_entry_size || table > reader.size()) {
    reader.refuse("its program headers make no sense");
  }
  std::vector<ElfSegment> segments;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = table + i * entry_size;
    ElfSegment segment;
    segment.type = static_cast<std::uint32_t>(reader.number(entry, 4));
    segment.file.offset = reader.word(entry + at.segment_offset);
    segment.address = reader.word(entry + at.segment_address);
    segment.file.size = reader.word(entry + at.segment_size);
    segments.push_back(segment);
  }
  return segments;
}

/// it.
std::vector<ElfSection> read_sections(const ElfReader& reader) {
  const ElfLayout& at = reader.layout();
  const std::uint64_t table = reader.word(at.section_offset);
  const std::uint64_t entry_size = reader.number(at.section_entry, 2);
  const std::uint64_t count = reader.number(at.section_count, 2);
  if (table == 0 || count > k_max_headers || entry_size < at.section_entry_size ||
      table > reader.size() || count * entry_size > reader.size() - table) {
    return {};
  }
  std::vector<ElfSection> sections;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = table + i * entry_size;
    ElfSection section;
    section.name = static_cast<std::uint32_t>(reader.number(entry, 4));
    section.type = static_cast<std::uint32_t>(reader.number(entry + 4, 4));
    section.file.offset = reader.word(entry + at.section_offset_field);
    section.file.size = reader.word(entry + at.section_size_field);
    sections.push_back(section);
  }
  return sections;
}

bool has_section(const ElfReader& reader, const std::vector<ElfSection>& sections,
                 std::string_view name) {
  const std::uint64_t names = reader.number(reader.layout().section_names, 2);
  if (names >= sections.size()) return false;
  const ElfRange table = sections[names].file;
  if (table.offset > reader.size() || table.size > reader.size() - table.offset) return false;
  const std::string_view texts = reader.view(table);
  return std::any_of(sections.begin(), sections.end(), [&](const ElfSection& section) {
    if (section.name >= texts.size()) return false;
    const std::string_view rest = texts.substr(section.name);
    return rest.substr(0, rest.find('\0')) == name;
  });
}

}  // namespace stab
