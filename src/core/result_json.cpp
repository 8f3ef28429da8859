// SPDX-License-Identifier: Apache-2.0
// The result document and stab.json: one writer for both, so that what they share cannot differ.
#include <nlohmann/json.hpp>

#include "document.h"
#include "stab/core/result.h"

namespace stab {
namespace {

using Json = nlohmann::ordered_json;
using document::number;

Json optional_number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json interval(const std::optional<Interval>& value) {
  if (!value) return nullptr;
  return {{"median", number(value->median)},
          {"low", optional_number(value->low)},
          {"high", optional_number(value->high)}};
}

template <typename T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <typename Id>
Json ids(const std::vector<Id>& values) {
  Json array = Json::array();
  for (const Id& id : values) array.push_back(to_string(id));
  return array;
}

Json numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(number(value));
  return array;
}

Json nested_numbers(const std::vector<std::vector<double>>& values) {
  Json array = Json::array();
  for (const auto& row : values) array.push_back(numbers(row));
  return array;
}

Json op_json(const OpRow& row, bool with_choice) {
  Json candidates = Json::object();
  for (const auto& [backend, candidate] : row.candidates) {
    candidates[backend] = {{"median_us", number(candidate.us.median)},
                           {"low_us", optional_number(candidate.us.low)},
                           {"high_us", optional_number(candidate.us.high)},
                           {"samples", candidate.samples},
                           {"rounds", candidate.rounds},
                           {"round_medians_us", numbers(candidate.round_medians_us)},
                           {"runs", candidate.runs}};
  }
  Json json = {{"op", to_string(row.op)},
               {"type", row.type},
               {"key", optional(row.key)},
               {"name", row.name},
               {"in", ids(row.in)},
               {"out", ids(row.out)},
               {"after", ids(row.after)},
               {"fixed", optional(row.fixed)},
               {"candidates", std::move(candidates)}};
  if (with_choice) {
    json["chosen"] = row.chosen;
    Json company = Json::object();
    for (const auto& [backend, cost] : row.in_company_us) company[backend] = number(cost);
    json["in_company_us"] = std::move(company);
  }
  return json;
}

Json tensor_json(const TensorRow& row) {
  return {{"id", to_string(row.id)},      {"dtype", row.dtype},       {"shape", row.shape},
          {"bytes", optional(row.bytes)}, {"constant", row.constant}, {"input", row.input},
          {"output", row.output}};
}

Json transfer_json(const TransferRow& row) {
  return {{"from", row.from},
          {"to", row.to},
          {"latency_us", number(row.latency_us)},
          {"bytes_per_us", number(row.bytes_per_us)},
          {"points", row.points},
          {"residual_us", optional_number(row.residual_us)},
          {"source", row.source}};
}

Json keys_json(const std::vector<std::pair<std::string, std::string>>& keys) {
  Json json = Json::object();
  for (const auto& [key, value] : keys) json[key] = value;
  return json;
}

Json placement_json(const Placement& placement) {
  Json json = Json::object();
  for (const auto& [op, backend] : placement) json[to_string(op)] = backend;
  return json;
}

Json applied_json(const AppliedProof& proof) {
  Json mismatches = Json::array();
  for (const auto& mismatch : proof.mismatches) {
    mismatches.push_back(
        {{"op", to_string(mismatch.op)}, {"wanted", mismatch.wanted}, {"ran", mismatch.ran}});
  }
  return {{"status", to_string(proof.status)},
          {"mismatches", std::move(mismatches)},
          {"reason", text_or_null(proof.reason)}};
}

Json equal_json(const EqualProof& proof) {
  Json outputs = Json::array();
  for (const auto& output : proof.outputs) {
    outputs.push_back({{"index", output.index},
                       {"dtype", output.dtype},
                       {"max_abs", number(output.max_abs)},
                       {"max_rel", number(output.max_rel)},
                       {"limit_abs", number(output.limit_abs)},
                       {"limit_rel", number(output.limit_rel)},
                       {"nan", output.nan},
                       {"comparable", output.comparable}});
  }
  return {{"status", to_string(proof.status)}, {"seeds", proof.seeds},
          {"outputs", std::move(outputs)},     {"remedy", optional(proof.remedy)},
          {"guilty", ids(proof.guilty)},       {"reason", text_or_null(proof.reason)}};
}

Json faster_json(const FasterProof& proof, bool with_samples) {
  Json json = {{"status", to_string(proof.status)},
               {"against", text_or_null(proof.against)},
               {"median_us", optional_number(proof.median_us)},
               {"round_medians_us", numbers(proof.round_medians_us)},
               {"delta_us", interval(proof.delta_us)}};
  if (with_samples) json["samples_us"] = nested_numbers(proof.samples_us);
  return json;
}

Json estimate_json(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"total", number(estimate->total_us)},   {"ops", number(estimate->ops_us)},
          {"copies", number(estimate->copies_us)}, {"overhead", number(estimate->overhead_us)},
          {"low", number(estimate->low_us)},       {"high", number(estimate->high_us)}};
}

