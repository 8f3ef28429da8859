// SPDX-License-Identifier: Apache-2.0
// The result document and stab.json: one writer for both, so that what they share cannot differ.
#include <algorithm>

#include "core/comparison_json.h"
#include "core/document.h"
#include "stab/core/result.h"

namespace stab {
namespace {

Json interval_json(const std::optional<Interval>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

template <typename Id>
Json ids(const std::vector<Id>& values) {
  Json array = Json::array();
  for (const Id& id : values) array.push_back(to_string(id));
  return array;
}

Json op_json(const OpRow& row, bool with_choice) {
  Json candidates = Json::object();
  for (const auto& [backend, candidate] : row.candidates) {
    candidates[backend] = {{"median_us", candidate.us.median},
                           {"low_us", json_or_null(candidate.us.low)},
                           {"high_us", json_or_null(candidate.us.high)},
                           {"samples", candidate.samples},
                           {"rounds", candidate.rounds},
                           {"round_medians_us", candidate.round_medians_us},
                           {"runs", candidate.runs}};
  }
  Json json = {{"op", to_string(row.op)},
               {"type", row.type},
               {"key", json_or_null(row.key)},
               {"name", json_unless_empty(row.name)},
               {"in", ids(row.in)},
               {"out", ids(row.out)},
               {"after", ids(row.after)},
               {"fixed", json_or_null(row.fixed)},
               {"candidates", std::move(candidates)}};
  if (with_choice) {
    json["chosen"] = row.chosen;
    Json company = Json::object();
    for (const auto& [backend, cost] : row.in_company_us) company[backend] = cost;
    json["in_company_us"] = std::move(company);
  }
  return json;
}

Json tensor_json(const TensorRow& row) {
  return {{"id", to_string(row.id)},  {"dtype", row.dtype},
          {"shape", row.shape},       {"bytes", json_or_null(row.bytes)},
          {"constant", row.constant}, {"input", row.input},
          {"output", row.output}};
}

Json transfer_json(const TransferRow& row) {
  return {{"from", row.from},
          {"to", row.to},
          {"latency_us", row.latency_us},
          {"bytes_per_us", row.bytes_per_us},
          {"points", row.points},
          {"residual_us", json_or_null(row.residual_us)},
          {"source", row.source}};
}

Json keys_json(const std::vector<std::pair<std::string, std::string>>& keys) {
  Json json = Json::object();
  for (const auto& [key, value] : keys) json[key] = value;
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
          {"reason", json_unless_empty(proof.reason)}};
}

Json equal_json(const EqualProof& proof) {
  Json outputs = Json::array();
  for (const auto& output : proof.outputs) {
    outputs.push_back({{"index", output.index},
                       {"dtype", output.dtype},
                       {"max_abs", output.max_abs},
                       {"max_rel", output.max_rel},
                       {"limit_abs", output.limit_abs},
                       {"limit_rel", output.limit_rel},
                       {"nan", output.nan},
                       {"comparable", output.comparable}});
  }
  return {{"status", to_string(proof.status)}, {"seeds", proof.seeds},
          {"outputs", std::move(outputs)},     {"remedy", json_or_null(proof.remedy)},
          {"guilty", ids(proof.guilty)},       {"reason", json_unless_empty(proof.reason)}};
}

Json faster_json(const FasterProof& proof, bool with_samples) {
  Json json = {{"status", to_string(proof.status)},
               {"against", json_unless_empty(proof.against)},
               {"median_us", json_or_null(proof.median_us)},
               {"round_medians_us", proof.round_medians_us},
               {"delta_us", interval_json(proof.delta_us)}};
  if (with_samples) json["samples_us"] = proof.samples_us;
  return json;
}

Json estimate_json(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"total", estimate->total_us},   {"ops", estimate->ops_us},
          {"copies", estimate->copies_us}, {"overhead", estimate->overhead_us},
          {"low", estimate->low_us},       {"high", estimate->high_us}};
}

Json plan_json(const Plan& plan, bool with_samples, bool with_proofs) {
  Json copies = Json::array();
  for (const PlanCopy& copy : plan.copies) {
    copies.push_back({{"tensor", to_string(copy.tensor)},
                      {"from", copy.from},
                      {"to", copy.to},
                      {"cost_us", copy.cost_us}});
  }
  Json json = {{"id", plan.id},
               {"kind", to_string(plan.kind)},
               {"backend", json_or_null(plan.backend)},
               {"placement", json_of(plan.placement)},
               {"keys", keys_json(plan.keys)},
               {"switches", plan.switches},
               {"copies", std::move(copies)},
               {"estimate_us", estimate_json(plan.estimate)},
               {"peak_rss_kb", json_or_null(plan.peak_rss_kb)}};
  if (with_proofs) {
    json["applied"] = applied_json(plan.applied);
    json["equal"] = equal_json(plan.equal);
    json["faster"] = faster_json(plan.faster, with_samples);
  }
  return json;
}

Json certificate_json(const CertificateRow& row) {
  return {{"status", row.status},
          {"cost_us", json_or_null(row.cost_us)},
          {"bound_us", json_or_null(row.bound_us)},
          {"gap", json_or_null(row.gap)},
          {"method", row.method},
          {"width", row.width},
          {"states", row.states},
          {"prediction_error_percent", json_or_null(row.prediction_error_percent)}};
}

