// SPDX-License-Identifier: Apache-2.0
#include "execution.h"

#include "system.h"

/// What the outputs get together beyond the size that the runtime tells before a run, since only a
/// run can size a dynamic output, not every release says which one is dynamic, and a run that fails
/// for want of room costs a traced process its whole trace. Memory that is never written costs no
/// more than addresses.
static const size_t k_spare = (size_t)64 << 20;
static const size_t k_largest_output = (size_t)1 << 30;

static void bind_input(struct session* session, const struct options* options, uint32_t index) {
  const struct library* library = session->library;
  struct tensor* input = &session->inputs[index];
  check(session, "nnfw_input_tensorinfo",
        library->input_tensorinfo(session->handle, index, &input->info));
  if (!tensor_bytes(&input->info, &input->used)) {
    fail(k_exit_runtime, "input %u has a type or size that cannot be given (type %d)", index,
         input->info.dtype);
  }
  input->sized = true;
  if (!allocate_tensor(input, input->used)) {
    fail(k_exit_runtime, "no memory for input %u (%zu bytes)", index, input->used);
  }
  if (options->load_inputs != NULL) {
    load_tensor(input, options->load_inputs, index);
  } else {
    fill_random(input, options->seed, index);
  }
  if (options->dump_inputs != NULL) dump_tensor(input, options->dump_inputs, index);
  check(session, "nnfw_set_input",
        library->set_input(session->handle, index, input->info.dtype, input->data, input->size));
}

/// Binds an output to a buffer of the wanted size where there is memory for it, else of the least
/// size. Some releases write as much as they say the output has, however small the buffer is, so
/// neither is ever less than that.
static void bind_output(struct session* session, uint32_t index, size_t least, size_t wanted) {
  const struct library* library = session->library;
  struct tensor* output = &session->outputs[index];
  check(session, "nnfw_output_tensorinfo",
        library->output_tensorinfo(session->handle, index, &output->info));
  if (!tensor_bytes(&output->info, &output->used)) {
    fail(k_exit_runtime, "output %u has a type or size that cannot be taken (type %d)", index,
         output->info.dtype);
  }
  if (least < output->used) least = output->used;
  if (wanted < least) wanted = least;
  if (!allocate_tensor(output, wanted) && !allocate_tensor(output, least)) {
    fail(k_exit_runtime, "no memory for output %u (%zu bytes)", index, least);
  }
  check(
      session, "nnfw_set_output",
      library->set_output(session->handle, index, output->info.dtype, output->data, output->size));
}

void bind_tensors(struct session* session, const struct options* options) {
  session->inputs = allocate(session->input_count, sizeof(struct tensor));
  session->outputs = allocate(session->output_count, sizeof(struct tensor));
  for (uint32_t i = 0; i < session->input_count; ++i) bind_input(session, options, i);
  for (uint32_t i = 0; i < session->output_count; ++i) {
    const struct index_entry* asked = find_index(&options->output_sizes, i);
    const size_t least = asked == NULL ? 0 : (size_t)asked->size;
    bind_output(session, i, least, asked == NULL ? k_spare / session->output_count : least);
  }
}

/// Which output was too small is not told, so all grow. Returns false when all are at the limit.
static bool grow_outputs(struct session* session) {
  bool grown = false;
  for (uint32_t i = 0; i < session->output_count; ++i) {
    const size_t size = session->outputs[i].size;
    if (size >= k_largest_output) continue;
    const size_t larger = size < 1024 ? 4096 : 4 * size;
    const size_t wanted = larger < k_largest_output ? larger : k_largest_output;
    bind_output(session, i, wanted, wanted);
    grown = true;
  }
  return grown;
}

uint64_t run_session(struct session* session) {
  for (;;) {
    const uint64_t start = monotonic_ns();
    const int status = session->library->run(session->handle);
    const uint64_t taken = monotonic_ns() - start;
    if (status == k_status_good) return taken;
    if (status != k_status_buffer_too_small || !grow_outputs(session)) {
      check(session, "nnfw_run", status);
    }
    complain("an output did not fit its buffer; running again with larger ones%s",
             session->tracing == k_tracing_none
                 ? ""
                 : " (the runtime drops its trace for that; --output_sizes avoids it)");
  }
}

void measure_outputs(struct session* session) {
  for (uint32_t i = 0; i < session->output_count; ++i) {
    struct tensor* output = &session->outputs[i];
    check(session, "nnfw_output_tensorinfo",
          session->library->output_tensorinfo(session->handle, i, &output->info));
    output->sized = tensor_bytes(&output->info, &output->used) && !is_dynamic(&output->info);
    if (output->sized && output->used > output->size) {
      fail(k_exit_runtime, "output %u is said to have %zu bytes after a run into %zu bytes", i,
           output->used, output->size);
    }
  }
}
