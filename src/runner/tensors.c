// SPDX-License-Identifier: Apache-2.0
#include "tensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

/// The runtime's tensor types by their numbers, which every release has kept.
enum type {
  k_float32 = 0,
  k_int32 = 1,
  k_quant_uint8 = 2,
  k_bool = 3,
  k_uint8 = 4,
  k_int64 = 5,
  k_quant_int8 = 6,
  k_quant_int16 = 7,
  k_type_count = 8
};

static const struct {
  const char* name;
  size_t bytes;
} k_types[k_type_count] = {
    {"f32", 4}, {"i32", 4}, {"u8", 1}, {"bool", 1}, {"u8", 1}, {"i64", 8}, {"i8", 1}, {"i16", 2},
};

static bool known(int32_t dtype) {
  return dtype >= 0 && dtype < k_type_count;
}

const char* type_name(int32_t dtype) {
  return known(dtype) ? k_types[dtype].name : NULL;
}

bool is_dynamic(const struct tensor_info* info) {
  for (int32_t i = 0; i < info->rank && i < k_max_rank; ++i) {
    if (info->dims[i] < 0) return true;
  }
  return false;
}

bool tensor_bytes(const struct tensor_info* info, size_t* bytes) {
  if (!known(info->dtype) || info->rank < 0 || info->rank > k_max_rank) return false;
  uint64_t total = k_types[info->dtype].bytes;
  for (int32_t i = 0; i < info->rank; ++i) {
    const uint64_t dim = info->dims[i] < 0 ? 1 : (uint64_t)info->dims[i];
    if (dim != 0 && total > SIZE_MAX / 4 / dim) return false;
    total *= dim;
  }
  *bytes = (size_t)total;
  return true;
}

bool allocate_tensor(struct tensor* tensor, size_t size) {
  enum { k_alignment = 64 };
  free(tensor->memory);
  tensor->memory = calloc(size + k_alignment, 1);
  if (tensor->memory == NULL) return false;
  const uintptr_t address = (uintptr_t)tensor->memory;
  tensor->data = (char*)tensor->memory + (k_alignment - address % k_alignment) % k_alignment;
  tensor->size = size;
  return true;
}

/// SplitMix64: the 64-bit mixing function of Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators" (OOPSLA 2014), over a counter with the golden-ratio step.
static uint64_t next_random(uint64_t* state) {
  uint64_t value = (*state += 0x9e3779b97f4a7c15u);
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static void fill_floats(float* values, size_t count, uint64_t* state) {
  for (size_t i = 0; i < count; ++i) {
    // 24 bits and steps of 2^-23: exact in a float, so the same on every machine.
    values[i] = (float)(next_random(state) >> 40) / 8388608.0f - 1.0f;
  }
}

/// Writes 0 or 1 into each element's lowest byte; the others stay 0.
static void fill_bits(unsigned char* bytes, size_t count, size_t width, uint64_t* state) {
  for (size_t i = 0; i < count; ++i) bytes[i * width] = (unsigned char)(next_random(state) >> 63);
}

static void fill_bytes(unsigned char* bytes, size_t count, uint64_t* state) {
  for (size_t i = 0; i < count; ++i) bytes[i] = (unsigned char)(next_random(state) >> 56);
}

void fill_random(struct tensor* tensor, uint64_t seed, uint32_t index) {
  uint64_t stream = seed;
  uint64_t state = next_random(&stream) + index;
  state = next_random(&state);
  const size_t width = k_types[tensor->info.dtype].bytes;
  switch (tensor->info.dtype) {
    case k_float32:
      fill_floats(tensor->data, tensor->used / width, &state);
      break;
    case k_int32:
    case k_int64:
    case k_bool:
      memset(tensor->data, 0, tensor->used);
      fill_bits(tensor->data, tensor->used / width, width, &state);
      break;
    default:
      fill_bytes(tensor->data, tensor->used, &state);
      break;
  }
}

static struct text numbered(const char* prefix, uint32_t index) {
  struct text path = {NULL, 0, 0};
  text_add(&path, "%s.%u", prefix, index);
  return path;
}

void load_tensor(struct tensor* tensor, const char* prefix, uint32_t index) {
  struct text path = numbered(prefix, index);
  // One byte more than the tensor has, so that a longer file shows.
  char* content = allocate(tensor->used + 1, 1);
  const long size = read_file(path.data, content, tensor->used + 1);
  if (size < 0) fail(k_exit_usage, "cannot read %s: %s", path.data, strerror(errno));
  if ((size_t)size != tensor->used) {
    fail(k_exit_usage, "%s has %s%ld bytes, but input %u takes %zu", path.data,
         (size_t)size > tensor->used ? "at least " : "", size, index, tensor->used);
  }
  memcpy(tensor->data, content, tensor->used);
  free(content);
  text_free(&path);
}

void dump_tensor(const struct tensor* tensor, const char* prefix, uint32_t index) {
  struct text path = numbered(prefix, index);
  if (!tensor->sized) {
    fail(k_exit_runtime, "the runtime does not tell how large %s has become", path.data);
  }
  if (write_file(path.data, tensor->data, tensor->used) != 0) {
    fail(k_exit_usage, "cannot write %s: %s", path.data, strerror(errno));
  }
  text_free(&path);
}
