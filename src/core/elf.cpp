// SPDX-License-Identifier: Apache-2.0
#include "stab/core/elf.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "stab/core/error.h"

namespace stab {
namespace {

constexpr std::size_t k_max_headers = 4096;
constexpr std::size_t k_max_list = 4096;

/// Where the fields of one ELF class lie; offsets and sizes in bytes.
struct Layout {
  std::size_t word;  // of addresses, offsets and dynamic entries
  std::size_t header_size, flags, program_offset, section_offset;
  std::size_t program_entry, program_count, section_entry, section_count, section_names;
  std::size_t segment_offset, segment_address, segment_size, segment_entry_size;
  std::size_t section_offset_field, section_size_field, section_entry_size;
};

constexpr Layout k_layout32 = {4, 52, 36, 28, 32, 42, 44, 46, 48, 50, 4, 8, 16, 32, 16, 20, 40};
constexpr Layout k_layout64 = {8, 64, 48, 32, 40, 54, 56, 58, 60, 62, 8, 16, 32, 56, 24, 32, 64};

struct Range {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Segment {
  std::uint32_t type = 0;
  std::uint64_t address = 0;
  Range file;
};

struct Section {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  Range file;
};

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, "cannot read library", std::string(name_), why);
  }

  void set_class(bool is64, bool little) {
    layout_ = is64 ? &k_layout64 : &k_layout32;
    little_ = little;
  }
  const Layout& layout() const { return *layout_; }
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
  std::string_view view(Range range) const {
    if (range.offset > size() || range.size > size() - range.offset)
      refuse("a section lies outside it");
    return bytes_.substr(range.offset, range.size);
  }

 private:
  std::string_view bytes_;
  std::string_view name_;
  const Layout* layout_ = &k_layout64;
  bool little_ = true;
};

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

bool is_elf(std::string_view bytes) {
  return bytes.size() >= EI_NIDENT && bytes.starts_with(ELFMAG) &&
         (bytes[EI_CLASS] == ELFCLASS32 || bytes[EI_CLASS] == ELFCLASS64) &&
         (bytes[EI_DATA] == ELFDATA2LSB || bytes[EI_DATA] == ELFDATA2MSB);
}

/// Reads the header and tells `reader` class and byte order.
Machine read_machine(Reader& reader, std::string_view bytes) {
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

std::vector<Segment> read_segments(const Reader& reader) {
  const Layout& at = reader.layout();
  const std::uint64_t table = reader.word(at.program_offset);
  const std::uint64_t entry_size = reader.number(at.program_entry, 2);
  const std::uint64_t count = reader.number(at.program_count, 2);
  if (count == 0) return {};
  if (count > k_max_headers || entry_size < at.segment_entry_size || table > reader.size()) {
    reader.refuse("its program headers make no sense");
  }
  std::vector<Segment> segments;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = table + i * entry_size;
    Segment segment;
    segment.type = static_cast<std::uint32_t>(reader.number(entry, 4));
    segment.file.offset = reader.word(entry + at.segment_offset);
    segment.address = reader.word(entry + at.segment_address);
    segment.file.size = reader.word(entry + at.segment_size);
    segments.push_back(segment);
  }
  return segments;
}

/// The section table; empty when there is none or it is cut off, as `strip` and signing tools leave
/// it.
std::vector<Section> read_sections(const Reader& reader) {
  const Layout& at = reader.layout();
  const std::uint64_t table = reader.word(at.section_offset);
  const std::uint64_t entry_size = reader.number(at.section_entry, 2);
  const std::uint64_t count = reader.number(at.section_count, 2);
  if (table == 0 || count > k_max_headers || entry_size < at.section_entry_size ||
      table > reader.size() || count * entry_size > reader.size() - table) {
    return {};
  }
  std::vector<Section> sections;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = table + i * entry_size;
    Section section;
    section.name = static_cast<std::uint32_t>(reader.number(entry, 4));
    section.type = static_cast<std::uint32_t>(reader.number(entry + 4, 4));
    section.file.offset = reader.word(entry + at.section_offset_field);
    section.file.size = reader.word(entry + at.section_size_field);
    sections.push_back(section);
  }
  return sections;
}