Json plan_json(const Plan& plan, bool with_samples, bool with_proofs) {
  Json copies = Json::array();
  for (const PlanCopy& copy : plan.copies) {
    copies.push_back({{"tensor", to_string(copy.tensor)},
                      {"from", copy.from},
                      {"to", copy.to},
                      {"cost_us", number(copy.cost_us)}});
  }
  Json json = {{"id", plan.id},
               {"kind", to_string(plan.kind)},
               {"backend", optional(plan.backend)},
               {"placement", placement_json(plan.placement)},
               {"keys", keys_json(plan.keys)},
               {"switches", plan.switches},
               {"copies", std::move(copies)},
               {"estimate_us", estimate_json(plan.estimate)},
               {"peak_rss_kb", optional(plan.peak_rss_kb)}};
  if (with_proofs) {
    json["applied"] = applied_json(plan.applied);
    json["equal"] = equal_json(plan.equal);
    json["faster"] = faster_json(plan.faster, with_samples);
  }
  return json;
}

Json certificate_json(const CertificateRow& row) {
  return {{"status", row.status},
          {"cost_us", optional_number(row.cost_us)},
          {"bound_us", optional_number(row.bound_us)},
          {"gap", optional_number(row.gap)},
          {"method", row.method},
          {"width", row.width},
          {"states", row.states},
          {"prediction_error_percent", optional_number(row.prediction_error_percent)}};
}

Json delivery_json(const Delivery& delivery) {
  return {{"works", optional(delivery.works)},
          {"tried",
           {{"config", optional(delivery.tried_config)},
            {"env", optional(delivery.tried_env)},
            {"api", optional(delivery.tried_api)}}},
          {"command", delivery.command},
          {"api",
           {{"available_backends", delivery.available_backends},
            {"per_operation", delivery.per_operation}}}};
}

Json left_out_json(const std::vector<LeftOutRow>& rows) {
  Json array = Json::array();
  for (const LeftOutRow& row : rows)
    array.push_back({{"op", to_string(row.op)}, {"wanted", row.wanted}, {"reason", row.reason}});
  return array;
}

Json single_times_json(const SingleTimes& times) {
  return {{"graph_us", interval(times.graph_us)},
          {"samples_us", nested_numbers(times.samples_us)},
          {"sum_of_ops_us", optional_number(times.sum_of_ops_us)},
          {"prepare_us", optional_number(times.prepare_us)},
          {"peak_rss_kb", optional(times.peak_rss_kb)},
          {"drift_percent", optional_number(times.drift_percent)},
          {"outliers", optional(times.outliers)}};
}

Json backend_json(const BackendRow& row) {
  Json by_threads = Json::object();
  for (const auto& [threads, times] : row.by_threads)
    by_threads[std::to_string(threads)] = single_times_json(times);
  return {{"name", row.name},
          {"status", to_string(row.status)},
          {"reason", text_or_null(row.reason)},
          {"ops_run", row.ops_run},
          {"equal", row.equal ? Json(to_string(*row.equal)) : Json(nullptr)},
          {"by_threads", std::move(by_threads)}};
}

Json comparison_json(const std::optional<Comparison>& comparison) {
  if (!comparison) return nullptr;
  Json ops = Json::array();
  for (const OpChange& change : comparison->ops) {
    ops.push_back({{"op", to_string(change.op)},
                   {"verdict", change.verdict},
                   {"delta_percent", optional_number(change.delta_percent)}});
  }
  return {{"baseline_sha256", comparison->baseline_sha256},
          {"verdict", comparison->verdict},
          {"delta_percent", interval(comparison->delta_percent)},
          {"gate_percent", optional_number(comparison->gate_percent)},
          {"ops", std::move(ops)}};
}

Json summary_json(const Summary& summary) {
  return {{"package_path", optional(summary.package_path)},
          {"median_us", optional_number(summary.median_us)},
          {"baseline_us", optional_number(summary.baseline_us)},
          {"today_us", optional_number(summary.today_us)},
          {"speedup", interval(summary.speedup)},
          {"speedup_over_today", interval(summary.speedup_over_today)},
          {"beyond_noise", optional(summary.beyond_noise)},
          {"skipped_proofs", summary.skipped_proofs}};
}

