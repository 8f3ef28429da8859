// SPDX-License-Identifier: Apache-2.0
// The placement problem as an integer linear program, for solvers that know nothing of ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stab/core/placement_problem.h"

namespace stab::test {

/// In the CPLEX LP format, for cbc and glpsol: x_op_backend says where an operation is,
/// y_tensor_from_to that a tensor is brought from one location to another.
std::string render_lp(const PlacementProblem& problem);

/// The optimum in a solution file that `cbc FILE solve solution OUT` or `glpsol --lp FILE -w OUT`
/// wrote; absent when it was not proven optimal.
std::optional<Ticks> optimum_of_cbc(std::string_view solution);
std::optional<Ticks> optimum_of_glpsol(std::string_view solution);

}  // namespace stab::test
