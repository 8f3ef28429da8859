// SPDX-License-Identifier: Apache-2.0
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's clock numbers and the two longs it fills. The system call is used because
// clock_gettime moved from librt to libc in glibc 2.17 and old boards have it only in librt.
enum { k_clock_monotonic = 1, k_clock_process_cpu = 2 };

struct kernel_time {
  long seconds;
  long nanoseconds;
};

static uint64_t clock_ns(int clock) {
  struct kernel_time time = {0, 0};
  if (syscall(SYS_clock_gettime, clock, &time) != 0) {
    fail(k_exit_runtime, "no clock %d: %s", clock, strerror(errno));
  }
  return (uint64_t)time.seconds * 1000000000u + (uint64_t)time.nanoseconds;
}

uint64_t monotonic_ns(void) {
  return clock_ns(k_clock_monotonic);
}

uint64_t process_cpu_ns(void) {
  return clock_ns(k_clock_process_cpu);
}

uint64_t peak_rss_kb(void) {
  char status[8192];
  const long size = read_file("/proc/self/status", status, sizeof(status) - 1);
  if (size <= 0) return 0;
  status[size] = '\0';
  const char* line = strstr(status, "VmHWM:");
  if (line == NULL) return 0;
  line += strlen("VmHWM:");
  while (*line == ' ' || *line == '\t') ++line;
  uint64_t value = 0;
  while (*line >= '0' && *line <= '9') value = value * 10 + (uint64_t)(*line++ - '0');
  return value;
}

static int write_all(int file, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -1;
    data += written;
    size -= (size_t)written;
  }
  return 0;
}

static void complain_with(const char* format, va_list arguments) {
  char line[4096];
  int size = snprintf(line, sizeof(line), "stab-runner: ");
  const int added = vsnprintf(line + size, sizeof(line) - (size_t)size, format, arguments);
  size = added < 0 ? size : size + added;
  if ((size_t)size > sizeof(line) - 1) size = (int)sizeof(line) - 1;
  line[size] = '\n';
  write_all(2, line, (size_t)size + 1);
}

void complain(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain_with(format, arguments);
  va_end(arguments);
}

void fail(int exit_status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain_with(format, arguments);
  va_end(arguments);
  exit(exit_status);
}

void* allocate(size_t count, size_t size) {
  void* memory = calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);
  if (memory == NULL) fail(k_exit_runtime, "out of memory (%zu times %zu bytes)", count, size);
  return memory;
}

void text_add(struct text* text, const char* format, ...) {
  for (;;) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = text->capacity - text->size;
    const int added =
        vsnprintf(text->data == NULL ? NULL : text->data + text->size, room, format, arguments);
    va_end(arguments);
    if (added < 0) fail(k_exit_runtime, "cannot format a text");
    if ((size_t)added < room) {
      text->size += (size_t)added;
      return;
    }
    text->capacity = 2 * text->capacity + (size_t)added + 64;
    char* larger = realloc(text->data, text->capacity);
    if (larger == NULL) fail(k_exit_runtime, "out of memory (%zu bytes)", text->capacity);
    text->data = larger;
  }
}

void text_free(struct text* text) {
  free(text->data);
  *text = (struct text){NULL, 0, 0};
}

bool path_exists(const char* path) {
  return access(path, F_OK) == 0;
}

bool is_directory(const char* path) {
  const int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  close(file);
  return true;
}

bool has_directory(const char* path) {
  const char* slash = strrchr(path, '/');
  if (slash == NULL || slash == path) return true;
  struct text folder = {NULL, 0, 0};
  text_add(&folder, "%.*s", (int)(slash - path), path);
  const bool found = is_directory(folder.data);
  text_free(&folder);
  return found;
}

bool program_directory(char* buffer, size_t capacity) {
  const ssize_t size = readlink("/proc/self/exe", buffer, capacity - 1);
  if (size <= 0) return false;
  buffer[size] = '\0';
  char* slash = strrchr(buffer, '/');
  if (slash == NULL) return false;
  *slash = '\0';
  return true;
}

long read_file(const char* path, void* buffer, size_t capacity) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  size_t size = 0;
  while (size < capacity) {
    const ssize_t got = read(file, (char*)buffer + size, capacity - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int reason = errno;
      close(file);
      errno = reason;
      return -1;
    }
    if (got == 0) break;
    size += (size_t)got;
  }
  close(file);
  return (long)size;
}

int write_file(const char* path, const void* data, size_t size) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return -1;
  const int written = write_all(file, data, size);
  const int reason = errno;
  if (close(file) != 0 && written == 0) return -1;
  errno = reason;
  return written;
}

int write_output(const char* data, size_t size) {
  return write_all(1, data, size);
}
