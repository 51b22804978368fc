// SPDX-License-Identifier: Apache-2.0
//
// The connection to a process that compiles, which may do anything (fake_compiler.cpp), and what
// goes through it.
#include "runtime/promote/compile_process.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "plugin/trial.hpp"
#include "runtime/promote/described_work.hpp"
#include "safety/messages.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

using namespace tutti::detail;
using namespace tutti::runtime;
using kind = compile_answer::kind;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

const compile_request request{"opencl:0", "identity 1:2", std::string("\0work\n", 6)};

struct fake {
  explicit fake(const char* does, seconds patience = seconds(100))
      : process(tutti_test::paths::fake_compiler, patience) {
    ::setenv("TUTTI_TEST_COMPILER", does, 1);
    ::setenv("TUTTI_TEST_FILE", (folder / "file").c_str(), 1);
  }
  const tutti_test::temporary_folder folder;
  compile_process process;
};

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

struct connection {
  connection() { BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0); }
  ~connection() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  void end() { ::close(std::exchange(ends[1], -1)); }
  std::array<int, 2> ends{};
};

tutti_program_desc some_program() {
  static const tutti_program_operand inputs[] = {{TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 0},
                                                 {TUTTI_I8, TUTTI_ACCESS_ZERO, 0, 0}};
  static const std::uint8_t scalars[] = {TUTTI_F64, TUTTI_BOOL, TUTTI_F16};
  static const tutti_instruction code[] = {{TUTTI_OP_add, TUTTI_F32, 2, {0, 1, 0}}};
  static const tutti_program_operand outputs[] = {{TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 5}};
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.ir_version = TUTTI_IR_VERSION;
  desc.operand_size = sizeof inputs[0];
  desc.instruction_size = sizeof code[0];
  desc.kept_rank = 3;
  desc.input_count = 2;
  desc.scalar_count = 3;
  desc.instruction_count = 1;
  desc.output_count = 1;
  desc.inputs = inputs;
  desc.scalar_dtypes = scalars;
  desc.instructions = code;
  desc.outputs = outputs;
  desc.label = "add";
  return desc;
}

operator_call some_operator() {
  operator_call call(tutti::graph::operator_params(
      TUTTI_OPERATOR_SCAN, tutti_scan_params{0, TUTTI_SCAN_MAX, 1, 0, 0}, "cumsum"));
  for (const int dtype : {TUTTI_F32, TUTTI_I64}) {
    tutti_view_desc view{};
    view.dtype = dtype;
    view.rank = 2;
    view.extent[1] = 7;
    view.stride[0] = -3;
    call.views.push_back(view);
  }
  return call;
}

template <class T>
bool same(const T* a, const T* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(T)) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(descriptions)

BOOST_AUTO_TEST_CASE(a_program_is_what_it_was) {
  const tutti_program_desc before = some_program();
  auto work = described_work::from(to_bytes(before));
  BOOST_REQUIRE(work.has_value());
  described_work moved = std::move(*work);
  BOOST_REQUIRE(moved.program() != nullptr);
  BOOST_TEST(moved.op() == nullptr);
  const tutti_program_desc& after = *moved.program();
  BOOST_TEST(after.kept_rank == 3u);
  BOOST_TEST(same(after.inputs, before.inputs, before.input_count));
  BOOST_TEST(same(after.scalar_dtypes, before.scalar_dtypes, before.scalar_count));
  BOOST_TEST(same(after.instructions, before.instructions, before.instruction_count));
  BOOST_TEST(same(after.outputs, before.outputs, before.output_count));
  BOOST_TEST(after.inputs != before.inputs);
  BOOST_TEST(std::string(after.label) == "add");
  BOOST_TEST(moved.label() == "add");
}

