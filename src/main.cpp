// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>

#include "stab/app/cli.h"
#include "stab/app/run.h"
#include "stab/core/error.h"
#include "stab/host/interrupt.h"
#include "stab/host/standard_streams.h"

namespace {

int report(const stab::Error& error) {
  std::cerr << "stab: " << error.what() << "\n";
  return stab::exit_status(error.kind());
}

int run_command_line(int argc, char** argv) {
  try {
    const auto options = stab::parse_command_line(argc, argv, std::cout);
    return options ? stab::run(*options, std::cout) : 0;
  } catch (const stab::Error& error) {
    return report(error);
  } catch (const std::exception& error) {
    std::cerr << "stab: internal error: " << error.what() << "\n";
    return stab::exit_status(stab::ErrorKind::internal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  stab::hold_standard_descriptors();
  stab::catch_interrupts();
  const int status = run_command_line(argc, argv);
  try {
    stab::finish_standard_output(std::cout);
  } catch (const stab::Error& error) {
    const int unwritten = report(error);
    return status == 0 ? unwritten : status;
  }
  return status;
}
