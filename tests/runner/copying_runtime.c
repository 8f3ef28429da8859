// SPDX-License-Identifier: Apache-2.0
// A runtime's C library with one model: 48 x 144 floats, copied to an output whose first size only
// a run can tell. For architectures that no real runtime here is built for.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tensor_info {
  int32_t dtype;
  int32_t rank;
  int32_t dims[6];
};

static const void* input;
static size_t input_size;
static void* output;
static size_t output_size;
static int runs;

int nnfw_create_session(void** session) {
  *session = &runs;
  return 0;
}

int nnfw_close_session(void* session) {
  return session == &runs ? 0 : 1;
}

int nnfw_load_model_from_file(void* session, const char* path) {
  return session == &runs && path != NULL ? 0 : 1;
}

int nnfw_prepare(void* session) {
  return session == &runs ? 0 : 1;
}

static int one(uint32_t* count) {
  *count = 1;
  return 0;
}

int nnfw_input_size(void* session, uint32_t* count) {
  return session == &runs ? one(count) : 1;
}

int nnfw_output_size(void* session, uint32_t* count) {
  return session == &runs ? one(count) : 1;
}

static int tell(struct tensor_info* info, int32_t columns) {
  *info = (struct tensor_info){0, 2, {48, columns, 0, 0, 0, 0}};
  return 0;
}

int nnfw_input_tensorinfo(void* session, uint32_t index, struct tensor_info* info) {
  return session == &runs && index == 0 ? tell(info, 144) : 1;
}

int nnfw_output_tensorinfo(void* session, uint32_t index, struct tensor_info* info) {
  return session == &runs && index == 0 ? tell(info, runs == 0 ? -1 : 144) : 1;
}

int nnfw_set_input(void* session, uint32_t index, int32_t dtype, const void* buffer, size_t size) {
  input = buffer;
  input_size = size;
  return session == &runs && index == 0 && dtype == 0 ? 0 : 1;
}

int nnfw_set_output(void* session, uint32_t index, int32_t dtype, void* buffer, size_t size) {
  output = buffer;
  output_size = size;
  return session == &runs && index == 0 && dtype == 0 ? 0 : 1;
}

int nnfw_run(void* session) {
  if (session != &runs) return 1;
  if (output_size < input_size) return 5;
  memcpy(output, input, input_size);
  ++runs;
  return 0;
}

int nnfw_query_info_u32(void* session, int32_t id, uint32_t* value) {
  *value = 0x01001e02;
  return session == NULL && id == 0 ? 0 : 1;
}
