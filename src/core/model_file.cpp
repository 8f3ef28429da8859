// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "stab/core/error.h"

namespace stab {
namespace {

constexpr std::size_t k_header_size = 8;           // offset of the root table, file identifier
constexpr flatbuffers::uoffset_t k_max_depth = 8;  // model.fbs nests four tables

std::string_view identifier_of(ModelFormat format) {
  return format == ModelFormat::tflite ? "TFL3" : "CIR0";
}

// FlatBuffers cannot describe more than this; newer models keep constants behind it.
std::span<const std::byte> verifiable(std::span<const std::byte> bytes) {
  return bytes.first(std::min<std::size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1));
}

// Each table of an honest file is referred to by an offset of its own, four bytes: no file holds
// more tables than that, however often a crafted one refers to the same table.
flatbuffers::Verifier make_verifier(std::span<const std::byte> bytes) {
  const auto part = verifiable(bytes);
  flatbuffers::Verifier::Options options;
  options.max_depth = k_max_depth;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(part.size() / 4);
  return flatbuffers::Verifier(reinterpret_cast<const std::uint8_t*>(part.data()), part.size(),
                               options);
}

const flatbuffers::Table* table_of(const void* data) {
  return reinterpret_cast<const flatbuffers::Table*>(data);
}

struct Damage {
  std::string place;
  std::optional<flatbuffers::uoffset_t> element;  // of the list, where one is to blame
};

// Where the list of tables in field `slot` of a table is damaged; absent where it is sound.
// `element` names one of it.
template <class T>
std::optional<Damage> damaged_list(flatbuffers::Verifier& verifier, const void* owner,
                                   flatbuffers::voffset_t slot, const std::string& element) {
  using List = flatbuffers::Vector<flatbuffers::Offset<T>>;
  if (!table_of(owner)->VerifyOffset(verifier, slot)) {
    return Damage{"the list of " + element + "s lies outside the file", {}};
  }
  const List* list = table_of(owner)->template GetPointer<const List*>(slot);
  if (!verifier.VerifyVector(list)) {
    return Damage{"the list of " + element + "s ends outside the file", {}};
  }
  for (flatbuffers::uoffset_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (!verifier.VerifyTable(list->Get(i))) {
      return Damage{element + " " + std::to_string(i) + " lies partly outside the file", i};
    }
  }
  return std::nullopt;
}

// As damaged_list for the subgraphs, but names the tensor or operation where it can. Absent when
// each is sound by itself: then the file only repeats too much.
std::optional<Damage> damaged_subgraph(std::span<const std::byte> bytes,
                                       const schema::Model& root) {
  auto verifier = make_verifier(bytes);
  auto damage =
      damaged_list<schema::SubGraph>(verifier, &root, schema::Model::VT_SUBGRAPHS, "subgraph");
  if (!damage || !damage->element) return damage;
  const schema::SubGraph* subgraph = root.subgraphs()->Get(*damage->element);
  if (make_verifier(bytes).VerifyTable(subgraph)) return std::nullopt;
  auto inner = make_verifier(bytes);
  if (!inner.VerifyTableStart(reinterpret_cast<const std::uint8_t*>(subgraph))) return damage;
  auto part = damaged_list<schema::Tensor>(inner, subgraph, schema::SubGraph::VT_TENSORS, "tensor");
  if (!part) {
    part = damaged_list<schema::Operator>(inner, subgraph, schema::SubGraph::VT_OPERATORS,
                                          "operation");
  }
  if (part) {
    damage->place = "subgraph " + std::to_string(*damage->element) + ": " + part->place;
  }
  return damage;
}

}  // namespace

ModelFile::ModelFile(std::span<const std::byte> bytes, ModelFormat format, std::string_view name)
    : name_(name), bytes_(bytes) {
  check_header(format);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0) {
    aligned_.resize((bytes.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    std::memcpy(aligned_.data(), bytes.data(), bytes.size());
    bytes_ = std::as_bytes(std::span(aligned_)).first(bytes.size());
  }
  verify();
}

const schema::Model& ModelFile::root() const {
  return *schema::GetModel(bytes_.data());
}

void ModelFile::fail(const std::string& why, const std::string& hint) const {
  throw Error(ErrorKind::input, "cannot read model", name_, why, hint);
}

void ModelFile::check_header(ModelFormat format) const {
  if (bytes_.size() < k_header_size) {
    fail("it has " + std::to_string(bytes_.size()) + " bytes, too few for any model");
  }
  const std::string found(reinterpret_cast<const char*>(bytes_.data()) + 4, 4);
  if (found == identifier_of(format)) return;
  const auto real = detect_format(bytes_, {});
  if (real) {
    fail("it is a " + std::string(to_string(*real)) + " model, not " +
             std::string(to_string(format)),
         "the right model-types in MANIFEST, or the right file extension");
  }
  fail("it is no " + std::string(to_string(format)) + " model: bytes 4 to 7 are not '" +
       std::string(identifier_of(format)) + "'");
}

void ModelFile::verify() const {
  auto verifier = make_verifier(bytes_);
  if (!verifier.VerifyBuffer<schema::Model>(nullptr)) {
    fail(damage() + " (" + std::to_string(bytes_.size()) + " bytes)", "fetching the file again");
  }
}

std::string ModelFile::damage() const {
  auto verifier = make_verifier(bytes_);
  const auto offset = verifier.VerifyOffset(0);
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes_.data());
  if (offset == 0 || !verifier.VerifyTableStart(data + offset)) {
    return "its root table lies outside the file";
  }
  auto place = damaged_list<schema::OperatorCode>(
      verifier, &root(), schema::Model::VT_OPERATOR_CODES, "operator code");
  if (!place) {
    place = damaged_list<schema::Buffer>(verifier, &root(), schema::Model::VT_BUFFERS, "buffer");
  }
  if (!place) place = damaged_subgraph(bytes_, root());
  if (place) return place->place;
  return "it refers to the same tables more often than its size allows";
}

}  // namespace stab