Json delivery_json(const Delivery& delivery) {
  return {{"works", json_or_null(delivery.works)},
          {"tried",
           {{"config", json_or_null(delivery.tried_config)},
            {"env", json_or_null(delivery.tried_env)},
            {"api", json_or_null(delivery.tried_api)}}},
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
  return {{"graph_us", interval_json(times.graph_us)},
          {"samples_us", times.samples_us},
          {"sum_of_ops_us", json_or_null(times.sum_of_ops_us)},
          {"prepare_us", json_or_null(times.prepare_us)},
          {"peak_rss_kb", json_or_null(times.peak_rss_kb)},
          {"drift_percent", json_or_null(times.drift_percent)},
          {"outliers", json_or_null(times.outliers)}};
}

Json backend_json(const BackendRow& row) {
  Json by_threads = Json::object();
  for (const auto& [threads, times] : row.by_threads)
    by_threads[std::to_string(threads)] = single_times_json(times);
  return {{"name", row.name},
          {"status", to_string(row.status)},
          {"reason", json_unless_empty(row.reason)},
          {"ops_run", row.ops_run},
          {"equal", row.equal ? Json(to_string(*row.equal)) : Json(nullptr)},
          {"by_threads", std::move(by_threads)}};
}

Json backends_json(const std::vector<BackendRow>& backends) {
  std::vector<const BackendRow*> rows;
  for (const BackendRow& row : backends) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BackendRow* a, const BackendRow* b) { return a->name < b->name; });
  Json array = Json::array();
  for (const BackendRow* row : rows) array.push_back(backend_json(*row));
  return array;
}

Json summary_json(const Summary& summary) {
  return {{"package_path", json_or_null(summary.package_path)},
          {"median_us", json_or_null(summary.median_us)},
          {"baseline_us", json_or_null(summary.baseline_us)},
          {"today_us", json_or_null(summary.today_us)},
          {"speedup", interval_json(summary.speedup)},
          {"speedup_over_today", interval_json(summary.speedup_over_today)},
          {"beyond_noise", json_or_null(summary.beyond_noise)},
          {"skipped_proofs", summary.skipped_proofs}};
}

Json state_json(const StateReport& state) {
  return {{"before", state.before ? json_of(*state.before) : Json(nullptr)},
          {"after", state.after ? json_of(*state.after) : Json(nullptr)},
          {"moved", state.moved}};
}

Json error_json(const std::optional<ErrorRow>& error) {
  if (!error) return nullptr;
  return {{"kind", to_string(error->kind)},
          {"what", error->what},
          {"subject", error->subject},
          {"why", error->why},
          {"try", json_unless_empty(error->hint)}};
}

/// The rows that result and stab.json share, appended in the order of the documents' description.
void append_shared(Json& json, const Result& result, bool result_form, bool with_proofs) {
  json["threads"] = result.threads;
  json["algorithm"] = result.algorithm;
  json["chosen"] = json_unless_empty(result.chosen);
  json["baseline"] = json_unless_empty(result.baseline);
  json["overhead_us"] = json_or_null(result.overhead_us);
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

const Plan* chosen_plan(const Result& result) {
  return result.find_plan(result.chosen);
}

}  // namespace

std::string render_schedule(const Result& result, bool with_proofs) {
  Json json = {{"schema_version", 1}, {"kind", "schedule"}, {"stab", json_of(result.stab)}};
  json["context"] = json_of(result.context, false);
  json["profile_sha256"] = json_or_null(result.profile_sha256);
  append_shared(json, result, false, with_proofs);
  json["warnings"] = with_proofs ? json_of(result.warnings) : Json::array();
  return render_document(json);
}

std::string render_result(const Result& result) {
  Json json = {{"schema_version", 1}, {"kind", "result"}, {"stab", json_of(result.stab)}};
  json["context"] = json_of(result.context);
  json["all_on_one_backend"] = result.all_on_one_backend;
  json["exit_status"] = result.exit_status;
  json["outcome"] = to_string(result.outcome);
  json["error"] = error_json(result.error);
  json["measured_at"] = json_or_null(result.measured_at);
  json["backends"] = backends_json(result.backends);
  append_shared(json, result, true, true);
  const Plan* chosen = chosen_plan(result);
  json["proofs"] = {{"applied", chosen ? Json(to_string(chosen->applied.status)) : Json(nullptr)},
                    {"equal", chosen ? Json(to_string(chosen->equal.status)) : Json(nullptr)},
                    {"faster", chosen ? Json(to_string(chosen->faster.status)) : Json(nullptr)}};
  json["summary"] = summary_json(result.summary);
  json["noise"] = {{"between_rounds_percent", json_or_null(result.noise.between_rounds_percent)},
                   {"half_width_percent", json_or_null(result.noise.half_width_percent)},
                   {"stable", json_or_null(result.noise.stable)}};
  json["state"] = state_json(result.state);
  json["comparison"] = result.comparison ? json_of(*result.comparison) : Json(nullptr);
  json["stages"] = Json::array();
  for (const Stage& stage : result.stages) {
    json["stages"].push_back({{"name", stage.name},
                              {"host_s", stage.host_s},
                              {"device_s", stage.device_s},
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
  json["warnings"] = json_of(result.warnings);
  return render_document(json);
}

}  // namespace stab
