// SPDX-License-Identifier: Apache-2.0
//
// The grammar of TUTTI_DEVICE: tables of right and wrong texts, with what each means and says.
#include <fmt/format.h>

#include "plugin/selection.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using tutti::plugins::device_item;
using tutti::plugins::parse_device_list;
using kind = device_item::kind;

/// One item as text: what was understood, independent of how it was written.
std::string meaning(const device_item& item) {
  const std::string b = item.backend;
  switch (item.what) {
    case kind::automatic:
      return "auto";
    case kind::preferred:
      return b + " preferred";
    case kind::index:
      return b + " index " + std::to_string(item.index);
    case kind::type:
      return b + " type " + std::string(to_string(item.type));
    case kind::all:
      return b + " all";
    case kind::name:
      return b + " name <" + item.name + ">";
    case kind::pci: {
      std::string text = b + " pci";
      for (const uint32_t part :
           {item.pci.domain, item.pci.bus, item.pci.device, item.pci.function})
        text += " " + std::to_string(part);
      return text;
    }
    case kind::uuid: {
      std::string text = b + " uuid";
      for (const uint8_t byte : item.uuid) text += " " + std::to_string(byte);
      return text;
    }
  }
  return "?";
}

std::string meaning(const std::string& text) {
  std::string all;
  for (const device_item& item : parse_device_list(text)) {
    if (!all.empty()) all += " | ";
    all += meaning(item);
  }
  return all;
}

std::string refusal(const std::string& text) {
  try {
    return "accepted as " + meaning(text);
  } catch (const tutti::value_error& e) {
    return e.what();
  }
}

const std::string counting = "cuda uuid 0 17 34 51 68 85 102 119 136 153 170 187 204 221 238 255";

}  // namespace

BOOST_AUTO_TEST_CASE(right_texts) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "auto"},
      {"  \t ", "auto"},
      {"auto", "auto"},
      {" auto ", "auto"},
      {"auto,auto", "auto | auto"},
      {"opencl", "opencl preferred"},
      {"a_1b", "a_1b preferred"},
      {"automatic", "automatic preferred"},
      {"cpu", "cpu preferred"},
      {"opencl:0", "opencl index 0"},
      {"opencl:007", "opencl index 7"},
      {"opencl:4294967295", "opencl index 4294967295"},
      {"cuda:0,cuda:1", "cuda index 0 | cuda index 1"},
      {"cuda:0 , opencl:cpu\t,\nreference", "cuda index 0 | opencl type cpu | reference preferred"},
      {"opencl:cpu", "opencl type cpu"},
      {"opencl:gpu", "opencl type gpu"},
      {"opencl:accelerator", "opencl type accelerator"},
      {"opencl:all", "opencl all"},
      {"cuda:uuid=00112233445566778899aabbccddeeff", counting},
      {"cuda:uuid=00112233-4455-6677-8899-AABBCCDDEEFF", counting},
      {"cuda:uuid=GPU-00112233-4455-6677-8899-aabbccddeeff", counting},
      {"cuda:pci=3b:00", "cuda pci 0 59 0 0"},
      {"cuda:pci=3b:1f.7", "cuda pci 0 59 31 7"},
      {"cuda:pci=0000:3B:00.0", "cuda pci 0 59 0 0"},
      {"cuda:pci=ffffffff:ff:1f.7", "cuda pci 4294967295 255 31 7"},
      {"opencl:name~Radeon", "opencl name <Radeon>"},
      {"opencl:name~Radeon RX 7900", "opencl name <Radeon RX 7900>"},
      {"opencl:name~a:b=c~d", "opencl name <a:b=c~d>"},
      {R"(opencl:name~Big\, Fast,cuda)", "opencl name <Big, Fast> | cuda preferred"},
      {R"(opencl:name~back\\slash)", R"(opencl name <back\slash>)"},
      {R"(opencl:name~end\\,cuda)", R"(opencl name <end\> | cuda preferred)"},
      {R"(opencl:name~end\ )", "opencl name <end >"},
      {R"(opencl:name~end\  ,cuda)", "opencl name <end > | cuda preferred"},
      {R"(opencl:name~end\\ ,cuda)", R"(opencl name <end\> | cuda preferred)"},
  };
  for (const auto& [text, expected] : cases)
    BOOST_TEST_CONTEXT("text <" << text << ">") BOOST_TEST(meaning(text) == expected);
}

BOOST_AUTO_TEST_CASE(an_item_keeps_its_own_text) {
  const auto items = parse_device_list(" cuda:0 ,opencl:name~x\\,y ");
  BOOST_REQUIRE(items.size() == 2u);
  BOOST_TEST(items[0].text == "cuda:0");
  BOOST_TEST(items[1].text == "opencl:name~x\\,y");
}

