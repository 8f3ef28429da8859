// SPDX-License-Identifier: Apache-2.0
#include "support/zip_builder.h"

#include <sys/stat.h>

#include <cstdint>

namespace stab::test {
namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xffU);
  return text;
}

std::uint32_t crc32(const std::string& content) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : content) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

}  // namespace

ZipBuilder& ZipBuilder::file(const std::string& path, const std::string& content, unsigned mode) {
  add(path, content, S_IFREG | mode);
  return *this;
}

ZipBuilder& ZipBuilder::link(const std::string& path, const std::string& target) {
  add(path, target, S_IFLNK | 0777U);
  return *this;
}

void ZipBuilder::add(const std::string& path, const std::string& content, unsigned mode) {
  const std::uint64_t offset = entries_.size();
  // Version, flags (names are UTF-8), stored, time, date, CRC, both sizes, lengths of name and
  // extra field.
  const std::string common =
      little_endian(20, 2) + little_endian(0x0800, 2) + little_endian(0, 2) + little_endian(0, 2) +
      little_endian(0x21, 2) + little_endian(crc32(content), 4) + little_endian(content.size(), 4) +
      little_endian(content.size(), 4) + little_endian(path.size(), 2) + little_endian(0, 2);
  entries_ += "PK\x03\x04" + common + path + content;
  directory_ += "PK\x01\x02" + little_endian(0x0314, 2) + common + little_endian(0, 2) +
                little_endian(0, 2) + little_endian(0, 2) +
                little_endian(std::uint64_t{mode} << 16U, 4) + little_endian(offset, 4) + path;
  ++count_;
}

std::string ZipBuilder::bytes() const {
  return entries_ + directory_ + "PK\x05\x06" + little_endian(0, 4) + little_endian(count_, 2) +
         little_endian(count_, 2) + little_endian(directory_.size(), 4) +
         little_endian(entries_.size(), 4) + little_endian(0, 2);
}

}  // namespace stab::test
