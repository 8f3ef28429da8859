// SPDX-License-Identifier: Apache-2.0
// known_hosts files of any bytes: no line may hide one that is appended, and the answer names lines
// that exist.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ssh/known_hosts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Verdict = stab::KnownHostsAnswer::Verdict;
  static const stab::HostKey key =
      stab::parse_host_key("AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f");
  const std::string text(reinterpret_cast<const char*>(data), size);
  const stab::HostName name{"board", 2222, ""};
  const stab::KnownHostsAnswer answer = stab::look_up_host_key({{"f", text}}, name, key);
  if (answer.line > std::count(text.begin(), text.end(), '\n') + 1) std::abort();
  stab::known_key_types({{"f", text}}, name);
  const stab::KnownHostsAnswer known =
      stab::look_up_host_key({{"f", text + "\n" + stab::known_hosts_line(name, key)}}, name, key);
  if (known.verdict != Verdict::known && known.verdict != Verdict::revoked) std::abort();
  return 0;
}
