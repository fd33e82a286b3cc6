#include "conclave/plot/plot.hpp"

#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/plot/detail/subprocess.hpp"
#include "conclave/plot/figure.hpp"
#include "conclave/plot/gnuplot.hpp"
#include "conclave/plot/trace_table.hpp"

#include "tests/support/scratch_folder.hpp"

namespace conclave::plot {
namespace {

using detail::ProcessResult;
using detail::run_process;
using testing_support::message_of;

class Trace : public testing_support::ScratchFolder {};

TEST_F(Trace, HasNumbersAndNames) {
  const TraceTable table(write("t.csv", "trial,x,name\r\n0,1.5,LEADER\n18446744073709551615,,\n"
                                        "2,true,\"A-b.c\"\n"));
  ASSERT_EQ(table.lines(), 3u);
  EXPECT_EQ(table.real(0, table.column("x")), 1.5);
  EXPECT_EQ(table.real(1, 1), std::nullopt);
  EXPECT_EQ(table.real(2, 1), 1.0);
  EXPECT_EQ(table.whole(1, 0), UINT64_MAX);
  EXPECT_EQ(table.name(0, 2), "LEADER");
  EXPECT_EQ(table.name(2, 2), "A-b.c");
  EXPECT_THROW(table.column("y"), Error);
}

TEST_F(Trace, RefusesFieldsOfAnotherKindWithTheirPlace) {
  const TraceTable table(write("t.csv", "trial,x\n-1,inf\n1e,system('x')\n"));
  EXPECT_THROW(table.whole(0, 0), Error);
  EXPECT_THROW(table.real(0, 1), Error);
  EXPECT_THROW(table.whole(1, 0), Error);
  EXPECT_EQ(message_of<Error>([&] { table.real(1, 1); }),
            "'" + path("t.csv") + "', line 3: x is 'system('x')', and a number is expected");
  EXPECT_THROW(table.name(1, 1), Error);
}

TEST_F(Trace, RefusesWhatIsNoTable) {
  for (const char* text : {"", "a,b\n", "a,b\n1\n", "a,\n1,2\n", "'\n1\n"}) {
    EXPECT_THROW(TraceTable(write("t.csv", text)), Error) << text;
  }
}

TEST_F(Trace, ShowsZeroBelowAllMeansOnALogarithmicAxis) {
  const std::string trace = write("t.csv", "trial,parallel_time,x\n0,1,1000\n0,2,0\n0,3,0\n"
                                           "1,1,1000\n1,2,1\n1,3,0\n");
  plot_trace({.trace = trace, .files = {path("t.tex")}, .columns = {"x"}, .has_mean = true});
  EXPECT_NE(read("t.tex").find("extra y ticks={0.25}, extra y tick labels={0}"), std::string::npos);
}

TEST_F(Trace, CountsTrialsInTheLegendOnlyWhereThereAreSeveral) {
  const std::string one = write("one.csv", "trial,parallel_time,x\n0,1,5\n0,2,6\n");
  plot_trace({.trace = one, .files = {path("one.tex")}, .columns = {"x"}});
  EXPECT_EQ(read("one.tex").find("trial"), std::string::npos);
  const std::string two = write("two.csv", "trial,parallel_time,x\n0,1,5\n0,2,6\n1,1,5\n");
  plot_trace({.trace = two, .files = {path("two.tex")}, .columns = {"x"}});
  EXPECT_NE(read("two.tex").find("x (2 trials)"), std::string::npos);
}

TEST_F(Trace, EvenSamplesOfATraceAndOfAHistoryHaveLinearAxes) {
  const std::string rows = "0,0,1000,0\n0,1,10,990\n0,2,1,999\n0,3,1,999\n0,4,1,999\n";
  write("trace.csv", "trial,parallel_time,leaders,x\n" + rows);
  write("history.csv", "trial,time,A,B\n" + rows);
  for (const std::string name : {"trace", "history"}) {
    plot_trace({.trace = path(name + ".csv"), .files = {path(name + ".tex")}});
    EXPECT_EQ(read(name + ".tex").find("ymode=log"), std::string::npos) << name;
    EXPECT_EQ(read(name + ".tex").find("xmode=log"), std::string::npos) << name;
  }
  EXPECT_NE(read("history.tex").find("ylabel={agents}"), std::string::npos);
  plot_trace({.trace = path("history.csv"), .files = {path("one.tex")}, .columns = {"A"}});
  EXPECT_NE(read("one.tex").find("ylabel={agents}"), std::string::npos);
}

TEST(GnuplotString, LeavesNoWayOut) {
  EXPECT_EQ(gnuplot_string("plain"), "'plain'");
  EXPECT_EQ(gnuplot_string("it's"), "'it''s'");
  EXPECT_EQ(gnuplot_string("a\nb"), R"('a\nb')");
  EXPECT_EQ(gnuplot_string("`x`"), "'\u2019x'''");
  EXPECT_EQ(gnuplot_string("''x"), "'\u2019''x'");
  EXPECT_EQ(gnuplot_string("\x1b"), R"('\x1b')");
}

TEST(Script, HoldsDataApartFromCommands) {
  Script script;
  EXPECT_EQ(script.add_data({{1, 2.5}, {}, {3, 4}}), "'data0'");
  EXPECT_EQ(script.add_data({{0.1}}), "'data1'");
  EXPECT_EQ(script.data(), (std::vector<std::string>{"1 2.5\n\n\n3 4\n", "0.1\n"}));
  EXPECT_TRUE(script.commands().empty());
}

TEST(FileKind, IsToldByTheNameOfTheFile) {
  EXPECT_EQ(kind_of("a.svg"), FileKind::svg);
  EXPECT_EQ(kind_of("a.b.pdf"), FileKind::pdf);
  EXPECT_EQ(kind_of("a.tex"), FileKind::tex);
  EXPECT_EQ(kind_named("csv"), FileKind::csv);
  EXPECT_THROW(kind_of("svg"), Error);
  EXPECT_THROW(kind_of("a.svgz"), Error);
}

Figure two_marks() {
  return {.title = "a_b & c",
          .x = {"n", true},
          .y = {"time", false},
          .series = {{.name = "mean, all", .points = {{10, 2, 1, 4}, {100, 3, 2, 5}}}}};
}

TEST(Figures, HaveTheirNumbersAsCsv) {
  EXPECT_EQ(csv(two_marks()),
            "series,x,y,low,high\n\"mean, all\",10,2,1,4\n\"mean, all\",100,3,2,5\n");
}

// gnuplot draws nothing in an empty range, and to six digits 5925000000 and one more are the same.
TEST(Figures, ShowASingleValueHoweverLargeItIs) {
  Figure figure{.x = {.title = "x"}, .y = {.title = "y"}};
  figure.series.push_back({.name = "one", .points = {{5.925e9, 1, 1, 1}}});
  EXPECT_NE(draw(figure, FileKind::svg).find("</svg>"), std::string::npos);
}

// With labels at 50 and 100 alone a logarithmic axis looks like a linear one.
TEST(Figures, LabelALogarithmicAxisOfOneDecadeAtThreePlacesAtLeast) {
  Figure figure{.x = {.title = "x"}, .y = {.title = "y", .logarithmic = true}};
  figure.series.push_back({.name = "one", .points = {{1, 28, 28, 28}, {2, 165, 165, 165}}});
  const std::string picture = draw(figure, FileKind::svg);
  for (const std::string label : {"30", "50", "70", "100", "150"}) {
    EXPECT_NE(picture.find(">" + label + "<"), std::string::npos) << label;
  }
}

TEST(Figures, BecomeDrawingsForLatex) {
  const std::string tex = pgfplots(two_marks());
  EXPECT_NE(tex.find("xmode=log, ymode=linear"), std::string::npos) << tex;
  EXPECT_NE(tex.find("title={a\\_b \\& c}"), std::string::npos) << tex;
  EXPECT_NE(tex.find("10 2 1 2\\\\\n100 3 1 2\\\\\n"), std::string::npos) << tex;
  const std::string bare = pgfplots(two_marks(), {.has_title = false, .has_bands = true});
  EXPECT_EQ(bare.find("title={a"), std::string::npos) << bare;
  EXPECT_NE(bare.find("fill between[of=low0 and high0]"), std::string::npos) << bare;
}

TEST(Looks, AreParsedOrRefused) {
  EXPECT_TRUE(parse_axes("semilogy").y_is_logarithmic);
  EXPECT_FALSE(parse_axes("semilogy").x_is_logarithmic);
  EXPECT_THROW(parse_axes("log"), Error);
  EXPECT_EQ(parse_size("640x430").height, 430);
  for (const char* text : {"640", "640x", "x3", "50x50", "1e9x400", "400 x300"}) {
    EXPECT_THROW(parse_size(text), Error) << text;
  }
  EXPECT_EQ(parse_font_size("9"), 9);
  EXPECT_THROW(parse_font_size("0"), Error);
}

class Process : public testing_support::ScratchFolder {};

TEST_F(Process, GetsItsWordsAsTheyAreAndNothingToRead) {
  const ProcessResult result =
      run_process({"printf", "%s|", "a b", "$HOME", ";'\""}, folder().string());
  EXPECT_TRUE(result.has_started);
  EXPECT_EQ(result.output, "a b|$HOME|;'\"|");
  EXPECT_EQ(run_process({"cat"}, folder().string()).output, "");
}

TEST_F(Process, RunsInItsFolderAndTellsItsStatusAndErrors) {
  write("file", "content");
  EXPECT_EQ(run_process({"cat", "file"}, folder().string()).output, "content");
  const ProcessResult failed = run_process({"cat", "none"}, folder().string());
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(failed.errors.find("none"), std::string::npos);
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}, folder().string()).status, 137);
  EXPECT_FALSE(run_process({"no-such-program-here"}, folder().string()).has_started);
}

TEST_F(Process, MayWriteMuchToBothStreams) {
  const ProcessResult result =
      run_process({"sh", "-c", "seq 100000 >&2; seq 100000"}, folder().string());
  EXPECT_EQ(result.output.size(), 588895u);
  EXPECT_EQ(result.errors.size(), 4096u);
}

}  // namespace
}  // namespace conclave::plot
