// SPDX-License-Identifier: Apache-2.0
#include "support/elf_builder.h"

#include <elf.h>

#include <stdexcept>

namespace stab::test {
namespace {

/// A table of texts that tells where each of them lies.
class Texts {
 public:
  std::uint64_t add(const std::string& text) {
    const std::uint64_t at = all_.size();
    all_ += text;
    all_ += '\0';
    return at;
  }
  const std::string& all() const { return all_; }

 private:
  std::string all_ = std::string(1, '\0');
};

}  // namespace

ElfBuilder::ElfBuilder(const std::string& machine) : is64_(!machine.starts_with("arm")) {
  if (machine == "x86_64") {
    machine_ = EM_X86_64;
  } else if (machine == "aarch64") {
    machine_ = EM_AARCH64;
  } else if (machine.starts_with("arm")) {
    machine_ = EM_ARM;
    little_ = machine == "arm";
  } else {
    throw std::invalid_argument("no such machine: " + machine);
  }
}

ElfBuilder& ElfBuilder::flags(std::uint32_t value) {
  flags_ = value;
  return *this;
}

ElfBuilder& ElfBuilder::soname(const std::string& name) {
  soname_ = name;
  return *this;
}

ElfBuilder& ElfBuilder::needs(const std::string& library) {
  needed_.push_back(library);
  return *this;
}

ElfBuilder& ElfBuilder::runpath(const std::string& paths) {
  runpath_ = paths;
  return *this;
}

ElfBuilder& ElfBuilder::interpreter(const std::string& path) {
  interpreter_ = path;
  return *this;
}

ElfBuilder& ElfBuilder::version(const std::string& library, const std::string& version) {
  if (versions_.empty() || versions_.back().first != library) versions_.push_back({library, {}});
  versions_.back().second.push_back(version);
  return *this;
}

ElfBuilder& ElfBuilder::section(const std::string& name) {
  sections_.push_back(name);
  return *this;
}

ElfBuilder& ElfBuilder::literal(const std::string& text) {
  literals_ += '\0' + text + '\0';
  return *this;
}

std::string ElfBuilder::number(std::uint64_t value, int size) const {
  std::string text;
  for (int i = 0; i < size; ++i) {
    const int shift = 8 * (little_ ? i : size - 1 - i);
    text += static_cast<char>(value >> shift & 0xffU);
  }
  return text;
}

std::string ElfBuilder::bytes() const {
  // Everything is loaded at an address that differs from its offset, as in real files.
  constexpr std::uint64_t k_base = 0x10000;
  const std::uint64_t header_size = is64_ ? 64 : 52;
  const std::uint64_t segment_size = is64_ ? 56 : 32;
  const std::uint64_t section_size = is64_ ? 64 : 40;
  const std::uint64_t segments = interpreter_.empty() ? 2 : 3;
  const std::uint64_t start = header_size + segments * segment_size;

  Texts texts;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dynamic;
  for (const std::string& library : needed_) dynamic.emplace_back(DT_NEEDED, texts.add(library));
  if (!soname_.empty()) dynamic.emplace_back(DT_SONAME, texts.add(soname_));
  if (!runpath_.empty()) dynamic.emplace_back(DT_RUNPATH, texts.add(runpath_));
  std::string needs;
  for (std::size_t i = 0; i < versions_.size(); ++i) {
    const auto& [library, names] = versions_[i];
    const std::uint64_t next = i + 1 < versions_.size() ? 16 + 16 * names.size() : 0;
    needs += number(1, 2) + number(names.size(), 2) + number(texts.add(library), 4) +
             number(16, 4) + number(next, 4);
    for (std::size_t j = 0; j < names.size(); ++j) {
      needs += number(0, 4) + number(0, 2) + number(2 + j, 2) + number(texts.add(names[j]), 4) +
               number(j + 1 < names.size() ? 16 : 0, 4);
    }
  }
  const std::uint64_t needs_at = start;
  const std::uint64_t texts_at = needs_at + needs.size();
  const std::uint64_t interpreter_at = texts_at + texts.all().size();
  const std::uint64_t literals_at = interpreter_at + interpreter_.size() + 1;
  const std::uint64_t dynamic_at = literals_at + literals_.size();
  dynamic.emplace_back(DT_STRTAB, k_base + texts_at);
  dynamic.emplace_back(DT_STRSZ, texts.all().size());
  if (!needs.empty()) {
    dynamic.emplace_back(DT_VERNEED, k_base + needs_at);
    dynamic.emplace_back(DT_VERNEEDNUM, versions_.size());
  }
  dynamic.emplace_back(DT_NULL, 0);
  std::string dynamic_table;
  for (const auto& [tag, value] : dynamic) dynamic_table += word(tag) + word(value);

  Texts section_names;
  std::string section_table(section_size, '\0');
  const auto add_section = [&](const std::string& name, std::uint64_t type, std::uint64_t at,
                               std::uint64_t size) {
    section_table += number(section_names.add(name), 4) + number(type, 4) + word(0) + word(0) +
                     word(at) + word(size) + number(0, 8) + word(0) + word(0);
  };
  for (const std::string& name : sections_) add_section(name, SHT_PROGBITS, dynamic_at, 0);
  const std::uint64_t names_at = dynamic_at + dynamic_table.size();
  const std::string names_name = ".shstrtab";
  add_section(names_name, SHT_STRTAB, names_at, section_names.all().size() + names_name.size() + 1);
  const std::uint64_t sections_at = names_at + section_names.all().size();
  const std::uint64_t end = sections_at + section_table.size();

  const auto segment = [&](std::uint64_t type, std::uint64_t at, std::uint64_t size) {
    const std::string place =
        word(at) + word(k_base + at) + word(k_base + at) + word(size) + word(size);
    return is64_ ? number(type, 4) + number(PF_R, 4) + place + word(8)
                 : number(type, 4) + place + number(PF_R, 4) + word(8);
  };
  std::string file = std::string(ELFMAG) + static_cast<char>(is64_ ? ELFCLASS64 : ELFCLASS32) +
                     static_cast<char>(little_ ? ELFDATA2LSB : ELFDATA2MSB) +
                     static_cast<char>(EV_CURRENT) + std::string(9, '\0');
  file += number(ET_DYN, 2) + number(static_cast<std::uint64_t>(machine_), 2) +
          number(EV_CURRENT, 4) + word(0) + word(header_size) + word(sections_at) +
          number(flags_, 4) + number(header_size, 2) + number(segment_size, 2) +
          number(segments, 2) + number(section_size, 2) + number(sections_.size() + 2, 2) +
          number(sections_.size() + 1, 2);
  file += segment(PT_LOAD, 0, end) + segment(PT_DYNAMIC, dynamic_at, dynamic_table.size());
  if (!interpreter_.empty()) file += segment(PT_INTERP, interpreter_at, interpreter_.size() + 1);
  file += needs + texts.all() + interpreter_ + '\0' + literals_ + dynamic_table +
          section_names.all() + section_table;
  return file;
}

}  // namespace stab::test
