// SPDX-License-Identifier: Apache-2.0
// Tensors between the runtime, files and the random generator: types, sizes, contents.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "library.h"

/// One input or output with the buffer that the runtime reads or fills.
struct tensor {
  struct tensor_info info;
  void* data;    ///< aligned to 64 bytes
  size_t size;   ///< bytes of the buffer
  size_t used;   ///< bytes that the tensor really has
  bool sized;    ///< whether `used` is known
  void* memory;  ///< what was allocated for `data`
};

/// A type's name for people and programs ("f32"), or NULL for one that this runner does not
/// know.
const char* type_name(int32_t dtype);
/// Whether a dimension is left open (not positive).
bool is_dynamic(const struct tensor_info* info);
/// Bytes of a tensor; dimensions that are open count as 1. Returns false for a type that is not
/// known, or a size that no buffer can have.
bool tensor_bytes(const struct tensor_info* info, size_t* bytes);
/// Gives the tensor a new zeroed buffer; false, and none, when there is not so much memory.
bool allocate_tensor(struct tensor* tensor, size_t size);

/// Fills an input with values that depend on the seed, the input's index and its type alone: the
/// whole range for 8 and 16 bits, 0 or 1 for int32, int64 and bool (often indices), [-1, 1) for
/// floats.
void fill_random(struct tensor* tensor, uint64_t seed, uint32_t index);
/// Reads input `index` from the file `prefix`.`index`; ends the process unless it has the size.
void load_tensor(struct tensor* tensor, const char* prefix, uint32_t index);
/// Writes a tensor's values to the file `prefix`.`index`; ends the process when it cannot.
void dump_tensor(const struct tensor* tensor, const char* prefix, uint32_t index);
