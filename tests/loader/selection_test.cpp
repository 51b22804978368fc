// SPDX-License-Identifier: Apache-2.0
//
// Resolving items against devices: what each selector picks, what auto prefers, one card seen by
// two plugins, what is loaded, what errors say.
#include "plugin/registry.hpp"
#include "support.hpp"
#include "tutti_test/arrays.hpp"

using namespace loader_test;
using tutti::plugins::device_registry;
using tutti::plugins::search_path;

namespace {

const std::filesystem::path good = std::filesystem::path(tutti_test::paths::fake_plugins) / "good";

/// A machine: the devices of the four well-behaved plugins, each as fake_plugin.cpp describes.
struct machine {
  explicit machine(const std::string& cuda, const std::string& opencl, const std::string& vendorx,
                   const std::string& reference = "cpu name=host")
      : cuda_("FAKE_CUDA", cuda),
        opencl_("FAKE_OPENCL", opencl),
        vendorx_("FAKE_VENDORX", vendorx),
        reference_("FAKE_REFERENCE", reference),
        registry(search_path{{good}, {}}) {}

  std::string pick(const std::string& text, bool first_only = false) {
    std::string all;
    for (const auto* d : registry.resolve(text, "TUTTI_DEVICE", first_only))
      all += (all.empty() ? "" : " ") + d->name;
    return all;
  }

  template <class Error>
  std::string refusal(const std::string& text) {
    return message_of<Error>([&] { pick(text); });
  }

  std::string loaded() {
    std::string all;
    for (const auto* p : registry.loader().loaded()) all += (all.empty() ? "" : " ") + p->name;
    return all;
  }

  scoped_variable cuda_, opencl_, vendorx_, reference_;
  device_registry registry;
};

const std::string two_cards =
    "cpu name=Host;gpu name=Radeon_A pci=3;gpu name=radeon_B uuid=9 pci=4";

}  // namespace

BOOST_AUTO_TEST_CASE(selectors) {
  machine m("", two_cards + ";accelerator name=Board", "");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"opencl", "opencl:1"},
      {"opencl:0", "opencl:0"},
      {"opencl:3", "opencl:3"},
      {"opencl:cpu", "opencl:0"},
      {"opencl:gpu", "opencl:1 opencl:2"},
      {"opencl:accelerator", "opencl:3"},
      {"opencl:all", "opencl:0 opencl:1 opencl:2 opencl:3"},
      {"opencl:name~RADEON", "opencl:1 opencl:2"},
      {"opencl:name~deon b", "opencl:2"},
      {"opencl:uuid=00000000-0000-0000-0000-000000000009", "opencl:2"},
      {"opencl:pci=03:00", "opencl:1"},
      {"opencl:pci=0000:04:00.0", "opencl:2"},
      {"opencl:2,reference,opencl:0", "opencl:2 reference:0 opencl:0"},
  };
  for (const auto& [text, expected] : cases)
    BOOST_TEST_CONTEXT(text) BOOST_TEST(m.pick(text) == expected);
}

BOOST_AUTO_TEST_CASE(a_backend_alone_prefers_gpu_then_accelerator_then_cpu) {
  BOOST_TEST(machine("", "cpu;accelerator;gpu", "").pick("opencl") == "opencl:2");
  BOOST_TEST(machine("", "cpu;accelerator", "").pick("opencl") == "opencl:1");
  BOOST_TEST(machine("", "cpu;cpu", "").pick("opencl") == "opencl:0");
}

