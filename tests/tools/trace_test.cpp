// SPDX-License-Identifier: Apache-2.0
//
// Files of TUTTI_TRACE of several ranks, and `tutti trace merge`.
#include "base/trace.hpp"

#include <nlohmann/json.hpp>

#include "tutti_test/arrays.hpp"
#include "tutti_test/command.hpp"

namespace {

using nlohmann::json;

// This program, with a case of it.
std::string rank_program(const std::string& name = "a_rank") {
  return tutti_test::beside(std::filesystem::read_symlink("/proc/self/exe").filename()) +
         " --run_test=" + name;
}

struct fixture {
  tutti_test::temporary_folder folder;

  /// Files are named within the folder.
  outcome merge(const std::string& files) const {
    return run("cd '" + folder.path().string() + "' && '" + tutti_test::paths::tutti_program +
               "' trace merge " + files);
  }
  json parsed(const std::string& name) const {
    return json::parse(tutti_test::read_bytes(folder / name));
  }
  std::string trace_to(const std::string& name) const {
    return "TUTTI_TRACE='" + (folder / name).string() + "' ";
  }
};

const std::string opening = R"({"otherData":{"rank":)";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(trace, fixture)

BOOST_AUTO_TEST_CASE(ranks_become_processes_on_one_axis) {
  const std::string rows = R"(,
    {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"opencl:0"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"compute"}},
    {"ph":"M","name":"process_name","pid":2,"tid":0,"args":{"name":"cuda:0"}},
    {"ph":"M","name":"thread_name","pid":2,"tid":2,"args":{"name":"compute"}}]})";
  // Rank 10 begins 250 microseconds before rank 2.
  folder.write("a.json", opening + R"(2,"zero_unix_us":1790000000000250},"traceEvents":[
    {"ph":"X","name":"late","pid":1,"tid":1,"ts":1.5,"dur":3,"args":{"ops":"add"}})" +
                             rows);
  folder.write("b.json", opening + R"(10,"zero_unix_us":1790000000000000},"traceEvents":[
    {"ph":"i","s":"t","name":"early","pid":2,"tid":2,"ts":100})" +
                             rows);
  folder.write("c.json", opening + R"(0,"zero_unix_us":1790000000000002.5},"traceEvents":[
    {"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"cpu:0"}},
    {"ph":"C","name":"pool","pid":7,"tid":3,"ts":4,"args":{"value":5}}]})");
  const outcome done = merge("all.json b.json a.json c.json");
  BOOST_TEST(done.status == 0);
  BOOST_TEST(done.output == "all.json: 3 events of 3 ranks\n");
  const auto named = [](int pid, int tid, const char* kind, const char* name) {
    return json{
        {"ph", "M"}, {"name", kind}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
  };
  const json expected{
      named(0, 0, "process_name", "rank 0"),
      json::parse(R"({"ph":"C","name":"cpu:0: pool","pid":0,"tid":3,"ts":6.5,"args":{"value":5}})"),
      named(2, 0, "process_name", "rank 2"),
      json::parse(R"({"ph":"X","name":"late","pid":2,"tid":1,"ts":251.5,"dur":3,
                      "args":{"ops":"add"}})"),
      named(2, 1, "thread_name", "opencl:0: compute"),
      named(2, 2, "thread_name", "cuda:0: compute"),
      named(10, 0, "process_name", "rank 10"),
      json::parse(R"({"ph":"i","s":"t","name":"early","pid":10,"tid":2,"ts":100.0})"),
      named(10, 1, "thread_name", "opencl:0: compute"),
      named(10, 2, "thread_name", "cuda:0: compute")};
  BOOST_TEST(parsed("all.json")["traceEvents"] == expected, parsed("all.json").dump(1));
}