bool has_section(const Reader& reader, const std::vector<Section>& sections,
                 std::string_view name) {
  const std::uint64_t names = reader.number(reader.layout().section_names, 2);
  if (names >= sections.size()) return false;
  const Range table = sections[names].file;
  if (table.offset > reader.size() || table.size > reader.size() - table.offset) return false;
  const std::string_view texts = reader.view(table);
  return std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
    if (section.name >= texts.size()) return false;
    const std::string_view rest = texts.substr(section.name);
    return rest.substr(0, rest.find('\0')) == name;
  });
}

/// The dynamic section's entries that matter, with virtual addresses resolved to offsets.
class Dynamic {
 public:
  Dynamic(const Reader& reader, const std::vector<Segment>& segments)
      : reader_(reader), segments_(segments) {
    for (const Segment& segment : segments) {
      if (segment.type == PT_DYNAMIC) read_entries(segment.file);
    }
  }

  void fill(ElfInfo& info) const {
    if (strings_ == 0) return;
    const std::uint64_t strings = offset_of(strings_);
    const std::uint64_t end = strings + std::min(strings_size_, reader_.size());
    const auto text = [&](std::uint64_t at) { return reader_.text(strings + at, end); };
    for (const std::uint64_t at : needed_) info.needed.push_back(text(at));
    if (soname_ != k_absent) info.soname = text(soname_);
    const std::uint64_t path = runpath_ != k_absent ? runpath_ : rpath_;
    if (path != k_absent) info.search_paths = split(text(path));
    if (versions_ != 0) read_versions(info, strings, end);
  }

 private:
  static constexpr std::uint64_t k_absent = ~std::uint64_t{0};

  static std::vector<std::string> split(std::string_view paths) {
    std::vector<std::string> parts;
    while (!paths.empty()) {
      const std::string_view part = paths.substr(0, paths.find(':'));
      paths.remove_prefix(std::min(paths.size(), part.size() + 1));
      if (!part.empty()) parts.emplace_back(part);
    }
    return parts;
  }

  void read_entries(Range range) {
    const std::size_t word = reader_.layout().word;
    const std::uint64_t count = std::min<std::uint64_t>(range.size / (2 * word), k_max_list);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t entry = range.offset + i * 2 * word;
      const std::uint64_t tag = reader_.word(entry);
      const std::uint64_t value = reader_.word(entry + word);
      switch (tag) {
        case DT_NULL:
          return;
        case DT_NEEDED:
          needed_.push_back(value);
          break;
        case DT_SONAME:
          soname_ = value;
          break;
        case DT_RPATH:
          rpath_ = value;
          break;
        case DT_RUNPATH:
          runpath_ = value;
          break;
        case DT_STRTAB:
          strings_ = value;
          break;
        case DT_STRSZ:
          strings_size_ = value;
          break;
        case DT_VERNEED:
          versions_ = value;
          break;
        case DT_VERNEEDNUM:
          version_count_ = value;
          break;
        default:
          break;
      }
    }
  }

  std::uint64_t offset_of(std::uint64_t address) const {
    for (const Segment& segment : segments_) {
      if (segment.type == PT_LOAD && address >= segment.address &&
          address - segment.address < segment.file.size) {
        return segment.file.offset + (address - segment.address);
      }
    }
    reader_.refuse("a table of its dynamic section is not in the file");
  }

  /// Verneed and Vernaux are the same in both classes: chains of entries, each with the distance to
  /// the next.
  void read_versions(ElfInfo& info, std::uint64_t strings, std::uint64_t end) const {
    std::uint64_t need = offset_of(versions_);
    std::uint64_t budget = k_max_list;
    for (std::uint64_t i = 0; i < version_count_ && budget > 0; ++i, --budget) {
      const std::uint64_t count = reader_.number(need + 2, 2);
      const std::string library = reader_.text(strings + reader_.number(need + 4, 4), end);
      std::uint64_t item = need + reader_.number(need + 8, 4);
      for (std::uint64_t j = 0; j < count && budget > 1; ++j, --budget) {
        info.versions.push_back(
            {library, reader_.text(strings + reader_.number(item + 8, 4), end)});
        const std::uint64_t next = reader_.number(item + 12, 4);
        if (next == 0) break;
        item += next;
      }
      const std::uint64_t next = reader_.number(need + 12, 4);
      if (next == 0) return;
      need += next;
    }
  }

  const Reader& reader_;
  const std::vector<Segment>& segments_;
  std::vector<std::uint64_t> needed_;
  std::uint64_t soname_ = k_absent;
  std::uint64_t rpath_ = k_absent;
  std::uint64_t runpath_ = k_absent;
  std::uint64_t strings_ = 0;
  std::uint64_t strings_size_ = 0;
  std::uint64_t versions_ = 0;
  std::uint64_t version_count_ = 0;
};