BOOST_AUTO_TEST_CASE(auto_prefers) {
  struct preference {
    std::string cuda, opencl, vendorx, expected;
  };
  const std::vector<preference> cases = {
      {"gpu;gpu", "cpu", "", "cuda:0 cuda:1"},
      {"gpu pci=1", "cpu;gpu pci=2", "", "cuda:0 opencl:1"},
      {"nodriver", "cpu;gpu", "gpu", "opencl:1 vendorx:0"},
      {"nodriver", "cpu", "accelerator", "vendorx:0"},
      {"nodriver", "accelerator", "gpu", "vendorx:0 opencl:0"},
      {"", "cpu;cpu", "", "opencl:0"},
      {"nodriver", "nodriver", "nodriver", "reference:0"},
      // Who says that it is fast comes before who says nothing, whatever its name.
      {"nodriver", "cpu portable", "cpu", "opencl:0"},
      {"nodriver", "cpu", "cpu portable", "vendorx:0"},
      {"nodriver", "cpu portable", "cpu native", "vendorx:0"},
      {"gpu", "gpu", "gpu native", "vendorx:0 cuda:0 opencl:0"},
      // A card with memory of its own comes before one within a processor.
      {"gpu native unified", "gpu", "", "opencl:0 cuda:0"},
      // CPUs have one memory, whatever their plugin says of it.
      {"", "cpu portable unified", "cpu", "opencl:0"},
      {"gpu gib=4", "gpu gib=16", "gpu gib=8", "opencl:0 vendorx:0 cuda:0"},
      {"gpu gib=15 units=10", "gpu gib=16 units=9", "", "cuda:0 opencl:0"},
      {"", "cpu units=2", "cpu units=8", "vendorx:0"},
      // Plain loops are the last resort, whatever they call themselves.
      {"gpu plain", "cpu", "", "opencl:0"},
  };
  for (const preference& c : cases) {
    BOOST_TEST_CONTEXT(c.cuda << " / " << c.opencl << " / " << c.vendorx) {
      machine m(c.cuda, c.opencl, c.vendorx);
      BOOST_TEST(m.pick("auto") == c.expected);
      BOOST_TEST(m.pick("auto", true) == c.expected.substr(0, c.expected.find(' ')));
      BOOST_TEST(m.loaded() == "cuda opencl reference vendorx");
    }
  }
}

BOOST_AUTO_TEST_CASE(auto_counts_one_card_once) {
  BOOST_TEST(machine("gpu uuid=5", "gpu uuid=5;gpu uuid=6", "").pick("auto") == "cuda:0 opencl:1");
  BOOST_TEST(machine("gpu pci=5", "gpu pci=5", "gpu pci=6").pick("auto") == "cuda:0 vendorx:0");
  BOOST_TEST(machine("gpu", "gpu", "").pick("auto") == "cuda:0 opencl:0");
  BOOST_TEST(machine("gpu uuid=5", "gpu uuid=5", "").pick("cuda,opencl") == "cuda:0 opencl:0");
  // The better one of two views of a card, not the first one.
  BOOST_TEST(machine("gpu uuid=5", "", "gpu native uuid=5").pick("auto") == "vendorx:0");
  BOOST_TEST(machine("gpu portable pci=5", "gpu native pci=5", "").pick("auto") == "opencl:0");
  // An uuid of zeros says nothing.
  BOOST_TEST(machine("gpu uuid=0", "gpu uuid=0", "").pick("auto") == "cuda:0 opencl:0");
}

