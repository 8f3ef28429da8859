// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>

#include "stab/app/cli.h"
#include "stab/app/run.h"
#include "stab/core/error.h"
#include "stab/host/interrupt.h"

int main(int argc, char** argv) {
  stab::catch_interrupts();
  try {
    const auto options = stab::parse_command_line(argc, argv, std::cout);
    return options ? stab::run(*options, std::cout) : 0;
  } catch (const stab::Error& error) {
    std::cerr << "stab: " << error.what() << "\n";
    return stab::exit_status(error.kind());
  } catch (const std::exception& error) {
    std::cerr << "stab: internal error: " << error.what() << "\n";
    return stab::exit_status(stab::ErrorKind::internal);
  }
}
