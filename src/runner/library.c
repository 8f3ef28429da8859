// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

/// The library's name from 1.30 on, and before.
static const char* const k_names[] = {"libonert.so", "libnnfw-dev.so"};
enum { k_name_count = sizeof(k_names) / sizeof(k_names[0]) };

/// Notes why a library could not be loaded; most of the loader's words begin with the path already.
static void note(struct text* tried, const char* path, const char* reason) {
  const char* before = tried->size == 0 ? ": " : "; ";
  if (strncmp(reason, path, strlen(path)) == 0) {
    text_add(tried, "%s%s", before, reason);
  } else {
    text_add(tried, "%s%s: %s", before, path, reason);
  }
}

/// Opens as an application linked against the library would have it: global, bound when needed.
static void* try_open(const char* path, struct text* tried) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
  if (handle == NULL) note(tried, path, dlerror());
  return handle;
}

/// The known names in a folder. When it holds none of them, that is noted once.
static void* try_folder(const char* folder, struct text* tried) {
  void* handle = NULL;
  int found = 0;
  for (int i = 0; handle == NULL && i < k_name_count; ++i) {
    struct text path = {NULL, 0, 0};
    text_add(&path, "%s/%s", folder, k_names[i]);
    if (path_exists(path.data)) {
      ++found;
      handle = try_open(path.data, tried);
    }
    text_free(&path);
  }
  if (found == 0) note(tried, folder, "no libonert.so and no libnnfw-dev.so there");
  return handle;
}

/// A path; the loader would look a name without a slash up elsewhere.
static void* try_file(const char* path, struct text* tried) {
  struct text file = {NULL, 0, 0};
  text_add(&file, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
  void* handle = try_open(file.data, tried);
  text_free(&file);
  return handle;
}

static void* try_known_places(struct text* tried) {
  void* handle = NULL;
  for (int i = 0; handle == NULL && i < k_name_count; ++i) handle = try_open(k_names[i], tried);
  char folder[4096];
  if (handle != NULL || !program_directory(folder, sizeof(folder) - sizeof("/../lib"))) {
    return handle;
  }
  handle = try_folder(folder, tried);
  if (handle != NULL) return handle;
  memcpy(folder + strlen(folder), "/../lib", sizeof("/../lib"));
  return try_folder(folder, tried);
}

/// Stores the address of a function in the pointer at `function`; false when there is none.
static bool find(void* handle, const char* name, void* function) {
  void* address = dlsym(handle, name);
  memcpy(function, &address, sizeof(address));
  return address != NULL;
}

static void find_needed(void* handle, const char* name, void* function) {
  if (!find(handle, name, function)) {
    fail(k_exit_runtime, "the runtime's library has no function %s: %s", name, dlerror());
  }
}

static void find_functions(void* handle, struct library* library) {
  find_needed(handle, "nnfw_create_session", &library->create_session);
  find_needed(handle, "nnfw_close_session", &library->close_session);
  find_needed(handle, "nnfw_load_model_from_file", &library->load_model_from_file);
  find_needed(handle, "nnfw_prepare", &library->prepare);
  find_needed(handle, "nnfw_run", &library->run);
  find_needed(handle, "nnfw_set_input", &library->set_input);
  find_needed(handle, "nnfw_set_output", &library->set_output);
  find_needed(handle, "nnfw_input_size", &library->input_size);
  find_needed(handle, "nnfw_output_size", &library->output_size);
  find_needed(handle, "nnfw_input_tensorinfo", &library->input_tensorinfo);
  find_needed(handle, "nnfw_output_tensorinfo", &library->output_tensorinfo);
  find(handle, "nnfw_set_input_tensorinfo", &library->set_input_tensorinfo);
  find(handle, "nnfw_set_available_backends", &library->set_available_backends);
  find(handle, "nnfw_set_backends_per_operation", &library->set_backends_per_operation);
  find(handle, "nnfw_query_info_u32", &library->query_info_u32);
  find(handle, "nnfw_set_workspace", &library->set_workspace);
  find(handle, "nnfw_set_execute_config", &library->set_execute_config);
  find(handle, "nnfw_get_last_error_message", &library->get_last_error_message);
  // Two functions of the runtime's own tools, which it exports under their C++ names:
  // nnfw_set_config(session, key, value) and nnfw_load_model_from_modelfile(session, path).
  find(handle, "_Z15nnfw_set_configP12nnfw_sessionPKcS2_", &library->set_config);
  find(handle, "_Z30nnfw_load_model_from_modelfileP12nnfw_sessionPKc",
       &library->load_model_from_modelfile);
}

static const char* copy(const char* string) {
  struct text text = {NULL, 0, 0};
  text_add(&text, "%s", string);
  return text.data;
}

/// Where the loader found the library: a full path wherever it was found by one.
static const char* loaded_path(void* function_pointer, const char* otherwise) {
  void* address = NULL;
  memcpy(&address, function_pointer, sizeof(address));
  Dl_info info;
  const bool known = dladdr(address, &info) != 0 && info.dli_fname != NULL;
  return copy(known ? info.dli_fname : otherwise);
}

/// The version comes as 0xMMmmmmPP: major, minor (16 bits), patch.
static const char* query_version(const struct library* library) {
  uint32_t value = 0;
  if (library->query_info_u32 == NULL) return NULL;
  if (library->query_info_u32(NULL, 0, &value) != k_status_good) return NULL;
  struct text text = {NULL, 0, 0};
  text_add(&text, "%u.%u.%u", value >> 24, (value >> 8) & 0xffffu, value & 0xffu);
  return text.data;
}

void load_library(const char* path, struct library* library) {
  struct text tried = {NULL, 0, 0};
  void* handle = NULL;
  if (path == NULL) {
    handle = try_known_places(&tried);
  } else if (is_directory(path)) {
    handle = try_folder(path, &tried);
  } else {
    handle = try_file(path, &tried);
  }
  if (handle == NULL) {
    fail(k_exit_runtime, "cannot load the runtime's library%s", tried.data);
  }
  text_free(&tried);
  find_functions(handle, library);
  library->path = loaded_path(&library->create_session, path == NULL ? "" : path);
  library->version = query_version(library);
}