Json state_json(const StateReport& state) {
  return {{"before", state.before ? document::state_json(*state.before) : Json(nullptr)},
          {"after", state.after ? document::state_json(*state.after) : Json(nullptr)},
          {"moved", state.moved}};
}

Json warnings_json(const std::vector<Warning>& warnings) {
  Json array = Json::array();
  for (const Warning& warning : warnings) array.push_back(document::warning_json(warning));
  return array;
}

Json error_json(const std::optional<ErrorRow>& error) {
  if (!error) return nullptr;
  return {{"kind", to_string(error->kind)},
          {"what", error->what},
          {"subject", error->subject},
          {"why", error->why},
          {"try", text_or_null(error->hint)}};
}

/// The rows that result and stab.json share, appended in the order of the documents' description.
void append_shared(Json& json, const Result& result, bool result_form, bool with_proofs) {
  json["threads"] = result.threads;
  json["algorithm"] = result.algorithm;
  json["chosen"] = text_or_null(result.chosen);
  json["baseline"] = text_or_null(result.baseline);
  json["overhead_us"] = optional_number(result.overhead_us);
  json["ops"] = Json::array();
  for (const OpRow& row : result.ops) json["ops"].push_back(op_json(row, result_form));
  json["tensors"] = Json::array();
  for (const TensorRow& row : result.tensors) json["tensors"].push_back(tensor_json(row));
  json["transfers"] = Json::array();
  for (const TransferRow& row : result.transfers) json["transfers"].push_back(transfer_json(row));
  json["plans"] = Json::array();
  for (const Plan& plan : result.plans)
    json["plans"].push_back(plan_json(plan, result_form, with_proofs));
  json["certificate"] = certificate_json(result.certificate);
  json["delivery"] = with_proofs ? delivery_json(result.delivery) : Json(nullptr);
  json["left_out"] = left_out_json(result.left_out);
}

std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json stab_json(const Result& result) {
  return {{"version", result.stab_version}, {"commit", result.stab_commit}};
}

const Plan* chosen_plan(const Result& result) {
  return result.find_plan(result.chosen);
}

}  // namespace

std::string render_schedule(const Result& result, bool with_proofs) {
  Json json = {{"schema_version", 1}, {"kind", "schedule"}, {"stab", stab_json(result)}};
  json["context"] = document::context_json(result.context, document::Host::left_out);
  json["profile_sha256"] = optional(result.profile_sha256);
  append_shared(json, result, false, with_proofs);
  json["warnings"] = with_proofs ? warnings_json(result.warnings) : Json::array();
  return dump(json);
}

std::string render_result(const Result& result) {
  Json json = {{"schema_version", 1}, {"kind", "result"}, {"stab", stab_json(result)}};
  json["context"] = document::context_json(result.context, document::Host::named);
  json["all_on_one_backend"] = result.all_on_one_backend;
  json["exit_status"] = result.exit_status;
  json["outcome"] = to_string(result.outcome);
  json["error"] = error_json(result.error);
  json["measured_at"] = optional(result.measured_at);
  json["backends"] = Json::array();
  for (const BackendRow& row : result.backends) json["backends"].push_back(backend_json(row));
  append_shared(json, result, true, true);
  const Plan* chosen = chosen_plan(result);
  json["proofs"] = {{"applied", chosen ? Json(to_string(chosen->applied.status)) : Json(nullptr)},
                    {"equal", chosen ? Json(to_string(chosen->equal.status)) : Json(nullptr)},
                    {"faster", chosen ? Json(to_string(chosen->faster.status)) : Json(nullptr)}};
  json["summary"] = summary_json(result.summary);
  json["noise"] = {{"between_rounds_percent", optional_number(result.noise.between_rounds_percent)},
                   {"half_width_percent", optional_number(result.noise.half_width_percent)},
                   {"stable", optional(result.noise.stable)}};
  json["state"] = state_json(result.state);
  json["comparison"] = comparison_json(result.comparison);
  json["stages"] = Json::array();
  for (const Stage& stage : result.stages) {
    json["stages"].push_back({{"name", stage.name},
                              {"host_s", number(stage.host_s)},
                              {"device_s", number(stage.device_s)},
                              {"bytes", stage.bytes}});
  }
  if (result.written) {
    Json files = Json::array();
    for (const WrittenFile& file : *result.written)
      files.push_back({{"path", file.path}, {"sha256", file.sha256}});
    json["written"] = {{"files", std::move(files)}};
  } else {
    json["written"] = nullptr;
  }
  json["warnings"] = warnings_json(result.warnings);
  return dump(json);
}

}  // namespace stab
