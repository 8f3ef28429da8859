// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <stdbool.h>

/// A positive number as mantissa in [1, 2) times a power of two: products of many samples overflow
/// a double.
struct scaled {
  double mantissa;
  int64_t exponent;
};

static struct scaled normalised(double mantissa, int64_t exponent) {
  for (; mantissa >= 2.0; mantissa /= 2.0) ++exponent;
  for (; mantissa < 1.0; mantissa *= 2.0) --exponent;
  return (struct scaled){mantissa, exponent};
}

static struct scaled times(struct scaled a, struct scaled b) {
  return normalised(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

static struct scaled power(double base, size_t count) {
  struct scaled result = {1.0, 0};
  struct scaled factor = normalised(base, 0);
  for (; count > 0; count /= 2) {
    if (count % 2 == 1) result = times(result, factor);
    factor = times(factor, factor);
  }
  return result;
}

static bool less(struct scaled a, struct scaled b) {
  return a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa);
}

uint64_t geometric_mean(const uint64_t* samples, size_t count) {
  struct scaled product = {1.0, 0};
  uint64_t low = UINT64_MAX;
  uint64_t high = 1;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t sample = samples[i] == 0 ? 1 : samples[i];
    product = times(product, normalised((double)sample, 0));
    if (sample < low) low = sample;
    if (sample > high) high = sample;
  }
  // The largest whole number between the extremes whose power does not exceed the product; the
  // maths library with its logarithms is not among the libraries that the runner may need.
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2 + 1;
    if (less(product, power((double)middle, count))) {
      high = middle - 1;
    } else {
      low = middle;
    }
  }
  return low;
}

/// Milliseconds with three decimals, rounded; whole numbers only, so no locale is involved.
static void add_ms(struct text* text, const char* format_before, uint64_t ns) {
  const uint64_t us = (ns + 500) / 1000;
  text_add(text, "%s%llu.%03u ms\n", format_before, (unsigned long long)(us / 1000),
           (unsigned)(us % 1000));
}

void add_block(struct text* text, const struct session* session,
               const struct measurement* measurement) {
  static const char k_line[] = "===================================\n";
  uint64_t sum = 0;
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (size_t i = 0; i < measurement->sample_count; ++i) {
    const uint64_t sample = measurement->samples[i];
    sum += sample;
    if (sample < least) least = sample;
    if (sample > most) most = sample;
  }
  const uint64_t mean = sum / measurement->sample_count;
  text_add(text, "%s", k_line);
  add_ms(text, "MODEL_LOAD   takes ", session->load_ns);
  add_ms(text, "PREPARE      takes ", session->prepare_ns);
  add_ms(text, "EXECUTE      takes ", mean);
  add_ms(text, "- MEAN     :  ", mean);
  add_ms(text, "- MAX      :  ", most);
  add_ms(text, "- MIN      :  ", least);
  add_ms(text, "- GEOMEAN  :  ", geometric_mean(measurement->samples, measurement->sample_count));
  text_add(text, "%s", k_line);
}

static void add_us(struct text* text, const char* before, uint64_t ns) {
  text_add(text, "%s%llu.%03u", before, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

static void add_string(struct text* text, const char* string) {
  if (string == NULL) {
    text_add(text, "null");
    return;
  }
  text_add(text, "\"");
  for (; *string != '\0'; ++string) {
    const unsigned char byte = (unsigned char)*string;
    if (byte == '"' || byte == '\\') {
      text_add(text, "\\%c", byte);
    } else if (byte < 0x20) {
      text_add(text, "\\u%04x", byte);
    } else {
      text_add(text, "%c", byte);
    }
  }
  text_add(text, "\"");
}

static void add_tensors(struct text* text, const char* name, const struct tensor* tensors,
                        uint32_t count) {
  text_add(text, ",\"%s\":[", name);
  for (uint32_t i = 0; i < count; ++i) {
    const struct tensor* tensor = &tensors[i];
    text_add(text, "%s{\"index\":%u,\"dtype\":", i == 0 ? "" : ",", i);
    add_string(text, type_name(tensor->info.dtype));
    if (tensor->sized) {
      text_add(text, ",\"bytes\":%zu,\"shape\":[", tensor->used);
    } else {
      text_add(text, ",\"bytes\":null,\"shape\":[");
    }
    for (int32_t k = 0; k < tensor->info.rank; ++k) {
      text_add(text, "%s%d", k == 0 ? "" : ",", tensor->info.dims[k]);
    }
    text_add(text, "]}");
  }
  text_add(text, "]");
}

void add_json(struct text* text, const struct session* session,
              const struct measurement* measurement) {
  static const char* const k_tracing[] = {"none", "env", "api"};
  text_add(text, "stab-runner {\"samples_us\":[");
  for (size_t i = 0; i < measurement->sample_count; ++i) {
    add_us(text, i == 0 ? "" : ",", measurement->samples[i]);
  }
  text_add(text, "],\"warmup_runs\":%u", measurement->warmup_runs);
  add_us(text, ",\"cpu_time_us\":", measurement->cpu_ns);
  add_us(text, ",\"wall_time_us\":", measurement->wall_ns);
  if (measurement->peak_rss_kb == 0) {
    text_add(text, ",\"peak_rss_kb\":null");
  } else {
    text_add(text, ",\"peak_rss_kb\":%llu", (unsigned long long)measurement->peak_rss_kb);
  }
  add_us(text, ",\"load_us\":", session->load_ns);
  add_us(text, ",\"prepare_us\":", session->prepare_ns);
  text_add(text, ",\"version\":");
  add_string(text, session->library->version);
  text_add(text, ",\"library\":");
  add_string(text, session->library->path);
  text_add(text, ",\"tracing\":\"%s\",\"backends_set\":%s", k_tracing[session->tracing],
           session->backends_set ? "true" : "false");
  add_tensors(text, "inputs", session->inputs, session->input_count);
  add_tensors(text, "outputs", session->outputs, session->output_count);
  text_add(text, "}\n");
}
