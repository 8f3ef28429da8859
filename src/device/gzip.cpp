// SPDX-License-Identifier: Apache-2.0
#include "stab/device/gzip.h"

#include <zlib.h>

#include <vector>

#include "stab/core/error.h"

namespace stab {
namespace {

constexpr std::size_t k_piece = 64U << 10;
constexpr int k_gzip_window = 15 + 16;  // zlib's own way to ask for gzip's header and trailer

Bytef* as_input(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(
      const_cast<char*>(bytes.data()));  // zlib's next_in is not const, yet only read
}

[[noreturn]] void throw_no_memory() {
  throw Error(ErrorKind::internal, "cannot compress", {}, "no memory");
}

}  // namespace

struct Gunzip::State {
  z_stream stream{};
  bool ended = false;
  std::vector<char> piece = std::vector<char>(k_piece);
};

Gunzip::Gunzip() : state_(std::make_unique<State>()) {
  if (inflateInit2(&state_->stream, k_gzip_window) != Z_OK) throw_no_memory();
}

Gunzip::~Gunzip() {
  inflateEnd(&state_->stream);
}

void Gunzip::feed(std::string_view bytes, const std::function<void(std::string_view)>& sink) {
  z_stream& stream = state_->stream;
  stream.next_in = as_input(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  while (stream.avail_in > 0) {
    int result = Z_DATA_ERROR;
    if (!state_->ended) {
      stream.next_out = reinterpret_cast<Bytef*>(state_->piece.data());
      stream.avail_out = static_cast<uInt>(k_piece);
      result = inflate(&stream, Z_NO_FLUSH);
      const std::size_t count = k_piece - stream.avail_out;
      if (count > 0) sink(std::string_view(state_->piece.data(), count));
    }
    if (result == Z_STREAM_END) {
      state_->ended = true;
    } else if (result != Z_OK) {
      throw Error(ErrorKind::device, "cannot unpack what the device sent", {},
                  "it is not whole gzip data");
    }
  }
}

bool Gunzip::ended() const {
  return state_->ended;
}

struct Gzip::State {
  z_stream stream{};
  std::string* out = nullptr;

  void run(int flush) {
    char piece[k_piece];
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece);
      stream.avail_out = static_cast<uInt>(sizeof piece);
      if (deflate(&stream, flush) == Z_STREAM_ERROR) throw_no_memory();
      out->append(piece, sizeof piece - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

Gzip::Gzip(int level) : state_(std::make_unique<State>()) {
  if (deflateInit2(&state_->stream, level, Z_DEFLATED, k_gzip_window, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw_no_memory();
}

Gzip::~Gzip() {
  deflateEnd(&state_->stream);
}

void Gzip::set_level(int level, std::string& out) {
  state_->out = &out;
  state_->stream.next_in = nullptr;
  state_->stream.avail_in = 0;
  state_->run(Z_BLOCK);  // all that came before, or the new level would wait for more room
  char piece[256];
  state_->stream.next_out = reinterpret_cast<Bytef*>(piece);
  state_->stream.avail_out = static_cast<uInt>(sizeof piece);
  if (deflateParams(&state_->stream, level, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error(ErrorKind::internal, "cannot compress", {}, "the level cannot be changed");
  }
  out.append(piece, sizeof piece - state_->stream.avail_out);
}

void Gzip::feed(std::string_view bytes, bool last, std::string& out) {
  state_->out = &out;
  state_->stream.next_in = as_input(bytes);
  state_->stream.avail_in = static_cast<uInt>(bytes.size());
  state_->run(last ? Z_FINISH : Z_NO_FLUSH);
}

}  // namespace stab
