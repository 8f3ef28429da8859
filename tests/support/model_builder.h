// SPDX-License-Identifier: Apache-2.0
// Turns a graph written as text in a test into the bytes of a model file that a runtime can load
// and run.
#pragma once

#include <string>
#include <string_view>

#include "stab/core/model.h"

namespace stab::test {

/// How a model is written; the graph itself does not change.
struct BuildOptions {
  ModelFormat format = ModelFormat::tflite;
  bool old_codes = false;           ///< operator codes in the old one-byte field alone
  bool external_constants = false;  ///< values of constants behind the tables, by offset
};

/// Builds a model from lines; `#` starts a comment. Each line is one of
///
///     graph NAME                             starts another subgraph (without it, the first is
///     "main") input NAME TYPE                        an input of the subgraph const NAME TYPE [=
///     VALUE...]           a constant; without values a seeded pattern variable NAME TYPE a
///     variable output NAME...                         outputs of the subgraph NAME [TYPE][, NAME
///     [TYPE]...] = OPERATOR(NAME, ...) [KEY=VALUE...]
///
/// TYPE is an element type and dimensions, `f32[1,8,8,3]`, with `?` for a dynamic one, and
/// `@SCALE:ZERO` behind it where it is quantised; an operation's output without TYPE is like its
/// first input. OPERATOR is a schema name ("CONV_2D"), `CUSTOM:CODE` or `CODE:412`; `-` among its
/// arguments is an optional input left out. Keys: padding (SAME), stride (1 or 2x1, height first),
/// dilation (1), filter (2x2), multiplier (1), activation (NONE), axis, beta (1), alpha, keep_dims,
/// shape (1x8), dims (1x2), and names of graphs in then, else, cond and body.
///
/// Throws std::runtime_error naming the line it cannot read.
std::string build_model(std::string_view text, const BuildOptions& options = {});

}  // namespace stab::test
