// SPDX-License-Identifier: Apache-2.0
// Finds the ONE runtime's C library at run time and looks its functions up by name.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "index_list.h"

struct nnfw_session;

/// The runtime's description of a tensor, as its header nnfw.h lays it out.
struct tensor_info {
  int32_t dtype;
  int32_t rank;
  int32_t dims[k_max_rank];
};

/// Statuses that the runtime's functions return.
enum { k_status_good = 0, k_status_buffer_too_small = 5 };

/// The functions; those below the gap may be NULL, since not every release has them.
struct library {
  int (*create_session)(struct nnfw_session**);
  int (*close_session)(struct nnfw_session*);
  int (*load_model_from_file)(struct nnfw_session*, const char*);
  int (*prepare)(struct nnfw_session*);
  int (*run)(struct nnfw_session*);
  int (*set_input)(struct nnfw_session*, uint32_t, int32_t, const void*, size_t);
  int (*set_output)(struct nnfw_session*, uint32_t, int32_t, void*, size_t);
  int (*input_size)(struct nnfw_session*, uint32_t*);
  int (*output_size)(struct nnfw_session*, uint32_t*);
  int (*input_tensorinfo)(struct nnfw_session*, uint32_t, struct tensor_info*);
  int (*output_tensorinfo)(struct nnfw_session*, uint32_t, struct tensor_info*);

  int (*set_input_tensorinfo)(struct nnfw_session*, uint32_t, const struct tensor_info*);
  int (*set_available_backends)(struct nnfw_session*, const char*);
  int (*set_backends_per_operation)(struct nnfw_session*, const char*);
  int (*query_info_u32)(struct nnfw_session*, int32_t, uint32_t*);
  int (*set_workspace)(struct nnfw_session*, const char*);                ///< from 1.28
  int (*set_execute_config)(struct nnfw_session*, int32_t, const char*);  ///< from 1.28
  int (*get_last_error_message)(struct nnfw_session*, char*, size_t);     ///< after 1.30
  int (*set_config)(struct nnfw_session*, const char*, const char*);      ///< internal
  int (*load_model_from_modelfile)(struct nnfw_session*, const char*);    ///< 1.22 to 1.28

  const char* path;     ///< the file that was loaded
  const char* version;  ///< "1.30.0", or NULL when the runtime does not tell
};

/// Loads the library: `path` (a file, or a folder that holds one) when given, else the known names
/// where the loader finds them, beside this program and in its ../lib. Ends the process with the
/// loader's words for every name tried when none can be loaded.
void load_library(const char* path, struct library* library);
