// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

enum { k_most_runs = 100000, k_longest_map = 1 << 20 };

static const char k_help[] =
    "Usage: stab-runner [OPTION]... PACKAGE\n"
    "Runs a neural network package (a directory) or a bare model file on the ONE runtime and\n"
    "prints how long it took: the block that onert_run prints, then a line \"stab-runner "
    "{JSON}\".\n"
    "\n"
    "  -w, --warmup_runs N    warm up: N runs and at least 0.5 s, at most 5 s (default 0: none)\n"
    "  -r, --num_runs N       timed runs (default 1)\n"
    "  --dump:raw P           write output I of the last run to P.I\n"
    "  --dump_input:raw P     write input I to P.I\n"
    "  --load:raw P           read input I from P.I (default: seeded random values)\n"
    "  --seed N               seed of the random values (default 0)\n"
    "  --fixed_input          accepted; the inputs of all runs are the same anyway\n"
    "  --shape_prepare S      shapes of inputs, such as [0,[1,8],2,[]] (default: the model's, "
    "with\n"
    "                         1 for each dynamic dimension)\n"
    "  --output_sizes S       at least so many bytes for outputs, such as [0,40]\n"
    "  --backends S           backends to set by API, such as cpu;ruy\n"
    "  --per-op S|@FILE       backend of each operation to set by API, such as 0=ruy;2=ruy\n"
    "  --trace DIR            trace by API into this folder, where the runtime can\n"
    "  --library PATH         the runtime's C library, or its folder (default: libonert.so, then\n"
    "                         libnnfw-dev.so, where the loader finds them, beside this program\n"
    "                         and in ../lib)\n"
    "  --version              print this program's version, with --library also the runtime's\n"
    "  --help                 print this text\n"
    "\n"
    "Exit status: 0 done, 1 bad arguments or files, 255 the runtime failed.\n";

/// What goes through the command line: the next argument and the option it belongs to.
struct arguments {
  int count;
  char** values;
  int next;
};

static const char* take_value(struct arguments* arguments, const char* option) {
  if (arguments->next >= arguments->count) {
    fail(k_exit_usage, "option %s needs a value (see --help)", option);
  }
  return arguments->values[arguments->next++];
}

static uint64_t take_number(struct arguments* arguments, const char* option, uint64_t least,
                            uint64_t most) {
  const char* value = take_value(arguments, option);
  uint64_t number = 0;
  bool good = *value != '\0';
  for (const char* at = value; good && *at != '\0'; ++at) {
    const uint64_t digit = (uint64_t)(*at - '0');
    good = digit <= 9 && number <= (most - digit) / 10;
    number = number * 10 + digit;
  }
  if (!good || number < least) {
    fail(k_exit_usage, "option %s takes a whole number from %llu to %llu, not '%s'", option,
         (unsigned long long)least, (unsigned long long)most, value);
  }
  return number;
}

static const char* read_map(const char* path) {
  char* text = allocate(k_longest_map + 1, 1);
  const long size = read_file(path, text, k_longest_map + 1);
  if (size < 0) fail(k_exit_usage, "option --per-op: cannot read %s: %s", path, strerror(errno));
  if (size > k_longest_map) {
    fail(k_exit_usage, "option --per-op: %s has more than %d bytes", path, k_longest_map);
  }
  text[size] = '\0';
  if (strlen(text) != (size_t)size) {
    fail(k_exit_usage, "option --per-op: %s is not a text", path);
  }
  for (long end = size; end > 0 && strchr(" \t\r\n", text[end - 1]) != NULL; --end) {
    text[end - 1] = '\0';
  }
  return text;
}

static const char* take_output_path(struct arguments* arguments, const char* option) {
  const char* path = take_value(arguments, option);
  if (*path == '\0') fail(k_exit_usage, "option %s needs a path that is not empty", option);
  if (!has_directory(path)) {
    fail(k_exit_usage, "option %s: the folder of %s does not exist", option, path);
  }
  return path;
}

static void check_list(const char* option, const char* value, const char* fault) {
  if (fault != NULL) fail(k_exit_usage, "option %s: %s: '%s'", option, fault, value);
}

static bool is(const char* option, const char* name, const char* other_name) {
  return strcmp(option, name) == 0 || (other_name != NULL && strcmp(option, other_name) == 0);
}

static void take_file_option(struct arguments* arguments, const char* option,
                             struct options* options) {
  if (is(option, "--dump:raw", NULL)) {
    options->dump_outputs = take_output_path(arguments, option);
  } else if (is(option, "--dump_input:raw", NULL)) {
    options->dump_inputs = take_output_path(arguments, option);
  } else if (is(option, "--load:raw", NULL)) {
    options->load_inputs = take_value(arguments, option);
  } else if (is(option, "--trace", NULL)) {
    options->trace_dir = take_value(arguments, option);
    if (!is_directory(options->trace_dir)) {
      fail(k_exit_usage, "option --trace: %s is not a folder", options->trace_dir);
    }
  } else if (is(option, "--library", NULL)) {
    options->library = take_value(arguments, option);
  } else {
    fail(k_exit_usage, "unknown option %s (see --help)", option);
  }
}

static void take_option(struct arguments* arguments, const char* option, struct options* options) {
  if (is(option, "-w", "--warmup_runs")) {
    options->warmup_runs = (uint32_t)take_number(arguments, option, 0, k_most_runs);
  } else if (is(option, "-r", "--num_runs")) {
    options->runs = (uint32_t)take_number(arguments, option, 1, k_most_runs);
  } else if (is(option, "--seed", NULL)) {
    options->seed = take_number(arguments, option, 0, UINT64_MAX);
  } else if (is(option, "--shape_prepare", NULL)) {
    const char* value = take_value(arguments, option);
    check_list(option, value, parse_shapes(value, &options->shapes));
  } else if (is(option, "--output_sizes", NULL)) {
    const char* value = take_value(arguments, option);
    check_list(option, value, parse_sizes(value, &options->output_sizes));
  } else if (is(option, "--backends", NULL)) {
    options->backends = take_value(arguments, option);
  } else if (is(option, "--per-op", NULL)) {
    const char* value = take_value(arguments, option);
    options->per_op = value[0] == '@' ? read_map(value + 1) : value;
  } else if (is(option, "--version", NULL)) {
    options->version = true;
  } else if (!is(option, "--fixed_input", NULL)) {
    take_file_option(arguments, option, options);
  }
}

void parse_options(int argc, char** argv, struct options* options) {
  *options = (struct options){.runs = 1};
  struct arguments arguments = {argc, argv, 1};
  while (arguments.next < argc) {
    const char* argument = argv[arguments.next++];
    if (is(argument, "--help", "-h")) {
      exit(write_output(k_help, sizeof(k_help) - 1) == 0 ? k_exit_done : k_exit_usage);
    } else if (argument[0] == '-' && argument[1] != '\0') {
      take_option(&arguments, argument, options);
    } else if (options->model == NULL) {
      options->model = argument;
    } else {
      fail(k_exit_usage, "more than one package: %s and %s", options->model, argument);
    }
  }
  if (options->version) return;
  if (options->model == NULL) fail(k_exit_usage, "no package is named (see --help)");
  if (!path_exists(options->model)) fail(k_exit_usage, "cannot find %s", options->model);
}
