// SPDX-License-Identifier: Apache-2.0
#include "stab/core/trace.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "json_tokens.h"
#include "trace_fold.h"
#include "trace_forms.h"

namespace stab {
namespace {

// One file: hands each document's telling member to the form that reads it, and drops the rest.
class TraceFile : private JsonHandler {
 public:
  TraceFile(TraceFold& fold, const std::string& name)
      : fold_(fold),
        tokens_(*this, "cannot read trace", name),
        averaged_(fold, tokens_),
        chrome_(fold, tokens_) {}

  void feed(std::string_view bytes) { tokens_.feed(bytes); }

  void finish() {
    if (tokens_.depth() > 0) {
      const bool tolerable = form_ == &chrome_ && chrome_.between_events();
      if (!tolerable) tokens_.fail_at(tokens_.consumed(), "the file is cut off here");
      fold_.end_events(true);
    } else if (!known_) {
      tokens_.fail_at(tokens_.consumed(),
                      tokens_.consumed() == 0 ? "the file is empty" : "the file holds only blanks");
    }
  }

 private:
  void begin_object() override {
    if (tokens_.depth() == 1) known_ = false;
    if (form_ != nullptr) form_->begin_object();
  }
  void end_object() override {
    if (form_ != nullptr) form_->end_object();
    if (tokens_.depth() == 1 && !known_) {
      tokens_.fail("the document that ends here holds neither Execution_Data nor traceEvents");
    }
    leave();
  }
  void begin_array() override {
    if (form_ != nullptr) form_->begin_array();
  }
  void end_array() override {
    if (form_ != nullptr) form_->end_array();
    leave();
  }
  void key(std::string_view text) override {
    if (tokens_.depth() > 1) {
      if (form_ != nullptr) form_->key(text);
      return;
    }
    form_ = nullptr;
    if (text == "Execution_Data") form_ = &averaged_;
    if (text == "traceEvents") form_ = &chrome_;
    known_ = known_ || form_ != nullptr;
  }
  void string(std::string_view text) override {
    if (form_ != nullptr) form_->string(text);
  }
  void number(std::string_view text) override {
    if (form_ != nullptr) form_->number(text);
  }
  void literal(std::string_view text) override {
    if (form_ != nullptr) form_->literal(text);
  }
  // The container that ends here may have been the form's whole member.
  void leave() {
    if (tokens_.depth() != 2) return;
    if (form_ == &chrome_) fold_.end_events(false);
    form_ = nullptr;
  }

  TraceFold& fold_;
  JsonTokens tokens_;
  AveragedForm averaged_;
  ChromeForm chrome_;
  JsonHandler* form_ = nullptr;
  bool known_ = false;  // the document in hand has a form
};

}  // namespace

class TraceReader::Impl {
 public:
  explicit Impl(TraceOptions options) : fold_(options) {}

  void begin_file(std::string name) {
    end_file();
    name_ = std::move(name);
    file_.emplace(fold_, name_);
  }
  void feed(std::string_view bytes) { file_.value().feed(bytes); }
  Trace finish() {
    end_file();
    return fold_.finish(name_);
  }

 private:
  void end_file() {
    if (file_) file_->finish();
    file_.reset();
  }

  TraceFold fold_;
  std::string name_;
  std::optional<TraceFile> file_;
};

TraceReader::TraceReader(TraceOptions options) : impl_(std::make_unique<Impl>(options)) {}
TraceReader::~TraceReader() = default;
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;

void TraceReader::begin_file(std::string name) {
  impl_->begin_file(std::move(name));
}
void TraceReader::feed(std::string_view bytes) {
  impl_->feed(bytes);
}
Trace TraceReader::finish() {
  return impl_->finish();
}

Trace parse_trace(std::string_view bytes, std::string name, TraceOptions options) {
  TraceReader reader(options);
  reader.begin_file(std::move(name));
  reader.feed(bytes);
  return reader.finish();
}

std::optional<std::int64_t> OpTrace::input_elements() const {
  if (!input_shape) return std::nullopt;
  std::int64_t elements = 1;
  for (const std::int64_t size : *input_shape) {
    if (size < 0 || (size > 0 && elements > std::numeric_limits<std::int64_t>::max() / size)) {
      return std::nullopt;
    }
    elements *= size;
  }
  return elements;
}

const OpTrace* Trace::find(OpId op, std::string_view backend) const {
  const auto found = std::lower_bound(
      ops.begin(), ops.end(), std::pair(op, backend), [](const OpTrace& entry, const auto& wanted) {
        return std::pair(entry.op, std::string_view(entry.backend)) < wanted;
      });
  return found != ops.end() && found->op == op && found->backend == backend ? &*found : nullptr;
}

}  // namespace stab