BOOST_AUTO_TEST_CASE(other_files_are_refused_by_name) {
  const std::string good = opening + R"(1,"zero_unix_us":5},"traceEvents":[)";
  folder.write("good.json", good + "]}");
  const auto refused = [&](const std::string& text, const std::string& reason) {
    folder.write("odd.json", text);
    const outcome done = merge("all.json good.json odd.json");
    BOOST_TEST(done.status == 1, text);
    BOOST_TEST(done.output.starts_with("tutti: odd.json: "), done.output);
    BOOST_TEST(done.output.find(reason) != std::string::npos, done.output);
    BOOST_TEST(!std::filesystem::exists(folder / "all.json"));
  };
  refused("", "parse error");
  refused(good, "parse error at line 1");
  const std::string no_trace = "is no trace of a rank";
  for (const std::string text : {"3", "[]", "{}", R"({"traceEvents":[]})"}) refused(text, no_trace);
  for (const std::string rank : {"-1", "\"1\"", "1.5", "18446744073709551615"})
    refused(opening + rank + R"(,"zero_unix_us":5},"traceEvents":[]})", no_trace);
  refused(opening + R"(2,"zero_unix_us":"5"},"traceEvents":[]})", no_trace);
  refused(opening + R"(2,"zero_unix_us":5},"traceEvents":{}})", no_trace);
  const std::string other = opening + R"(2,"zero_unix_us":5},"traceEvents":[)";
  refused(other + "4]}", "event 0: ");
  refused(other + R"({"ph":"M","name":"process_name","pid":1,"args":{"name":""}},
                     {"ph":"X","name":"x","pid":1,"tid":1,"ts":"soon"}]})",
          "event 1: ");
  refused(other + R"({"ph":"M","name":"process_name","pid":1,"args":3}]})", "event 0: ");
  refused(good + "]}", "is of rank 1, as good.json is");
  BOOST_TEST(merge("all.json good.json good.json").output == "tutti: good.json: is given twice\n");
  BOOST_TEST(merge("all.json absent.json").output == "tutti: absent.json: there is no such file\n");
  BOOST_TEST(merge("all.json .").status == 1);
  BOOST_TEST(merge("all.json").status == 2);
  folder.write("other.json", other + "]}");
  BOOST_TEST(merge("good.json other.json").output == "tutti: good.json: File exists\n");
  BOOST_TEST(parsed("good.json")["otherData"]["rank"] == 1);
}

BOOST_AUTO_TEST_CASE(launchers_tell_the_rank) {
  const std::string alone =
      "env -u OMPI_COMM_WORLD_SIZE -u PMI_SIZE -u SLURM_STEP_NUM_TASKS "
      "TUTTI_COMM=none ";
  for (const std::string launcher :
       {"OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=2 ", "PMI_SIZE=3 PMI_RANK=2 ",
        "SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=2 "}) {
    const outcome done = run(alone + launcher + trace_to("run.json") + rank_program());
    BOOST_TEST(done.status == 0, done.output);
    BOOST_TEST(folder.file_count() == 1u, launcher);
    BOOST_TEST(parsed("run.2.json")["otherData"]["rank"] == 2);
    std::filesystem::remove(folder / "run.2.json");
  }
  for (const std::string launcher : {"", "PMI_SIZE=1 PMI_RANK=0 ", "PMI_SIZE=2 PMI_RANK= "})
    BOOST_TEST(run(alone + launcher + trace_to("run.json") + rank_program()).status == 0);
  BOOST_TEST(folder.file_count() == 1u);
  const json told = parsed("run.json")["otherData"];
  BOOST_TEST(told["rank"] == 0);
  const double age =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() -
      told["zero_unix_us"].get<double>() * 1e-6;
  BOOST_TEST((age > 0 && age < 60), age);
}

BOOST_AUTO_TEST_CASE(a_rank_that_traces_nothing_has_a_file) {
  const std::string rank_2 = "TUTTI_COMM=none PMI_SIZE=3 PMI_RANK=2 ";
  BOOST_TEST(run(rank_2 + trace_to("run.json") + rank_program("a_silent_rank")).status == 0);
  BOOST_TEST(parsed("run.2.json")["traceEvents"].empty());
  folder.write("other.json", opening + R"(0,"zero_unix_us":5},"traceEvents":[]})");
  BOOST_TEST(merge("all.json run.2.json other.json").output == "all.json: 0 events of 2 ranks\n");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_silent_rank, *boost::unit_test::disabled()) { const tutti::job alone; }

// What a rank does: it traces before it joins the job.
BOOST_AUTO_TEST_CASE(a_rank, *boost::unit_test::disabled()) {
  const auto row = tutti::base::trace_track("device", "row");
  tutti::base::trace_instant(row, std::to_string(tutti::job().rank()), 1000);
}

BOOST_FIXTURE_TEST_CASE(ranks_of_mpirun, fixture, *boost::unit_test::disabled()) {
  const char* const mpirun = std::getenv("TUTTI_TEST_MPIRUN");
  BOOST_REQUIRE(mpirun != nullptr);
  const outcome ranks =
      run(trace_to("run.json") + mpirun + " --oversubscribe -n 2 " + rank_program());
  BOOST_REQUIRE(ranks.status == 0);
  BOOST_TEST(merge("run.json run.*.json").output == "run.json: 2 events of 2 ranks\n");
  int found = 0;
  const json all = parsed("run.json");
  for (const json& event : all["traceEvents"]) {
    if (event["ph"] != "i") continue;
    BOOST_TEST(event["name"] == std::to_string(event["pid"].get<int>()));
    ++found;
  }
  BOOST_TEST(found == 2);
}
