// SPDX-License-Identifier: Apache-2.0
// Seeds for elf_fuzz: one small library or program for each machine.
#include <filesystem>
#include <fstream>

#include "support/elf_builder.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const char* machine : {"x86_64", "aarch64", "arm", "arm-big-endian"}) {
    std::ofstream(std::filesystem::path(argv[1]) / machine, std::ios::binary)
        << stab::test::ElfBuilder(machine)
               .soname("libx.so")
               .needs("libc.so.6")
               .runpath("$ORIGIN:$ORIGIN/nnfw")
               .interpreter("/lib/ld-linux.so.3")
               .version("libc.so.6", "GLIBC_2.4")
               .version("libc.so.6", "GLIBC_2.17")
               .version("libm.so.6", "GLIBC_2.29")
               .section(".debug_info")
               .bytes();
  }
  return 0;
}