BOOST_AUTO_TEST_CASE(wrong_texts) {
  const std::string backend = "expected \"auto\" or a backend";
  const std::string selector =
      "expected an index, cpu, gpu, accelerator, all, uuid=..., pci=... or name~TEXT";
  const std::string uuid = "expected 32 hexadecimal digits";
  const std::string pci = "expected [domain:]bus:device[.function]";
  struct wrong {
    std::string text;
    size_t position;
    std::string expected;
    std::string found;
  };
  const std::vector<wrong> cases = {
      {",", 1, backend, "nothing"},
      {"auto,", 6, backend, "nothing"},
      {",auto", 1, backend, "nothing"},
      {"cuda:0,,cuda:1", 8, backend, "nothing"},
      {"cuda:0, ,cuda:1", 9, backend, "nothing"},
      {":0", 1, backend, "nothing"},
      {"0", 1, backend, "\"0\""},
      {"OpenCL", 1, backend, "\"OpenCL\""},
      {"openCL:0", 1, backend, "\"openCL\""},
      {"_x", 1, backend, "\"_x\""},
      {"open-cl", 1, backend, "\"open-cl\""},
      {"opencl :0", 1, backend, "\"opencl \""},
      {"open cl", 1, backend, "\"open cl\""},
      {"opencl;cuda", 1, backend, "\"opencl;cuda\""},
      {"\xc3\xa9", 1, backend, "\"\xc3\xa9\""},
      {"cuda\\,opencl", 1, backend, "\"cuda\\,opencl\""},
      {"auto:0", 5, "expected nothing after \"auto\"", "\":0\""},
      {"auto:", 5, "expected nothing after \"auto\"", "\":\""},
      {"opencl:", 8, selector, "nothing"},
      {"opencl: ", 8, selector, "nothing"},
      {"opencl:GPU", 8, selector, "\"GPU\""},
      {"opencl:gpus", 8, selector, "\"gpus\""},
      {"opencl: 0", 8, selector, "\" 0\""},
      {"opencl:-1", 8, selector, "\"-1\""},
      {"opencl:+1", 8, selector, "\"+1\""},
      {"opencl:*", 8, selector, "\"*\""},
      {"opencl:name", 8, selector, "\"name\""},
      {"opencl:name=x", 8, selector, "\"name=x\""},
      {"opencl:uuid", 8, selector, "\"uuid\""},
      {"cuda:0,opencl:fast", 15, selector, "\"fast\""},
      {"opencl:1x", 8, "expected an index from 0 to 4294967295", "\"1x\""},
      {"opencl:0:1", 8, "expected an index from 0 to 4294967295", "\"0:1\""},
      {"opencl:1.5", 8, "expected an index from 0 to 4294967295", "\"1.5\""},
      {"opencl:0x1", 8, "expected an index from 0 to 4294967295", "\"0x1\""},
      {"opencl:4294967296", 8, "expected an index from 0 to 4294967295", "\"4294967296\""},
      {"opencl:99999999999999999999", 8, "expected an index", "\"99999999999999999999\""},
      {"cuda:uuid=", 11, uuid, "nothing"},
      {"cuda:uuid=0011", 11, uuid, "\"0011\""},
      {"cuda:uuid=00112233445566778899aabbccddeef", 11, uuid, "ddeef\""},
      {"cuda:uuid=00112233445566778899aabbccddeeff0", 11, uuid, "ddeeff0\""},
      {"cuda:uuid=00112233445566778899aabbccddeefg", 11, uuid, "ddeefg\""},
      {"cuda:uuid=-0112233445566778899aabbccddeeff0", 11, uuid, "\"-011"},
      {"cuda:pci=", 10, pci, "nothing"},
      {"cuda:pci=3b", 10, pci, "\"3b\""},
      {"cuda:pci=3b:", 10, pci, "\"3b:\""},
      {"cuda:pci=:3b", 10, pci, "\":3b\""},
      {"cuda:pci=3b:00.", 10, pci, "\"3b:00.\""},
      {"cuda:pci=3b.00", 10, pci, "\"3b.00\""},
      {"cuda:pci=3b:00.0.0", 10, pci, "\"3b:00.0.0\""},
      {"cuda:pci=0:0:0:0", 10, pci, "\"0:0:0:0\""},
      {"cuda:pci=zz:00", 10, pci, "\"zz:00\""},
      {"cuda:pci=100000000:3b:00.0", 10, pci, "\"100000000:3b:00.0\""},
      {"cuda:pci=100:00", 10, "expected a pci address", "\"100:00\""},
      {"cuda:pci=00:20", 10, "expected a pci address", "\"00:20\""},
      {"cuda:pci=00:00.8", 10, "expected a pci address", "\"00:00.8\""},
      {"opencl:name~", 13, "expected part of a device's name", "nothing"},
      {"opencl:name~,cuda", 13, "expected part of a device's name", "nothing"},
      {R"(opencl:name~a\b)", 14, "a backslash is written twice", R"("\b")"},
      {R"(opencl:name~a\)", 14, "a backslash is written twice", R"("\")"},
  };
  for (const wrong& w : cases) {
    BOOST_TEST_CONTEXT("text <" << w.text << ">") {
      const std::string message = refusal(w.text);
      BOOST_TEST(message.find(fmt::format("position {}: ", w.position)) == 0u, message);
      BOOST_TEST(message.find(w.expected) != std::string::npos, message);
      BOOST_TEST(message.find("found ") != std::string::npos, message);
      BOOST_TEST(message.find(w.found, message.find("found ")) != std::string::npos, message);
    }
  }
}
