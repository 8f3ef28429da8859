// SPDX-License-Identifier: Apache-2.0
// A device with another shell and other tools: a transport whose scripts run in a given shell with
// a given PATH.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stab/device/shell.h"
#include "stab/device/transport.h"

namespace stab::test {

class OtherShell : public Transport {
 public:
  /// `shell` is the words of the shell ("/usr/bin/busybox sh"); `path` its PATH.
  OtherShell(std::unique_ptr<Transport> inner, std::string shell, std::string path)
      : inner_(std::move(inner)), shell_(std::move(shell)), path_(std::move(path)) {}

  Exit run(const Command& command) override { return inner_->run(changed(command)); }
  std::unique_ptr<Process> start(const Command& command) override {
    return inner_->start(changed(command));
  }
  LinkInfo link() const override { return inner_->link(); }
  void prefer_aes() override { inner_->prefer_aes(); }

 private:
  Command changed(Command command) const {
    command.script = "exec /usr/bin/env PATH=" + shell_quote(path_) + " LC_ALL=C " + shell_ +
                     " -c " + shell_quote(command.script);
    return command;
  }

  std::unique_ptr<Transport> inner_;
  std::string shell_;
  std::string path_;
};

}  // namespace stab::test
