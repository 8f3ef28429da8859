// SPDX-License-Identifier: Apache-2.0
#include "stab/core/elf.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "elf_reader.h"
#include "stab/core/error.h"

namespace stab {
namespace {

constexpr std::size_t k_max_list = 4096;

/// The dynamic section's entries that matter, with virtual addresses resolved to offsets.
class Dynamic {
 public:
  Dynamic(const ElfReader& reader, const std::vector<ElfSegment>& segments)
      : reader_(reader), segments_(segments) {
    for (const ElfSegment& segment : segments) {
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

  void read_entries(ElfRange range) {
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
    for (const ElfSegment& segment : segments_) {
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

  const ElfReader& reader_;
  const std::vector<ElfSegment>& segments_;
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
  ElfReader reader(bytes, name);
  if (!is_elf(bytes)) reader.refuse("it is no ELF file");
  ElfInfo info;
  info.machine = read_machine(reader, bytes);
  const std::vector<ElfSegment> segments = read_segments(reader);
  for (const ElfSegment& segment : segments) {
    if (segment.type != PT_INTERP) continue;
    info.interpreter = reader.text(segment.file.offset, segment.file.offset + segment.file.size);
    info.executable = true;
  }
  Dynamic(reader, segments).fill(info);
  const std::vector<ElfSection> sections = read_sections(reader);
  info.debug_info = has_section(reader, sections, ".debug_info");
  guess_float_abi(info);
  return info;
}

std::optional<Machine> parse_elf_header(std::string_view start) {
  if (!is_elf(start)) return std::nullopt;
  const bool is64 = start[EI_CLASS] == ELFCLASS64;
  if (start.size() < (is64 ? k_elf_layout64 : k_elf_layout32).header_size) return std::nullopt;
  ElfReader reader(start, "");
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