BOOST_AUTO_TEST_CASE(the_same_device_twice_is_an_error) {
  machine m("", two_cards, "");
  for (const std::string text :
       {"opencl:1,opencl:1", "opencl,opencl:gpu", "auto,opencl:1", "opencl:all,opencl:name~A"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(has(m.refusal<tutti::value_error>(text), "is already in the list"));
  BOOST_TEST(has(m.refusal<tutti::value_error>("opencl:0,opencl:1,opencl:0"),
                 "TUTTI_DEVICE=opencl:0,opencl:1,opencl:0: opencl:0: opencl:0 is already"));
}

BOOST_AUTO_TEST_CASE(errors_list_what_exists) {
  machine m("nodriver", "cpu name=Host;gpu name=Card", "");
  // Nothing is loaded for the list.
  BOOST_TEST(has(m.refusal<tutti::plugin_error>("opncl"),
                 "available: what the plugins cuda, opencl, reference, vendorx find (`tutti "
                 "devices` lists it)"));
  BOOST_TEST(m.loaded() == "");
  BOOST_TEST(has(m.refusal<tutti::device_error>("opencl:7"),
                 "; available: opencl:0 (cpu, Host), opencl:1 (gpu, Card), what the plugins cuda, "
                 "reference, vendorx find"));
  BOOST_TEST(m.loaded() == "opencl");
  m.pick("auto");
  const std::string exists =
      "available: opencl:0 (cpu, Host), opencl:1 (gpu, Card), reference:0 (cpu, host), "
      "not cuda, vendorx (`tutti doctor` says why)";
  const auto message = m.refusal<tutti::device_error>("opencl:7");
  BOOST_TEST(message == "TUTTI_DEVICE=opencl:7: no device of opencl matches; " + exists);
  BOOST_TEST(has(m.refusal<tutti::value_error>("opncl:x"), exists));
  BOOST_TEST(has(m.refusal<tutti::plugin_error>("opncl"), "there is no libtutti_opncl.so in "));
  BOOST_TEST(has(m.refusal<tutti::plugin_error>("opncl"), exists));
}

BOOST_AUTO_TEST_CASE(a_type_in_the_place_of_a_backend_is_told_from_it) {
  machine m("", "cpu;gpu", "");
  BOOST_TEST(has(m.refusal<tutti::plugin_error>("gpu"),
                 "; gpu is a type of device, not a backend: expected BACKEND:gpu; available"));
  BOOST_TEST(m.loaded() == "");
  m.pick("opencl");
  for (const auto& [text, hint] : std::vector<std::pair<std::string, std::string>>{
           {"gpu", "; gpu is a type of device, not a backend: did you mean opencl:gpu?; available"},
           {"gpu:0", "did you mean opencl:gpu?"},
           {"reference,cpu", "did you mean opencl:cpu?"},
           {"accelerator",
            "; accelerator is a type of device, not a backend: expected BACKEND:accelerator"}}) {
    const auto message = m.refusal<tutti::plugin_error>(text);
    BOOST_TEST(has(message, hint), message);
  }
  BOOST_TEST(!has(m.refusal<tutti::plugin_error>("gpus"), "did you mean"));
}

BOOST_AUTO_TEST_CASE(a_setting_that_a_plugin_refuses_ends_the_automatic_choice) {
  machine refused("", "nosetting", "gpu");
  for (const bool first_only : {true, false}) {
    const auto message = message_of<tutti::device_error>([&] { refused.pick("auto", first_only); });
    BOOST_TEST(has(message, "TUTTI_DEVICE=auto: "), message);
    BOOST_TEST(has(message, "FAKE_SETTING: expected yes, found no"), message);
  }
  BOOST_TEST(refused.pick("vendorx") == "vendorx:0");
}

BOOST_AUTO_TEST_CASE(a_named_device_is_never_replaced) {
  machine m("nodriver", "cpu", "");
  const auto no_driver = m.refusal<tutti::device_error>("cuda:0");
  BOOST_TEST(has(no_driver, "the fake driver is not installed"), no_driver);
  BOOST_TEST(has(m.refusal<tutti::device_error>("opencl:gpu"), "no device of opencl matches"));
  BOOST_TEST(has(m.refusal<tutti::device_error>("vendorx"), "vendorx found no device"));
  BOOST_TEST(has(m.refusal<tutti::device_error>("opencl,opencl:1"), "opencl:1: no device"));
}

BOOST_AUTO_TEST_CASE(nothing_at_all_is_an_error_that_says_what_was_tried) {
  machine m("nodriver", "", "", "");
  const auto message = m.refusal<tutti::device_error>("auto");
  BOOST_TEST(has(message, "no device can be used"), message);
  BOOST_TEST(has(message, "the fake driver is not installed"), message);
  BOOST_TEST(has(message, "opencl: found no device"), message);
  device_registry empty(search_path{});
  BOOST_TEST(has(message_of<tutti::device_error>([&] { empty.resolve("auto", "TUTTI_DEVICE"); }),
                 "available: nothing: no plugin found in any folder"));
  const temporary_folder folder;
  device_registry bare(search_path{{folder.path()}, {}});
  BOOST_TEST(has(message_of<tutti::device_error>([&] { bare.resolve("auto", "TUTTI_DEVICE"); }),
                 "available: nothing: no plugin found in " + folder.path().string()));
}

BOOST_AUTO_TEST_CASE(many_threads_see_the_same_devices) {
  machine m("gpu", two_cards, "gpu");
  std::vector<std::vector<tutti::detail::opened_device*>> seen(8);
  tutti_test::at_once(8, [&](int t) {
    auto& mine = seen[static_cast<size_t>(t)];
    mine = m.registry.resolve(t % 2 == 0 ? "opencl:all,cuda" : "opencl:all,cuda:0", "TUTTI_DEVICE");
    for (auto* d : mine) d->open();
  });
  for (const auto& list : seen) BOOST_TEST((list == seen.front()));
  for (const auto* d : seen.front()) BOOST_TEST(d->handle != nullptr);
}
