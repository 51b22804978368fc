// SPDX-License-Identifier: Apache-2.0
//
// Runs the checks of `tutti verify` and reports them as JSON.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "plugin/loader.hpp"
#include "text.hpp"
#include "verify.hpp"
#include "verify/abilities.hpp"
#include "verify/plugin_file.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;
using namespace tutti::conformance;

const char* word(verdict how) {
  constexpr const char* words[] = {"passed", "failed", "left out"};
  return words[static_cast<int>(how)];
}

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

json about(const session& s) {
  return {{"name", text_of(s.api->name)},
          {"version", text_of(s.api->version)},
          {"device", text_of(s.properties.name)},
          {"driver", text_of(s.properties.driver)},
          {"schedule", text_of(s.properties.schedule)}};
}

json errors_of(session& s) {
  json rows = json::array();
  for (const auto& [key, worst] : s.worst)
    rows.push_back({{"operation", key.first},
                    {"dtype", sdk::dtype_name(key.second)},
                    {"worst_ulps", worst.ulps},
                    {"allowed_ulps", worst.allowed}});
  s.worst.clear();
  return rows;
}

json rows_of(const std::vector<ability>& all) {
  json rows = json::array();
  for (const ability& a : all)
    rows.push_back({{"name", a.name},
                    {"dtypes", dtype_names(a.has)},
                    {"lacks", dtype_names(a.whole & ~a.has)}});
  return rows;
}

json can(const session& s) {
  const abilities all = abilities_of(s);
  json operators = json::array();
  for (const ability& a : all.operators)
    operators.push_back({{"name", a.name}, {"dtypes", dtype_names(a.has)}});
  return {{"stored_dtypes", dtype_names(all.stored_dtypes)},
          {"computed_dtypes", dtype_names(all.computed_dtypes)},
          {"operations", rows_of(all.operations)},
          {"reductions", rows_of(all.reductions)},
          {"operators", operators},
          {"optional", all.optional},
          {"lacks", all.lacks},
          {"kernel_languages", all.languages}};
}

void work_through(session& s, const verify_options& options,
                  const std::function<void(const json&)>& tell) {
  const groups all = chosen_groups(s, options.chosen, options.fuzz);
  json names = json::array();
  for (const group& g : all) names.push_back(g.name);
  tell({{"groups", std::move(names)}});
  if (options.list) return;
  for (uint64_t i = options.from; i < all.size(); ++i) {
    tell({{"group", i}});
    const group_result result = run(all[i], s);
    tell({{"result",
           {{"outcome", word(result.how)}, {"text", result.text}, {"errors", errors_of(s)}}}});
  }
  if (options.fuzz.count > 0) return;
  tell({{"group", all.size()}});
  tell({{"can", can(s)}});
}

}  // namespace

void run_checks(const verify_options& options, const std::function<void(const json&)>& tell) {
  try {
    // With the same rules as in every program.
    const plugins::trusted_file trusted = plugins::check_plugin_file(
        std::filesystem::absolute(options.plugin), name_of_file(options.plugin),
        plugins::trust_rules_from_environment());
    trusted.require_same();
    session s(options.plugin, options.device, options.seed, [&](const char* step) {
      tell({{"step", step}});
    });
    trusted.require_stated(text_of(s.api->version), s.api->abi_major, s.api->abi_minor);
    s.patience = std::chrono::seconds(std::clamp(static_cast<int>(options.time_limit / 2), 1, 20));
    s.on_note = [&](const std::string& text) { tell({{"note", text}}); };
    tell({{"about", about(s)}});
    work_through(s, options, tell);
  } catch (const no_driver& absent) {
    tell({{"no_driver", absent.what()}});
  } catch (const std::exception& error) {
    tell({{"problem", error.what()}});
  }
  tell({{"done", true}});
}

}  // namespace tutti::tools
