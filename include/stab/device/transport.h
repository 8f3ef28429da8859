// SPDX-License-Identifier: Apache-2.0
// The port to a device: runs POSIX shell text there with streams. Everything else (upload,
// preflight, lock, profiling) is written once over it, so that this machine and a board over SSH
// behave alike.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stab {

/// Fills the span and returns how many bytes it wrote; 0 ends the stream. Called on the thread of
/// the caller of run().
using ByteSource = std::function<std::size_t(std::span<char>)>;
/// Takes the next bytes of a stream. Called on the thread of the caller of run().
using ByteSink = std::function<void(std::string_view)>;

struct Command {
  /// POSIX shell text for the device's /bin/sh, under 100 KB. It runs with LC_ALL=C in a session of
  /// its own; whatever login shell the account has never interprets it.
  std::string script{};
  /// Becomes the command's standard input, ended by end-of-file. Without it the standard input is
  /// /dev/null, and the life of the command hangs on ours: a line goes over every 5 s, and the
  /// device ends the whole process group (TERM, then KILL) when the connection ends or after 30 to
  /// 40 s without one.
  ByteSource input{};
  ByteSink output{};                     ///< standard output; dropped when empty
  ByteSink error{};                      ///< standard error; dropped when empty
  std::chrono::milliseconds timeout{0};  ///< for the whole command; 0: none
  std::chrono::milliseconds idle{0};     ///< longest silence in both directions; 0: none
  bool cleanup = false;  ///< goes on when the user asked to stop; for tidying up, with a timeout
};

/// How a command ended. A timeout (after the remote command was ended), a non-zero status and a
/// signal are results, not errors.
struct Exit {
  enum class How { exited, signalled, timed_out };
  How how = How::exited;
  int code = 0;    ///< exit status; 128 + n where the far shell reports signal n that way
  int signal = 0;  ///< with How::signalled

  bool ok() const { return how == How::exited && code == 0; }
};

struct LinkInfo {
  bool local = false;
  std::chrono::microseconds round_trip{0};
  std::string server;   ///< the server's banner, "SSH-2.0-dropbear_2022.83"; empty for local
  std::string address;  ///< what the user would recognise: "root@127.0.0.1:2207", "local"
};

/// A command that goes on while others run (the holder of the device's lock).
class Process {
 public:
  virtual ~Process() = default;  ///< ends it when it still runs; never throws
  /// Hands what arrived to the sinks; false once it ended or the connection broke.
  virtual bool running() = 0;
  /// Asks it to end (TERM, then KILL to its process group) and waits; what arrived goes to the
  /// sinks.
  virtual Exit stop() = 0;
};

/// A connection to a device. Throws Error(device) when the connection breaks, when a login shell
/// does not let commands through, and when a command succeeds without reading all its input;
/// Error(interrupted) when the user asked to stop (after the remote command was ended). What a sink
/// or a source throws comes through, too, after the command was ended.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Exit run(const Command& command) = 0;
  /// Starts a command without input and returns once it printed the line "ready" on standard output
  /// (the sink does not get this line), or has ended. `timeout` and `idle` hold until then. The
  /// sinks must live as long as the process; they are called by start(), running() and stop() only.
  virtual std::unique_ptr<Process> start(const Command& command) = 0;
  virtual LinkInfo link() const = 0;
  /// The device's processor computes AES in hardware, which can make another cipher the faster one.
  virtual void prefer_aes() = 0;
};

/// Asked by everything that waits; true once the user wants to stop.
using StopRequested = std::function<bool()>;

/// This machine through the same port: /bin/sh as a child process.
std::unique_ptr<Transport> make_local_transport(StopRequested stop);

}  // namespace stab
