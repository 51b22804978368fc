// SPDX-License-Identifier: Apache-2.0
//
// A folder with one of the made-up plugins, two pairs of keys, and `tutti sign`.
#pragma once

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugin/manifest.hpp"
#include "plugin/trust.hpp"
#include "support.hpp"
#include "tutti_test/paths.hpp"

namespace loader_test {

namespace fs = std::filesystem;

struct signed_world {
  temporary_folder root;
  fs::path folder = root.path() / "plugins";
  fs::path plugin = folder / "libtutti_vendorx.so";
  fs::path manifest = folder / "libtutti_vendorx.so.json";
  std::vector<fs::path> keys = {key("mine")};

  signed_world() {
    fs::create_directory(folder);
    fs::copy_file(fs::path(tutti_test::paths::fake_plugins) / "good" / "libtutti_vendorx.so",
                  plugin);
    for (const fs::path& path : {folder, plugin})
      fs::permissions(path, fs::perms::group_write | fs::perms::others_write,
                      fs::perm_options::remove);
    for (const std::string name : {"mine", "other"})
      require("keygen '" + (root.path() / name).string() + "'");
  }

  fs::path key(const std::string& name) const { return root.path() / (name + ".pub"); }
  fs::path secret(const std::string& name) const { return root.path() / (name + ".key"); }
  std::string id(const std::string& name) const {
    return tutti::plugins::read_public_keys({key(name)})[0].id;
  }

  static outcome command(const std::string& arguments) {
    return run(std::string(tutti_test::paths::tutti_program) + " " + arguments);
  }
  static void require(const std::string& arguments) {
    const outcome result = command(arguments);
    BOOST_REQUIRE_MESSAGE(result.status == 0, arguments << ": " << result.output);
  }
  /// With the secret key of that name, or without one.
  void sign(const std::string& name) const {
    require("sign '" + plugin.string() + "'" +
            (name.empty() ? "" : " --key '" + secret(name).string() + "'"));
  }

  std::string field(const std::string& name) const {
    return nlohmann::json::parse(file_content(manifest))[name];
  }
  void set(const std::string& name, const std::string& value) const {
    auto parsed = nlohmann::json::parse(file_content(manifest));
    parsed[name] = value;
    write_file(manifest, parsed.dump());
  }

  tutti::plugins::trust_rules rules(tutti::plugins::trust_rules::level what,
                                    bool any_owner = false) const {
    return {what, any_owner, keys, std::string("TUTTI_PLUGIN_TRUST=") + to_string(what)};
  }
};

}  // namespace loader_test
