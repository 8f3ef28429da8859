// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "system.h"

/// The runtime takes a list of backends only when it ends within 32 bytes.
enum { k_longest_backends = 31 };
/// The run configuration that switches tracing on.
enum { k_run_config_trace = 1 };

static const char* status_name(int status) {
  static const char* const k_names[] = {
      "no error",      "error",         "unexpected null",
      "invalid state", "out of memory", "output buffer too small",
      "deprecated",
  };
  const int count = sizeof(k_names) / sizeof(k_names[0]);
  return status >= 0 && status < count ? k_names[status] : "unknown";
}

/// Tells what newer runtimes keep instead of printing it.
static void tell_last_error(const struct session* session) {
  char message[1024] = "";
  if (session->library->get_last_error_message == NULL || session->handle == NULL) return;
  session->library->get_last_error_message(session->handle, message, sizeof(message));
  message[sizeof(message) - 1] = '\0';
  if (message[0] != '\0') complain("the runtime says: %s", message);
}

void check(const struct session* session, const char* function, int status) {
  if (status == k_status_good) return;
  tell_last_error(session);
  fail(k_exit_runtime, "%s failed: status %d (%s)", function, status, status_name(status));
}

static bool set_in_environment(const char* name) {
  const char* value = getenv(name);
  return value != NULL && value[0] != '\0';
}

static void load_model(struct session* session, const char* path) {
  const struct library* library = session->library;
  const uint64_t start = monotonic_ns();
  if (is_directory(path)) {
    check(session, "nnfw_load_model_from_file",
          library->load_model_from_file(session->handle, path));
  } else if (library->load_model_from_modelfile != NULL) {
    check(session, "nnfw_load_model_from_modelfile",
          library->load_model_from_modelfile(session->handle, path));
  } else {
    const int status = library->load_model_from_file(session->handle, path);
    if (status != k_status_good) {
      complain("%s is not a directory; older runtimes load package directories only", path);
    }
    check(session, "nnfw_load_model_from_file", status);
  }
  session->load_ns = monotonic_ns() - start;
}

/// Before loading: the only time when newer runtimes take a workspace.
static void trace_before_load(struct session* session, const char* folder) {
  const struct library* library = session->library;
  if (library->set_workspace == NULL || library->set_execute_config == NULL) return;
  const int status = library->set_workspace(session->handle, folder);
  if (status == k_status_good) {
    session->tracing = k_tracing_api;
  } else {
    complain("nnfw_set_workspace failed: status %d (%s)", status, status_name(status));
  }
}

/// Between loading and preparing: where releases before 1.28 take the path of the trace.
static void trace_before_prepare(struct session* session, const char* folder) {
  const struct library* library = session->library;
  if (library->set_workspace != NULL || library->set_config == NULL) return;
  struct text path = {NULL, 0, 0};
  text_add(&path, "%s/trace.json", folder);
  if (library->set_config(session->handle, "TRACE_FILEPATH", path.data) == k_status_good) {
    session->tracing = k_tracing_api;
  }
  text_free(&path);
}

static void trace_after_prepare(struct session* session, const char* folder) {
  const struct library* library = session->library;
  if (session->tracing == k_tracing_api && library->set_workspace != NULL) {
    const int status = library->set_execute_config(session->handle, k_run_config_trace, NULL);
    if (status == k_status_good) return;
    complain("nnfw_set_execute_config failed: status %d (%s)", status, status_name(status));
    session->tracing = k_tracing_none;
  }
  if (session->tracing == k_tracing_api) return;
  complain(
      "this runtime has no function that switches tracing on; --trace %s is left to the "
      "environment",
      folder);
}

static void set_backends(struct session* session, const struct options* options) {
  const struct library* library = session->library;
  if (options->backends != NULL) {
    if (library->set_available_backends == NULL) {
      fail(k_exit_runtime, "this runtime has no function nnfw_set_available_backends");
    }
    const int status = library->set_available_backends(session->handle, options->backends);
    if (status != k_status_good && strlen(options->backends) > k_longest_backends) {
      complain("the runtime takes at most %d characters of backends", k_longest_backends);
    }
    check(session, "nnfw_set_available_backends", status);
    session->backends_set = true;
  }
  if (options->per_op != NULL && options->per_op[0] != '\0') {
    if (library->set_backends_per_operation == NULL) {
      fail(k_exit_runtime, "this runtime has no function nnfw_set_backends_per_operation");
    }
    check(session, "nnfw_set_backends_per_operation",
          library->set_backends_per_operation(session->handle, options->per_op));
    session->backends_set = true;
  }
}

/// The asked shape of an input, or the model's with 1 for open dimensions; false: leave it alone.
static bool choose_shape(const struct index_entry* asked, struct tensor_info* info) {
  if (asked != NULL) {
    info->rank = asked->rank;
    memcpy(info->dims, asked->dims, sizeof(info->dims));
    return true;
  }
  const bool open = is_dynamic(info);
  for (int32_t i = 0; i < info->rank && i < k_max_rank; ++i) {
    if (info->dims[i] < 0) info->dims[i] = 1;
  }
  return open;
}

static void set_shapes(struct session* session, const struct index_list* shapes) {
  const struct library* library = session->library;
  for (size_t i = 0; i < shapes->count; ++i) {
    if (shapes->entries[i].index >= session->input_count) {
      fail(k_exit_usage, "option --shape_prepare names input %u, but the model has %u inputs",
           shapes->entries[i].index, session->input_count);
    }
  }
  for (uint32_t i = 0; i < session->input_count; ++i) {
    struct tensor_info info;
    check(session, "nnfw_input_tensorinfo", library->input_tensorinfo(session->handle, i, &info));
    if (!choose_shape(find_index(shapes, i), &info)) continue;
    if (library->set_input_tensorinfo == NULL) {
      fail(k_exit_runtime, "this runtime has no function nnfw_set_input_tensorinfo");
    }
    check(session, "nnfw_set_input_tensorinfo",
          library->set_input_tensorinfo(session->handle, i, &info));
  }
}

void open_session(struct session* session, const struct library* library,
                  const struct options* options) {
  *session = (struct session){.library = library};
  if (set_in_environment("TRACE_FILEPATH") || set_in_environment("TRACING_MODE")) {
    session->tracing = k_tracing_environment;
  }
  const enum tracing otherwise = session->tracing;
  check(session, "nnfw_create_session", library->create_session(&session->handle));
  if (options->trace_dir != NULL) trace_before_load(session, options->trace_dir);
  load_model(session, options->model);
  if (options->trace_dir != NULL) trace_before_prepare(session, options->trace_dir);
  check(session, "nnfw_input_size", library->input_size(session->handle, &session->input_count));
  check(session, "nnfw_output_size", library->output_size(session->handle, &session->output_count));
  set_backends(session, options);
  set_shapes(session, &options->shapes);
  const uint64_t start = monotonic_ns();
  check(session, "nnfw_prepare", library->prepare(session->handle));
  session->prepare_ns = monotonic_ns() - start;
  if (options->trace_dir != NULL) trace_after_prepare(session, options->trace_dir);
  if (session->tracing == k_tracing_none) session->tracing = otherwise;
}

void close_session(struct session* session) {
  check(session, "nnfw_close_session", session->library->close_session(session->handle));
  session->handle = NULL;
}
