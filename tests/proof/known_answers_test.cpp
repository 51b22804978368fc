// SPDX-License-Identifier: Apache-2.0
//
// The questions themselves: every device of this build answers all of them rightly, and each answer
// that is changed in one place is found wrong.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <tutti/tutti.hpp>

#include "plugin/proof/proof.hpp"

namespace {

using namespace tutti::detail;

/// The families of every dtype and variant, not just the sample.
std::vector<kernel_family> all_families() {
  std::vector<kernel_family> all = sample_families(~0u);
  for (int number = TUTTI_OPERATOR_MATMUL; number <= TUTTI_OPERATOR_SCATTER; ++number)
    for (int variant = 0; variant < variants_of(static_cast<tutti_operator>(number)); ++variant)
      for (int type = TUTTI_BOOL; type <= TUTTI_C128; ++type) {
        const kernel_family f{static_cast<std::uint8_t>(kernel_family::operators + number),
                              static_cast<std::uint8_t>(variant), static_cast<std::uint8_t>(type)};
        if (std::find(all.begin(), all.end(), f) == all.end()) all.push_back(f);
      }
  return all;
}

/// What is known of a family's answer.
std::optional<answer> known_of(const kernel_family& f) {
  if (const auto q = question_of_operator(f)) return q->known;
  if (const auto q = question_of_program(f)) return q->known;
  return std::nullopt;
}

}  // namespace

BOOST_AUTO_TEST_CASE(this_device_is_right) {
  device_proof proof(get(tutti::default_device()));
  std::size_t right = 0;
  proof.ask_again([&](const device_proof::result& r) {
    BOOST_TEST(r.is_right, r.what << ": " << r.text);
    right += r.text.starts_with("right") ? 1 : 0;
  });
  BOOST_TEST(right > 30u);
  if (tutti::default_device().backend() == "reference")  // others would compile for minutes
    for (const kernel_family& f : all_families()) {
      const auto r = proof.ask_again(f);
      const bool is_no_call = r.text.find(": supports: ") != std::string::npos;
      BOOST_TEST((r.is_right || is_no_call), r.what << ": " << r.text);
      right += r.text.starts_with("right") ? 1 : 0;
    }
  if (tutti::default_device().backend() == "reference") BOOST_TEST(right > 400u);
  BOOST_TEST(proof.facts().contains("denormals of f32"));
  BOOST_TEST(proof.facts().contains("division of f32"));
}

// Kept by every device of this build unless its compiler is told otherwise.
BOOST_AUTO_TEST_CASE(denormals) {
  device_proof proof(get(tutti::default_device()));
  const auto r = proof.ask_again({kernel_family::arithmetic, 0, TUTTI_F32});
  BOOST_TEST(r.is_right, r.text);
  const bool flushed = std::getenv("TUTTI_TEST_DENORMALS") != nullptr;
  BOOST_TEST(proof.facts().at("denormals of f32") == (flushed ? "flushed to zero" : "kept"));
}

BOOST_AUTO_TEST_CASE(every_family_has_a_name_and_a_place_of_its_own) {
  std::set<std::string> names;
  std::set<std::size_t> places;
  for (const kernel_family& f : all_families()) {
    BOOST_TEST(names.insert(name_of(f)).second, name_of(f));
    BOOST_TEST(places.insert(f.index()).second, name_of(f));
    BOOST_TEST(f.index() < kernel_family::count);
  }
}

BOOST_AUTO_TEST_CASE(a_changed_answer_is_found_wrong) {
  for (const kernel_family& f : all_families()) {
    const auto known = known_of(f);
    if (!known) continue;  // transfers
    BOOST_TEST(mistake(*known, known->right) == "", name_of(f));
    BOOST_TEST(mistake(*known, overwritten(known->right)) != "", name_of(f));
    // The most significant byte of an element: half the range, a sign, or the exponent.
    for (const std::size_t part : {1u, 2u, 3u}) {
      const std::size_t width = tutti::size_of(static_cast<tutti::dtype>(known->right.type));
      const std::size_t elements = known->right.bytes.size() / width;
      tensor changed = known->right;
      changed.bytes[(elements * part / 4 + 1) * width - 1] ^= 0x41;
      BOOST_TEST(mistake(*known, changed) != "", name_of(f));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_denormal_may_be_zero_and_nothing_else) {
  const auto q = question_of_program({kernel_family::arithmetic, 0, TUTTI_F32});
  BOOST_REQUIRE(q.has_value());
  std::size_t tiny = 0;
  for (std::size_t i = 0; i < q->known.tiny.size(); ++i) {
    if (!q->known.tiny[i]) continue;
    ++tiny;
    tensor flushed = q->known.right;
    std::memset(&flushed.bytes[i * 4], 0, 4);
    BOOST_TEST(mistake(q->known, flushed) == "");
    flushed.bytes[i * 4 + 3] = char{0x3f};
    BOOST_TEST(mistake(q->known, flushed) != "");
  }
  BOOST_TEST(tiny == 4u);
}