/// The float ABI by the loader that a 32-bit ARM file asks for.
void guess_float_abi(ElfInfo& info) {
  if (info.machine.arch != "arm" || info.machine.float_abi) return;
  const auto mentions = [&info](std::string_view loader) {
    return info.interpreter.find(loader) != std::string::npos ||
           std::find(info.needed.begin(), info.needed.end(), loader) != info.needed.end();
  };
  if (mentions("ld-linux-armhf.so.3") || mentions("ld-musl-armhf.so.1")) {
    info.machine.float_abi = "hard";
  } else if (mentions("ld-linux.so.3") || mentions("ld-musl-arm.so.1")) {
    info.machine.float_abi = "soft";
  }
}

}  // namespace

ElfInfo parse_elf(std::string_view bytes, std::string_view name) {
  Reader reader(bytes, name);
  if (!is_elf(bytes)) reader.refuse("it is no ELF file");
  ElfInfo info;
  info.machine = read_machine(reader, bytes);
  const std::vector<Segment> segments = read_segments(reader);
  for (const Segment& segment : segments) {
    if (segment.type != PT_INTERP) continue;
    info.interpreter = reader.text(segment.file.offset, segment.file.offset + segment.file.size);
    info.executable = true;
  }
  Dynamic(reader, segments).fill(info);
  const std::vector<Section> sections = read_sections(reader);
  info.debug_info = has_section(reader, sections, ".debug_info");
  guess_float_abi(info);
  return info;
}

std::optional<Machine> parse_elf_header(std::string_view start) {
  if (!is_elf(start)) return std::nullopt;
  const bool is64 = start[EI_CLASS] == ELFCLASS64;
  if (start.size() < (is64 ? k_layout64 : k_layout32).header_size) return std::nullopt;
  Reader reader(start, "");
  return read_machine(reader, start);
}

std::optional<std::string> highest_version(const ElfInfo& info, std::string_view prefix) {
  std::optional<std::string> highest;
  for (const VersionNeed& need : info.versions) {
    if (!need.version.starts_with(prefix)) continue;
    const std::string version = need.version.substr(prefix.size());
    if (version.empty() || version.front() < '0' || version.front() > '9') continue;
    if (!highest || compare_versions(version, *highest) > 0) highest = version;
  }
  return highest;
}

int compare_versions(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return error == std::errc() ? value : 0U;
  };
  while (!a.empty() || !b.empty()) {
    const std::uint32_t left = next(a);
    const std::uint32_t right = next(b);
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

std::vector<std::string> literals_in(std::string_view bytes,
                                     const std::vector<std::string>& candidates) {
  const auto word = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::vector<std::string> found;
  for (const std::string& candidate : candidates) {
    std::string wanted = candidate;
    wanted += '\0';
    std::size_t at = bytes.find(wanted);
    while (at != std::string_view::npos && at > 0 && word(bytes[at - 1]))
      at = bytes.find(wanted, at + 1);
    if (at != std::string_view::npos) found.push_back(candidate);
  }
  return found;
}

}  // namespace stab
