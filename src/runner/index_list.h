// SPDX-License-Identifier: Apache-2.0
// Reads the option values that give something per tensor: shapes `[0,[1,8],2,[]]` and sizes
// `[0,40]`.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The largest rank that the runtime's functions can express.
enum { k_max_rank = 6 };

/// One tensor's entry: a shape, or a size in bytes.
struct index_entry {
  uint32_t index;
  int32_t rank;
  int32_t dims[k_max_rank];
  uint64_t size;
};

struct index_list {
  struct index_entry* entries;
  size_t count;
};

/// Reads `[index, [dim, ...], ...]`, each dim at least 1. Returns NULL, or what is wrong with it.
const char* parse_shapes(const char* text, struct index_list* list);
/// Reads `[index, bytes, ...]`. Returns NULL, or what is wrong with it.
const char* parse_sizes(const char* text, struct index_list* list);
/// The entry of a tensor (the last one where it is named twice), or NULL.
const struct index_entry* find_index(const struct index_list* list, uint32_t index);
