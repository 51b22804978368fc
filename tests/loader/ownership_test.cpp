// SPDX-License-Identifier: Apache-2.0
//
// Who may change a file: modes, sticky folders, links, and what the library's own place
// allows. Other owners need root to be made; without, those parts are skipped and say so.
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/trial.hpp"
#include "plugin/trust.hpp"
#include "support.hpp"
#include "tutti_test/arrays.hpp"

using namespace loader_test;
using tutti::plugins::changeable_by_others;
namespace fs = std::filesystem;

namespace {

constexpr uid_t stranger = 54321;

/// ROOT/way/plugins/libtutti_some.so, and a library elsewhere.
struct place {
  temporary_folder root;
  fs::path way = root.path() / "way", folder = way / "plugins";
  fs::path file = folder / "libtutti_some.so", library = root.path() / "lib" / "libtutti.so";
  place() {
    fs::create_directories(folder);
    fs::create_directory(library.parent_path());
    write_file(file, "a plugin");
    write_file(library, "a library");
    for (const fs::path& path : {way, folder, library.parent_path()}) mode(path, 0755);
    for (const fs::path& path : {file, library}) mode(path, 0644);
  }

  static void mode(const fs::path& path, mode_t bits) {
    BOOST_REQUIRE(::chmod(path.c_str(), bits) == 0);
  }
  std::string why(const fs::path& of) const {
    const auto found = changeable_by_others(of, library);
    return found ? found->why : "";
  }
  std::string why() const { return why(file); }
  std::string advice() const {
    const auto found = changeable_by_others(file, library);
    return found ? found->advice : "";
  }
};

boost::test_tools::assertion_result as_root(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result is_root(::geteuid() == 0);
  is_root.message() << "only root gives files away";
  return is_root;
}

void give(const fs::path& path, uid_t user, gid_t group) {
  BOOST_REQUIRE(::lchown(path.c_str(), user, group) == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_the_user_alone_may_change_is_fine) {
  const place p;
  BOOST_TEST(p.why() == "");
  place::mode(p.file, 0600);
  place::mode(p.folder, 0700);
  BOOST_TEST(p.why() == "");
}

BOOST_AUTO_TEST_CASE(what_everybody_may_write_to_is_named) {
  for (const mode_t bits : {0777, 0757, 0702}) {
    const place p;
    for (const fs::path& path : {p.way, p.folder, p.file}) {
      place::mode(path, bits);
      BOOST_TEST(has(p.why(), "other users may write to " + path.string() + " (mode 0"), p.why());
      BOOST_TEST(has(p.advice(), "chmod o-w " + path.string()), p.advice());
      BOOST_TEST(has(p.advice(), "TUTTI_PLUGIN_TRUST=any"), p.advice());
      place::mode(path, 0755);
      BOOST_TEST(p.why() == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_sticky_folder_may_be_on_the_way_but_not_hold_the_file) {
  const place p;
  place::mode(p.way, 01777);
  BOOST_TEST(p.why() == "");
  place::mode(p.folder, 01777);
  BOOST_TEST(has(p.why(), p.folder.string() + " (mode 1777)"), p.why());
  BOOST_TEST(has(p.advice(), "move the file to a folder of your own"), p.advice());
}

BOOST_AUTO_TEST_CASE(links_are_followed) {
  const place p;
  const fs::path other = p.root.path() / "other";
  fs::create_directory(other);
  place::mode(other, 0755);
  const fs::path link = other / "libtutti_some.so";
  fs::create_symlink("../way/./plugins/../plugins/libtutti_some.so", link);
  BOOST_TEST(p.why(link) == "");
  place::mode(p.folder, 0777);
  BOOST_TEST(has(p.why(link), p.folder.string()), p.why(link));
  place::mode(p.folder, 01777);  // holds what the link leads to
  BOOST_TEST(has(p.why(link), p.folder.string()), p.why(link));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_reached_is_an_error) {
  const place p;
  BOOST_CHECK_THROW(p.why(p.folder / "absent"), tutti::plugin_error);
  fs::create_symlink("loop", p.folder / "loop");
  BOOST_TEST(has(message_of<tutti::plugin_error>([&] { p.why(p.folder / "loop"); }),
                 "cannot be reached: Too many levels of symbolic links"));
}

BOOST_AUTO_TEST_CASE(what_could_change_the_library_is_not_asked) {
  place p;
  place::mode(p.way, 0777);
  BOOST_TEST(p.why() != "");
  p.library = p.way / "libtutti.so";
  write_file(p.library, "a library");
  BOOST_TEST(p.why() == "");
  place::mode(p.folder, 0777);  // that one does not hold the library
  BOOST_TEST(has(p.why(), p.folder.string()), p.why());
  p.library.clear();
  place::mode(p.folder, 0755);
  BOOST_TEST(has(p.why(), p.way.string()), p.why());
}

BOOST_AUTO_TEST_CASE(strangers_are_named, *boost::unit_test::precondition(as_root)) {
  const place p;
  const fs::path link = p.way / "link";
  fs::create_symlink("plugins/libtutti_some.so", link);
  for (const fs::path& path : {p.way, p.file}) {
    give(path, stranger, 0);
    const auto found = changeable_by_others(link, p.library);
    BOOST_REQUIRE(found);
    BOOST_TEST(has(found->why, path.string() + " belongs to another user (id 54321)"), found->why);
    BOOST_TEST(has(found->advice, "chown it"), found->advice);
    give(path, 0, 0);
    BOOST_TEST(p.why(link) == "");
  }
}

BOOST_AUTO_TEST_CASE(the_owners_of_the_library_are_no_strangers,
                     *boost::unit_test::precondition(as_root)) {
  const place p;
  give(p.file, stranger, 0);
  BOOST_TEST(p.why() != "");
  give(p.library, stranger, 0);
  BOOST_TEST(p.why() == "");
  give(p.library, 0, 0);
  BOOST_TEST(p.why() != "");
}

BOOST_AUTO_TEST_CASE(the_program_that_tries_plugins_is_not_used_where_others_may_change_it) {
  using tutti::plugins::find_helper;
  BOOST_TEST(find_helper().program.filename() == "tutti-trial");
  const place p;
  const fs::path program = p.library.parent_path() / "tutti" / "tutti-trial";
  fs::create_directory(program.parent_path());
  write_file(program, "a program");
  place::mode(program.parent_path(), 0755);
  place::mode(program, 0755);
  BOOST_TEST(find_helper(p.library).program == program);
  place::mode(program, 0757);
  const auto found = find_helper(p.library);
  BOOST_TEST(found.program.empty());
  BOOST_TEST(found.against.starts_with("other users may write to "), found.against);
  BOOST_TEST(found.advice.ends_with("TUTTI_PLUGIN_TRUST=any"), found.advice);
  ::setenv("TUTTI_PLUGIN_TRUST", "any", 1);
  BOOST_TEST(find_helper(p.library).program == program);
  ::unsetenv("TUTTI_PLUGIN_TRUST");
}
