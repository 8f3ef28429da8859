// SPDX-License-Identifier: Apache-2.0
// What the runner asks of the operating system: clocks, memory, files, and words on standard error.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Exit statuses. A failed call into the runtime is 255, as from the runtime's own runner.
enum { k_exit_done = 0, k_exit_usage = 1, k_exit_runtime = 255 };

/// Writes "stab-runner: <message>\n" to standard error in one piece.
__attribute__((format(printf, 1, 2))) void complain(const char* format, ...);
/// Complains and ends the process with this exit status.
__attribute__((format(printf, 2, 3), noreturn)) void fail(int exit_status, const char* format, ...);

/// Monotonic time and this process's CPU time (all threads), in nanoseconds.
uint64_t monotonic_ns(void);
uint64_t process_cpu_ns(void);
/// The largest resident size of this process so far in kB; 0 where /proc does not tell.
uint64_t peak_rss_kb(void);

/// Memory, or the end of the process with a message. Zeroed.
void* allocate(size_t count, size_t size);

/// Growing text. Starts as {0}; `data` is always terminated once something was added.
struct text {
  char* data;
  size_t size;
  size_t capacity;
};
/// Appends; only strings and integers are formatted, so that no locale can change the outcome.
__attribute__((format(printf, 2, 3))) void text_add(struct text* text, const char* format, ...);
void text_free(struct text* text);

bool path_exists(const char* path);
bool is_directory(const char* path);
/// Whether a file of this path could lie in an existing folder.
bool has_directory(const char* path);
/// The folder of this program, without a trailing slash; false where /proc does not tell.
bool program_directory(char* buffer, size_t capacity);

/// Reads at most `capacity` bytes of a file; returns how many, or -1 with errno set. A result equal
/// to `capacity` may mean that the file goes on.
long read_file(const char* path, void* buffer, size_t capacity);
/// Writes a whole file (0644); returns 0, or -1 with errno set.
int write_file(const char* path, const void* data, size_t size);
/// Writes all of it to standard output; returns 0, or -1 with errno set.
int write_output(const char* data, size_t size);
