// SPDX-License-Identifier: Apache-2.0
// The user's ssh-agent, seen key by key. Protocol: draft-miller-ssh-agent.
//
// libssh offers all keys of an agent or none, so many keys end in "Too many authentication
// failures", and an agent that does not answer hangs it. So it gets an agent of ours that shows one
// key and passes signatures on, with a time limit.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "descriptor.h"
#include "stab/device/transport.h"

namespace stab {

struct AgentKey {
  std::string blob;  ///< RFC 4253 6.6
  std::string comment;
};

/// The agent's keys in its order; none when it cannot be reached, does not answer in time or talks
/// nonsense.
std::vector<AgentKey> list_agent_keys(const std::string& socket_path,
                                      std::chrono::milliseconds limit);

/// An agent that has only one key, for as long as it lives.
class SingleKeyAgent {
 public:
  /// `limit` is for one signature (a person may have to touch a token).
  SingleKeyAgent(std::string socket_path, AgentKey key, std::chrono::milliseconds limit,
                 StopRequested stop);
  ~SingleKeyAgent();
  SingleKeyAgent(const SingleKeyAgent&) = delete;
  SingleKeyAgent& operator=(const SingleKeyAgent&) = delete;

  /// The end for libssh, once; libssh closes it.
  int take_descriptor() { return far_end_.release(); }

 private:
  void serve();
  std::string answer(const std::string& request);

  std::string socket_path_;
  AgentKey key_;
  std::chrono::milliseconds limit_;
  StopRequested stop_;
  Descriptor near_end_;
  Descriptor far_end_;
  std::atomic<bool> quit_ = false;
  std::thread thread_;
};

}  // namespace stab
