// SPDX-License-Identifier: Apache-2.0
// Runs package A in one session of the runtime and then package B in a new session of the same
// process, each once: what A's config does to B shows in a trace of B.
//
// two_sessions LIBRARY PACKAGE_A TRACE_DIR_A PACKAGE_B TRACE_DIR_B
// A folder "-" leaves that session untraced. The runtime writes all traces of a process to the
// folder of the first traced session (as one JSON document after the other), so give "-" for A to
// have B's alone. Prints "A <status>" and "B <status>" with the first failing function's name;
// exits 0 when both ran, 3 when A failed, 4 when B failed, 2 for bad arguments, 5 when the library
// cannot be used.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session;

struct tensor_info {
  int32_t dtype;
  int32_t rank;
  int32_t dims[6];
};

static void* library;

static void* find(const char* name) {
  return dlsym(library, name);
}

static void* need(const char* name) {
  void* function = find(name);
  if (function == NULL) {
    fprintf(stderr, "two_sessions: no function %s\n", name);
    exit(5);
  }
  return function;
}

/// Bytes of a tensor; eight for each element hold every type.
static size_t room(const struct tensor_info* info) {
  size_t bytes = 8;
  for (int32_t i = 0; i < info->rank; ++i) bytes *= info->dims[i] < 1 ? 1 : (size_t)info->dims[i];
  return bytes;
}

/// Bytes of an input as the runtime counts them.
static size_t exact(const struct tensor_info* info) {
  static const size_t k_widths[] = {4, 4, 1, 1, 1, 8, 1, 2};
  return room(info) / 8 * (info->dtype >= 0 && info->dtype < 8 ? k_widths[info->dtype] : 4);
}

static const char* bind(struct session* session) {
  int (*input_size)(struct session*, uint32_t*) = need("nnfw_input_size");
  int (*output_size)(struct session*, uint32_t*) = need("nnfw_output_size");
  int (*input_info)(struct session*, uint32_t, struct tensor_info*) = need("nnfw_input_tensorinfo");
  int (*output_info)(struct session*, uint32_t, struct tensor_info*) =
      need("nnfw_output_tensorinfo");
  int (*set_input)(struct session*, uint32_t, int32_t, const void*, size_t) =
      need("nnfw_set_input");
  int (*set_output)(struct session*, uint32_t, int32_t, void*, size_t) = need("nnfw_set_output");
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  struct tensor_info info;
  if (input_size(session, &inputs) != 0) return "nnfw_input_size";
  if (output_size(session, &outputs) != 0) return "nnfw_output_size";
  for (uint32_t i = 0; i < inputs; ++i) {
    if (input_info(session, i, &info) != 0) return "nnfw_input_tensorinfo";
    // The buffers live until the process ends.
    if (set_input(session, i, info.dtype, calloc(1, room(&info)), exact(&info)) != 0)
      return "nnfw_set_input";
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    if (output_info(session, i, &info) != 0) return "nnfw_output_tensorinfo";
    if (set_output(session, i, info.dtype, calloc(1, room(&info)), room(&info)) != 0)
      return "nnfw_set_output";
  }
  return NULL;
}

/// Runs a package once, traced into the folder; returns the function that failed, or NULL.
static const char* use(struct session* session, const char* package, const char* trace_dir) {
  int (*load)(struct session*, const char*) = need("nnfw_load_model_from_file");
  int (*prepare)(struct session*) = need("nnfw_prepare");
  int (*run)(struct session*) = need("nnfw_run");
  int (*set_workspace)(struct session*, const char*) = find("nnfw_set_workspace");
  int (*set_execute_config)(struct session*, int32_t, const char*) =
      find("nnfw_set_execute_config");
  const int traced = strcmp(trace_dir, "-") != 0;
  if (traced && set_workspace != NULL && set_workspace(session, trace_dir) != 0)
    return "nnfw_set_workspace";
  if (load(session, package) != 0) return "nnfw_load_model_from_file";
  if (prepare(session) != 0) return "nnfw_prepare";
  if (traced && set_execute_config != NULL && set_execute_config(session, 1, NULL) != 0)
    return "nnfw_set_execute_config";
  const char* failed = bind(session);
  if (failed != NULL) return failed;
  return run(session) == 0 ? NULL : "nnfw_run";
}

static int one_session(const char* label, const char* package, const char* trace_dir) {
  int (*create)(struct session**) = need("nnfw_create_session");
  int (*close)(struct session*) = need("nnfw_close_session");
  // The switch of releases before 1.28, read when a session's options are made.
  char path[4096];
  snprintf(path, sizeof(path), "%s/trace.json", trace_dir);
  setenv("TRACE_FILEPATH", strcmp(trace_dir, "-") == 0 ? "" : path, 1);
  struct session* session = NULL;
  const char* failed =
      create(&session) == 0 ? use(session, package, trace_dir) : "nnfw_create_session";
  if (session != NULL && close(session) != 0 && failed == NULL) failed = "nnfw_close_session";
  printf("%s %s\n", label, failed == NULL ? "good" : failed);
  fflush(stdout);
  return failed == NULL;
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: two_sessions LIBRARY PACKAGE_A TRACE_DIR_A PACKAGE_B TRACE_DIR_B\n");
    return 2;
  }
  library = dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "two_sessions: %s\n", dlerror());
    return 5;
  }
  if (!one_session("A", argv[2], argv[3])) return 3;
  return one_session("B", argv[4], argv[5]) ? 0 : 4;
}
