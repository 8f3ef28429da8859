// SPDX-License-Identifier: Apache-2.0
#include "index_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

static void skip_blanks(const char** at) {
  while (**at == ' ' || **at == '\t' || **at == '\n' || **at == '\r') ++*at;
}

/// Steps over blanks and this character; false when another one stands there.
static bool take(const char** at, char wanted) {
  skip_blanks(at);
  if (**at != wanted) return false;
  ++*at;
  return true;
}

static bool take_number(const char** at, uint64_t largest, uint64_t* number) {
  skip_blanks(at);
  if (**at < '0' || **at > '9') return false;
  *number = 0;
  while (**at >= '0' && **at <= '9') {
    const uint64_t digit = (uint64_t)(*(*at)++ - '0');
    if (*number > (largest - digit) / 10) return false;
    *number = *number * 10 + digit;
  }
  return true;
}

static const char* take_shape(const char** at, struct index_entry* entry) {
  if (!take(at, '[')) return "each tensor index needs a list of dimensions after it";
  if (take(at, ']')) return NULL;
  do {
    uint64_t dim = 0;
    if (entry->rank == k_max_rank) return "a shape has at most 6 dimensions";
    if (!take_number(at, INT32_MAX, &dim) || dim == 0) {
      return "a dimension is a whole number from 1 to 2147483647";
    }
    entry->dims[entry->rank++] = (int32_t)dim;
  } while (take(at, ','));
  return take(at, ']') ? NULL : "a shape ends with ]";
}

static const char* take_size(const char** at, struct index_entry* entry) {
  const bool fits = take_number(at, SIZE_MAX / 4, &entry->size);
  return fits ? NULL : "each tensor index needs a number of bytes after it";
}

static const char* parse(const char* text, struct index_list* list,
                         const char* (*take_value)(const char**, struct index_entry*)) {
  // Each entry takes at least three characters, so this many are enough.
  *list = (struct index_list){allocate(strlen(text) + 1, sizeof(struct index_entry)), 0};
  if (!take(&text, '[')) return "it starts with [";
  bool more = !take(&text, ']');
  while (more) {
    struct index_entry entry = {0, 0, {0}, 0};
    uint64_t index = 0;
    if (!take_number(&text, UINT32_MAX, &index)) return "a tensor index is a whole number from 0";
    entry.index = (uint32_t)index;
    if (!take(&text, ',')) return "a comma stands after a tensor index";
    const char* fault = take_value(&text, &entry);
    if (fault != NULL) return fault;
    list->entries[list->count++] = entry;
    more = take(&text, ',');
    if (!more && !take(&text, ']')) return "it ends with ]";
  }
  skip_blanks(&text);
  return *text == '\0' ? NULL : "nothing may follow the last ]";
}

const char* parse_shapes(const char* text, struct index_list* list) {
  return parse(text, list, take_shape);
}

const char* parse_sizes(const char* text, struct index_list* list) {
  return parse(text, list, take_size);
}

const struct index_entry* find_index(const struct index_list* list, uint32_t index) {
  for (size_t i = list->count; i > 0; --i) {
    if (list->entries[i - 1].index == index) return &list->entries[i - 1];
  }
  return NULL;
}