BOOST_AUTO_TEST_CASE(an_operator_is_what_it_was) {
  const operator_call before = some_operator();
  auto work = described_work::from(to_bytes(before));
  BOOST_REQUIRE(work.has_value());
  BOOST_TEST(work->program() == nullptr);
  const tutti_operator_desc* const after = work->op();
  BOOST_REQUIRE(after != nullptr);
  BOOST_TEST(after->kind == TUTTI_OPERATOR_SCAN);
  BOOST_TEST(after->output_count == 1u);
  BOOST_TEST(after->input_count == 1u);
  BOOST_TEST(after->views[1].stride[0] == -3);
  BOOST_TEST(same(after->views, before.views.data(), 2));
  const auto* const params = static_cast<const tutti_scan_params*>(after->params);
  BOOST_TEST(params->struct_size == sizeof *params);
  BOOST_TEST(params->scan == TUTTI_SCAN_MAX);
  BOOST_TEST(params->exclusive == 1u);
  BOOST_TEST(params->reverse == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_cut_off_or_too_long_or_lies_is_not_read) {
  for (const std::string& whole : {to_bytes(some_program()), to_bytes(some_operator())}) {
    for (std::size_t n = 0; n < whole.size(); ++n)
      BOOST_TEST(!described_work::from(whole.substr(0, n)).has_value());
    BOOST_TEST(!described_work::from(whole + "x").has_value());
    BOOST_TEST(!described_work::from("?" + whole.substr(1)).has_value());
  }
  tutti_program_desc lies = some_program();
  std::string bytes = to_bytes(lies);
  lies.input_count = 3;
  std::memcpy(bytes.data() + 1, &lies, sizeof lies);
  BOOST_TEST(!described_work::from(bytes).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(messages)

BOOST_AUTO_TEST_CASE(arrive_as_they_were) {
  connection c;
  const auto soon = steady_clock::now() + seconds(60);
  const std::string large(std::size_t{1} << 20, 'x');
  for (const std::string& text : {std::string(), std::string("a\0b", 3), large}) {
    bool is_sent = false;  // checks are one thread's business
    std::thread other([&] { is_sent = send_message(c.ends[1], text); });
    std::string got;
    BOOST_TEST((receive_message(c.ends[0], got, soon) == arrived::message));
    other.join();
    BOOST_TEST(is_sent);
    BOOST_TEST((got == text));
  }
}

BOOST_AUTO_TEST_CASE(that_do_not_arrive_are_told_apart) {
  connection c;
  std::string got;
  BOOST_TEST((receive_message(c.ends[0], got, steady_clock::now()) == arrived::nothing_in_time));
  const std::uint64_t much = std::uint64_t{1} << 60;
  BOOST_REQUIRE(::write(c.ends[1], &much, sizeof much) == sizeof much);
  BOOST_TEST((receive_message(c.ends[0], got, steady_clock::time_point::max()) == arrived::closed));
  c.end();
  BOOST_TEST((receive_message(c.ends[0], got, steady_clock::time_point::max()) == arrived::closed));
  BOOST_TEST(!(send_message(c.ends[0], "x") && send_message(c.ends[0], "x")));
}

BOOST_AUTO_TEST_CASE(a_request_is_read_whole_or_not_at_all) {
  const std::string text = request.text();
  compile_request read;
  BOOST_TEST(read.read(text));
  BOOST_TEST(read.device == request.device);
  BOOST_TEST(read.identity == request.identity);
  BOOST_TEST((read.work == request.work));
  for (std::size_t n = 0; n < text.size(); ++n) BOOST_TEST(!read.read(text.substr(0, n)));
  BOOST_TEST(!read.read(text + " "));
  BOOST_TEST(!read.read("99999999999999999999 x"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(processes)

BOOST_AUTO_TEST_CASE(answers_again_and_again_and_after_a_rest) {
  fake f("answers");
  for (int n = 0; n < 3; ++n) {
    const compile_answer got = f.process.compile(request);
    BOOST_TEST((got.how == kind::compiled), got.why);
    BOOST_TEST(got.why == "opencl:0");
    BOOST_TEST(!has_children());
  }
  f.process.rest();
  BOOST_TEST((f.process.compile(request).how == kind::compiled));
}

BOOST_AUTO_TEST_CASE(refusals_are_handed_on) {
  fake f("refuses");
  const compile_answer got = f.process.compile(request);
  BOOST_TEST((got.how == kind::refused));
  BOOST_TEST(got.why == "no such luck");
}

BOOST_AUTO_TEST_CASE(one_that_ends_is_followed_by_a_second_and_no_more) {
  fake f("ends");
  const compile_answer got = f.process.compile(request);
  BOOST_TEST((got.how == kind::refused));
  BOOST_TEST(got.why == "the processes that compiled it have ended");
  fake recovering("recovers");
  BOOST_TEST((recovering.process.compile(request).how == kind::compiled));
}

BOOST_AUTO_TEST_CASE(one_that_hangs_is_left_after_a_while) {
  fake f("hangs", seconds(1));
  const compile_answer got = f.process.compile(request);
  BOOST_TEST((got.how == kind::refused));
  BOOST_TEST(got.why == "its compiler has not come back within 1 s");
}

BOOST_AUTO_TEST_CASE(or_at_once_where_nobody_wants_it_any_more) {
  fake f("hangs");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    f.process.stop();
  });
  const auto start = steady_clock::now();
  BOOST_TEST((f.process.compile(request).how == kind::stopped));
  BOOST_TEST((steady_clock::now() - start < seconds(90)));
  other.join();
  BOOST_TEST((f.process.compile(request).how == kind::stopped));
}

BOOST_AUTO_TEST_CASE(without_a_program_that_greets_there_is_none) {
  for (const char* does : {"mute", "stranger"}) {
    fake f(does);
    const compile_answer got = f.process.compile(request);
    BOOST_TEST((got.how == kind::unavailable));
    BOOST_TEST(got.why.ends_with("does not say what it should"), got.why);
  }
  for (const char* path : {"", "/no such program"}) {
    compile_process process(path, seconds(100));
    BOOST_TEST((process.compile(request).how == kind::unavailable));
    BOOST_TEST((process.compile(request).how == kind::unavailable));
  }
  fake f("nonsense");
  BOOST_TEST((f.process.compile(request).how == kind::unavailable));
}

BOOST_AUTO_TEST_CASE(it_lies_beside_the_library_unless_it_is_switched_off) {
  ::setenv("TUTTI_COMPILER_PROCESS", "off", 1);
  BOOST_TEST(find_helper().program.empty());
  BOOST_TEST(find_helper().against == "TUTTI_COMPILER_PROCESS=off");
  ::setenv("TUTTI_COMPILER_PROCESS", "on", 1);
  BOOST_TEST(find_helper().program.filename() == "tutti-compiler");
  ::setenv("TUTTI_COMPILER_PROCESS", "sometimes", 1);
  BOOST_CHECK_THROW(find_helper(), tutti::value_error);
  ::unsetenv("TUTTI_COMPILER_PROCESS");
}

BOOST_AUTO_TEST_CASE(one_that_others_may_change_is_used_where_the_user_says_so) {
  const tutti_test::temporary_folder folder;
  const std::filesystem::path library = folder / "libtutti.so",
                              program = folder / "tutti/tutti-compiler";
  std::filesystem::create_directory(program.parent_path());
  std::ofstream(library) << "a library";
  std::ofstream(program) << "a program";
  BOOST_TEST(find_helper(library).program == program);
  std::filesystem::permissions(program, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  BOOST_TEST(find_helper(library).program.empty());
  BOOST_TEST(find_helper(library).against.starts_with("other users may write to "));
  BOOST_TEST(find_helper(library).advice.ends_with("TUTTI_PLUGIN_OWNER=any"));
  ::setenv("TUTTI_PLUGIN_OWNER", "any", 1);
  BOOST_TEST(find_helper(library).program == program);
  ::unsetenv("TUTTI_PLUGIN_OWNER");
}

BOOST_AUTO_TEST_SUITE_END()
